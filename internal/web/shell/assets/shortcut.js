// Focuses the search field with Ctrl-K or Cmd-K, and closes an open menu with Escape. It runs before the page is shown, because
// the browser has another action for the first.
'use strict';

document.addEventListener('keydown', (event) => {
  if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
  event.preventDefault();
  (document.querySelector('main > .search-page input') ?? document.querySelector('#search input'))?.focus();
});

document.addEventListener('keydown', (event) => {
  const menu = event.key === 'Escape' && !event.defaultPrevented && event.target.closest?.('details.pop[open]');
  if (!menu) return;
  menu.open = false;
  menu.querySelector('summary').focus();
});
