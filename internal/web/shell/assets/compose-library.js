// Shows the library over the form, searches while the person types, and counts the selected files. Without this script, the
// library unfolds in the form.
'use strict';

const library = () => document.getElementById('library'); // replaced after an upload
const libraryDialog = () => library().querySelector('dialog');
const searchPause = 250; // milliseconds without a change
let searchTimer = 0;
let libraryList = ''; // the list of media that the library was opened for, such as part-1; empty for that of the shown version

// showLibrary shows the library over the page. A dialog that is not modal or was moved must be closed first.
function showLibrary() {
  library().open = true;
  libraryDialog().removeAttribute('open');
  libraryDialog().showModal();
  countPicked();
}

const pickedItems = () => [...libraryDialog().querySelectorAll('[name=picked]')].filter((field) => field.type === 'hidden' || field.checked);

function countPicked() {
  const button = libraryDialog().querySelector('button[value=add]');
  const n = pickedItems().length;
  button.textContent = n > 0 ? translateCount(n, 'Add %d', 'Add %d') : translate('Add');
  button.classList.toggle('second', n === 0);
  button.disabled = n === 0;
}

function searchLibrary() {
  clearTimeout(searchTimer);
  changePart(libraryDialog().querySelector('button[value=search][data-by-hand]'));
}

document.addEventListener('click', (event) => {
  const opener = event.target.closest('#library > summary, [data-library-for]');
  if (opener) {
    event.preventDefault();
    libraryList = opener.dataset.libraryFor ?? '';
    showLibrary();
  } else if (event.target.closest('#library [data-close]') || event.target === libraryDialog()) {
    libraryDialog().close();
  }
});

// Events in the library do not change the form. Only adding files does.
for (const type of ['input', 'change']) {
  document.addEventListener(type, (event) => {
    if (!event.target.closest('#library dialog')) return;
    event.stopPropagation();
    if (event.target.name === 'picked') countPicked();
    else if (event.target.name === 'q') {
      clearTimeout(searchTimer);
      if (type === 'input') searchTimer = setTimeout(searchLibrary, searchPause);
    } else if (type === 'change') searchLibrary();
  }, { capture: true });
}

document.addEventListener('close', (event) => {
  if (event.target === libraryDialog()) library().open = false;
}, { capture: true });

library().open = false;
