// Buttons that copy the text of another element to the clipboard.
'use strict';

// copyText copies a text and reports whether that worked. Browsers have no clipboard on pages without https, but copy a selection.
async function copyText(text, beside) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = document.createElement('textarea');
    field.className = 'sr';
    field.value = text;
    beside.after(field);
    field.select();
    const copied = document.execCommand('copy');
    field.remove();
    beside.focus();
    return copied;
  }
}

// reveal shows and selects a text, so that a person can copy it.
function reveal(from) {
  if (from.type === 'hidden') {
    from.type = 'text';
    from.readOnly = true;
  }
  if ('select' in from) from.select();
  else getSelection().selectAllChildren(from);
}

for (const button of document.querySelectorAll('[data-copy]')) {
  const from = document.getElementById(button.dataset.copy);
  const said = (button.closest('.joined-field') ?? button).parentElement.querySelector('[data-copied]');
  if (!from) continue;
  button.hidden = false;
  button.addEventListener('click', async () => {
    if (await copyText('value' in from ? from.value : from.textContent, button)) {
      said.textContent = translate('Copied.');
      return;
    }
    said.textContent = translate('The browser did not allow it. Select the text and copy it.');
    reveal(from);
  });
}

// Buttons with a link to copy, which pages may add later. Where the browser refuses, the link is shown.
document.addEventListener('click', async (event) => {
  const button = event.target.closest('[data-copy-link]');
  if (!button?.nextElementSibling?.matches('[role=status]')) return;
  const link = button.dataset.copyLink;
  button.nextElementSibling.textContent = await copyText(link, button) ? translate('Copied.') : link;
});
