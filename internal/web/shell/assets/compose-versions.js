// Shows the shared text and the versions of the selected accounts as tabs. A version shows the shared text until it is
// changed.
'use strict';

const editor = document.getElementById('editor');
const shared = document.getElementById('shared');
const tools = document.getElementById('tools');
const tabs = document.createElement('div');
tabs.className = 'versions';
tabs.setAttribute('role', 'tablist');
tabs.setAttribute('aria-label', translate('Versions'));
let version = ''; // ID of the account whose version is shown; empty for the shared text

const versionText = (details) => details.querySelector('textarea[name^="text-"]');
const isChecked = (details, name) => Boolean(details.querySelector(`input[name="${name}-${details.dataset.account}"]`)?.checked);
const followsShared = (details) => 'follows' in versionText(details).dataset;
const hasTitle = (details) => Boolean(details.querySelector('input[name^="title-"]')?.value.trim());
const isCustomized = (details) => Boolean(isChecked(details, 'notext') || isChecked(details, 'notitle')
  || isChecked(details, 'nomedia') || hasTitle(details) || !followsShared(details) || details.querySelector('li.file'));

// mirror copies the shared text to versions without their own text.
function mirror(details) {
  const field = versionText(details);
  const silent = isChecked(details, 'notext');
  if (field.value.trim() === '' && document.activeElement !== field) field.dataset.follows = '';
  if ('follows' in field.dataset) field.value = silent ? '' : caption.value;
  field.readOnly = silent && field.value === '';
}

// The form does not send copies of the shared text.
form.addEventListener('formdata', (event) => {
  for (const field of form.querySelectorAll('textarea[data-follows]')) event.formData.set(field.name, '');
});
form.addEventListener('input', (event) => {
  if (!event.target.matches?.('textarea[name^="text-"]')) return;
  if (event.target.value === caption.value) event.target.dataset.follows = '';
  else delete event.target.dataset.follows;
}, { capture: true });

const networkOf = (account) => form.querySelector(`input[name=account][value="${account}"]`).closest('.account-chip').querySelector('.network-name').textContent.trim();

// tabFor returns a new tab for an account. It looks like the account's chip.
function tabFor(account) {
  const tab = document.createElement('button');
  tab.type = 'button';
  tab.id = `tab-${account || 'shared'}`;
  tab.dataset.account = account;
  tab.setAttribute('role', 'tab');
  if (!account) {
    tab.textContent = translate('All accounts');
    tab.setAttribute('aria-controls', 'shared');
    return tab;
  }
  const chip = form.querySelector(`input[name=account][value="${account}"]`).closest('.account-chip');
  const logo = chip.querySelector('.net')?.cloneNode(true);
  const network = networkOf(account);
  const same = chosen().filter((other) => networkOf(other) === network);
  const dot = document.createElement('span');
  dot.className = 'dot';
  tab.append(...logo ? [logo] : [], same.length > 1 ? `${network} ${chip.querySelector('bdi').textContent}` : network, dot);
  tab.setAttribute('aria-controls', `version-${account}`);
  return tab;
}

// showVersions draws the tabs of the selected accounts and the chosen version.
function showVersions() {
  const all = [...own()?.querySelectorAll('details[data-account]') ?? []];
  const accounts = new Set(chosen());
  const place = (details) => boxes.findIndex((box) => box.value === details.dataset.account);
  const boxes = [...form.querySelectorAll('input[name=account]')];
  const offered = all.filter((details) => accounts.has(details.dataset.account) || details.querySelector('[aria-invalid]'))
    .sort((a, b) => place(a) - place(b)); // as the previews
  if (!offered.some((details) => details.dataset.account === version)) version = '';
  all.forEach(mirror);
  const order = ['', ...offered.map((details) => details.dataset.account)];
  const label = `${order} ${chosen()}`;
  if (tabs.dataset.order !== label) {
    tabs.dataset.order = label;
    const focused = tabs.contains(document.activeElement);
    tabs.replaceChildren(...order.map(tabFor));
    if (focused) tabs.querySelector(`[data-account="${version}"]`).focus();
  }
  tabs.hidden = offered.length === 0;
  fadeTabs();
  showNames();
  editor.classList.toggle('tabbed', offered.length > 0);
  for (const tab of tabs.children) {
    const here = tab.dataset.account === version;
    tab.setAttribute('aria-selected', String(here));
    tab.tabIndex = here ? 0 : -1;
    if (tab.dataset.account) markTab(tab, isCustomized(ownOf(tab.dataset.account)));
  }
  markProblems();
  shared.hidden = version !== '';
  if (own()) own().hidden = version === '';
  for (const details of all) showVersion(details, details.dataset.account === version);
  showOptions();
  showTools();
  showMedia();
  for (const tally of document.querySelectorAll('#tallies li')) tally.hidden = version !== '' && tally.dataset.account !== version;
}

// showNames names the selected accounts below their row, for screens without tooltips.
function showNames() {
  const line = document.getElementById('chosen-names');
  const chips = [...form.querySelectorAll('.account-chip:has(:checked) .names')];
  if (line) line.textContent = chips.map((names) => names.textContent.trim().replace(/\s+/g, ' ')).join(', ');
}

const platformOf = (account) => form.querySelector(`input[name=account][value="${account}"]`)?.dataset.platform;

// showOptions shows only the options of its network below a version. The style sheet hides those of unselected networks.
function showOptions() {
  for (const options of form.querySelectorAll('[data-options]')) {
    options.hidden = Boolean(version) && platformOf(version) !== options.dataset.options;
  }
  for (const format of form.querySelectorAll('[data-format]')) {
    format.hidden = Boolean(version) && platformOf(version) !== format.dataset.format;
  }
  for (const text of form.querySelectorAll('[data-chosen]')) {
    const field = document.getElementById(text.dataset.chosen);
    const { rule, rules } = field.selectedOptions[0].dataset;
    const every = document.getElementById('every')?.value ?? '';
    if (rule) text.textContent = every === '1' ? rule : rules.replace('%s', every);
    else text.textContent = field.value || field.id !== 'tiktok-privacy' ? field.selectedOptions[0].text : '';
  }
}

// showTools puts the toolbar below the shown text.
function showTools() {
  const field = version ? versionText(ownOf(version)) : caption;
  if (tools.parentElement !== field.parentElement) carry(tools, field.parentElement, field.nextSibling);
}

// restTools puts the toolbar where no response of the server replaces it.
const restTools = () => carry(tools, editor, document.querySelector('.voicing'));

// carry moves an element with its state and focus where the browser can do that.
function carry(element, parent, before) {
  if (parent.moveBefore && element.isConnected && parent.isConnected) parent.moveBefore(element, before);
  else parent.insertBefore(element, before);
}

const otherMedia = new Set(); // accounts for which the person chose to use other media

// showMedia shows the media of the shown version. Without its own media, it shows the shared media and a button to use
// other media. Uploads go where the media are shown.
function showMedia() {
  const into = document.getElementById('into');
  if (!into) return;
  const details = version ? ownOf(version) : null;
  const owned = Boolean(details?.querySelector('li.file'));
  const other = owned || otherMedia.has(version);
  const none = Boolean(details) && isChecked(details, 'nomedia');
  into.parentElement.hidden = true;
  if ([...into.options].some((option) => option.value === version)) into.value = other ? version : '0';
  else into.value = '0';
  const media = document.getElementById('media');
  media.classList.toggle('of-account', Boolean(version));
  media.classList.toggle('own-media', Boolean(version) && other);
  media.classList.toggle('unused', none && !other);
  const [use, shared] = [media.querySelector('[data-other-media]'), media.querySelector('[data-shared-media]')];
  if (!version) return;
  use.querySelector('span').textContent = translate('Use different media for %s', networkOf(version));
  use.hidden = other;
  shared.hidden = !other || owned;
}

function markTab(tab, customized) {
  tab.querySelector('.dot').hidden = !customized;
  tab.title = customized ? translate('Customized') : '';
}

// markProblems marks the tabs of accounts whose preview shows a problem that blocks publishing.
function markProblems() {
  for (const tab of tabs.children) {
    const blocked = Boolean(tab.dataset.account && document.querySelector(`#look-${tab.dataset.account} li.reason`));
    if (tab.classList.contains('blocked') === blocked) continue;
    tab.classList.toggle('blocked', blocked);
    tab.querySelector('.blocks')?.remove();
    if (!blocked) continue;
    const mark = document.createElement('span');
    mark.className = 'blocks';
    const sign = document.createElement('b');
    sign.setAttribute('aria-hidden', 'true');
    sign.textContent = '!';
    const words = document.createElement('span');
    words.className = 'sr';
    words.textContent = ` ${translate('has a problem')}`;
    mark.append(sign, words);
    tab.append(mark);
  }
}

function showVersion(details, here) {
  details.hidden = !here;
  if (!here) return;
  details.open = true;
  const panel = details.querySelector('.stack');
  panel.id = `version-${details.dataset.account}`;
  panel.setAttribute('role', 'tabpanel');
  panel.setAttribute('aria-labelledby', `tab-${details.dataset.account}`);
  const customized = !followsShared(details);
  const state = details.querySelector('[data-state]');
  state.textContent = state.dataset[customized ? 'own' : 'shared'];
  state.parentElement.classList.toggle('changed', customized);
  details.querySelector('[data-use-shared]').hidden = !customized;
}

// choose shows a version and puts the cursor into its text.
function choose(account, writing) {
  version = account;
  for (const options of form.querySelectorAll('[data-options]')) options.open ||= platformOf(version) === options.dataset.options;
  follow();
  const field = account ? versionText(ownOf(account)) : caption;
  if (writing) {
    field.focus();
    if (field.selectionEnd === 0) field.setSelectionRange(field.value.length, field.value.length);
  } else {
    tabs.querySelector('[aria-selected=true]').focus();
  }
  followTab();
}

// followTab shows the chosen tab and its preview, without scrolling the page.
function followTab() {
  const tab = tabs.querySelector('[aria-selected=true]');
  const box = tabs.getBoundingClientRect();
  const at = tab.getBoundingClientRect();
  tabs.scrollLeft += Math.min(0, at.left - box.left - 40) + Math.max(0, at.right - box.right + 40);
  const pane = document.getElementById('preview');
  const look = document.getElementById(`look-${version}`);
  if (pane.scrollHeight <= pane.clientHeight) return;
  pane.scrollTop = look ? pane.scrollTop + look.getBoundingClientRect().top - pane.getBoundingClientRect().top - 8 : 0;
}

// fadeTabs fades the edges behind which there are more tabs.
function fadeTabs() {
  tabs.classList.toggle('more-left', tabs.scrollLeft > 4);
  tabs.classList.toggle('more-right', tabs.scrollLeft + tabs.clientWidth < tabs.scrollWidth - 4);
}
tabs.addEventListener('scroll', fadeTabs);
new ResizeObserver(fadeTabs).observe(tabs);

tabs.addEventListener('click', (event) => {
  const tab = event.target.closest('[role=tab]');
  if (tab) choose(tab.dataset.account, event.detail > 0);
});
tabs.addEventListener('keydown', (event) => {
  const list = [...tabs.children];
  const at = list.findIndex((tab) => tab.dataset.account === version);
  const to = { ArrowRight: (at + 1) % list.length, ArrowLeft: (at - 1 + list.length) % list.length, Home: 0, End: list.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  choose(list[to].dataset.account, false);
});
editor.addEventListener('click', (event) => {
  const media = event.target.closest('[data-other-media], [data-shared-media]');
  if (media) {
    if ('otherMedia' in media.dataset) otherMedia.add(version);
    else otherMedia.delete(version);
    follow();
    document.querySelector(otherMedia.has(version) ? '#files' : '[data-other-media]').focus();
    return;
  }
  const button = event.target.closest('[data-use-shared]');
  if (!button) return;
  const field = versionText(button.closest('details'));
  field.value = caption.value;
  field.dataset.follows = '';
  field.focus();
  field.dispatchEvent(new Event('input', { bubbles: true }));
});

// reveal shows the version or the options that contain a field, such as the target of a problem's link.
function reveal(field) {
  const options = field?.closest('[data-options]');
  const details = field?.closest('#own details[data-account]');
  const format = field?.closest('[data-format]');
  if (options) options.open = true;
  if (format) {
    version = '';
    follow();
    format.querySelector(':checked, input').focus();
    return;
  }
  if (details) version = details.dataset.account;
  else if (options || shared.contains(field)) version = '';
  else return;
  follow();
  field.focus();
}

// goTo moves the focus to the field of a problem, or to the first field of its group.
function goTo(target, account) {
  const details = target.id === 'caption' && account ? ownOf(account) : null;
  if (details && !followsShared(details)) target = versionText(details);
  reveal(target);
  const inside = 'input:not([type=hidden]):not(:disabled), textarea, select, button, summary';
  const field = target.matches(`${inside}, a`) ? target : [...target.querySelectorAll(inside)].find((one) => one.checkVisibility());
  field?.focus({ preventScroll: true });
  (field ?? target).scrollIntoView({ block: 'center' });
}

// A link of a problem moves the focus after the part of the form that contains the field is shown.
document.addEventListener('click', (event) => {
  const link = event.target.closest(':is(#error, #looks) a[href^="#"]');
  const target = link && document.getElementById(link.hash.slice(1));
  if (!target) return;
  event.preventDefault();
  const account = link.closest('.look')?.id.replace('look-', '');
  requestAnimationFrame(() => goTo(target, account));
});

editor.prepend(tabs);
shared.setAttribute('role', 'tabpanel');
shared.setAttribute('aria-labelledby', 'tab-shared');
for (const options of form.querySelectorAll('[data-options]')) options.open = Boolean(options.querySelector('[aria-invalid], .reason'));
follow();

// After an image was cropped, the focus returns to it. Browsers move it to the fragment when the page has loaded.
const cropped = location.hash.startsWith('#item-') && document.getElementById(location.hash.slice(1));
if (cropped) addEventListener('load', () => goTo(cropped));
else if (!caption.matches('[aria-invalid]')) reveal(form.querySelector('#own [aria-invalid], [data-options] [aria-invalid]'));
