// Selects the custom color of a form as soon as a color is picked. Without this script, people select it themselves.
'use strict';

document.getElementById('color-typed').addEventListener('input', (event) => {
  event.target.form.querySelector('[name=color][value=custom]').checked = true;
});
