// Uploads files as soon as they are chosen, dropped or pasted, while people go on writing. Without it the form sends
// them with every button.
'use strict';

const sheet = document.getElementById('compose');
const waiting = []; // files to upload, the one that is under way first
const failed = []; // files that could not be sent
let reason = ''; // why
let sending = false;
let after = null; // the button that was pressed meanwhile

// report is outside of what an answer replaces.
const report = document.createElement('div');
report.className = 'stack';
const bar = document.createElement('progress');
bar.max = 1;
bar.hidden = true;
bar.setAttribute('aria-label', 'Upload');
const state = document.createElement('p');
state.setAttribute('role', 'status');
const choices = document.createElement('p');
choices.className = 'actions';
choices.hidden = true;
for (const [text, act] of [['Try again', () => add(failed.splice(0))], ['Discard', () => { failed.length = 0; show(); }]]) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'quiet';
  button.textContent = text;
  button.addEventListener('click', act);
  choices.append(button);
}
report.append(bar, state, choices);
document.getElementById('media').after(report);

// fields returns the fields of a part of the form by name.
function fields(part) {
  const out = new Map();
  for (const field of part?.querySelectorAll('textarea[name], input[name], select[name]') ?? []) {
    if (field.type !== 'file' && field.type !== 'hidden') out.set(`${field.name}=${isChoice(field) ? field.value : ''}`, field);
  }
  return out;
}

const isChoice = (field) => field.type === 'radio' || field.type === 'checkbox';
const stateOf = (field) => (isChoice(field) ? field.checked : field.value);

// take replaces a part of the form with the answer's. It keeps what was entered since the request, and accounts that were
// selected since.
function take(id, answer, before) {
  const old = document.getElementById(id);
  const fresh = answer.getElementById(id);
  if (!old || !fresh) return;
  const into = fresh.querySelector('#into');
  for (const option of old.querySelectorAll('#into option')) {
    if (!into || [...into.options].some((other) => other.value === option.value)) continue;
    into.add(option.cloneNode(true));
    into.parentElement.hidden = false;
  }
  const now = fields(old);
  for (const [name, field] of fields(fresh)) {
    const was = now.get(name);
    if (!was || (before.has(name) && stateOf(was) === before.get(name))) continue;
    if (isChoice(was)) field.checked = was.checked;
    else field.value = was.value;
  }
  const same = (details) => `details[data-account="${details.dataset.account}"]`;
  for (const details of fresh.querySelectorAll('details[data-account]')) details.open ||= Boolean(old.querySelector(`${same(details)}[open]`));
  const added = [...old.querySelectorAll('details[data-account]')].filter((details) => !fresh.querySelector(same(details)));
  old.replaceWith(document.adoptNode(fresh));
  added.forEach(insert);
}

// place returns a function that continues in the field that has the focus, after parts of the form were replaced. It is
// null if no field has it.
function place() {
  const field = document.activeElement;
  if (!sheet.contains(field) || !field.matches('textarea, input:not([type=file]), select')) return null;
  const [from, to] = [field.selectionStart, field.selectionEnd];
  return () => {
    if (field.isConnected) return;
    const same = [...sheet.elements].find((other) => other.name === field.name && other.type === field.type);
    same?.focus({ preventScroll: true });
    if (same && from !== null) same.setSelectionRange?.(from, to);
  };
}

function apply(answer, before) {
  const goOn = place();
  document.getElementById('wrong')?.remove();
  const wrong = answer.getElementById('wrong');
  if (wrong) sheet.closest('.columns').before(document.adoptNode(wrong));
  take('media', answer, before);
  take('own', answer, before);
  sheet.dispatchEvent(new Event('input', { bubbles: true })); // the preview, what is hidden, and that it is not saved
  if (goOn) goOn();
  else if (document.activeElement === document.body) document.getElementById('files').focus({ preventScroll: true });
  return !wrong;
}

const names = (files) => files.map((file) => file.name).join(', ');

// show says what is under way, or what has just been done.
function show(success = '') {
  bar.hidden = !sending;
  choices.hidden = failed.length === 0;
  if (failed.length > 0) state.textContent = `Not uploaded: ${names(failed)}. ${reason} Try again, or discard the files to save without them.`;
  else if (sending) state.textContent = `Uploading ${names(waiting)}. ${after ? `“${after.textContent}” follows.` : 'You can keep writing.'}`;
  else state.textContent = success;
}

function add(files) {
  waiting.push(...files);
  show();
  if (!sending && waiting.length > 0) send();
}

function send() {
  sending = true;
  bar.value = 0;
  const batch = waiting.slice();
  show();
  const before = new Map();
  for (const id of ['media', 'own']) for (const [name, field] of fields(document.getElementById(id))) before.set(name, stateOf(field));
  const body = new FormData(sheet);
  body.delete('files');
  body.set('do', 'upload');
  for (const file of batch) body.append('files', file);
  const request = new XMLHttpRequest();
  request.upload.addEventListener('progress', (event) => { if (event.lengthComputable) bar.value = event.loaded / event.total; });
  request.addEventListener('error', () => done(batch, { reason: 'The connection broke.', files: batch }));
  request.addEventListener('load', () => {
    const answer = new DOMParser().parseFromString(request.responseText, 'text/html');
    const refusal = refusalOf(request, answer, batch);
    const accepted = answer.getElementById('compose') && apply(answer, before);
    done(batch, refusal, accepted);
  });
  request.open('POST', sheet.action);
  request.send(body);
}

// refusalOf returns the files that may be sent again, and why they were refused.
function refusalOf(request, answer, batch) {
  if (answer.getElementById('compose')) {
    if (request.status !== 429 && request.status !== 503) return { reason: '', files: [] };
    const reasons = [...answer.querySelectorAll('#wrong-files p')].map((p) => p.textContent.trim());
    const named = batch.filter((file) => reasons.some((text) => text.startsWith(`${file.name}: `)));
    return { reason: reasons.join(' '), files: named.length > 0 ? named : batch };
  }
  if (new URL(request.responseURL).pathname === '/sign-in') return { reason: 'You are signed out. Sign in again in another tab.', files: batch };
  return { reason: answer.querySelector('main .lead')?.textContent.trim() || 'The server did not accept them.', files: batch };
}

// done ends an upload. Files that could not be sent wait for a decision, and so does a button that was pressed.
function done(batch, refusal, accepted) {
  waiting.splice(0, batch.length);
  sending = false;
  failed.push(...refusal.files);
  reason = refusal.reason || reason;
  const button = after;
  after = null;
  if (waiting.length > 0) {
    after = accepted ? button : null;
    add([]);
    return;
  }
  show(accepted ? `Uploaded ${names(batch)}.` : '');
  if (button && accepted) press(button);
}

// press sends the form by a button, also by one that an answer has replaced.
function press(button) {
  if (!button.isConnected) {
    button.hidden = true;
    sheet.append(button);
  }
  sheet.requestSubmit(button);
}

sheet.addEventListener('change', (event) => {
  if (event.target.id !== 'files' || event.target.files.length === 0) return;
  const chosen = [...event.target.files];
  event.target.value = '';
  add(chosen);
});

// Any button waits for the files. Without chosen files the form is sent as text, so that a session that has ended is
// restored with it.
sheet.addEventListener('submit', (event) => {
  sheet.enctype = document.getElementById('files')?.files.length ? 'multipart/form-data' : 'application/x-www-form-urlencoded';
  if (!sending && failed.length === 0) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  after = event.submitter;
  show();
  if (!sending) add(failed.splice(0));
}, { capture: true });

const filesOf = (data) => [...data?.files ?? []];
document.addEventListener('dragover', (event) => {
  if (![...event.dataTransfer?.types ?? []].includes('Files')) return;
  event.preventDefault();
  document.getElementById('drop').classList.add('over');
});
document.addEventListener('dragleave', (event) => { if (!event.relatedTarget) document.getElementById('drop').classList.remove('over'); });
document.addEventListener('drop', (event) => {
  document.getElementById('drop').classList.remove('over');
  if (filesOf(event.dataTransfer).length === 0) return;
  event.preventDefault();
  add(filesOf(event.dataTransfer));
});
document.addEventListener('paste', (event) => {
  const files = filesOf(event.clipboardData);
  if (files.length === 0 || event.clipboardData.getData('text/plain')) return; // copied text has a picture of itself
  event.preventDefault();
  add(files);
});
addEventListener('beforeunload', (event) => { if (sending || failed.length > 0) event.preventDefault(); });
