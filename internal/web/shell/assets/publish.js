// Shows the pages "Publish now" and "Send for approval" as a dialog over the post or the composer. Without this script, they are
// pages.
'use strict';

// showDialog shows the part of a page that belongs in a dialog. When the dialog closes, leave is called.
function showDialog(page, leave) {
  const dialog = document.createElement('dialog');
  dialog.className = 'dialog';
  dialog.setAttribute('aria-labelledby', 'dialog-title');
  const title = document.createElement('h2');
  title.id = 'dialog-title';
  title.textContent = page.querySelector('h1').textContent;
  dialog.append(title, document.adoptNode(page.querySelector('[data-dialog]')));
  dialog.querySelector('[data-cancel]')?.addEventListener('click', (event) => {
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

// dialogPageOf returns the page of a response, or null if it is another page.
async function dialogPageOf(response) {
  if (!response.redirected && !response.ok) return null;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  return page.querySelector('[data-dialog]') && page;
}

document.addEventListener('click', async (event) => {
  const link = event.target.closest('a[data-asks]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const page = await fetch(link.href).then(dialogPageOf).catch(() => null);
  if (page) showDialog(page, () => link.focus());
  else location.assign(link.href);
});

// editPageOf returns the address of the composer of the post that a page asks about.
function editPageOf(address) {
  const url = new URL(address);
  const post = url.searchParams.get('post') ?? url.pathname.split('/')[2];
  return `/posts/${encodeURIComponent(post)}/edit`;
}

// asksFirst reports whether a dialog asks before the composer saves a new post. Files that are not uploaded are sent with the form.
function asksFirst(form, button) {
  const files = [...form.querySelectorAll('input[type=file]')].some((field) => field.files.length > 0);
  return ['publish', 'approval'].includes(button?.value) && !files && !('whole' in button.dataset) && !form.elements.post;
}

const bodyOf = (form, button) => {
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(form, button)) if (typeof value === 'string') body.append(name, value);
  return body;
};

// ask shows the question about a new post in a dialog. The post is saved only after a confirmation.
async function ask(form, button) {
  const body = bodyOf(form, button);
  body.append('ask', 'yes');
  button.disabled = true;
  const page = await fetch(form.action, { method: 'POST', body }).then(dialogPageOf).catch(() => null);
  button.disabled = false;
  if (!page) {
    sendPressed(form, button); // the response shows the problems
    return;
  }
  showDialog(page, () => button.focus());
  document.querySelector('dialog [data-confirms]').addEventListener('submit', (event) => {
    event.preventDefault();
    event.submitter.disabled = true;
    void confirmAsked(form, button, new FormData(event.target));
  });
}

function sendPressed(form, button) {
  button.dataset.whole = '';
  form.requestSubmit(button);
}

// confirmAsked saves the post, then sends the form of its page with the answers of the dialog.
async function confirmAsked(form, button, answers) {
  stopKeeping();
  const response = await fetch(form.action, { method: 'POST', body: bodyOf(form, button) }).catch(() => null);
  const page = response?.redirected ? await dialogPageOf(response).catch(() => null) : null;
  const next = page?.querySelector('[data-dialog] form');
  if (!next) {
    if (response?.redirected) location.assign(response.url);
    else sendPressed(form, button);
    return;
  }
  for (const field of next.querySelectorAll('[name]:not([type=hidden])')) {
    if (field.type === 'checkbox') field.checked = answers.has(field.name);
    else if (answers.has(field.name)) field.value = answers.get(field.name);
  }
  history.replaceState(null, '', editPageOf(response.url));
  next.hidden = true;
  document.body.append(document.adoptNode(next));
  HTMLFormElement.prototype.submit.call(next);
}

// The composer saves a changed post first. After that, its form is that of a saved post.
document.addEventListener('submit', async (event) => {
  const button = event.submitter;
  if (event.defaultPrevented || event.target.id !== 'compose' || !['publish', 'approval'].includes(button?.value)) return;
  if (asksFirst(event.target, button)) {
    event.preventDefault();
    await ask(event.target, button);
    return;
  }
  const files = [...event.target.querySelectorAll('input[type=file]')].some((field) => field.files.length > 0);
  if (files || 'whole' in button.dataset) return;
  event.preventDefault();
  const body = bodyOf(event.target, button);
  button.disabled = true;
  const response = await fetch(event.target.action, { method: 'POST', body }).catch(() => null);
  const page = response?.redirected ? await dialogPageOf(response).catch(() => null) : null;
  button.disabled = false;
  if (page) {
    const form = editPageOf(response.url);
    history.replaceState(null, '', form);
    showDialog(page, () => location.replace(form));
  } else if (response?.redirected) {
    location.assign(response.url);
  } else {
    button.dataset.whole = ''; // the response shows the problems
    event.target.requestSubmit(button);
  }
});
