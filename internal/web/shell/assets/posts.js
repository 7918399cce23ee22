// Keeps the pages of posts, their accounts and jobs up to date. Without it, the page reloads itself now and then.
'use strict';

const longest = 30; // seconds between two looks while the server cannot be reached

function follow(live, wait) {
  if (!live || Number(live.dataset.every) === 0) return;
  setTimeout(() => look(live, wait), wait * 1000);
}

async function look(live, wait) {
  if (document.hidden) {
    document.addEventListener('visibilitychange', () => look(live, wait), { once: true });
    return;
  }
  const response = await fetch(live.dataset.src).catch(() => null);
  if (response && (response.redirected || response.status === 404)) return; // signed out, or at another team by now
  if (!response || !response.ok) {
    follow(live, Math.min(longest, wait * 2));
    return;
  }
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html').getElementById('live');
  if (fresh.dataset.stamp !== live.dataset.stamp) {
    location.replace(live.dataset.page); // what can be done has changed, too
    return;
  }
  follow(take(live, fresh), Number(fresh.dataset.every));
}

// take puts what is new in place of what is shown, unless somebody is at it right now.
function take(live, fresh) {
  if (fresh.innerHTML === live.innerHTML || live.contains(document.activeElement)) return live;
  const open = [...live.querySelectorAll('details')].map((details) => details.open);
  fresh.querySelectorAll('details').forEach((details, i) => { details.open = Boolean(open[i]); });
  live.replaceChildren(...fresh.childNodes);
  live.dataset.every = fresh.dataset.every;
  return live;
}

const begun = document.getElementById('live');
if (begun) follow(begun, Number(begun.dataset.every));
