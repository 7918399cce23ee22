// Sends the form of a one-time code as soon as all its digits are entered, if nothing else is missing.
'use strict';

for (const field of document.querySelectorAll('input[data-digits]')) {
  let sent = false; // Enter right after the last digit does not send the form twice
  addEventListener('pageshow', () => { sent = false; });
  field.form.addEventListener('submit', (event) => {
    if (sent) event.preventDefault();
    sent = true;
  });
  field.addEventListener('input', (event) => {
    const complete = new RegExp(`^\\d{${field.dataset.digits}}$`).test(field.value.replaceAll(' ', ''));
    if (complete && event.inputType !== undefined && field.form.checkValidity()) field.form.requestSubmit();
  });
}
