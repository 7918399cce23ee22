// Selects the custom color of a form as soon as a color is picked, and shows the chosen color and icon on the button that
// opens the choice. Without this script, people select the custom color themselves.
'use strict';

{
  const typed = document.getElementById('color-typed');
  const mark = document.querySelector('.looks > summary svg.icon path');
  const form = typed.form;
  const shape = mark.getAttribute('d');

  const draw = () => {
    const color = form.elements.color.value === 'custom' ? typed.value : form.elements.color.value;
    mark.setAttribute('stroke', color || 'currentColor');
    if (color) mark.setAttribute('color', color);
    else mark.removeAttribute('color');
    const icon = form.querySelector('[name=icon]:checked');
    mark.setAttribute('d', icon?.parentElement.querySelector('svg.icon path')?.getAttribute('d') ?? shape);
  };

  typed.addEventListener('input', () => {
    form.querySelector('[name=color][value=custom]').checked = true;
    draw();
  });
  form.addEventListener('change', draw);
}
