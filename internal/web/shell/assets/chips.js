// Turns text fields with one word or phrase per line, or with hashtags, into chips: Enter adds one, Backspace in the empty
// field removes the last one. The text field stays in the form. Without this script, people type into it.
'use strict';

let pressed = false;
for (const [event, now] of [['pointerdown', true], ['pointerup', false], ['pointercancel', false]]) {
  addEventListener(event, () => { pressed = now; }, true);
}

for (const area of document.querySelectorAll('textarea[data-chips]')) {
  const hashtags = area.dataset.chips === 'hashtags';
  const parts = (text) => text.split(hashtags ? /[\s,;]+/ : /[\r\n]+/).map((one) => one.trim()).filter(Boolean);
  const shown = (one) => (hashtags ? `#${one.replace(/^#+/, '')}` : one);
  const box = document.createElement('div');
  const list = document.createElement('ul');
  const field = document.createElement('input');
  const ideas = []; // buttons that add a hashtag or remove it
  let all = parts(area.value);
  box.className = 'chip-field';
  list.className = 'chips';
  field.autocomplete = 'off';
  field.enterKeyHint = 'enter';
  field.id = area.id;
  for (const name of ['aria-describedby', 'aria-invalid']) {
    if (area.hasAttribute(name)) field.setAttribute(name, area.getAttribute(name));
  }
  const { required } = area;
  area.required = false;
  area.removeAttribute('id');
  area.hidden = true;

  const key = (one) => (hashtags ? shown(one).toLowerCase() : one);
  // together returns the chips, what is typed, and more, each once.
  const together = (more = []) => [...new Map([...all, ...parts(field.value), ...more].map((one) => [key(one), one])).values()];
  const save = () => {
    area.value = together().join('\n');
    field.required = required && all.length === 0;
    for (const idea of ideas) {
      idea.setAttribute('aria-pressed', String(all.some((one) => one.replace(/^#+/, '') === idea.value)));
    }
    area.dispatchEvent(new Event('input', { bubbles: true }));
  };
  const draw = () => {
    list.replaceChildren(...all.map((one, i) => {
      const chip = document.createElement('li');
      const text = document.createElement('bdi');
      const remove = document.createElement('button');
      const cross = document.createElement('span');
      chip.className = 'tag plain';
      text.textContent = shown(one);
      remove.type = 'button';
      remove.setAttribute('aria-label', translate('Remove %s', shown(one)));
      cross.textContent = '×';
      cross.setAttribute('aria-hidden', 'true');
      remove.append(cross);
      remove.addEventListener('click', () => {
        all = all.filter((_, at) => at !== i);
        draw();
        field.focus();
      });
      chip.append(text, remove);
      return chip;
    }));
    field.placeholder = all.length ? '' : area.placeholder;
    save();
  };
  const add = () => {
    all = together();
    field.value = '';
    draw();
  };

  field.addEventListener('keydown', (event) => {
    if (event.isComposing) return;
    if (event.key === 'Enter' && field.value.trim()) {
      event.preventDefault();
      add();
    } else if (event.key === 'Backspace' && field.value === '' && all.length > 0) {
      all.pop();
      draw();
    }
  });
  field.addEventListener('input', () => {
    if (hashtags && /[\s,;]$/.test(field.value)) add();
    else save();
  });
  field.addEventListener('paste', (event) => {
    const text = event.clipboardData.getData('text');
    if (parts(text).length < 2) return;
    event.preventDefault();
    all = together(parts(text));
    field.value = '';
    draw();
  });
  // A chip may move what is being clicked, so it is added after the click.
  field.addEventListener('blur', () => {
    if (!field.value.trim()) return;
    if (pressed) addEventListener('pointerup', () => setTimeout(add), { once: true });
    else add();
  });
  box.addEventListener('click', (event) => event.target === box && field.focus());
  for (const idea of document.querySelectorAll(`[data-adds="${field.id}"] button`)) {
    idea.disabled = false;
    idea.addEventListener('click', () => {
      const at = all.findIndex((one) => one.replace(/^#+/, '') === idea.value);
      if (at < 0) all.push(idea.value);
      else all.splice(at, 1);
      draw();
    });
    ideas.push(idea);
  }
  box.append(list, field);
  area.before(box);
  draw();
}
