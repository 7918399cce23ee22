// Copies the selected hashtags of a list, or all that are shown if none is selected, and selects all hashtags of a table or
// page. Without this script, people copy the list as plain text, and select hashtags individually.
'use strict';

{
  const form = document.getElementById('use');
  const button = form?.querySelector('[data-copy-tags]');
  const use = form?.querySelector('[data-use]');
  const useAll = use?.textContent;
  const said = form?.querySelector('[data-copied]');
  const boxes = [...document.querySelectorAll('input[form=use][name=hashtag]')];
  const selected = () => boxes.filter((box) => box.checked);

  const name = () => {
    const n = selected().length;
    button.lastElementChild.textContent = n === 0 ? translate('Copy all') : translateCount(n, 'Copy %d', 'Copy %d');
    if (use) use.textContent = n === 0 ? useAll : translateCount(n, 'Use %d in a post', 'Use %d in a post');
    said.textContent = '';
  };

  if (button && navigator.clipboard) {
    button.hidden = false;
    for (const box of boxes) box.addEventListener('change', name);
    button.addEventListener('click', async () => {
      const some = selected();
      const tags = (some.length > 0 ? some : boxes).map((box) => `#${box.value}`);
      try {
        await navigator.clipboard.writeText(tags.join(' '));
        said.textContent = translate('Copied.');
      } catch {
        said.textContent = translate('The browser did not allow it. Select the text and copy it.');
      }
    });
    name();
  }
}

for (const label of document.querySelectorAll('[data-pick-all]')) {
  const all = label.querySelector('input');
  const boxes = [...(label.closest('table') ?? document).querySelectorAll('input[type=checkbox][name=hashtag]')];
  const count = () => {
    const n = boxes.filter((box) => box.checked).length;
    all.checked = n === boxes.length;
    all.indeterminate = n > 0 && !all.checked;
  };
  for (const box of boxes) box.addEventListener('change', count);
  all.addEventListener('change', () => {
    const { checked } = all;
    for (const box of boxes) {
      box.checked = checked;
      box.dispatchEvent(new Event('change'));
    }
  });
  label.hidden = boxes.length === 0;
  label.parentElement.querySelector(':scope > .sr')?.remove(); // the label names the column
  count(); // the browser may have kept a selection
}
