// Shows a month with the team's posts beside the date, from which a day is chosen. Without this script, the date field of the
// browser is used alone.
'use strict';

const monthPanel = document.getElementById('month');

async function showMonth(name) {
  const answer = await fetch(`/posts/month?${new URLSearchParams({ month: name })}`).catch(() => null);
  if (!answer?.ok || answer.redirected) {
    monthPanel.textContent = translate('The month is not available right now.');
    return;
  }
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  monthPanel.replaceChildren(...page.body.childNodes);
  monthPanel.querySelector(`[data-day="${document.getElementById('date').value}"]`)?.classList.add('chosen');
}

monthPanel.addEventListener('beforetoggle', () => {
  const field = document.getElementById('date').getBoundingClientRect();
  monthPanel.style.left = `${field.left}px`;
  monthPanel.style.bottom = `${innerHeight - field.top + 8}px`;
});
monthPanel.addEventListener('toggle', (event) => {
  if (event.newState === 'open') void showMonth(document.getElementById('date').value.slice(0, 7));
});

monthPanel.addEventListener('click', async (event) => {
  const button = event.target.closest('button');
  if (!button) return;
  if ('month' in button.dataset) {
    await showMonth(button.dataset.month);
    [...monthPanel.querySelectorAll('[data-month]')].find((one) => one.textContent === button.textContent)?.focus();
    return;
  }
  const date = document.getElementById('date');
  date.value = button.dataset.day;
  date.dispatchEvent(new Event('change', { bubbles: true }));
  monthPanel.hidePopover();
  document.getElementById('time').focus();
});
