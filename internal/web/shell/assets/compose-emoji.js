// Adds emoji to the text that is shown, from a panel with a search. Arrow keys move in it, Enter adds, and Escape closes it.
'use strict';

const emojiButton = document.getElementById('emoji-button');
const emojiPanel = document.getElementById('emoji');
const oftenKey = 'emoji-often';
const oftenShown = 16;
let emojiAt = null; // the field and the position of the next emoji

// loadEmoji fills the panel once.
async function loadEmoji() {
  if (emojiPanel.childElementCount > 0) return;
  const answer = await fetch('/posts/emoji').catch(() => null);
  if (!answer?.ok || answer.redirected) {
    emojiPanel.textContent = translate('The emoji are not available right now.');
    return;
  }
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  emojiPanel.replaceChildren(...page.body.childNodes);
  emojiPanel.querySelector('input').addEventListener('input', (event) => {
    event.stopPropagation(); // the search is not part of the post
    findEmoji(event.target.value);
  });
}

// timesUsed returns how often this browser added each emoji.
const timesUsed = () => JSON.parse(localStorage.getItem(oftenKey) ?? '{}');

// showOften shows the emoji that were added most often.
function showOften() {
  const section = emojiPanel.querySelector('[data-often]');
  if (!section) return;
  const all = [...emojiPanel.querySelectorAll('[data-category] [data-emoji]')];
  const often = Object.entries(timesUsed()).sort((a, b) => b[1] - a[1]).map(([text]) => all.find((button) => button.textContent === text));
  section.querySelector('.emoji-grid').replaceChildren(...often.filter(Boolean).slice(0, oftenShown).map((button) => button.cloneNode(true)));
}

const emojiShown = () => [...emojiPanel.querySelectorAll('[data-emoji]')].filter((button) => !button.hidden);

// findEmoji shows the emoji that match a search. Each word of the search must be the start of a word of the emoji.
function findEmoji(search) {
  if (!emojiPanel.querySelector('.none')) return; // not loaded
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  for (const button of emojiPanel.querySelectorAll('[data-emoji]')) {
    const names = `${button.title} ${button.dataset.emoji}`.toLowerCase().split(' ');
    const repeated = words.length > 0 && button.closest('[data-often]');
    button.hidden = repeated || !words.every((word) => names.some((name) => name.startsWith(word)));
  }
  for (const category of emojiPanel.querySelectorAll('section')) category.hidden = !category.querySelector('[data-emoji]:not([hidden])');
  emojiPanel.querySelector('.none').hidden = emojiShown().length > 0;
  stopAt(emojiShown()[0]);
}

// stopAt makes an emoji the tab stop of the panel.
function stopAt(button) {
  for (const other of emojiPanel.querySelectorAll('[data-emoji]')) other.tabIndex = other === button ? 0 : -1;
}

function showEmoji(open) {
  emojiPanel.hidden = !open;
  emojiButton.setAttribute('aria-expanded', String(open));
}

emojiButton.addEventListener('click', async () => {
  const open = emojiPanel.hidden;
  showEmoji(open);
  if (!open) return;
  const field = textShown();
  emojiAt = { field, at: field.selectionEnd };
  await loadEmoji();
  showOften();
  findEmoji(emojiPanel.querySelector('input')?.value ?? '');
  emojiPanel.querySelector('input')?.focus({ preventScroll: true });
  emojiPanel.scrollIntoView({ block: 'nearest' });
});

function addEmoji(button) {
  const field = textShown();
  const at = emojiAt?.field === field ? Math.min(emojiAt.at, field.value.length) : field.selectionEnd;
  write(field, button.textContent, at, at);
  emojiAt = { field, at: at + button.textContent.length };
  const times = timesUsed();
  localStorage.setItem(oftenKey, JSON.stringify({ ...times, [button.textContent]: (times[button.textContent] ?? 0) + 1 }));
}

form.addEventListener('focusout', (event) => { if (isText(event.target)) emojiAt = { field: event.target, at: event.target.selectionEnd }; });
emojiPanel.addEventListener('click', (event) => {
  const button = event.target.closest('[data-emoji]');
  if (button) addEmoji(button);
  const jump = event.target.closest('[data-jump]');
  if (!jump) return;
  const list = emojiPanel.querySelector('.found');
  list.scrollTop = emojiPanel.querySelectorAll('[data-category]')[jump.dataset.jump].offsetTop;
});

// nearest returns the emoji in the row above or below another one that is closest to it.
function nearest(from, down) {
  const here = from.getBoundingClientRect();
  const rows = emojiShown().map((button) => ({ button, box: button.getBoundingClientRect() }))
    .filter(({ box }) => (down ? box.top > here.top + 1 : box.top < here.top - 1));
  const away = ({ box }) => Math.abs(box.top - here.top) * 1000 + Math.abs(box.left - here.left);
  return rows.sort((a, b) => away(a) - away(b))[0]?.button;
}

emojiPanel.addEventListener('keydown', (event) => {
  const shown = emojiShown();
  const at = shown.indexOf(event.target);
  let next = null;
  if (event.key === 'Escape') {
    showEmoji(false);
    emojiButton.focus();
  } else if (at < 0) {
    if (event.key === 'Enter') { if (shown[0]) addEmoji(shown[0]); } // the form is not sent
    else if (event.key === 'ArrowDown') [next] = shown;
    else return;
  } else if (event.key === 'ArrowRight') next = shown[at + 1];
  else if (event.key === 'ArrowLeft') next = shown[at - 1];
  else if (event.key === 'ArrowDown') next = nearest(event.target, true);
  else if (event.key === 'ArrowUp') next = nearest(event.target, false) ?? emojiPanel.querySelector('input');
  else if (event.key === 'Home') [next] = shown;
  else if (event.key === 'End') next = shown.at(-1);
  else return;
  event.preventDefault();
  event.stopPropagation();
  if (next?.matches('[data-emoji]')) stopAt(next);
  next?.focus();
});
document.addEventListener('click', (event) => {
  if (!emojiPanel.hidden && !emojiPanel.contains(event.target) && !emojiButton.contains(event.target)) showEmoji(false);
});
