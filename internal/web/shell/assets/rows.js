// Rows of a form that people add and remove. Without this script, the page has a few empty rows.
'use strict';

for (const rows of document.querySelectorAll('[data-rows]')) {
  const most = Number(rows.dataset.rows);
  const group = rows.parentElement;
  const add = group.querySelector('[data-add]');
  const fieldsOf = (row) => row.querySelectorAll('input, textarea');

  // number numbers the labels and fields of each row.
  const number = () => {
    [...rows.children].forEach((row, i) => {
      for (const label of row.querySelectorAll('legend, label, .sr')) label.textContent = label.textContent.replace(/\d+/, i + 1);
      for (const field of fieldsOf(row)) {
        const label = row.querySelector(`label[for="${field.id}"]`);
        field.id = field.id.replace(/\d+/, i + 1);
        label.htmlFor = field.id;
      }
    });
    add.hidden = rows.children.length >= most;
  };

  const prepare = (row) => {
    const remove = row.querySelector('[data-remove]');
    remove.hidden = false;
    remove.addEventListener('click', () => {
      if (rows.children.length > 1) row.remove();
      else for (const field of fieldsOf(row)) field.value = '';
      number();
      add.focus();
    });
  };

  for (const row of [...rows.children].slice(1)) {
    if ([...fieldsOf(row)].every((field) => field.value === '')) row.remove();
  }
  [...rows.children].forEach(prepare);
  for (const hint of group.querySelectorAll('[data-plain]')) hint.hidden = true;
  add.addEventListener('click', () => {
    const row = rows.lastElementChild.cloneNode(true);
    for (const field of fieldsOf(row)) field.value = '';
    prepare(row);
    rows.append(row);
    number();
    fieldsOf(row)[0].focus();
  });
  number();
}
