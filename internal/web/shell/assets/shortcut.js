// Focuses the search field with Ctrl-K or Cmd-K. It runs before the page is shown, so that the keys never reach the browser, which
// has an action of its own for them.
'use strict';

document.addEventListener('keydown', (event) => {
  if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
  event.preventDefault();
  document.querySelector('#search input')?.focus();
});
