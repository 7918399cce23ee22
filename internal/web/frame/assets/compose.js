// Shows how the post in the form would look, a moment after each change. Without it the button Check does.
'use strict';

const form = document.getElementById('compose');
const looks = document.getElementById('looks');
const told = document.getElementById('told');
const pause = 600; // milliseconds without a change
let timer = 0;
let asked = null;

async function look() {
  asked?.abort();
  asked = new AbortController();
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') body.append(name, value);
  try {
    const answer = await fetch(looks.dataset.from, { method: 'POST', body, signal: asked.signal });
    if (!answer.ok || answer.redirected) {
      told.textContent = 'The preview cannot be made. Press Check to see why.';
      return;
    }
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const open = new Set([...looks.querySelectorAll('details[open]')].map((d) => d.closest('section').getAttribute('aria-label')));
    looks.replaceChildren(...page.body.childNodes);
    for (const section of looks.querySelectorAll('section')) {
      if (open.has(section.getAttribute('aria-label'))) section.querySelector('details')?.setAttribute('open', '');
    }
    const verdict = document.getElementById('verdict').textContent.trim();
    if (told.textContent !== verdict) told.textContent = verdict;
  } catch (error) {
    if (error.name !== 'AbortError') told.textContent = 'The preview cannot be made now.';
  }
}

function later() {
  clearTimeout(timer);
  timer = setTimeout(look, pause);
}

form.addEventListener('input', later);
form.addEventListener('change', later);

// Enter in the search searches; elsewhere it checks.
document.getElementById('q').addEventListener('keydown', (event) => {
  if (event.key !== 'Enter') return;
  event.preventDefault();
  form.querySelector('button[value="search"]').click();
});

// What is typed is not lost by a link that was clicked by mistake.
let dirty = false;
form.addEventListener('input', () => { dirty = true; });
form.addEventListener('submit', () => { dirty = false; });
addEventListener('beforeunload', (event) => { if (dirty) event.preventDefault(); });
