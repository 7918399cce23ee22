// Adds hashtags of the team's lists to the text that is shown, from the lists themselves or while a hashtag is typed.
'use strict';

const hashtagButton = document.getElementById('hashtags-button');
const hashtagPanel = document.getElementById('hashtags');
const offers = document.createElement('ul');
offers.id = 'hashtag-offers';
offers.className = 'offered';
offers.setAttribute('role', 'listbox');
offers.setAttribute('aria-label', translate('Hashtags'));
const mostOffered = 6;
let hashtagsLoaded = null; // promise of the lists; null until they are needed

// hashtagLists returns the elements of the team's lists.
function hashtagLists() {
  hashtagsLoaded ??= fetch('/posts/hashtags').then(async (answer) => {
    if (!answer.ok || answer.redirected) throw new Error('not available');
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    hashtagPanel.replaceChildren(...page.body.childNodes);
    return hashtagPanel;
  }).catch(() => {
    hashtagsLoaded = null; // the next attempt may succeed
    hashtagPanel.textContent = translate('The hashtag lists are not available right now.');
    return hashtagPanel;
  });
  return hashtagsLoaded;
}

const textShown = () => (version ? versionText(ownOf(version)) : caption);
const isText = (field) => field === caption || field?.matches?.('#own textarea[name^="text-"]');
const hashtagsIn = (text) => new Set(text.toLowerCase().match(/#[\p{L}\p{N}_]+/gu) ?? []);

// write replaces a part of a text, as typing does.
function write(field, text, from, to) {
  field.setRangeText(text, from, to, 'end');
  field.dispatchEvent(new Event('input', { bubbles: true }));
}

// addHashtags inserts the hashtags that the text lacks at the cursor.
function addHashtags(hashtags) {
  const field = textShown();
  const had = hashtagsIn(field.value);
  const added = hashtags.filter((hashtag) => !had.has(hashtag.toLowerCase()));
  if (added.length === 0) return;
  const at = field.selectionEnd;
  const before = field.value.slice(0, at);
  const space = before && !/\s$/.test(before) ? ' ' : '';
  write(field, `${space}${added.join(' ')}${/^\s/.test(field.value.slice(at)) ? '' : ' '}`, at, at);
}

hashtagButton.addEventListener('click', async () => {
  const open = hashtagPanel.hidden;
  hashtagPanel.hidden = !open;
  hashtagButton.setAttribute('aria-expanded', String(open));
  if (!open) return;
  await hashtagLists();
  arrangeLists();
  document.getElementById('hashtag-search')?.focus();
});

const recentKey = 'pressroom hashtag lists';
const recentLists = () => JSON.parse(localStorage.getItem(recentKey) ?? '[]');
const listsIn = () => [...hashtagPanel.querySelectorAll('[data-list]')];
const hashtagsOf = (list) => [...list.querySelectorAll('[data-hashtag]')].map((one) => one.textContent.toLowerCase());

// useList remembers a list as the last one used.
function useList(list) {
  const id = list?.dataset.list;
  if (id) localStorage.setItem(recentKey, JSON.stringify([id, ...recentLists().filter((other) => other !== id)].slice(0, 5)));
}

// arrangeLists puts the lists that match the text first, then those used last, then the team's.
function arrangeLists() {
  const words = new Set(textShown().value.toLowerCase().match(/[\p{L}\p{N}_]{4,}/gu) ?? []);
  const recent = recentLists();
  const rank = (list) => {
    const names = list.querySelector('summary bdi').textContent.toLowerCase().match(/[\p{L}\p{N}_]{4,}/gu) ?? [];
    if ([...names, ...hashtagsOf(list).map((one) => one.slice(1))].some((word) => words.has(word))) return 0;
    const at = recent.indexOf(list.dataset.list);
    if (at >= 0) return 1 + at;
    return 'own' in list.dataset ? 10 : 11;
  };
  const found = hashtagPanel.querySelector('.found');
  if (!found) return; // the lists are not available
  const ranked = listsIn().map((list) => [rank(list), list]).sort(([a], [b]) => a - b);
  const category = found.querySelector('.category');
  for (const [place, list] of ranked) {
    if (place < 11 && category) category.before(list);
    else found.append(list);
  }
  found.append(found.querySelector('.none'));
  ranked.forEach(([, list], i) => { list.open = i === 0; });
}

// findLists shows the lists whose name or hashtags contain a text.
function findLists(text) {
  const query = text.trim().toLowerCase().replace(/^#/, '');
  let found = 0;
  for (const list of listsIn()) {
    const named = list.querySelector('summary bdi').textContent.toLowerCase().includes(query);
    const tags = [...list.querySelectorAll('[data-hashtag]')];
    for (const tag of tags) tag.hidden = !named && !tag.textContent.toLowerCase().includes(query);
    list.hidden = !named && tags.every((tag) => tag.hidden);
    if (!list.hidden) found += 1;
    list.open = query ? !list.hidden && found <= 3 : list === listsIn()[0];
  }
  hashtagPanel.querySelector('.none').hidden = found > 0;
  const category = hashtagPanel.querySelector('.category');
  if (category) category.hidden = Boolean(query);
}
hashtagPanel.addEventListener('input', (event) => {
  event.stopPropagation(); // it is not a part of the post
  if (event.target.id === 'hashtag-search') findLists(event.target.value);
});
hashtagPanel.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && event.target.id === 'hashtag-search') event.preventDefault();
});

function hideHashtags() {
  hashtagPanel.hidden = true;
  hashtagButton.setAttribute('aria-expanded', 'false');
}

document.addEventListener('click', (event) => {
  const inside = event.composedPath().some((part) => part === hashtagPanel || part === hashtagButton);
  if (!inside) hideHashtags();
});
hashtagPanel.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return;
  hideHashtags();
  hashtagButton.focus();
});
hashtagPanel.addEventListener('click', (event) => {
  const button = event.target.closest('button');
  if (!button) return;
  useList(button.closest('[data-list]'));
  if ('hashtag' in button.dataset) addHashtags([button.textContent]);
  else addHashtags([...button.parentElement.querySelectorAll('[data-hashtag]')].slice(0, button.dataset.add).map((one) => one.textContent));
});

// begun returns the hashtag being typed in a field, or nothing.
function begun(field) {
  if (field.selectionStart !== field.selectionEnd) return null;
  return field.value.slice(0, field.selectionStart).match(/(?<=^|\s)#[\p{L}\p{N}_]*$/u)?.[0] ?? null;
}

async function offer(field) {
  if (begun(field) === null) {
    closeOffers();
    return;
  }
  const lists = await hashtagLists();
  const prefix = begun(field)?.toLowerCase();
  if (prefix === undefined || document.activeElement !== field) return;
  const had = hashtagsIn(field.value);
  const all = [...new Set([...lists.querySelectorAll('[data-hashtag]')].map((button) => button.textContent))];
  const fitting = all.filter((hashtag) => hashtag.toLowerCase().startsWith(prefix) && !had.has(hashtag.toLowerCase()));
  showOffers(field, fitting.slice(0, mostOffered));
}

function showOffers(field, fitting) {
  closeOffers();
  if (fitting.length === 0) return;
  offers.replaceChildren(...fitting.map((hashtag, i) => {
    const option = document.createElement('li');
    option.id = `hashtag-offer-${i}`;
    option.setAttribute('role', 'option');
    option.setAttribute('aria-selected', 'false');
    option.textContent = hashtag;
    return option;
  }));
  field.after(offers);
  field.setAttribute('aria-autocomplete', 'list');
  field.setAttribute('aria-controls', offers.id);
}

function closeOffers() {
  const field = offers.previousElementSibling;
  for (const name of ['aria-controls', 'aria-activedescendant']) field?.removeAttribute(name);
  offers.remove();
}

const offered = () => offers.querySelector('[aria-selected=true]');

function point(field, option) {
  offered()?.setAttribute('aria-selected', 'false');
  option.setAttribute('aria-selected', 'true');
  field.setAttribute('aria-activedescendant', option.id);
}

function complete(field, option) {
  const at = field.selectionStart;
  const typed = begun(field)?.length ?? 0;
  closeOffers();
  field.focus();
  write(field, `${option.textContent} `, at - typed, at);
}

form.addEventListener('input', (event) => { if (isText(event.target)) offer(event.target); });
form.addEventListener('focusout', closeOffers);
form.addEventListener('keydown', (event) => {
  if (!offers.isConnected || !isText(event.target) || event.isComposing) return;
  const list = [...offers.children];
  const at = list.indexOf(offered());
  if (event.key === 'ArrowDown') point(event.target, list[(at + 1) % list.length]);
  else if (event.key === 'ArrowUp') point(event.target, list.at(at <= 0 ? -1 : at - 1));
  else if (event.key === 'Escape') closeOffers();
  else if (['Enter', 'Tab'].includes(event.key) && at >= 0) complete(event.target, list[at]);
  else return;
  event.preventDefault();
});
offers.addEventListener('pointerdown', (event) => {
  event.preventDefault(); // the text keeps the focus
  const option = event.target.closest('[role=option]');
  if (option) complete(offers.previousElementSibling, option);
});
