// Selects all posts, filters them and counts the selected ones on the page that sends posts for approval. Without this script,
// posts are selected individually.
'use strict';

const choices = document.getElementById('choices');
const submit = choices.querySelector('.actions button');
const all = document.getElementById('all');
const find = document.getElementById('find');
const word = submit.textContent;
const rows = [...choices.querySelectorAll('li')];
const boxOf = (row) => row.querySelector('[name=post]');
const shown = () => rows.filter((row) => !row.hidden).map(boxOf);

function count() {
  const n = rows.filter((row) => boxOf(row).checked).length;
  submit.textContent = n ? submit.dataset.words.replace('%s', n) : word;
  const picked = shown().filter((box) => box.checked).length;
  all.checked = picked > 0 && picked === shown().length;
  all.indeterminate = picked > 0 && !all.checked;
}

find.addEventListener('input', () => {
  const words = find.value.toLowerCase().split(/\s+/);
  for (const row of rows) row.hidden = !words.every((part) => row.textContent.toLowerCase().includes(part));
  count();
});
find.addEventListener('keydown', (event) => { if (event.key === 'Enter') event.preventDefault(); });
choices.addEventListener('change', (event) => {
  if (event.target === all) for (const box of shown()) box.checked = all.checked;
  count();
});
choices.querySelector('.choose-bar').hidden = false;
count();
