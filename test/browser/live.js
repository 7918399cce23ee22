// Pages show changes by others without losing the selection, input or focus.
'use strict';

const { assert, look, open, run, signIn, world } = require('./drive.js');

// ask sends a request to the API, like another person's program.
async function ask(page, method, path, data) {
  const answer = await page.request.fetch(world.base_url + path, { method, data, headers: { Authorization: `Bearer ${world.keys.full}` } });
  assert.ok(answer.ok(), `${method} ${path}: ${answer.status()}`);
  return (await answer.json()).data;
}

// streaming opens a page and waits until its event stream is open.
async function streaming(page, path) {
  await page.goto(path);
  await page.waitForFunction(() => stream?.readyState === EventSource.OPEN); // eslint-disable-line no-undef
  await page.waitForTimeout(1500); // The server first records the current state.
}

async function list(page) {
  const { id } = await ask(page, 'POST', '/posts', { caption: 'Selected by hand', account_ids: [world.bluesky] });
  await streaming(page, '/posts?status=draft');
  await page.getByLabel('Select Selected by hand').check();
  await page.getByText('1 selected').waitFor();
  await page.getByRole('link', { name: 'Selected by hand' }).focus();
  const loaded = await page.evaluate(() => performance.timeOrigin);
  await ask(page, 'POST', '/posts', { caption: 'Written by a colleague', account_ids: [world.bluesky] });
  await page.getByRole('link', { name: 'Written by a colleague' }).waitFor();
  assert.ok(await page.getByLabel('Select Selected by hand').isChecked(), 'the selection is lost');
  assert.equal(await page.locator('#picked').textContent(), '1 selected');
  assert.equal(await page.locator(':focus').getAttribute('href'), `/posts/${id}`, 'the focus is lost');

  // Text that is being typed is not replaced. The list is updated afterwards.
  await page.getByRole('button', { name: 'Reschedule…' }).click();
  await page.getByLabel('Shift by days').check();
  await page.getByLabel('Shift by', { exact: true }).fill('3');
  await ask(page, 'POST', '/posts', { caption: 'Another one', account_ids: [world.bluesky] });
  await page.waitForTimeout(4000);
  assert.equal(await page.getByLabel('Shift by', { exact: true }).inputValue(), '3');
  assert.equal(await page.getByRole('link', { name: 'Another one' }).count(), 0);
  await page.getByLabel('Shift by', { exact: true }).fill('');
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Another one' }).waitFor();
  assert.equal(await page.evaluate(() => performance.timeOrigin), loaded, 'the page was loaded anew');
  await look(page, 'live-list');
}

async function others(page) {
  const { id } = await ask(page, 'POST', '/posts', { caption: 'Before', account_ids: [world.bluesky] });
  await streaming(page, `/posts/${id}`);
  await ask(page, 'PATCH', `/posts/${id}`, { caption: 'After the change' });
  await page.locator('.looks', { hasText: 'After the change' }).waitFor();

  await streaming(page, '/calendar');
  await ask(page, 'PATCH', `/posts/${id}`, { caption: 'Changed again' });
  await page.locator('.event').getByText('Changed again').waitFor();

  // A failed post updates the notification count.
  const bell = page.locator('.bell .count');
  const before = parseInt(await bell.count() ? await bell.textContent() : '0', 10);
  await ask(page, 'PATCH', `/posts/${id}`, { caption: 'It fails [sandbox:reject]' });
  await ask(page, 'POST', `/posts/${id}/publish`);
  await page.waitForFunction((n) => parseInt(document.querySelector('.bell .count')?.textContent ?? '0', 10) > n, before);
  assert.match(await bell.textContent(), /^\d+ unread$/);
}

// Going back to a page shows changes made in the meantime.
async function back(page) {
  await streaming(page, '/posts?status=draft');
  await page.getByRole('link', { name: 'Home', exact: true }).click();
  await page.waitForURL((url) => url.pathname === '/');
  await ask(page, 'POST', '/posts', { caption: 'While away', account_ids: [world.bluesky] });
  await page.goBack();
  await page.getByRole('link', { name: 'While away' }).waitFor();
}

run(async (browser) => {
  const page = await open(browser, { viewport: { width: 1440, height: 900 } });
  await signIn(page, '/posts');
  await list(page);
  await others(page);
  await back(page);
  assert.deepEqual(page.complaints, []);
}).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
