// Sends the form of a one-time code as soon as all its digits are entered, if nothing else is missing.
'use strict';

for (const field of document.querySelectorAll('input[data-digits]')) {
  field.addEventListener('input', (event) => {
    const complete = new RegExp(`^\\d{${field.dataset.digits}}$`).test(field.value.replaceAll(' ', ''));
    if (complete && event.inputType !== undefined && field.form.checkValidity()) field.form.requestSubmit();
  });
}
