// Uploads files one by one, each as the body of a request, and shows their progress. Without this script, the page's form
// uploads them.
'use strict';

const atOnce = 2;
const drop = document.getElementById('drop');
const queue = [];
const told = { begun: 0, arrived: 0, failed: 0 };
let active = 0;

function begin(files) {
  for (const file of files) {
    told.begun++;
    queue.push({ file, row: addRow(file.name) });
  }
  sum();
  next();
}

function addRow(name) {
  const row = document.createElement('li');
  row.className = 'upload';
  const head = document.createElement('div');
  head.className = 'row';
  const title = document.createElement('strong');
  title.textContent = name.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, ''); // as the library shows it
  const state = document.createElement('span');
  state.className = 'faint state';
  state.textContent = translate('Waiting');
  head.append(title, state);
  const bar = document.createElement('progress');
  bar.max = 100;
  bar.value = 0;
  bar.setAttribute('aria-label', name);
  row.append(head, bar);
  document.getElementById('uploads').append(row);
  return {
    show(percent, text) { bar.value = percent; state.textContent = text; },
    fail(text) { row.classList.add('failed'); bar.remove(); state.textContent = text; },
  };
}

function next() {
  while (active < atOnce && queue.length > 0) {
    active++;
    send(queue.shift()).then((arrived) => {
      active--;
      told[arrived ? 'arrived' : 'failed']++;
      sum();
      next();
      return refresh();
    });
  }
}

// send reports whether the file was accepted.
function send({ file, row }) {
  if (file.size > Number(drop.dataset.max)) {
    row.fail(translate('The file is larger than the limit.'));
    return Promise.resolve(false);
  }
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    const fail = (text) => { row.fail(text); resolve(false); };
    request.open('POST', drop.getAttribute('action') + '?name=' + encodeURIComponent(file.name));
    request.setRequestHeader('Content-Type', file.type || 'application/octet-stream');
    request.upload.onprogress = (event) => {
      const percent = event.total ? Math.floor(event.loaded / event.total * 100) : 0;
      row.show(percent, percent < 100 ? percent + '%' : translate('Checking…'));
    };
    request.onerror = () => fail(translate('The connection was lost. Choose the file again.'));
    request.onload = () => {
      const answer = parse(request.responseText);
      if (request.status !== 200) {
        fail(answer.detail || translate('The file was not accepted. Try again in a moment.'));
        return;
      }
      row.show(100, answer.already_in_library ? translate('Already in the library') : translate('Uploaded'));
      resolve(true);
    };
    request.send(file);
  });
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function sum() {
  document.getElementById('said').textContent = told.failed
    ? translate('%s of %s uploaded, %s rejected.', told.arrived, told.begun, told.failed)
    : translate('%s of %s uploaded.', told.arrived, told.begun);
}

// refresh updates the parts that have changed on the server, except fields that are being edited.
async function refresh() {
  const response = await fetch(location.href).catch(() => null);
  if (!response || !response.ok || response.redirected) return;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  if (page.getElementById('closed') && drop.isConnected) {
    drop.replaceWith(page.getElementById('closed'));
    document.getElementById('end').remove();
  }
  const fresh = page.getElementById('files');
  const shown = document.getElementById('files');
  const rows = [...shown.querySelectorAll('.file')];
  [...fresh.querySelectorAll('.file')].forEach((row, i) => {
    if (rows[i] && rows[i].dataset.state === row.dataset.state) row.replaceWith(rows[i]);
  });
  const focused = document.activeElement;
  shown.replaceChildren(...fresh.childNodes);
  prepare(shown);
  if (focused && focused.isConnected) focused.focus();
}

// prepare removes the elements for browsers without scripts.
function prepare(within) {
  for (const plain of within.querySelectorAll('[data-plain]')) plain.hidden = true;
  for (const scripted of within.querySelectorAll('[data-scripted]')) scripted.hidden = false;
}

async function save(form) {
  const said = form.querySelector('.saved');
  said.classList.remove('failed');
  said.textContent = translate('Saving …');
  const response = await fetch(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form)), headers: { Accept: 'application/json' } }).catch(() => null);
  const kept = response !== null && response.status === 204;
  said.classList.toggle('failed', !kept);
  said.textContent = kept ? translate('Saved') : (response && parse(await response.text()).detail) || translate('Not saved. Try again in a moment.');
}

document.addEventListener('change', (event) => {
  const form = event.target.closest('.describe');
  if (form) save(form);
});
document.addEventListener('submit', (event) => {
  if (!event.target.matches('.describe')) return;
  event.preventDefault();
  save(event.target);
});

if (drop) {
  const choose = document.getElementById('choose');
  drop.classList.add('scripted');
  const chosen = () => {
    begin([...choose.files]);
    choose.value = '';
  };
  choose.addEventListener('change', chosen);
  if (choose.files.length > 0) chosen(); // files were chosen before this script ran
  // The whole page accepts drops, because the browser would open a file dropped beside the area.
  document.addEventListener('dragover', (event) => { event.preventDefault(); drop.classList.add('over'); });
  document.addEventListener('dragleave', (event) => { if (!event.relatedTarget) drop.classList.remove('over'); });
  document.addEventListener('drop', (event) => {
    event.preventDefault();
    drop.classList.remove('over');
    begin([...event.dataTransfer.files]);
  });
  window.addEventListener('beforeunload', (event) => { if (active > 0) event.preventDefault(); });
}
prepare(document);
