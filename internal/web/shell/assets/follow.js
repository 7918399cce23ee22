// Follows a job while the page contains an element with data-follow. It checks the page every two seconds and reloads it
// when the element has disappeared.
'use strict';

const every = 2000;

async function look() {
  try {
    const answer = await fetch(location.href, { headers: { Accept: 'text/html' } });
    const now = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('[data-follow]');
    if (!answer.ok || !now) {
      location.reload();
      return;
    }
    const shown = document.querySelector('[data-follow]');
    if (shown && shown.innerHTML !== now.innerHTML) shown.innerHTML = now.innerHTML;
  } catch {
    // The next request may succeed.
  }
  setTimeout(look, every);
}

setTimeout(look, every);
