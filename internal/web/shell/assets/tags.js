// Copies the selected hashtags of a list, or all that are shown if none is selected. Without this script, people copy the
// list as plain text.
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
