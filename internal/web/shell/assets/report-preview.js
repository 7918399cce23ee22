// Shows what is known about the subject of a new report and its price while it is typed, and keeps what was typed in the
// page's address, so that Back restores it. Without this script, the page shows the preview after an error or for an
// address that has the subject.
'use strict';

{
  const form = document.querySelector('.new-report');
  const box = document.getElementById('preview');
  const pause = 250; // ms after the last key
  let timer = 0;
  let request = new AbortController();

  const typed = () => {
    const query = new URLSearchParams();
    for (const name of ['type', 'platform', 'subject']) query.set(name, new FormData(form).get(name) ?? '');
    return query;
  };
  const remember = () => history.replaceState(history.state, '', `/reports/new?${typed()}`);

  const show = async () => {
    request.abort();
    request = new AbortController();
    const { signal } = request;
    const query = typed();
    remember();
    if (query.get('subject').trim() === '') {
      box.replaceChildren();
      return;
    }
    box.ariaBusy = 'true'; // hides the preview of an earlier subject
    let parts = [];
    try {
      const answer = await fetch(`/reports/new/preview?${query}`, { signal });
      if (answer.ok && !answer.redirected) {
        parts = new DOMParser().parseFromString(await answer.text(), 'text/html').body.childNodes;
      }
    } catch {
      // The next change asks again.
    }
    if (signal.aborted) return;
    box.replaceChildren(...parts);
    box.ariaBusy = 'false';
  };

  form.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(show, pause);
  });
  form.addEventListener('submit', remember);
  if (typed().get('subject') !== '') remember(); // after an error
}
