// Every page that links lead to, one of each kind: it is there, and passes the checks.
'use strict';

const { assert, look, open, run, signIn, world } = require('./drive.js');

// kind is an address without what tells two pages of one kind apart.
function kind(address) {
  const parts = address.pathname.split('/').map((part) => (/\d/.test(part) ? '*' : part));
  return parts.join('/') + '?' + [...address.searchParams.keys()].sort().join('&');
}

// menu goes from place to place on a phone without scripts, by keyboard: all places are behind one line.
async function menu(browser) {
  const page = await open(browser, { javaScriptEnabled: false });
  await signIn(page, '/posts');
  await page.setViewportSize({ width: 390, height: 800 });
  const { height } = await page.locator('header').boundingBox();
  assert.ok(height <= 60, `the header is ${height} px high`);
  const calendar = page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: 'Calendar' });
  assert.equal(await calendar.isVisible(), false);
  const opens = async () => {
    await page.getByRole('button', { name: /^Menu/ }).focus();
    await page.keyboard.press('Enter');
    await calendar.waitFor();
  };
  await opens();
  await page.keyboard.press('Escape');
  await calendar.waitFor({ state: 'hidden' });
  await opens();
  await page.getByRole('button', { name: 'Close' }).click();
  await calendar.waitFor({ state: 'hidden' });
  await opens();
  await page.keyboard.press('Tab');
  assert.equal(await page.locator(':focus').getAttribute('href'), '/');
  await calendar.focus();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/calendar');
  await page.context().close();
  const scripted = await open(browser, { viewport: { width: 390, height: 800 } });
  await scripted.goto('/sign-in');
  await scripted.getByLabel('E-mail').fill(world.owner.email);
  await scripted.getByLabel('Password').fill(world.owner.password);
  await scripted.keyboard.press('Enter');
  await scripted.getByRole('button', { name: /^Menu/ }).click();
  await look(scripted, 'menu');
  await scripted.context().close();
}

run(async (browser) => {
  await menu(browser);
  const page = await open(browser);
  await signIn(page, '/posts');
  await page.goto('/');
  const waiting = [new URL(page.url())];
  const seen = new Set(waiting.map(kind));
  const checked = [];
  while (waiting.length > 0) {
    const address = waiting.shift();
    const answer = await page.request.get(address.href);
    assert.equal(answer.status(), 200, `${address.href}, linked from the pages before`);
    if (!/^text\/html/.test(answer.headers()['content-type'])) continue;
    await page.goto(address.href);
    await look(page, 'page' + kind(address).replace(/[^a-z]+/g, '-'));
    checked.push(kind(address));
    for (const href of await page.locator('a[href]').evaluateAll((links) => links.map((a) => a.href))) {
      const to = new URL(href);
      to.hash = '';
      if (to.origin !== address.origin || seen.has(kind(to))) continue;
      seen.add(kind(to));
      waiting.push(to);
    }
  }
  assert.ok(checked.length >= 60, `only these were found: ${checked.join(' ')}`);
}).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
