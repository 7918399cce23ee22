// Filters that apply as soon as a choice changes. Without this script, a button applies them.
'use strict';

const chosen = 'filter-chosen'; // key of the field that has just been changed, which gets the focus back

for (const form of document.querySelectorAll('form[data-apply]')) {
  form.querySelector('button').hidden = true;
  form.addEventListener('change', (event) => {
    if (event.target.type === 'date' && event.target.value && event.target.value < '2000') return; // the year is being typed
    sessionStorage.setItem(chosen, event.target.id);
    form.requestSubmit();
  });
  form.querySelector(`#${CSS.escape(sessionStorage.getItem(chosen) ?? 'none')}`)?.focus();
}
sessionStorage.removeItem(chosen);
