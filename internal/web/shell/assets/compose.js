// Updates the preview shortly after each change, and gives each selected account a tab with its own version. Without this
// script, the button Check shows the preview, and the versions are listed below the text.
'use strict';

const form = document.getElementById('compose');
const caption = document.getElementById('caption');
const looks = document.getElementById('looks');
const told = document.getElementById('told');
const own = () => document.getElementById('own'); // replaced after an upload
const pause = 300; // milliseconds without a change
let timer = 0;
let asked = null;

const chosen = () => [...form.querySelectorAll('input[name=account]:checked')].map((box) => box.value);
const ownOf = (account) => own()?.querySelector(`details[data-account="${account}"]`);

async function look() {
  asked?.abort();
  asked = new AbortController();
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') body.append(name, value);
  for (const account of chosen()) if (own() && !ownOf(account)) body.append('fresh', account);
  try {
    const answer = await fetch(looks.dataset.from, { method: 'POST', body, signal: asked.signal });
    if (!answer.ok || answer.redirected) {
      told.textContent = translate('The preview is not available. Save the post to see why.');
      return;
    }
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    welcome(page.getElementById('fresh'));
    for (const part of ['twice', 'moment', 'zone', 'next']) put(page.getElementById(part));
    put(page.getElementById('creators'));
    put(page.getElementById('tallies'));
    put(page.getElementById('thread-offer'));
    putNoThreads(page.getElementById('no-threads'));
    for (const part of page.querySelectorAll('[id^="length-"]')) put(part);
    put(page.getElementById('split-offer'));
    put(page.getElementById('voice-check'));
    follow();
    const open = new Set([...looks.querySelectorAll('details[open]')].map(nameOf));
    keepMedia(page);
    looks.replaceChildren(...page.body.childNodes);
    placeProblems();
    markProblems();
    for (const details of looks.querySelectorAll('details')) details.open = open.has(nameOf(details));
    const verdicts = [document.getElementById('verdict'), document.querySelector('#voice-check .warned')];
    const verdict = verdicts.map((part) => part?.textContent.trim() ?? '').join(' ').trim();
    if (told.textContent !== verdict) told.textContent = verdict;
  } catch (error) {
    if (error.name !== 'AbortError') told.textContent = translate('The preview is not available right now.');
  }
}

// keepMedia moves the displayed images and videos into the new preview, so that they do not flicker and are not reloaded.
function keepMedia(page) {
  const shown = new Map();
  for (const media of looks.querySelectorAll('img, video')) shown.set(media.src, [...shown.get(media.src) ?? [], media]);
  for (const media of page.querySelectorAll('img, video')) {
    const same = shown.get(media.src)?.shift();
    if (same?.alt === media.alt) media.replaceWith(same);
  }
}

// placeProblems shows the problems that block publishing at the fields that correct them. A problem whose field is not visible
// stays in the preview.
function placeProblems() {
  for (const list of form.querySelectorAll('.near')) list.replaceChildren();
  for (const item of looks.querySelectorAll('.look li[data-field]')) {
    const preview = item.closest('.look');
    const account = preview.id.replace('look-', '');
    const list = item.dataset.field === 'thread' ? null : nearField(item.dataset.field, account);
    if (item.dataset.field === 'thread') { // one sentence names all networks
      item.hidden = true;
      continue;
    }
    if (list && version && version !== account) { // belongs to another tab
      item.hidden = false;
      continue;
    }
    const text = item.textContent.trim();
    item.hidden = Boolean(list);
    for (const told of document.querySelectorAll(`#error-${item.dataset.field} p`)) if (told.textContent.endsWith(text)) told.remove();
    if (!list || [...list.children].some((other) => other.textContent.trim() === text)) continue;
    const near = item.cloneNode(true);
    near.hidden = false;
    near.removeAttribute('data-field');
    near.textContent = text; // the link leads here
    const logo = preview.querySelector('.net');
    if (logo) near.prepend(logo.cloneNode(true));
    list.append(near);
  }
  const shown = new Set([...form.querySelectorAll('[id^="error-"] p')].map((told) => told.textContent.trim()));
  for (const reason of looks.querySelectorAll(':scope > .reason')) reason.hidden = shown.has(reason.textContent.trim());
}

// nearField returns the list of an account's problems next to a field, or null if the field is not visible.
function nearField(name, account) {
  const field = name === 'caption' && version === account ? versionText(ownOf(version)) : document.getElementById(name);
  const into = name === 'media' ? field : field?.parentElement;
  if (name === 'accounts' || !into?.checkVisibility()) return null;
  const id = `near-${field.id}`;
  let list = document.getElementById(id);
  if (!list) {
    list = document.createElement('ul');
    list.id = id;
    list.className = 'near';
    into.append(list);
    field.setAttribute('aria-describedby', `${field.getAttribute('aria-describedby') ?? ''} ${id}`.trim());
  }
  return list;
}

const nameOf = (details) => details.closest('section')?.getAttribute('aria-label') + details.className;

// welcome adds the versions of newly selected accounts.
function welcome(fresh) {
  if (!fresh) return;
  fresh.remove();
  for (const details of [...fresh.children]) {
    if (ownOf(details.dataset.account)) continue;
    insert(details);
    const into = document.getElementById('into');
    if (into && ![...into.options].some((o) => o.value === details.dataset.account)) {
      into.add(new Option(details.dataset.only, details.dataset.account));
      into.parentElement.hidden = false;
    }
  }
}

// insert adds an account's version to the form. The version replaces the hidden fields with its content. The form has
// one field for each medium's alt text.
function insert(details) {
  const names = new Set([...details.querySelectorAll('[name]')].map((field) => field.name));
  for (const name of ['text', 'notext', 'title', 'notitle', 'media', 'nomedia']) names.add(`${name}-${details.dataset.account}`);
  for (const kept of own().querySelectorAll(':scope > input[type=hidden]')) if (names.has(kept.name)) kept.remove();
  for (const field of details.querySelectorAll('[name^="alt-"], [name^="cover-"]')) {
    if (form.elements[field.name]) for (const part of [...field.labels, field]) part.remove();
  }
  own().insertBefore(details, own().querySelector(':scope > [data-by-hand]'));
}

// put replaces a part of the page if it has changed, such as the choice between two equal times when clocks change.
function put(part) {
  if (!part) return;
  part.remove();
  const here = document.getElementById(part.id);
  if (here && here.outerHTML !== part.outerHTML && here.textContent !== part.textContent) here.replaceWith(part);
}

// putNoThreads replaces the sentence about networks without threads and the same error of a sent form.
function putNoThreads(part) {
  document.getElementById('error-thread')?.remove();
  if (part && !document.getElementById('no-threads')) document.getElementById('thread-offer')?.before(part.cloneNode());
  put(part);
}

// follow shows the parts that match the selection.
function follow() {
  for (const plain of form.querySelectorAll('[data-by-hand]')) plain.hidden = true;
  for (const scripted of form.querySelectorAll('[data-scripted]')) scripted.hidden = false;
  document.getElementById('drop').classList.add('scripted');
  showVersions();
  placeProblems();
  limit();
  const all = form.querySelector('input[name=account]:not(:checked)') === null;
  for (const button of form.querySelectorAll('[data-select]')) button.hidden = (button.dataset.select === 'all') === all;
  const often = document.getElementById('often');
  for (const part of form.querySelectorAll('[data-for]')) part.hidden = part.dataset.for === 'rule' ? !often?.value : part.dataset.for !== often?.value;
  for (const unit of form.querySelectorAll('[data-singular]')) {
    unit.dataset.plural ??= unit.textContent;
    const text = document.getElementById('every').value === '1' ? unit.dataset.singular : unit.dataset.plural;
    if (unit.textContent !== text) unit.textContent = text;
  }
  for (const [field, ends] of [['until', 'until'], ['times', 'count']]) {
    const input = document.getElementById(field);
    if (input) input.parentElement.hidden = form.querySelector('input[name=ends]:checked')?.value !== ends;
  }
}

// limit disables options of TikTok that the settings of a selected account do not allow, or that images cannot have, except
// chosen options.
function limit() {
  const off = new Set([...form.querySelectorAll('#creators [data-off]')].flatMap((part) => part.dataset.off.split(' ')));
  for (const option of form.querySelectorAll('[data-limited]')) {
    option.disabled = off.has(option.dataset.limited) && !(option.selected || option.checked);
  }
  const images = form.querySelector('#media li.file img') && !form.querySelector('#media li.file .thumb > svg.i');
  for (const box of form.querySelectorAll('[data-video]')) box.disabled = box.disabled && 'limited' in box.dataset || Boolean(images) && !box.checked;
}

// An opened card of options is shown above the bar.
for (const card of form.querySelectorAll('.option-card')) {
  card.addEventListener('toggle', () => {
    if (card.open && card.contains(document.activeElement)) card.scrollIntoView({ block: 'nearest' });
  });
  card.addEventListener('change', () => requestAnimationFrame(() => card.scrollIntoView({ block: 'nearest' })));
}

let weekdayOfDate = ''; // the weekday that was selected because of the date

// selectWeekday selects the weekday of the date for a weekly post, unless the person has selected weekdays.
function selectWeekday(event) {
  const [often, date] = [document.getElementById('often'), document.getElementById('date')];
  if (![often, date].includes(event.target) || often?.value !== 'weekly' || !date?.value) return;
  const days = [...form.querySelectorAll('input[name=day]')];
  const selected = days.filter((day) => day.checked).map((day) => day.value).join(' ');
  if (selected !== '' && selected !== weekdayOfDate) return;
  weekdayOfDate = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'][new Date(`${date.value}T00:00:00Z`).getUTCDay()];
  for (const day of days) day.checked = day.value === weekdayOfDate;
}

let loaded = false; // whether the other scripts have run
let early; // the last input before

document.addEventListener('DOMContentLoaded', () => {
  loaded = true;
  if (early) later(early);
});

function later(event) {
  if (!loaded) {
    early = event;
    return;
  }
  selectWeekday(event);
  follow();
  clearTimeout(timer);
  timer = setTimeout(look, event.target.name === 'account' ? 0 : pause);
}

form.addEventListener('input', later);
form.addEventListener('change', later);

// Enter in the search field searches; elsewhere it checks the post.
form.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.target.id !== 'q') return;
  event.preventDefault();
  form.querySelector('button[value="search"]').click();
});

for (const button of form.querySelectorAll('[data-select]')) {
  button.addEventListener('click', () => {
    for (const box of form.querySelectorAll('input[name=account]')) box.checked = button.dataset.select === 'all';
    form.querySelector('input[name=account]').dispatchEvent(new Event('change', { bubbles: true }));
  });
}
