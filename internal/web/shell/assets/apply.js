// Filters that apply as soon as a choice changes. A search also applies while it is typed if data-found names the parts of
// the page to update. Without this script, a button applies them.
'use strict';

const chosen = 'filter-chosen'; // key of the field that has just been changed, which gets the focus back

const pause = 300; // milliseconds without typing before a search begins

// update replaces parts of the page by those for the form's current search. If that fails, it opens the page.
async function update(form, parts, signal) {
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (value) query.set(name, value);
  const to = query.size ? `${form.getAttribute('action')}?${query}` : form.getAttribute('action');
  try {
    const answer = await fetch(to, { headers: { Accept: 'text/html' }, signal });
    const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
    for (const id of parts) document.getElementById(id).replaceChildren(...fresh.getElementById(id).childNodes);
    history.replaceState(null, '', to);
  } catch {
    if (!signal.aborted) location.assign(to);
  }
}

// searchWhileTyping applies the searches of a form while they are typed.
function searchWhileTyping(form, parts) {
  let timer = 0;
  let request = new AbortController(); // of the latest search
  form.addEventListener('input', (event) => {
    if (event.target.type !== 'search') return;
    clearTimeout(timer);
    request.abort();
    request = new AbortController();
    timer = setTimeout(update, pause, form, parts, request.signal);
  });
}

for (const form of document.querySelectorAll('form[data-apply]')) {
  form.querySelector('button:not([popovertarget])').hidden = true;
  const parts = form.dataset.found?.split(' ');
  if (parts) searchWhileTyping(form, parts);
  form.addEventListener('change', (event) => {
    if (parts && event.target.type === 'search') return;
    if (event.target.type === 'date' && event.target.value && event.target.value < '2000') return; // the year is being typed
    sessionStorage.setItem(chosen, event.target.id);
    form.requestSubmit();
  });
  form.querySelector(`#${CSS.escape(sessionStorage.getItem(chosen) ?? 'none')}`)?.focus();
}
sessionStorage.removeItem(chosen);
