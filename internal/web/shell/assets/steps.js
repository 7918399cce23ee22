// Shows the fieldsets of a form with data-steps one after the other. Without this script, all are shown at once, as numbered parts.
'use strict';

for (const form of document.querySelectorAll('form[data-steps]')) {
  const steps = [...form.querySelectorAll('fieldset.phase')];
  const marks = document.querySelectorAll(`#${form.dataset.steps} li`);
  let current = 0;

  // show shows one step. Later steps are disabled, so that the browser checks only the fields of this one and of those before.
  const show = (number) => {
    current = number;
    steps.forEach((step, i) => {
      step.hidden = i !== number;
      step.disabled = i > number;
      if (i === number) marks[i].setAttribute('aria-current', 'step');
      else marks[i].removeAttribute('aria-current');
      marks[i].classList.toggle('done', i < number);
    });
  };
  form.addEventListener('submit', (event) => {
    if (current === steps.length - 1) return;
    event.preventDefault();
    show(current + 1);
    steps[current].querySelector('input:not([type=hidden]), select').focus();
  });
  for (const back of form.querySelectorAll('[data-back]')) {
    back.hidden = false;
    back.addEventListener('click', () => show(current - 1));
  }
  for (const next of form.querySelectorAll('[data-next]')) next.hidden = false;
  marks[0].parentElement.hidden = false;
  form.classList.add('stepped');
  show(0);
}
