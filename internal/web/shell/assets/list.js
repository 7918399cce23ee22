// Applies the filters of the list of posts when they change, and selects all posts of a page. Without this script, a button
// applies the filters, and posts are selected individually.
'use strict';

const filter = document.getElementById('board-filter');
const parts = ['board-tabs', 'board-order', 'board-found'];
const pause = 300; // milliseconds without typing before a search begins
let timer = 0;
let request = new AbortController(); // of the latest filters

// address returns the address of the list with the current filters.
function address() {
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(filter)) if (value) query.set(name, value);
  return query.size ? `/posts?${query}` : '/posts';
}

// load returns the page at an address, or null if it redirects elsewhere.
async function load(to, signal) {
  const answer = await fetch(to, { headers: { Accept: 'text/html' }, signal });
  return answer.redirected ? null : new DOMParser().parseFromString(await answer.text(), 'text/html');
}

// apply shows the list with the current filters. If that fails, it opens the page.
async function apply() {
  clearTimeout(timer);
  request.abort();
  request = new AbortController();
  const { signal } = request;
  const to = address();
  const fresh = await load(to, signal).catch(() => null);
  if (signal.aborted) return; // the filters have changed in the meantime
  if (!fresh || !parts.every((id) => fresh.getElementById(id))) {
    location.assign(to);
    return;
  }
  for (const id of parts) document.getElementById(id).replaceChildren(...fresh.getElementById(id).childNodes);
  history.replaceState(null, '', to);
  prepare();
}

// showTab scrolls the tabs so that the current one is visible.
function showTab() {
  const tabs = document.getElementById('board-tabs');
  const current = tabs.querySelector('[aria-current]');
  if (!current) return;
  const [bar, tab] = [tabs.getBoundingClientRect(), current.getBoundingClientRect()];
  if (tab.left < bar.left || tab.right > bar.right) tabs.scrollLeft += (tab.left + tab.right - bar.left - bar.right) / 2;
}

const boxes = () => [...document.querySelectorAll('.listed [name=post]')];

// prepare shows the elements that need this script after the list was replaced.
function prepare() {
  const all = document.getElementById('all');
  if (all) all.closest('label').hidden = false;
  for (const button of document.querySelectorAll('[data-copy-link]')) button.hidden = false;
}

// count shows how many posts are selected.
function count() {
  const all = boxes();
  const n = all.filter((box) => box.checked).length;
  const number = document.createElement('b');
  const rest = document.querySelector('.everything');
  const every = rest?.querySelector('input');
  if (rest) rest.hidden = n < all.length;
  if (rest?.hidden) every.checked = false;
  number.textContent = every?.checked ? rest.textContent.match(/\d+/) : n;
  document.getElementById('picked').replaceChildren(number, ' ' + translate('%s selected', '').trim());
  const box = document.getElementById('all');
  box.checked = n === all.length;
  box.indeterminate = n > 0 && n < all.length;
}

const day = 24 * 60 * 60e3;

// moment returns a local time, given as UTC, in a layout of the server, such as "Mon, 2. January, 15:04".
function moment(at, layout) {
  const noon = layout.includes('PM');
  const texts = new Intl.DateTimeFormat(document.documentElement.lang, {
    weekday: 'short', day: 'numeric', month: layout.includes('January') ? 'long' : 'short', timeZone: 'UTC',
    hour: noon ? 'numeric' : '2-digit', minute: '2-digit', hourCycle: noon ? 'h12' : 'h23',
  }).formatToParts(at);
  const text = (type) => texts.find((part) => part.type === type).value;
  const types = { Mon: 'weekday', January: 'month', Jan: 'month', 2: 'day', 15: 'hour', 3: 'hour', '04': 'minute', PM: 'dayPeriod' };
  return layout.replace(/Mon|January|Jan|15|04|PM|2|3/g, (name) => text(types[name]));
}

// showMoves shows the old and the new time of each selected post.
function showMoves() {
  const list = document.querySelector('[data-moves]');
  if (!list) return;
  const { how, day: date, time, days } = list.closest('form').elements;
  const shift = how.value === 'shift';
  const times = boxes().filter((box) => box.checked).map((box) => box.closest('[data-is~=open]')?.querySelector('.time time')?.dateTime ?? '');
  const items = times.filter((text) => text.includes('T')).map((text) => {
    const from = new Date(`${text.slice(0, 16)}Z`);
    const to = shift ? new Date(from.getTime() + Number(days.value) * day)
      : new Date(`${date.value || text.slice(0, 10)}T${time.value || text.slice(11, 16)}Z`);
    const item = document.createElement('li');
    const strong = document.createElement('b');
    strong.textContent = Number.isNaN(to.getTime()) ? '' : moment(to, list.dataset.moves);
    item.append(`${moment(from, list.dataset.moves)} → `, strong);
    return item;
  });
  list.hidden = items.length === 0 || !(shift ? days.value : date.value || time.value);
  list.replaceChildren(...items);
}
document.getElementById('board-found').addEventListener('input', showMoves);

prepare();
document.getElementById('board-found').addEventListener('change', (event) => {
  if (event.target.id === 'all') for (const box of boxes()) box.checked = event.target.checked;
  if (event.target.type === 'checkbox') count();
  showMoves();
});

// Deleting and publishing ask in a dialog over the list. See publish.js.
document.getElementById('board-found').addEventListener('submit', async (event) => {
  const button = event.submitter;
  if (!['delete', 'publish'].includes(button?.value) || 'whole' in button.dataset) return;
  event.preventDefault();
  const form = event.target;
  const page = await fetch(form.getAttribute('action'), { method: 'POST', body: bodyOf(form, button) }).then(dialogPageOf).catch(() => null);
  if (page) showDialog(page, () => button.focus());
  else sendPressed(form, button);
});

// Clearing the selection resets the form, which happens after the event.
document.getElementById('board-found').addEventListener('reset', () => { setTimeout(count); });

document.addEventListener('refreshed', () => {
  prepare();
  if (document.getElementById('all')) count();
});

filter.querySelector('button:not([type])').hidden = true;
showTab();
filter.addEventListener('change', (event) => {
  if (event.target.checkValidity()) void apply(); // a year that is still being typed is not valid
});
filter.addEventListener('input', (event) => {
  if (event.target.type !== 'search') return;
  clearTimeout(timer);
  timer = setTimeout(apply, pause);
});
filter.addEventListener('submit', (event) => {
  event.preventDefault();
  void apply();
});

// A menu of a post closes when something else is pressed, and on Escape.
function closeMenus(except) {
  for (const menu of document.querySelectorAll('.row-menu[open]')) if (menu !== except) menu.open = false;
}
document.addEventListener('click', (event) => closeMenus(event.target.closest('.row-menu')));
document.addEventListener('keydown', (event) => {
  const menu = event.key === 'Escape' && event.target.closest?.('.row-menu[open]');
  if (!menu) return;
  menu.open = false;
  menu.querySelector('summary').focus();
});
