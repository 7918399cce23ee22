// Uploads files as soon as they are chosen, dropped or pasted, while the person continues to write. Without this script, the
// form sends the files with every button.
'use strict';

const waiting = []; // files to upload; the first is being uploaded
const lists = new WeakMap(); // the list of media that a file is for, such as part-1, if not that of the shown version
const failed = []; // files that could not be sent
let reason = ''; // why they could not be sent
let sending = false;
let after = null; // the button that was pressed during the upload

// report is outside of the parts that responses replace.
const report = document.createElement('div');
report.className = 'upload-state';
const bar = document.createElement('progress');
bar.max = 1;
bar.hidden = true;
bar.setAttribute('aria-label', translate('Upload'));
const state = document.createElement('p');
state.setAttribute('role', 'status');
const choices = document.createElement('p');
choices.className = 'actions';
choices.hidden = true;
for (const [text, act] of [[translate('Try again'), () => add(failed.splice(0))], [translate('Discard'), () => { failed.length = 0; show(); }]]) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'quiet';
  button.textContent = text;
  button.addEventListener('click', act);
  choices.append(button);
}
report.append(bar, state, choices);
document.getElementById('media').after(report);

const names = (files) => files.map((file) => file.name).join(', ');

const shownFor = 6000; // milliseconds
let clearing = 0;

// show displays the current or last upload. A success is displayed for a while.
function show(success = '') {
  clearTimeout(clearing);
  if (success) clearing = setTimeout(show, shownFor);
  bar.hidden = !sending;
  choices.hidden = failed.length === 0;
  if (failed.length > 0) state.textContent = translate('Not uploaded: %s. %s Try again, or discard the files to save without them.', names(failed), reason);
  else if (sending) state.textContent = after ? translate('Uploading %s. “%s” is next.', names(waiting), labelOf(after)) : translate('Uploading %s. You can keep writing.', names(waiting));
  else state.textContent = success;
  state.classList.toggle('toast', success !== '' && state.textContent === success);
}

function add(files, list) {
  waiting.push(...files);
  if (list) for (const file of files) lists.set(file, list);
  show();
  if (sending || waiting.length === 0) return;
  sending = true;
  turn = turn.then(send);
}

function send() {
  bar.value = 0;
  const list = lists.get(waiting[0]);
  const others = waiting.findIndex((file) => lists.get(file) !== list);
  const batch = waiting.slice(0, others < 0 ? waiting.length : others);
  document.getElementById(list ? 'thread' : 'media').after(report);
  show();
  const before = statesOf(mediaParts);
  const body = new FormData(form);
  body.delete('files');
  body.set('do', 'upload');
  if (list) body.set('into', list);
  for (const file of batch) body.append('files', file);
  const request = new XMLHttpRequest();
  request.upload.addEventListener('progress', (event) => { if (event.lengthComputable) bar.value = event.loaded / event.total; });
  request.addEventListener('error', () => done(batch, { reason: translate('The connection was lost.'), files: batch }));
  request.addEventListener('load', () => {
    const answer = new DOMParser().parseFromString(request.responseText, 'text/html');
    const rejection = rejectionOf(request, answer, batch);
    const accepted = answer.getElementById('compose') && apply(answer, before, mediaParts);
    done(batch, rejection, accepted);
  });
  request.open('POST', form.action);
  request.send(body);
}

// rejectionOf returns the files that can be retried, and why they were rejected.
function rejectionOf(request, answer, batch) {
  if (answer.getElementById('compose')) {
    if (request.status !== 429 && request.status !== 503) return { reason: '', files: [] };
    const reasons = [...answer.querySelectorAll('#error-files p')].map((p) => p.textContent.trim());
    const named = batch.filter((file) => reasons.some((text) => text.startsWith(`${file.name}: `)));
    return { reason: reasons.join(' '), files: named.length > 0 ? named : batch };
  }
  if (new URL(request.responseURL).pathname === '/sign-in') return { reason: translate('You are signed out. Sign in again in another tab.'), files: batch };
  return { reason: answer.querySelector('#reason')?.textContent.trim() || translate('The server did not accept them.'), files: batch };
}

// done ends an upload. Files that could not be sent wait for a decision, and so does a button that was pressed.
function done(batch, rejection, accepted) {
  waiting.splice(0, batch.length);
  sending = false;
  failed.push(...rejection.files);
  reason = rejection.reason || reason;
  const button = after;
  after = null;
  if (waiting.length > 0) {
    after = accepted ? button : null;
    add([]);
    return;
  }
  show(accepted ? translate('Uploaded %s.', names(batch)) : '');
  if (button && accepted) press(button);
}

// press submits the form with a button, even if a response has replaced the button.
function press(button) {
  if (!changePart(button)) sendWhole(button);
}

form.addEventListener('change', (event) => {
  const { filesFor } = event.target.dataset;
  if ((event.target.id !== 'files' && !filesFor) || event.target.files.length === 0) return;
  const chosen = [...event.target.files];
  event.target.value = '';
  add(chosen, filesFor);
});

const labelOf = (button) => button.getAttribute('aria-label') || button.textContent.trim();

// Any button waits for the files. Those that change a part of the form then do so without a new page. Without chosen files the form is sent as text, so that a session that has ended is
// restored with it.
form.addEventListener('submit', (event) => {
  form.enctype = document.getElementById('files')?.files.length ? 'multipart/form-data' : 'application/x-www-form-urlencoded';
  if (!sending && failed.length === 0) {
    if (!whole && changePart(event.submitter)) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
    return;
  }
  event.preventDefault();
  event.stopImmediatePropagation();
  after = event.submitter;
  show();
  if (!sending) add(failed.splice(0));
}, { capture: true });

const filesOf = (data) => [...data?.files ?? []];
const partAt = (element) => element?.closest?.('.thread-part'); // files dropped on or pasted into a part are for that part
const markDrop = (target) => {
  for (const marked of document.querySelectorAll('.drop.over')) if (marked !== target) marked.classList.remove('over');
  target?.classList.add('over');
};
document.addEventListener('dragover', (event) => {
  if (![...event.dataTransfer?.types ?? []].includes('Files')) return;
  event.preventDefault();
  markDrop(partAt(event.target)?.querySelector('.drop') ?? document.getElementById('drop'));
});
document.addEventListener('dragleave', (event) => { if (!event.relatedTarget) markDrop(null); });
document.addEventListener('drop', (event) => {
  markDrop(null);
  if (filesOf(event.dataTransfer).length === 0) return;
  event.preventDefault();
  add(filesOf(event.dataTransfer), partAt(event.target)?.dataset.list);
});
document.addEventListener('paste', (event) => {
  const files = filesOf(event.clipboardData);
  if (files.length === 0 || event.clipboardData.getData('text/plain')) return; // some programs add an image to copied text
  event.preventDefault();
  add(files, partAt(event.target)?.dataset.list);
});
addEventListener('beforeunload', (event) => { if (sending || failed.length > 0) event.preventDefault(); });
