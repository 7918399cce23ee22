// Shows search results below the search field of the top bar while typing. The arrow keys move through the results. Enter opens the
// first one. Without it, Enter opens the page of results. It is a module, beside the scripts of pages.

const form = document.getElementById('search');
const field = form.querySelector('input[type=search]');
const panel = document.getElementById('search-results');
const pause = 150; // milliseconds without typing before a search begins
let timer = 0;
let request = new AbortController(); // of the latest query
let shown = null; // the query of the results in the panel

function close() {
  clearTimeout(timer);
  request.abort();
  panel.hidden = true;
}

// find shows the results of the query in the field. If that fails, Enter still opens the page of results.
async function find() {
  request.abort();
  request = new AbortController();
  const { signal } = request;
  const query = field.value.trim();
  if (query !== shown) {
    const answer = await fetch(`/search?${new URLSearchParams({ q: query })}`, { headers: { Accept: 'text/html' }, signal });
    if (!answer.ok || answer.redirected) return;
    const results = new DOMParser().parseFromString(await answer.text(), 'text/html').getElementById('results');
    if (signal.aborted || !results) return;
    panel.replaceChildren(...results.childNodes);
    shown = query;
    choose(query && panel.querySelector('li a'));
  }
  panel.hidden = false;
}

// choose marks the result that Enter opens, if any.
function choose(result) {
  if (!result) {
    field.removeAttribute('aria-description');
    return;
  }
  result.classList.add('first');
  const name = (result.querySelector('bdi') ?? result).textContent;
  field.setAttribute('aria-description', translate('Press Enter to open %s.', name));
}

const start = () => find().catch(() => {});

// move focuses the next or previous result, or the field before the first result.
function move(by) {
  const places = [field, ...panel.querySelectorAll('a')];
  places[Math.max(0, Math.min(places.indexOf(document.activeElement) + by, places.length - 1))].focus();
}

field.addEventListener('focus', () => {
  field.select();
  start();
});
field.addEventListener('input', () => {
  clearTimeout(timer);
  timer = setTimeout(start, pause);
});
form.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && !panel.hidden) {
    field.focus();
    close();
  } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && !panel.hidden) {
    move(event.key === 'ArrowDown' ? 1 : -1);
  } else if (event.key === 'Enter' && document.activeElement === field && !event.isComposing
    && !panel.hidden && shown === field.value.trim() && panel.querySelector('a.first')) {
    panel.querySelector('a.first').click();
  } else {
    return;
  }
  event.preventDefault();
});
form.addEventListener('focusout', (event) => {
  if (!form.contains(event.relatedTarget)) close();
});
panel.addEventListener('mousedown', (event) => event.preventDefault()); // a click next to a result keeps the panel open
// People can type before this script is loaded.
if (document.activeElement === field) start();
