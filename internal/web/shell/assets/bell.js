// Shows the newest notifications in a panel below the bell. Without it, the bell opens the page of notifications.

const bell = document.querySelector('.bell');
const panel = document.getElementById('notices');
let wasOpen = false; // whether the panel was open when the pointer was pressed, which closes it

async function load() {
  const answer = await fetch('/notices/recent', { headers: { Accept: 'text/html' } });
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const found = page.getElementById('recent');
  if (!answer.ok || answer.redirected || !found) throw new Error('no notifications');
  panel.replaceChildren(...found.childNodes);
}

async function toggle(event) {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return; // opens a new tab or window
  event.preventDefault();
  const closes = wasOpen || panel.matches(':popover-open');
  wasOpen = false;
  if (closes) {
    panel.hidePopover();
    return;
  }
  bell.setAttribute('aria-busy', 'true');
  try {
    await load();
    if (!panel.matches(':popover-open')) panel.showPopover();
  } catch {
    location.assign(bell.href);
  } finally {
    bell.removeAttribute('aria-busy');
  }
}

if (bell && panel.showPopover) {
  bell.setAttribute('aria-expanded', 'false');
  bell.setAttribute('aria-controls', panel.id);
  bell.addEventListener('pointerdown', () => { wasOpen = panel.matches(':popover-open'); });
  bell.addEventListener('click', toggle);
  panel.addEventListener('toggle', (event) => bell.setAttribute('aria-expanded', String(event.newState === 'open')));
}
