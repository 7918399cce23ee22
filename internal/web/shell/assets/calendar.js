// Moves posts in the calendar by dragging and shows a summary of a clicked post. Without this script, links open the
// posts, and a post is moved in its editor.
'use strict';

const calendar = () => document.getElementById('calendar'); // replaced after each move
const quick = document.getElementById('quick');
const told = document.getElementById('told');
const half = 30 * 60e3;
let dragged = null;
let marked = null;
let beside = null; // position of the post whose summary is shown
let pointer = 0; // where the post was clicked, from the left

// spotOf returns the day, hour or list of drafts under a drag event.
function spotOf(event) {
  const spot = dragged && event.target.closest?.('[data-at], [data-day]');
  if (!spot || !calendar().contains(spot)) return null;
  if (spot.dataset.day === '' && (!('draft' in dragged.dataset) || spot.contains(dragged))) return null;
  return spot;
}

// timeOf returns a post's time of day, such as 18:00.
const timeOf = (post) => {
  const time = post.querySelector('time');
  return time?.dateTime || time?.textContent || '';
};

// clock returns a time of day as the server writes it in the person's language.
function clock(time) {
  if (document.documentElement.lang !== 'en-US') return time;
  return new Date(`1970-01-01T${time}Z`).toLocaleTimeString('en-US', { hour: 'numeric', minute: '2-digit', timeZone: 'UTC' });
}

// destination returns the fields that move the dragged post to a spot, and the time to show. The lower half of an hour
// means half past. If the spot is a day, the post keeps its time of day.
function destination(spot, event) {
  const { at, day } = spot.dataset;
  if (at === undefined) return { fields: day ? { date: day, time: timeOf(dragged) } : {}, text: '' };
  const box = spot.getBoundingClientRect();
  const later = at.slice(14, 16) === '00' && event.clientY > box.top + box.height / 2;
  const text = at.slice(11, 14) + (later ? '30' : at.slice(14, 16));
  return { fields: { at: new Date(Date.parse(at) + (later ? half : 0)).toISOString() }, text };
}

function mark(spot, text = '') {
  if (marked && marked !== spot) {
    marked.classList.remove('over');
    delete marked.dataset.drop;
  }
  marked = spot;
  spot?.classList.add('over');
  if (text) spot.dataset.drop = text;
}

// Makes a post that can be moved draggable, and not its link or image.
document.addEventListener('pointerdown', (event) => {
  const post = event.target.closest?.('.event');
  if (!post) return;
  post.draggable = 'seen' in post.dataset;
  for (const part of post.querySelectorAll('a, img')) part.draggable = false;
});

document.addEventListener('dragstart', (event) => {
  dragged = event.target.closest?.('.event[data-seen]');
  if (!dragged) return;
  event.dataTransfer.effectAllowed = 'move';
  event.dataTransfer.setData('text/plain', dragged.querySelector('a').textContent);
  dragged.classList.add('lifted');
  calendar().classList.add('dragging');
});

document.addEventListener('dragover', (event) => {
  const spot = spotOf(event);
  const text = spot && destination(spot, event).text;
  mark(spot, text ? clock(text) : '');
  if (spot) event.preventDefault(); // allows dropping
});

// confirmMove asks whether to move an approved post, and resolves to the answer.
function confirmMove() {
  const make = (name, text, fields) => Object.assign(document.createElement(name), { textContent: text, ...fields });
  const dialog = make('dialog', '', { className: 'dialog' });
  const form = make('form', '', { method: 'dialog' });
  const actions = make('div', '', { className: 'actions' });
  actions.append(make('button', translate('Move post'), { value: 'move' }),
    make('button', translate('Cancel'), { className: 'second' }));
  form.append(make('h2', translate('Move this post?'), { id: 'ask-move' }),
    make('p', translate('The client must approve the post again after a move.'), { className: 'lead' }), actions);
  dialog.setAttribute('aria-labelledby', 'ask-move');
  dialog.append(form);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'move');
    });
  });
}

document.addEventListener('drop', async (event) => {
  const spot = spotOf(event);
  if (!spot) return;
  event.preventDefault();
  const { fields, text } = destination(spot, event);
  if (spot.contains(dragged) && text === (spot.dataset.at ? timeOf(dragged) : '')) return;
  const post = dragged; // the drag ends before the answer
  if ('approved' in post.dataset && !await confirmMove()) return;
  const { team, back } = calendar().dataset;
  const body = new URLSearchParams({ ...fields, in_team: team, seen: post.dataset.seen, back });
  move(`${post.querySelector('a').pathname}/move`, body, put(post, spot));
});

document.addEventListener('dragend', () => {
  mark(null);
  dragged?.classList.remove('lifted');
  calendar().classList.remove('dragging');
  dragged = null;
});

// put shows a post at a spot and returns a function that moves it back.
function put(post, spot) {
  const [list, next] = [post.parentElement, post.nextSibling];
  let into = spot.querySelector('ul');
  const made = into ? null : spot.appendChild(document.createElement('ul'));
  into ??= made;
  into.append(post);
  post.classList.add('pending');
  return () => {
    list.insertBefore(post, next);
    made?.remove();
    post.classList.remove('pending');
  };
}

// move sends a move and shows the current calendar, with a button to undo it or the reason for a rejection.
async function move(action, body, putBack) {
  try {
    const answer = await fetch(action, { method: 'POST', body });
    const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html').getElementById('calendar');
    if (!fresh) throw new Error(`there is no calendar in the answer ${answer.status}`);
    const open = rail()?.open;
    calendar().replaceWith(fresh);
    if (rail()) rail().open = Boolean(open);
    told.textContent = fresh.querySelector('#moved p')?.textContent ?? '';
  } catch (error) {
    putBack?.();
    calendar().querySelector('.toast')?.remove();
    const text = document.createElement('p');
    text.className = 'toast error';
    text.setAttribute('role', 'alert');
    text.textContent = translate('The post was not moved. Reload the page and try again.');
    calendar().append(text);
    console.warn(error);
  }
}

// The list of drafts is folded, except on wide screens. The browser remembers if the person opens or closes it.
const rail = () => document.querySelector('.drafts > details');
const railKey = 'calendar-drafts';
if (rail()) rail().open = (localStorage.getItem(railKey) ?? (matchMedia('(min-width: 90rem)').matches ? 'open' : '')) === 'open';
document.addEventListener('click', (event) => {
  const summary = event.target.closest('.drafts > details > summary');
  if (summary) localStorage.setItem(railKey, summary.parentElement.open ? '' : 'open');
});

// Hours open at the current time, or at the first post, if that is below the window.
function showNow() {
  const hours = document.querySelector('.timegrid');
  if (!hours || location.hash || scrollY > 0 || matchMedia('(max-width: 48rem)').matches) return;
  const now = hours.querySelector('.hour.now');
  const bottoms = [...now ? [now] : hours.querySelectorAll('.hour .event')].map((spot) => spot.getBoundingClientRect().bottom);
  const first = Math.min(...bottoms);
  if (bottoms.length > 0 && first > innerHeight) scrollBy({ top: first - innerHeight * 0.7, behavior: 'instant' });
}
showNow();

document.addEventListener('submit', async (event) => {
  const form = event.target;
  if (!form.action.endsWith('/move')) return;
  event.preventDefault();
  quick.hidePopover();
  await move(form.action, new URLSearchParams(new FormData(form)));
  document.querySelector('#moved button')?.focus();
});

// Filters apply immediately. A typed date is complete when the year has four digits.
document.addEventListener('change', (event) => {
  const field = event.target.closest('#filter .calpick');
  if (field && (field.type !== 'date' || field.value === '' || field.value >= '2000')) field.form.requestSubmit();
});

// A click on an empty part opens the composer: in an hour with that time, on a day of the month with that day.
document.addEventListener('click', (event) => {
  const spot = event.target.closest('.writes .hour[data-at], .writes .day[data-day]');
  if (!spot || event.target.closest('.event, a, button') || matchMedia('(max-width: 48rem)').matches) return;
  const { at, day } = spot.dataset;
  location.assign(at ? `/posts/new?date=${at.slice(0, 10)}&time=${at.slice(11, 16)}` : `/posts/new?date=${day}`);
});

document.addEventListener('click', async (event) => {
  const link = event.target.closest('#calendar .event > a');
  if (!link || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  const answer = await fetch(`${link.pathname}/quick?${calendar().dataset.back}`).catch(() => null);
  if (!answer?.ok || answer.redirected) {
    location.assign(link.href);
    return;
  }
  const parts = new DOMParser().parseFromString(await answer.text(), 'text/html').body.childNodes;
  quick.replaceChildren(...parts);
  quick.showPopover();
  beside = link.closest('.event').getBoundingClientRect();
  pointer = event.detail > 0 ? event.clientX : beside.left;
  place();
  quick.focus();
});

// The summary becomes larger when its form is opened.
quick.addEventListener('toggle', (event) => {
  place();
  if (event.target.matches('.move[open]')) quick.querySelector('[name=date]').focus();
}, true);

// place moves the summary next to a post, within the window. If the post fills the calendar, the summary is below or above it.
// On a narrow screen, the summary is at the bottom.
function place() {
  if (!beside || !quick.matches(':popover-open')) return;
  const gap = 8;
  const { width, height } = quick.getBoundingClientRect();
  const edge = calendar().getBoundingClientRect().left;
  let left = beside.right + gap;
  let { top } = beside;
  if (left + width + gap > innerWidth) left = beside.left - width - gap;
  if (left < edge) {
    left = Math.min(Math.max(edge, pointer - width), innerWidth - width - gap);
    top = beside.bottom + gap + height <= innerHeight ? beside.bottom + gap : beside.top - height - gap;
  }
  quick.style.left = `${left}px`;
  quick.style.top = `${Math.max(gap, Math.min(top, innerHeight - height - gap))}px`;
}
