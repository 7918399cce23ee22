// The frame of all pages: the rail and menus with the keyboard and without scripts, the team menu and the search.
'use strict';

const { assert, look, open, run, signIn, world } = require('./drive.js');

const places = ['Home', 'Calendar', 'Posts', 'Analytics', 'Accounts', 'Media', 'Hashtags', 'Voices', 'Settings'];

// openRailLinks moves with Tab through all links of the rail and opens each.
async function openRailLinks(browser) {
  const page = await open(browser, { javaScriptEnabled: false, viewport: { width: 1440, height: 900 } });
  await signIn(page, '/posts');
  for (const place of places) {
    const focused = page.locator(':focus');
    await page.keyboard.press('Tab');
    assert.equal(await focused.textContent(), 'Skip to content');
    for (let i = 0; i < 20 && (await focused.textContent()) !== place; i++) await page.keyboard.press('Tab');
    assert.notEqual(await focused.evaluate((e) => getComputedStyle(e).outlineStyle), 'none');
    await page.keyboard.press('Enter');
    await page.locator(`nav a[aria-current=page]`, { hasText: place }).waitFor();
  }
  await page.context().close();
}

// switchTeam selects another team in the menu with the keyboard. A list page stays open. A post of the first team
// does not.
async function switchTeam(browser) {
  const page = await open(browser, { javaScriptEnabled: false });
  await signIn(page, '/posts');
  await page.locator('main .listed .what').first().click();
  await page.waitForURL(/\/posts\/[0-9a-f-]{36}$/);
  await page.getByRole('button', { name: 'Team: Harbour Coffee' }).focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  assert.equal(await page.locator(':focus').getAttribute('aria-label'), `Switch to ${world.other}`);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: `Team: ${world.other}` }).waitFor();
  assert.equal(new URL(page.url()).pathname, '/posts');
  await page.context().close();
}

// chooseAppearance chooses a color scheme in the menu of the account. Typed text stays, and the next pages have the scheme.
async function chooseAppearance(browser) {
  const page = await open(browser, { colorScheme: 'light' });
  await signIn(page, '/posts');
  await page.goto('/hashtags/new');
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const bright = await background();
  await page.getByLabel('Name', { exact: true }).fill('Winter');
  await page.getByRole('button', { name: /^Your account/ }).click();
  const dark = page.getByRole('group', { name: 'Appearance' }).getByRole('button', { name: 'Dark' });
  await dark.click();
  await page.locator('html[data-scheme=dark]').waitFor();
  assert.equal(await dark.getAttribute('aria-pressed'), 'true');
  assert.notEqual(await background(), bright);
  assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Winter');
  await look(page, 'appearance');
  await page.goto('/media');
  assert.notEqual(await background(), bright);
  await page.getByRole('button', { name: /^Your account/ }).click();
  await page.getByRole('button', { name: 'System' }).click();
  await page.locator('html:not([data-scheme])').waitFor();
  await page.context().close();
}

// search focuses the search field with the keyboard, finds a post while typing, and opens it.
async function search(browser) {
  const page = await open(browser);
  await signIn(page, '/posts');
  await page.keyboard.press('Control+k');
  const results = page.locator('#search-results');
  await results.getByRole('link', { name: 'New post' }).waitFor();
  await page.keyboard.type('market opens');
  await results.getByRole('link', { name: 'The winter market opens' }).waitFor();
  await look(page, 'search');
  await page.keyboard.press('Control+k'); // On the narrow screen, the field disappeared and lost the focus.
  await results.getByRole('link', { name: 'The winter market opens' }).waitFor();
  for (const key of ['ArrowDown', 'ArrowUp', 'ArrowDown']) await page.keyboard.press(key);
  assert.match(await page.locator(':focus').textContent(), /^The winter market/);
  await page.keyboard.press('Escape');
  assert.equal(await results.isVisible(), false);
  await page.getByRole('searchbox', { name: 'Search or jump to' }).press('Enter');
  await page.waitForURL(/\/search\?q=market\+opens$/);
  await look(page, 'search-page');
  await page.getByRole('main').getByRole('link', { name: 'The winter market opens' }).click();
  await page.waitForURL(/\/posts\/[0-9a-f-]{36}$/);
  await page.goto('/posts');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('market opens');
  await results.locator('a.first', { hasText: 'The winter market opens' }).waitFor();
  await page.keyboard.press('Enter'); // opens the first result
  await page.waitForURL(/\/posts\/[0-9a-f-]{36}$/);
  await page.context().close();
}

// searchEarly presses the search key and types before the search script is loaded.
async function searchEarly(browser) {
  const page = await open(browser);
  await signIn(page, '/posts');
  let release;
  const released = new Promise((resolve) => { release = resolve; });
  await page.route('**/assets/search-*.js', async (route) => {
    await released;
    await route.continue();
  });
  await page.goto('/posts', { waitUntil: 'commit' });
  const field = page.getByRole('searchbox', { name: 'Search or jump to' });
  await field.waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('market opens');
  assert.equal(await field.inputValue(), 'market opens');
  release();
  await page.locator('#search-results').getByRole('link', { name: 'The winter market opens' }).waitFor();
  await page.context().close();
}

// openForbiddenPage opens a page that the person's role does not allow.
async function openForbiddenPage(browser) {
  const page = await open(browser, { viewport: { width: 1440, height: 900 } });
  await signIn(page, '/posts');
  await page.getByRole('button', { name: 'Team: Harbour Coffee' }).click();
  await page.getByRole('button', { name: `Switch to ${world.other}` }).click();
  await page.getByRole('button', { name: `Team: ${world.other}` }).waitFor();
  const answer = await page.goto('/posts/new');
  assert.equal(answer.status(), 403);
  await page.getByRole('heading', { name: 'You do not have permission' }).waitFor();
  await page.getByText('You are a viewer in Quayside Bakery.').waitFor();
  await look(page, 'forbidden');
  await page.context().close();
}

// checkPages checks some pages on a wide screen and on a phone.
async function checkPages(browser) {
  for (const [device, viewport] of Object.entries({ desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } })) {
    const page = await open(browser, { viewport });
    await signIn(page, '/posts');
    for (const path of ['/', '/posts', '/calendar', '/posts/new', '/analytics', '/accounts', '/settings/keys', '/settings/plan', '/operator/teams/new']) {
      await page.goto(path);
      await look(page, `frame-${device}-${path.replaceAll('/', '-')}`);
    }
    assert.equal(await page.evaluate(() => document.fonts.check('14px "Inter var"')), true, 'the font is not loaded');
    const icon = await page.locator('nav .i').first().evaluate((e) => e.getBBox().width);
    assert.ok(icon > 10, 'the icons are not loaded');
    await page.context().close();
  }
}

run(async (browser) => {
  await openRailLinks(browser);
  await checkPages(browser);
  await switchTeam(browser);
  await openForbiddenPage(browser);
  await chooseAppearance(browser);
  await search(browser);
  await searchEarly(browser);
}).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
