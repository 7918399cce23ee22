// Applies a color scheme at once, without leaving the page, so that unsaved input stays.

const form = document.querySelector('form[action="/appearance"]');

async function choose(event) {
  const chosen = event.submitter;
  if (chosen?.name !== 'scheme') return;
  event.preventDefault();
  const answer = await fetch(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form, chosen)), redirect: 'manual' }).catch(() => null);
  if (answer?.type !== 'opaqueredirect') {
    form.removeEventListener('submit', choose);
    form.requestSubmit(chosen);
    return;
  }
  const root = document.documentElement;
  if (chosen.value) root.dataset.scheme = chosen.value;
  else delete root.dataset.scheme;
  document.querySelector('meta[name=color-scheme]').content = chosen.value || 'light dark';
  for (const button of form.elements.scheme) button.setAttribute('aria-pressed', String(button === chosen));
}

form?.addEventListener('submit', choose);
