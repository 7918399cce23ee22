// Turns long selects with data-combobox into fields that search their options while typing. Without it, they are plain selects.
// Those with data-here begin with the time zone of the browser.
'use strict';

const plain = (text) => text.normalize('NFD').replace(/[\u0300-\u036f]/g, '').replaceAll(/[_/]/g, ' ').toLowerCase();

function combobox(select) {
  const field = document.createElement('input');
  const list = document.createElement('ul');
  const frame = document.createElement('div');
  field.id = select.id;
  select.removeAttribute('id');
  list.id = `${field.id}-options`;
  for (const name of ['aria-describedby', 'aria-invalid']) {
    if (select.hasAttribute(name)) field.setAttribute(name, select.getAttribute(name));
  }
  Object.entries({
    role: 'combobox', autocomplete: 'off', spellcheck: 'false', 'aria-autocomplete': 'list', 'aria-expanded': 'false', 'aria-controls': list.id,
  }).forEach(([name, value]) => field.setAttribute(name, value));
  list.setAttribute('role', 'listbox');
  list.setAttribute('aria-label', document.querySelector(`label[for="${field.id}"]`).textContent);
  list.hidden = true;
  frame.className = 'combobox';
  let active = -1;

  const shown = () => [...list.querySelectorAll('[role=option]')];
  const restore = () => { field.value = select.selectedOptions[0]?.text ?? ''; };

  function close() {
    list.hidden = true;
    active = -1;
    field.setAttribute('aria-expanded', 'false');
    field.removeAttribute('aria-activedescendant');
  }

  function mark(n) {
    const options = shown();
    options[active]?.classList.remove('at');
    active = options.length === 0 ? -1 : (n + options.length) % options.length;
    if (active < 0) {
      field.removeAttribute('aria-activedescendant');
      return;
    }
    options[active].classList.add('at');
    options[active].scrollIntoView({ block: 'nearest' });
    field.setAttribute('aria-activedescendant', options[active].id);
  }

  function open(query) {
    const words = plain(query).split(' ').filter(Boolean);
    const found = [...select.options].filter((option) => words.every((word) => plain(`${option.text} ${option.value}`).includes(word)));
    list.replaceChildren(...found.map((option, i) => {
      const item = document.createElement('li');
      item.id = `${list.id}-${i}`;
      item.dataset.value = option.value;
      item.textContent = option.text;
      item.setAttribute('role', 'option');
      item.setAttribute('aria-selected', String(option.selected));
      return item;
    }));
    if (found.length === 0) {
      const none = document.createElement('li');
      none.className = 'none';
      none.setAttribute('role', 'option');
      none.setAttribute('aria-disabled', 'true');
      none.setAttribute('aria-selected', 'false');
      none.textContent = translate('No matches');
      list.append(none);
    }
    list.hidden = false;
    field.setAttribute('aria-expanded', 'true');
    active = -1;
    mark(Math.max(0, query ? 0 : found.findIndex((option) => option.selected)));
  }

  function choose(item) {
    if (item && !item.classList.contains('none')) {
      select.value = item.dataset.value;
      select.dispatchEvent(new Event('change', { bubbles: true }));
    }
    restore();
    close();
  }

  field.addEventListener('focus', () => field.select());
  field.addEventListener('click', () => { if (list.hidden) open(''); });
  field.addEventListener('input', () => open(field.value));
  field.addEventListener('blur', () => {
    const typed = plain(field.value);
    const same = [...select.options].find((option) => [option.value, option.text].some((text) => plain(text) === typed));
    if (same && typed) select.value = same.value;
    restore();
    close();
  });
  field.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      if (list.hidden) open('');
      else mark(active + (event.key === 'ArrowDown' ? 1 : -1));
    } else if (event.key === 'Enter' && !list.hidden) {
      choose(shown()[active]);
    } else if (event.key === 'Escape' && !list.hidden) {
      choose(null);
    } else {
      return;
    }
    event.preventDefault();
  });
  list.addEventListener('mousedown', (event) => event.preventDefault()); // the field keeps the focus
  list.addEventListener('click', (event) => choose(event.target.closest('[role=option]')));

  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if ('here' in select.dataset && [...select.options].some((option) => option.value === here)) select.value = here;
  select.hidden = true;
  select.before(frame);
  frame.append(field, list, select);
  restore();
  if (select.autofocus) field.focus();
}

document.querySelectorAll('select[data-combobox]').forEach(combobox);
