// Forms that delete something can be sent only once a person has typed its name into their first text field. Without this
// script, the server checks the name.
'use strict';

for (const form of document.querySelectorAll('form[data-match]')) {
  const field = form.querySelector('input:not([type=hidden], [type=checkbox])');
  const button = form.querySelector('button.danger');
  const check = () => { button.disabled = field.value.trim() !== form.dataset.match; };
  field.addEventListener('input', check);
  check();
}
