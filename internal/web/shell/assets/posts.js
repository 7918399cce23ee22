// Updates the pages of posts, their accounts and jobs, periodically while something is in progress and whenever a change is
// announced. Without this script, the page reloads itself periodically.
'use strict';

const longest = 30; // maximum seconds between two requests while the server is unreachable
const live = document.getElementById('live');
let timer = 0;
let wait = 0; // seconds until the next request; 0 for none
let postponed = false; // whether the request waits until the page is visible

function follow(seconds) {
  clearTimeout(timer);
  wait = seconds;
  if (seconds > 0) timer = setTimeout(look, seconds * 1000);
}

async function look() {
  clearTimeout(timer);
  postponed = document.hidden;
  if (postponed) return;
  const response = await fetch(live.dataset.src).catch(() => null);
  if (response && (response.redirected || response.status === 404)) return; // signed out, or the team was switched
  if (!response || !response.ok) {
    follow(Math.min(longest, wait * 2));
    return;
  }
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html').getElementById('live');
  if (fresh.dataset.stamp !== live.dataset.stamp && !isTyping()) {
    location.replace(live.dataset.page); // the available actions have changed too
    return;
  }
  take(fresh);
  follow(Number(fresh.dataset.every));
}

// isTyping reports whether the page has text that a reload would drop.
const isTyping = () => [...document.querySelectorAll('main textarea, main input:not([type=checkbox], [type=radio], [type=hidden])')]
  .some((field) => field.value !== field.defaultValue);

// take replaces the displayed part with the new one, unless a person is using it right now.
function take(fresh) {
  if (fresh.innerHTML === live.innerHTML || live.contains(document.activeElement)) return;
  const open = [...live.querySelectorAll('details')].map((details) => details.open);
  fresh.querySelectorAll('details').forEach((details, i) => { details.open = Boolean(open[i]); });
  live.replaceChildren(...fresh.childNodes);
}

if (live) {
  follow(Number(live.dataset.every));
  document.addEventListener('visibilitychange', () => { if (postponed && !document.hidden) look(); });
  document.addEventListener('changed', ({ detail }) => {
    if (detail.topic === 'any' || (detail.id && live.dataset.src.includes(detail.id))) look();
  });
}
