// Focuses the search field with Ctrl-K or Cmd-K. It runs before the page is shown, because the browser has another action for
// these keys.
'use strict';

document.addEventListener('keydown', (event) => {
  if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
  event.preventDefault();
  (document.querySelector('main > .search-page input') ?? document.querySelector('#search input'))?.focus();
});
