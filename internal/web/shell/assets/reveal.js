// Adds buttons that show the characters of passwords while they are typed.
'use strict';

for (const button of document.querySelectorAll('.reveal')) {
  const field = button.parentElement.querySelector('input');
  const show = (on) => {
    field.type = on ? 'text' : 'password';
    button.setAttribute('aria-pressed', String(on));
  };
  button.hidden = false;
  button.addEventListener('click', () => {
    show(field.type === 'password');
    field.focus();
  });
  field.form.addEventListener('submit', () => show(false)); // browsers offer to save only values of password fields
}
