// Shows a month with the team's posts above the date, from which a day is chosen. Without this script, the date field of the
// browser is used alone.
'use strict';

const dateField = () => document.getElementById('date'); // replaced with its part of the form
const monthPart = () => document.getElementById('month');

// showMonth shows a month, such as 2026-11.
async function showMonth(name) {
  const answer = await fetch(`/posts/month?${new URLSearchParams({ month: name })}`).catch(() => null);
  if (!answer?.ok || answer.redirected) {
    monthPart().textContent = translate('The month is not available right now.');
    return;
  }
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  monthPart().dataset.shown = page.querySelector('[data-day]:not(.other)').dataset.day.slice(0, 7);
  monthPart().replaceChildren(...page.body.childNodes);
  markDate();
}

// showSuggestions shows the suggested times for the selected accounts and the date.
async function showSuggestions() {
  const query = new URLSearchParams({ date: dateField().value, time: document.getElementById('time').value });
  for (const account of chosen()) query.append('account', account);
  const answer = await fetch(`/posts/times?${query}`).catch(() => null);
  if (!answer?.ok || answer.redirected) return;
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const fresh = page.getElementById('suggestions');
  const here = document.getElementById('suggestions');
  if (fresh && !here.contains(document.activeElement)) here.replaceWith(document.adoptNode(fresh));
}

// markDate marks the chosen day in the month.
function markDate() {
  for (const day of monthPart().querySelectorAll('[data-day]')) {
    const chosen = day.dataset.day === dateField().value;
    day.classList.toggle('chosen', chosen);
    if (chosen) day.setAttribute('aria-current', 'date');
    else day.removeAttribute('aria-current');
  }
}

form.addEventListener('toggle', (event) => {
  if (event.target.id !== 'when' || event.newState !== 'open') return;
  void showMonth(dateField().value.slice(0, 7));
  void showSuggestions();
  if (!narrow.matches && !event.target.contains(document.activeElement)) dateField().focus();
}, { capture: true });

form.addEventListener('change', (event) => {
  if (event.target.id !== 'date' || !event.target.closest(':popover-open')) return;
  void showSuggestions();
  const month = event.target.value.slice(0, 7);
  if (month && month !== monthPart().dataset.shown) void showMonth(month);
  else markDate();
});

// Enter in the date or time closes the panel.
form.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || !['date', 'time'].includes(event.target.id)) return;
  event.preventDefault();
  event.target.closest(':popover-open')?.hidePopover();
});

form.addEventListener('click', async (event) => {
  const button = event.target.closest('#month button');
  if (!button) return;
  if ('month' in button.dataset) {
    await showMonth(button.dataset.month);
    [...monthPart().querySelectorAll('[data-month]')].find((one) => one.textContent === button.textContent)?.focus();
    return;
  }
  dateField().value = button.dataset.day;
  dateField().dispatchEvent(new Event('change', { bubbles: true }));
  const time = document.getElementById('time');
  if (!time.value) time.focus();
  else if (!narrow.matches) dateField().focus(); // the button may be replaced with another month
});

// A suggested time is chosen without sending the form.
form.addEventListener('click', (event) => {
  const button = event.target.closest('#suggestions [data-date]');
  if (!button) return;
  event.preventDefault();
  dateField().value = button.dataset.date;
  document.getElementById('time').value = button.dataset.time;
  button.closest(':popover-open')?.hidePopover();
  dateField().dispatchEvent(new Event('change', { bubbles: true }));
});
