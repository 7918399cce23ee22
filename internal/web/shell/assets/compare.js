// Shows how many profiles are selected for a comparison, which needs two. Without this script, the page of the comparison says
// how many it needs.
'use strict';

for (const button of document.querySelectorAll('[data-compare]')) {
  const { form } = button;
  const show = () => {
    const n = form.querySelectorAll('[name=ids]:checked').length;
    button.disabled = n < 2;
    button.textContent = translateCount(n, 'Compare %d profile', 'Compare %d profiles');
  };
  form.addEventListener('change', show);
  form.addEventListener('reset', () => { setTimeout(show); });
  show();
}
