// Searches the media library while a person types, and selects all files of a page. Without this script, a button starts the
// search, and files are selected individually.
'use strict';

const search = document.getElementById('media-search');
const found = document.getElementById('media-found');
const parts = ['media-chips', 'media-order', 'media-found'];
const pause = 300; // milliseconds without typing before a search begins
let timer = 0;
let request = new AbortController(); // of the latest search

// address returns the address of the library with the current search.
function address() {
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(search)) if (value) query.set(name, value);
  return query.size ? `/media?${query}` : '/media';
}

// load returns the page at an address, or null if it redirects elsewhere.
async function load(to, signal) {
  const answer = await fetch(to, { headers: { Accept: 'text/html' }, signal });
  return answer.redirected ? null : new DOMParser().parseFromString(await answer.text(), 'text/html');
}

// show replaces the results with those of the page at an address. If that fails, it opens the page.
async function show(to) {
  clearTimeout(timer);
  request.abort();
  request = new AbortController();
  const { signal } = request;
  const fresh = await load(to, signal).catch(() => null);
  if (signal.aborted) return; // the search has changed in the meantime
  if (!fresh || !parts.every((id) => fresh.getElementById(id))) {
    location.assign(to);
    return;
  }
  const kept = boxes().filter((box) => box.checked).map((box) => box.value);
  for (const id of parts) document.getElementById(id).replaceChildren(...fresh.getElementById(id).childNodes);
  history.replaceState(null, '', to);
  for (const box of boxes()) box.checked = kept.includes(box.value);
  prepare();
}

const boxes = () => [...found.querySelectorAll('[name=media]')];

// prepare shows the elements that need this script after the page was replaced. The browser may have kept its selection.
function prepare() {
  const all = document.getElementById('pick-all');
  if (!all) return;
  all.hidden = false;
  count();
}

// count shows how many files are selected.
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
found.addEventListener('change', (event) => {
  if (event.target.id === 'all') for (const box of boxes()) box.checked = event.target.checked;
  if (event.target.type === 'checkbox') count();
});
found.addEventListener('reset', () => { setTimeout(count); }); // the boxes are cleared after the event

search.querySelector('button').hidden = true;
search.addEventListener('input', () => {
  clearTimeout(timer);
  timer = setTimeout(() => show(address()), pause);
});
search.addEventListener('submit', (event) => {
  event.preventDefault();
  void show(address());
});
document.addEventListener('click', (event) => {
  const menu = document.getElementById('media-order');
  if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener('keydown', (event) => {
  const menu = document.getElementById('media-order');
  if (event.key !== 'Escape' || !menu.open) return;
  menu.open = false;
  menu.querySelector('summary').focus();
});
