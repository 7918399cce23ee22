// Shows the numbers of the part of a chart below the pointer, at once and styled. Without this script, the browser shows the
// titles of the parts after a while. The table below a chart has the same numbers.
'use strict';

{
  const tip = document.createElement('div');
  tip.className = 'chart-tip';
  tip.hidden = true;
  tip.setAttribute('aria-hidden', 'true');
  document.body.append(tip);
  const texts = new WeakMap(); // by part

  for (const title of document.querySelectorAll('svg.plot title')) {
    texts.set(title.parentNode, title.textContent);
    title.remove(); // else the browser shows it as well
  }

  // fill shows lines of text. The part before the last colon of a line is the name of the number after it.
  const fill = (text) => {
    tip.replaceChildren(...text.split('\n').map((line) => {
      const row = document.createElement('p');
      const colon = line.lastIndexOf(': ');
      const name = document.createElement('span');
      name.textContent = colon > 0 ? line.slice(0, colon) : line;
      row.append(name);
      if (colon > 0) {
        const number = document.createElement('strong');
        number.textContent = line.slice(colon + 2);
        row.append(number);
      }
      return row;
    }));
  };

  // place keeps the tip within the window, beside the pointer.
  const place = (x, y) => {
    const gap = 14;
    const { width, height } = tip.getBoundingClientRect();
    const left = x + gap + width > innerWidth ? x - gap - width : x + gap;
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${Math.max(4, y - gap - height)}px`;
  };

  const show = (event) => {
    const text = event.target instanceof Element ? texts.get(event.target) : undefined;
    tip.hidden = !text;
    if (!text) return;
    fill(text);
    place(event.clientX, event.clientY);
  };

  addEventListener('pointermove', show, { passive: true });
  addEventListener('pointerdown', show, { passive: true });
  addEventListener('scroll', () => { tip.hidden = true; }, { passive: true });
}
