// Follows the changes of the team by server-sent events while the page is visible. Parts of the page with data-live are kept up
// to date, and so is the number of unread notifications. Other scripts listen to "changed". Without it, pages stay as they
// were loaded.
'use strict';

const hiddenFor = 30_000; // milliseconds that a hidden page keeps its stream
const rejectedFor = 60_000; // milliseconds until the next attempt after an error
const refreshEvery = 1500; // milliseconds between two refreshes
let stream = null;
let missed = false; // changes may have been missed
let closing = 0;
let refreshing = 0;
let refreshedAt = 0;

function connect() {
  clearTimeout(closing);
  if (stream || document.hidden) return;
  stream = new EventSource('/live');
  stream.addEventListener('open', () => {
    if (missed) change({ topic: 'any', id: '' });
    missed = false;
  });
  stream.addEventListener('message', (event) => change(JSON.parse(event.data)));
  stream.addEventListener('error', () => {
    missed = true;
    if (stream?.readyState !== EventSource.CLOSED) return; // the browser reconnects
    disconnect();
    setTimeout(connect, rejectedFor);
  });
}

function disconnect() {
  stream?.close();
  stream = null;
  missed = true;
}

function change(detail) {
  if ('unread' in detail) showUnread(detail.unread);
  document.dispatchEvent(new CustomEvent('changed', { detail }));
  const wants = (part) => detail.topic === 'any' || part.dataset.live === detail.topic;
  if ([...document.querySelectorAll('[data-live]')].some(wants)) refreshSoon();
}

function showUnread(n) {
  const bell = document.querySelector('.bell');
  bell?.querySelector('.count')?.remove();
  if (!bell || n === 0) return;
  const count = document.createElement('span');
  count.className = 'count alert';
  const unit = document.createElement('span');
  unit.className = 'sr';
  unit.textContent = ` ${translate('unread')}`;
  count.append(n >= 100 ? '99+' : String(n), unit);
  bell.append(count);
}

function refreshSoon() {
  clearTimeout(refreshing);
  refreshing = setTimeout(refresh, Math.max(200, refreshedAt + refreshEvery - Date.now()));
}

// refresh replaces the parts of the page that have changed. Parts that are in use are replaced later.
async function refresh() {
  refreshedAt = Date.now();
  const address = location.href;
  const answer = await fetch(address, { headers: { Accept: 'text/html' } }).catch(() => null);
  if (!answer?.ok || answer.redirected || address !== location.href) return;
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  let busy = false;
  for (const part of document.querySelectorAll('[data-live]')) {
    const fresh = page.getElementById(part.id);
    if (!fresh || fresh.innerHTML === part.innerHTML) continue;
    if (isBusy(part)) busy = true;
    else take(part, fresh);
  }
  if (busy) refreshSoon();
}

const isTyped = (field) => field.matches('input:not([type=checkbox], [type=radio], [type=hidden]), textarea') && field.value !== field.defaultValue;

// isBusy reports whether the person is typing, dragging or has a menu open in a part.
function isBusy(part) {
  if (document.querySelector('.lifted, .pending, main :popover-open')) return true;
  const at = document.activeElement;
  return (part.contains(at) && at.matches('input:not([type=checkbox]), textarea, select'))
    || [...part.querySelectorAll('input, textarea')].some(isTyped);
}

const keyOf = (element) => [element.tagName, element.id, element.getAttribute('href'), element.getAttribute('name'), element.value].join(' ');
const focusable = 'a, button, input, select, summary';

// take replaces a part of the page. It keeps selections, open elements and the focus.
function take(part, fresh) {
  const checked = new Set([...part.querySelectorAll('input:checked')].map(keyOf));
  const opened = [...part.querySelectorAll('details')].map((details) => details.open);
  const focus = part.contains(document.activeElement) ? keyOf(document.activeElement) : '';
  part.replaceChildren(...fresh.childNodes);
  for (const box of part.querySelectorAll('input[type=checkbox]')) box.checked = checked.has(keyOf(box));
  part.querySelectorAll('details').forEach((details, i) => { details.open = Boolean(opened[i]); });
  if (focus) [...part.querySelectorAll(focusable)].find((element) => keyOf(element) === focus)?.focus({ preventScroll: true });
  part.dispatchEvent(new Event('refreshed', { bubbles: true }));
}

document.addEventListener('visibilitychange', () => {
  if (!document.hidden) connect();
  else closing = setTimeout(disconnect, hiddenFor);
});
addEventListener('pagehide', disconnect);
addEventListener('pageshow', connect);
