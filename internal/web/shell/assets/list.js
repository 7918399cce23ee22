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
}

// count shows how many posts are selected.
function count() {
  const all = boxes();
  const n = all.filter((box) => box.checked).length;
  const number = document.createElement('b');
  number.textContent = n;
  document.getElementById('picked').replaceChildren(number, ' ' + translate('%s selected', '').trim());
  const box = document.getElementById('all');
  box.checked = n === all.length;
  box.indeterminate = n > 0 && n < all.length;
}

prepare();
document.getElementById('board-found').addEventListener('change', (event) => {
  if (event.target.id === 'all') for (const box of boxes()) box.checked = event.target.checked;
  if (event.target.type === 'checkbox') count();
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
