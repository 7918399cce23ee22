// Stores unsaved input on the server every few seconds and when the page is left, until the post is saved. The form is
// offered again when its person opens it the next time. If storing fails, browsers ask before a changed form is left.
'use strict';

const keepState = document.getElementById('kept');
const keepNews = document.getElementById('kept-news');
const keepUnderWay = translate('Saving…');
const keepAfter = 1500; // milliseconds without a change
const keepAtMost = 5000; // milliseconds between two requests while changes go on
const keepAgain = [5000, 60_000]; // milliseconds after a first failure, and at most
const answerWithin = 3000; // milliseconds; if the form changes later, the browser has probably canceled sending it
const beaconLimit = 60_000; // bytes that browsers send after a page has closed

let keepTimer = 0;
let keepWait = keepAgain[0];
let keepDue = 0; // time by which the oldest unsaved change must be stored
let keeping = null; // the current request
let keepWell = true; // whether the last request succeeded
let saving = false; // whether the form is being sent
let sentAt = 0; // when it was sent, in milliseconds
let keptBody = '';

const keepBody = () => {
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') body.append(name, value);
  return body;
};

// say shows a message about storing. Screen readers announce only changes between success and failure.
function say(text, well) {
  keepState.hidden = !text;
  keepState.classList.toggle('bad', !well);
  keepState.textContent = text;
  if (text === keepUnderWay) return;
  keepWell = well;
  if (!text || keepNews.dataset.well === String(well)) return;
  keepNews.textContent = text;
  keepNews.dataset.well = String(well);
}

function keepLater() {
  const now = Date.now();
  if (saving && now - sentAt < answerWithin) return;
  saving = false;
  keepDue ||= now + keepAtMost;
  clearTimeout(keepTimer);
  keepTimer = setTimeout(keep, Math.max(0, Math.min(keepAfter, keepDue - now)));
}

function keepRetry(text) {
  keepDue = 0;
  say(text, false);
  clearTimeout(keepTimer);
  keepTimer = setTimeout(keep, keepWait);
  keepWait = Math.min(keepWait * 2, keepAgain[1]);
}

async function keep() {
  clearTimeout(keepTimer);
  if (keeping || saving) return;
  const body = keepBody();
  keepDue = 0;
  if (String(body) === keptBody && keepWell) return;
  keeping = new AbortController();
  if (keepWell) say(keepUnderWay, true);
  try {
    const answer = await fetch('/posts/unsaved', { method: 'POST', body, signal: keeping.signal });
    const rejection = await rejectedBy(answer);
    if (rejection) {
      keepRetry(rejection);
    } else {
      [keptBody, keepWait] = [String(body), keepAgain[0]];
      say(answer.status === 204 ? translate('Saved') : '', true);
    }
  } catch (error) {
    if (error.name !== 'AbortError') keepRetry(translate('Not saved: offline. Trying again.'));
  } finally {
    keeping = null;
  }
  if (keepDue) keepLater(); // changed in the meantime
}

// rejectedBy returns the reason why the server did not store the form, or nothing.
async function rejectedBy(answer) {
  if (answer.status === 204 || answer.status === 205) return ''; // 205: nothing to store
  if (answer.redirected) return translate('Not saved: you are signed out. Sign in again in another tab.');
  if (answer.status === 503 || answer.status === 429) return translate('Not saved: the server is busy. Trying again.');
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const reason = page.querySelector('#reason')?.textContent.trim();
  return reason ? translate('Not saved: %s', reason) : translate('Not saved: the server did not accept it.');
}

const isKept = () => !keepDue && !keeping && keepWell;

// leave stores the latest changes when the page is left or hidden.
function leave() {
  if (saving || isKept()) return;
  const body = keepBody();
  keeping?.abort(); // an older request must not arrive after the new one
  if (String(body).length < beaconLimit && navigator.sendBeacon('/posts/unsaved', body)) {
    keepDue = 0;
    clearTimeout(keepTimer);
    keepTimer = setTimeout(keep, keepAfter); // in case the page stays
    return;
  }
  keep();
}

form.addEventListener('input', keepLater);
form.addEventListener('change', keepLater);
if ('unsaved' in form.dataset) keepLater();
addEventListener('pagehide', leave);
addEventListener('pageshow', (event) => { if (event.persisted) saving = false; }); // after going back
const keepNow = () => { if (!keepWell) keep(); };
document.addEventListener('visibilitychange', () => (document.hidden ? leave() : keepNow()));
addEventListener('online', keepNow);

// Browsers ask before leaving only if changes could not be stored.
addEventListener('beforeunload', (event) => { if (!saving && !keepWell) event.preventDefault(); });

// stopKeeping stores nothing more, because the form is being sent.
function stopKeeping() {
  [saving, sentAt] = [true, Date.now()];
  clearTimeout(keepTimer);
}

// Returning to a form that has created a post leads to that post, so that it is not created twice.
form.addEventListener('submit', (event) => {
  leave(); // in case the form does not arrive
  if (asksFirst(event.target, event.submitter)) return;
  stopKeeping();
  const keeps = ['save', 'schedule', 'publish', 'approval'].includes(event.submitter?.value);
  if (keeps && !form.elements.post) history.replaceState(null, '', `/posts/new?sent=${form.elements.once.value}`);
});
