// Buttons that copy the text of another element to the clipboard.
'use strict';

for (const button of document.querySelectorAll('[data-copy]')) {
  const from = document.getElementById(button.dataset.copy);
  const said = (button.closest('.joined-field') ?? button).parentElement.querySelector('[data-copied]');
  if (!from || !navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText('value' in from ? from.value : from.textContent);
      said.textContent = translate('Copied.');
    } catch {
      said.textContent = translate('The browser did not allow it. Select the text and copy it.');
    }
  });
}
