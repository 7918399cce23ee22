// On a narrow screen, shows either the form or its preview. On all screens, asks for the time when a post without one is
// scheduled. Without this script, the preview follows the form.
'use strict';

const narrow = matchMedia('(max-width: 40rem)');
const views = [...document.querySelectorAll('[data-show]')];
document.querySelector('.switch').hidden = false;
const timeField = (field) => field?.closest('#when');

function showView(name) {
  form.dataset.view = name;
  for (const button of views) button.setAttribute('aria-pressed', String(button.dataset.show === name));
  placeProblems();
}

function openTime(field) {
  const when = timeField(field);
  if (!when) return;
  if (!when.matches(':popover-open')) when.showPopover();
  field.focus();
}

for (const button of views) {
  button.addEventListener('click', () => {
    showView(button.dataset.show);
    scrollTo({ top: 0 });
  });
}

// A link to a part of the form shows the form.
document.addEventListener('click', (event) => {
  const link = event.target.closest('a[href^="#"]');
  const target = link && document.getElementById(link.hash.slice(1));
  if (!target || !form.contains(target)) return;
  showView(target.closest('#preview') ? 'preview' : 'write');
  openTime(target);
});

form.addEventListener('submit', (event) => {
  const [date, time] = [document.getElementById('date'), document.getElementById('time')];
  if (event.submitter?.value !== 'schedule' || !timeField(date) || date.value && time.value) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  document.querySelector('#when > legend').textContent = translate('When should it go out?');
  openTime(date.value ? time : date);
}, { capture: true });

showView('write');
openTime(form.querySelector('#when [aria-invalid]'));
if (location.hash === '#when') openTime(document.getElementById('date'));
