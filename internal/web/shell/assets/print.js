// Shows the button that prints the page or saves it as a PDF.
'use strict';

for (const button of document.querySelectorAll('[data-print]')) {
  button.hidden = false;
  button.addEventListener('click', () => print());
}
