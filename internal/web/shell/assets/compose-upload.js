// Sends files beside the form, so that whoever goes on writing meanwhile loses nothing. Without it the form goes along.
'use strict';

const sheet = document.getElementById('compose');

// typed are the fields of a part of the form, by their names, as they stand now.
function typed(part) {
  const out = new Map();
  for (const field of part?.querySelectorAll('textarea[name], input[name]') ?? []) {
    if (field.type !== 'file' && field.type !== 'hidden') out.set(`${field.name}=${field.type === 'radio' || field.type === 'checkbox' ? field.value : ''}`, field);
  }
  return out;
}

const stateOf = (field) => (field.type === 'checkbox' || field.type === 'radio' ? field.checked : field.value);

// take puts a part of the answer in place of the form's, with what was written since it was sent.
function take(id, answer, before) {
  const old = document.getElementById(id);
  const fresh = answer.getElementById(id);
  if (!old || !fresh) return;
  const now = typed(old);
  for (const [name, field] of typed(fresh)) {
    const was = now.get(name);
    if (!was || !before.has(name) || stateOf(was) === before.get(name)) continue;
    if (was.type === 'checkbox' || was.type === 'radio') field.checked = was.checked;
    else field.value = was.value;
  }
  for (const details of fresh.querySelectorAll('details')) if (details.id === 'library') details.open = true;
  fresh.querySelector('[data-by-hand]')?.setAttribute('hidden', '');
  old.replaceWith(document.adoptNode(fresh));
}

// place is where somebody is writing in the form, and how to go on there once parts of it were replaced. It is null where
// nobody is writing.
function place() {
  const field = document.activeElement;
  if (!sheet.contains(field) || !field.matches('textarea, input:not([type=file]), select')) return null;
  const [from, to] = [field.selectionStart, field.selectionEnd];
  return () => {
    if (field.isConnected) return true;
    const same = [...sheet.elements].find((other) => other.name === field.name && other.type === field.type);
    same?.focus({ preventScroll: true });
    if (same && from !== null) same.setSelectionRange?.(from, to);
    return Boolean(same);
  };
}

function show(answer, before) {
  const goOn = place();
  document.getElementById('wrong')?.remove();
  const wrong = answer.getElementById('wrong');
  if (wrong) sheet.closest('.columns').before(document.adoptNode(wrong));
  take('media', answer, before);
  take('own', answer, before);
  sheet.dispatchEvent(new Event('change', { bubbles: true })); // the preview, and what is hidden
  if (goOn?.()) return; // letters would be lost to whoever is writing
  (document.getElementById('wrong') ?? document.getElementById('files')).scrollIntoView({ block: 'nearest' });
  document.getElementById('files')?.focus({ preventScroll: true });
}

function send(button) {
  const before = new Map();
  for (const id of ['media', 'own']) for (const [name, field] of typed(document.getElementById(id))) before.set(name, stateOf(field));
  const bar = document.createElement('progress');
  bar.max = 1;
  bar.value = 0;
  bar.setAttribute('aria-label', 'Upload');
  const said = document.createElement('span');
  said.setAttribute('role', 'status');
  said.textContent = 'The files are on their way. You can go on writing.';
  button.after(bar, said);
  button.disabled = true;
  const failed = () => {
    bar.remove();
    button.disabled = false;
    said.textContent = 'The files were not taken. Press Check to see why.';
  };
  const request = new XMLHttpRequest();
  request.upload.addEventListener('progress', (event) => { if (event.lengthComputable) bar.value = event.loaded / event.total; });
  request.addEventListener('error', failed);
  request.addEventListener('load', () => {
    const answer = new DOMParser().parseFromString(request.responseText, 'text/html');
    if (answer.getElementById('compose')) show(answer, before);
    else failed();
  });
  request.open('POST', button.formAction);
  const body = new FormData(sheet);
  body.append(button.name, button.value);
  request.send(body);
}

sheet.addEventListener('submit', (event) => {
  if (event.submitter?.value !== 'upload') return;
  event.preventDefault();
  send(event.submitter);
});
