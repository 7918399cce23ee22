// Follows all links, one page of each kind, and checks the pages.
'use strict';

const { assert, look, open, run, signIn } = require('./drive.js');

// kind returns the path of a URL with IDs replaced, which is equal for pages of one kind.
function kind(address) {
  const parts = address.pathname.split('/').map((part) => (/\d/.test(part) ? '*' : part));
  return parts.join('/') + '?' + [...address.searchParams.keys()].sort().join('&');
}

// phone opens all places on a phone without scripts, with the keyboard. Links that do not fit in the bar are under "More".
async function phone(browser) {
  const page = await open(browser, { javaScriptEnabled: false });
  await signIn(page, '/posts');
  await page.setViewportSize({ width: 390, height: 800 });
  const { height } = await page.locator('header').boundingBox();
  assert.ok(height <= 60, `the header is ${height} px high`);
  const rail = page.getByRole('navigation', { name: 'Main' });
  const voices = rail.getByRole('link', { name: 'Voices' });
  const more = rail.getByRole('button', { name: 'More' });
  assert.equal(await voices.isVisible(), false);
  await more.focus();
  await page.keyboard.press('Enter');
  await voices.waitFor();
  await page.keyboard.press('Escape');
  await voices.waitFor({ state: 'hidden' });
  await more.click();
  await voices.focus();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/voices');
  await page.getByRole('link', { name: 'Create' }).click();
  await page.waitForURL('**/posts/new');
  await page.context().close();
  const scripted = await open(browser, { viewport: { width: 390, height: 800 } });
  await signIn(scripted, '/posts');
  for (const name of ['More', /^Team/, /^Your account/]) {
    await scripted.getByRole('button', { name }).click();
    await look(scripted, 'menu');
    await scripted.keyboard.press('Escape');
  }
  await scripted.context().close();
}

run(async (browser) => {
  await phone(browser);
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
