// Saves a form of switches whenever one changes. Without this script, a button saves them.
'use strict';

for (const form of document.querySelectorAll('form[data-at-once]')) {
  const state = form.querySelector('[role=status]');
  const bar = form.querySelector('.save-bar');
  bar.querySelector('[data-by-hand]').hidden = true;
  bar.classList.add('static');
  bar.hidden = !bar.querySelector('button:not([hidden])');
  let saving = Promise.resolve(); // saves one after the other, so that the last change wins
  const save = async () => {
    try {
      const answer = await fetch(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form)) });
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      state.textContent = form.dataset.atOnce;
    } catch {
      form.submit();
    }
  };
  form.addEventListener('change', () => {
    state.textContent = '';
    saving = saving.then(save);
  });
}
