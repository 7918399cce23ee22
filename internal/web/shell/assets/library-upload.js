// Uploads files that are chosen, dropped or pasted in the media library or on its page to add files, and shows their
// progress. Without this script, files are uploaded on a separate page. In the library, library.js, which shows the new
// files, must be loaded first.
'use strict';

const target = document.getElementById('media-drop');
const adding = 'add' in target.dataset; // on the page to add files
const files = document.getElementById('media-files');
const atOnce = 2;
const queue = []; // tiles of files that wait
let active = 0;
let batch = null; // a promise of the open upload, which all files of a drop share

const status = document.createElement('p');
status.className = 'sr';
status.setAttribute('role', 'status');
const tiles = document.createElement('ul');
tiles.className = 'media-grid';
tiles.id = 'uploading';
tiles.setAttribute('aria-label', translate('Uploads'));
const frame = document.createElement('p');
frame.className = 'drop-here';
frame.hidden = true;
frame.textContent = target.dataset.text;
document.getElementById('media-found').before(status, tiles);
target.before(frame);

const parse = (text) => new DOMParser().parseFromString(text, 'text/html');
const fields = (form) => new URLSearchParams(new FormData(form));

// folder returns the folder for new files.
const folder = () => (adding ? target.elements.folder?.value : target.dataset.folder) || '0';

// open opens an upload like the page for adding files. It returns the address for files and their maximum size.
async function open() {
  const add = await fetch('/media/add');
  const form = parse(await add.text()).querySelector('form[action="/media/uploads"]');
  if (!form) throw new Error(translate('You are signed out, or your role has changed. Reload the page.'));
  const body = fields(form);
  body.set('folder', folder());
  const answer = await fetch(form.getAttribute('action'), { method: 'POST', body });
  const page = parse(await answer.text());
  const drop = page.getElementById('drop');
  if (!drop) throw new Error(page.querySelector('#error, #reason')?.textContent.trim() || translate('The upload could not be opened. Try again in a moment.'));
  return { path: drop.getAttribute('action'), max: Number(drop.dataset.max), end: page.getElementById('end') };
}

// close ends an upload, so that it does not count as open.
const close = ({ end }) => fetch(end.getAttribute('action'), { method: 'POST', body: fields(end) });

function button(text, act) {
  const made = document.createElement('button');
  made.type = 'button';
  made.className = 'quiet';
  made.textContent = text;
  made.addEventListener('click', act);
  return made;
}

// tile shows a file that waits.
function tile(file) {
  const row = document.createElement('li');
  row.className = 'media-tile';
  const name = document.createElement('bdi');
  name.className = 'clip';
  name.textContent = file.name.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, ''); // as the library shows it
  const bar = document.createElement('progress');
  bar.max = 100;
  bar.value = 0;
  bar.setAttribute('aria-label', file.name);
  const state = document.createElement('p');
  state.className = 'faint';
  state.textContent = translate('Waiting');
  row.append(name, bar, state);
  tiles.append(row);
  return {
    file,
    show(percent, text) { bar.value = percent; state.textContent = text; },
    remove() { row.remove(); },
    fail(text) {
      row.classList.add('failed');
      bar.hidden = true;
      state.textContent = text;
      state.setAttribute('role', 'alert');
      const choices = document.createElement('p');
      choices.className = 'actions';
      choices.append(button(translate('Try again'), () => { row.remove(); add([file]); }), button(translate('Dismiss'), () => row.remove()));
      row.append(choices);
    },
  };
}

// send sends a file and returns whether it is in the library.
async function send(one) {
  let to = null;
  try {
    to = await (batch ??= open());
  } catch (error) {
    batch = null;
    one.fail(error instanceof TypeError ? translate('The connection was lost.') : error.message);
    return false;
  }
  if (one.file.size > to.max) {
    one.fail(translate('The file is larger than the limit.'));
    return false;
  }
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    const fail = (text) => { one.fail(text); resolve(false); };
    request.open('POST', `${to.path}?name=${encodeURIComponent(one.file.name)}`);
    request.setRequestHeader('Content-Type', one.file.type || 'application/octet-stream');
    request.upload.onprogress = (event) => {
      const percent = event.total ? Math.floor(event.loaded / event.total * 100) : 0;
      one.show(percent, percent < 100 ? `${percent}%` : translate('Processing'));
    };
    request.onerror = () => fail(translate('The connection was lost.'));
    request.onload = () => {
      if (request.status === 200) {
        one.show(100, translate('Uploaded'));
        resolve(true);
        return;
      }
      let detail = '';
      try {
        ({ detail } = JSON.parse(request.responseText));
      } catch { /* a response of a proxy */ }
      fail(detail || translate('It was not uploaded. Try again in a moment.'));
    };
    request.send(one.file);
  });
}

// next sends files that wait. After the last file, the page shows the added files.
async function next() {
  while (active < atOnce && queue.length > 0) {
    active++;
    void work(queue.shift());
  }
}

const done = []; // tiles of files that were added and are not shown yet

async function work(one) {
  if (await send(one)) done.push(one);
  active--;
  if (queue.length > 0 || active > 0) {
    void next();
    return;
  }
  const open = batch;
  batch = null; // files that are dropped later open another one
  if (open) await open.then(close).catch(() => {}); // it closes by itself after an hour
  const added = done.splice(0);
  if (added.length > 0) {
    status.textContent = translateCount(added.length, '%d file was added.', '%d files were added.');
    if (adding) leave();
    else await show(location.pathname + location.search);
  }
  for (const shown of added) shown.remove();
  if (queue.length > 0) void next(); // files were dropped in the meantime
}

// leave opens the library with the new files, unless others wait or need a decision.
function leave() {
  if (queue.length > 0 || tiles.querySelector('.failed')) return;
  location.assign(folder() === '0' ? '/media' : `/media?folder=${folder()}`);
}

function add(list) {
  queue.push(...list.map(tile));
  if (active < atOnce) void next();
}

const filesOf = (data) => [...data?.files ?? []];
document.addEventListener('dragover', (event) => {
  if (![...event.dataTransfer?.types ?? []].includes('Files')) return;
  event.preventDefault();
  frame.hidden = false;
});
document.addEventListener('dragleave', (event) => { if (!event.relatedTarget) frame.hidden = true; });
document.addEventListener('drop', (event) => {
  frame.hidden = true;
  if (filesOf(event.dataTransfer).length === 0) return;
  event.preventDefault();
  add(filesOf(event.dataTransfer));
});
document.addEventListener('paste', (event) => {
  const pasted = filesOf(event.clipboardData);
  if (pasted.length === 0 || event.clipboardData.getData('text/plain')) return; // some programs add an image to copied text
  event.preventDefault();
  add(pasted);
});
if (adding) {
  const into = document.getElementById('add-into');
  into?.querySelector('button').remove();
  into?.addEventListener('change', () => {
    for (const field of document.querySelectorAll('input[name=folder]')) field.value = into.elements.folder.value;
  });
  for (const part of target.querySelectorAll('[data-scripted]')) part.hidden = false;
  target.addEventListener('submit', (event) => {
    event.preventDefault();
    files.click();
  });
  files.addEventListener('change', () => {
    add([...files.files]);
    files.value = '';
  });
}
addEventListener('beforeunload', (event) => { if (active > 0 || queue.length > 0) event.preventDefault(); });
