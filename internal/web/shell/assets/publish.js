// Shows the page "Publish now" as a dialog over the post or the composer. Without this script, it is a page.
'use strict';

// showPublish shows the part of a page that asks for confirmation. When the dialog closes, leave is called.
function showPublish(page, leave) {
  const dialog = document.createElement('dialog');
  dialog.className = 'dialog';
  dialog.setAttribute('aria-labelledby', 'publish-title');
  const title = document.createElement('h2');
  title.id = 'publish-title';
  title.textContent = page.querySelector('h1').textContent;
  dialog.append(title, document.adoptNode(page.getElementById('publish')));
  dialog.querySelector('[data-cancel]').addEventListener('click', (event) => {
    event.preventDefault();
    dialog.close();
  });
  dialog.addEventListener('close', () => {
    dialog.remove();
    leave();
  });
  document.body.append(dialog);
  dialog.showModal();
}

// publishPageOf returns the page of a response, or null if it is another page.
async function publishPageOf(response) {
  if (!response.redirected && !response.ok) return null;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  return page.getElementById('publish') && page;
}

document.addEventListener('click', async (event) => {
  const link = event.target.closest('a[data-publish]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const page = await fetch(link.href).then(publishPageOf).catch(() => null);
  if (page) showPublish(page, () => link.focus());
  else location.assign(link.href);
});

// The composer saves the post first. After that, its form is that of a saved post.
document.addEventListener('submit', async (event) => {
  const button = event.submitter;
  if (event.defaultPrevented || event.target.id !== 'compose' || button?.value !== 'publish') return;
  const files = [...event.target.querySelectorAll('input[type=file]')].some((field) => field.files.length > 0);
  if (files || 'whole' in button.dataset) return;
  event.preventDefault();
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(event.target, button)) if (typeof value === 'string') body.append(name, value);
  button.disabled = true;
  const response = await fetch(event.target.action, { method: 'POST', body }).catch(() => null);
  const page = response?.redirected ? await publishPageOf(response).catch(() => null) : null;
  button.disabled = false;
  if (page) {
    const form = response.url.replace(/\/publish$/, '/edit');
    history.replaceState(null, '', form);
    showPublish(page, () => location.replace(form));
  } else if (response?.redirected) {
    location.assign(response.url);
  } else {
    button.dataset.whole = ''; // the response shows the problems
    event.target.requestSubmit(button);
  }
});
