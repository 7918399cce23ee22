// Replaces parts of the form with the server's response to a button. Without this script, the buttons reload the whole form.
'use strict';

const mediaParts = ['media', 'own', 'thread']; // the parts of the form that contain media
let turn = Promise.resolve(); // requests that change the form, one after another

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

// take replaces a part of the form with that of the response. It keeps input and selected accounts from after the
// request.
function take(id, answer, before) {
  const old = document.getElementById(id);
  const fresh = answer.getElementById(id);
  if (!old || !fresh) return;
  if (id === 'own') restTools();
  const into = fresh.querySelector('#into');
  for (const option of old.querySelectorAll('#into option')) {
    if (!into || option.value.startsWith('part-') || [...into.options].some((other) => other.value === option.value)) continue;
    into.add(option.cloneNode(true));
    into.parentElement.hidden = false;
  }
  const now = fields(old);
  for (const [name, field] of fields(fresh)) {
    const was = now.get(name);
    if (!was || 'follows' in was.dataset || (before.has(name) && stateOf(was) === before.get(name))) continue;
    if (isChoice(was)) field.checked = was.checked;
    else field.value = was.value;
  }
  const same = (details) => `details[data-account="${details.dataset.account}"]`;
  for (const details of fresh.querySelectorAll('details[data-account]')) details.open ||= Boolean(old.querySelector(`${same(details)}[open]`));
  if (id === 'media') fresh.querySelector('#library').open = false;
  const added = [...old.querySelectorAll('details[data-account]')].filter((details) => !fresh.querySelector(same(details)));
  const shown = old.matches(':popover-open');
  const library = old.querySelector('dialog:modal'); // keeps an open dialog
  if (library) fresh.querySelector('dialog').replaceWith(library);
  if (id === 'shelf' && appending) appendTo(old, fresh);
  old.replaceWith(document.adoptNode(fresh));
  if (shown) document.getElementById(id).showPopover();
  if (library) showLibrary();
  if (id === 'shelf') countPicked();
  added.forEach(insert);
}

let appending = false; // the answer has the next page of the library

// appendTo puts the items of the library that are shown before those of the next page.
function appendTo(old, fresh) {
  const list = fresh.querySelector('.picks');
  if (!list) return;
  const isItem = (field) => field.type === 'checkbox';
  const shown = [...old.querySelectorAll('.picks > li')];
  const values = new Set(shown.map((item) => item.querySelector('[name=picked]').value));
  for (const field of fresh.querySelectorAll('[name=picked]')) {
    if (values.has(field.value)) (isItem(field) ? field.closest('li') : field).remove();
  }
  list.prepend(...shown);
  fresh.querySelector('button[value=search]')?.remove();
}

// place returns a function that restores the focus after parts of the form were replaced, or null if no field has the
// focus.
function place() {
  const field = document.activeElement;
  if (!form.contains(field) || !field.matches('textarea, input:not([type=file]), select')) return null;
  const [from, to] = [field.selectionStart, field.selectionEnd];
  return () => {
    if (field.isConnected) {
      field.focus({ preventScroll: true });
      return;
    }
    const same = [...form.elements].find((other) => other.name === field.name && other.type === field.type);
    same?.focus({ preventScroll: true });
    if (same && from !== null) same.setSelectionRange?.(from, to);
  };
}

// statesOf returns the current values of the fields of parts of the form.
function statesOf(parts) {
  const out = new Map();
  for (const id of parts) for (const [name, field] of fields(document.getElementById(id))) out.set(name, stateOf(field));
  return out;
}

function apply(answer, before, parts) {
  const goOn = place();
  document.getElementById('error')?.remove();
  const formError = answer.getElementById('error');
  if (formError) form.before(document.adoptNode(formError));
  for (const id of parts) take(id, answer, before);
  if (parts.includes('when')) openTime(form.querySelector('#when [aria-invalid]'));
  form.dispatchEvent(new Event('input', { bubbles: true })); // updates the preview, hidden fields, and the unsaved state
  if (goOn) goOn();
  else if (document.activeElement === document.body) document.getElementById('files').focus({ preventScroll: true });
  return !formError;
}

// arranging returns the value of a button that moves or removes an item of a list of media, for the item's current
// position.
function arranging(what, item) {
  const { media, list } = item.dataset;
  return () => {
    const items = [...form.querySelectorAll(`li.file[data-list="${list}"]`)];
    return `${what}:${list}:${items.findIndex((other) => other.dataset.media === media)}`;
  };
}

// partOf returns what a button changes: a function for its value when its turn comes, the parts of the form, and a message.
// It returns nothing for a button that sends the form.
function partOf(button) {
  const value = button?.value ?? '';
  const item = button?.closest('li.file');
  switch (value.split(':')[0]) {
    case 'up':
    case 'down': return { value: arranging(value.split(':')[0], item), parts: mediaParts, said: translate('Moved.') };
    case 'remove': return { value: arranging('remove', item), parts: mediaParts, said: translate('Removed.') };
    case 'add': {
      const into = libraryList;
      libraryDialog().close();
      return { value: () => value, parts: mediaParts, into, said: translate('Added.') };
    }
    case 'search':
    case 'page': return { value: () => value, parts: ['shelf'], said: '' };
    case 'part':
      if (value !== 'part:add') return { value: () => value, parts: mediaParts, said: translate('Removed.') };
      return { value: () => value, parts: ['thread'], said: translate('Part added.'), focus: '#thread .thread-part:nth-last-child(1 of .thread-part) textarea' };
    case 'split': return { value: () => value, parts: mediaParts, said: translate('Split.'), focus: '#caption', splits: true };
    case 'free': return { value: () => value, parts: ['when'], said: '' };
    case 'check': return { value: () => value, parts: mediaParts, said: '' };
    default: return null;
  }
}

// changePart handles a button that changes only a part of the form. It returns false for other buttons.
function changePart(button) {
  const part = partOf(button);
  if (!part) return false;
  turn = turn.then(() => request(button, part));
  return true;
}

// changeOrder sends a new order of the fields to the server.
function changeOrder() {
  const button = form.querySelector('button[value=check]');
  turn = turn.then(() => request(button, { value: () => 'check', parts: mediaParts, said: translate('Moved.') }));
}

// haveChanged reports whether a field in the parts of the form has changed since their states were read.
function haveChanged(parts, before) {
  return [...statesOf(parts)].some(([name, state]) => before.get(name) !== state);
}

async function request(button, { value, parts, into, said, focus, splits }) {
  const text = caption.value;
  const before = statesOf(parts);
  const body = new URLSearchParams();
  for (const [name, content] of new FormData(form)) if (typeof content === 'string') body.append(name, content);
  body.set('do', value());
  if (into) body.set('into', into);
  try {
    const response = await fetch(form.action, { method: 'POST', body });
    const answer = new DOMParser().parseFromString(await response.text(), 'text/html');
    if (!answer.getElementById('compose')) { // such as the sign-in page, which gets the fields of the form
      sendWhole(button);
      return;
    }
    // The answer to a split has an older text, and the parts after a removed one have other names than before.
    if (splits && (caption.value !== text || haveChanged(parts, before))) {
      show(translate('The text has changed. Split it again.'));
      return;
    }
    if (body.get('do').startsWith('part:remove') && haveChanged(parts, before)) {
      show(translate('The text has changed. Remove the part again.'));
      return;
    }
    if (splits) caption.value = answer.getElementById('caption').value;
    const label = labelOf(button);
    const focused = button === document.activeElement;
    const cursor = answer.querySelector('input[name=cursor]');
    appending = body.get('do').startsWith('page:');
    const done = apply(answer, before, parts);
    if (cursor) form.elements.cursor.value = cursor.value;
    if (focused && focus) form.querySelector(focus)?.focus();
    else if (focused) findFocus(label, button);
    if (done) show(said);
  } catch {
    show(translate('Not done: offline. Try again.'));
  }
}

// findFocus restores the focus to a replaced button, or to a button next to it.
function findFocus(label, button) {
  const { media, list } = button.closest('li.file')?.dataset ?? {};
  const items = `li.file[data-list="${list}"]`;
  const same = [...form.querySelectorAll('button')].find((other) => !other.hidden && labelOf(other) === label)
    ?? (/^(up|down):/.test(button.value) ? form.querySelector(`${items}[data-media="${media}"] :is([value^="up:"], [value^="down:"])`) : null);
  const near = same ?? form.querySelector(`${items} [value^="remove:"]`);
  (near ?? document.querySelector('dialog:modal #q') ?? document.getElementById('files')).focus({ preventScroll: true });
}

let whole = false; // the form is sent as a whole

function sendWhole(button) {
  whole = true;
  if (!button.isConnected) {
    button.hidden = true;
    form.append(button);
  }
  form.requestSubmit(button);
}
