// Common tasks need few clicks: a post for five networks with an image, one custom text and a time.
'use strict';

const fs = require('node:fs');
const { assert, look, open, run, signIn, world } = require('./drive.js');

const networks = ['Bluesky', 'Facebook', 'Instagram', 'LinkedIn', 'X'];

// createCounter returns an object that counts clicks. Typing does not count.
function createCounter() {
  const out = { clicks: 0 };
  out.click = async (what) => {
    out.clicks++;
    await what.click();
  };
  return out;
}

// paste pastes an image at the cursor, like Ctrl-V.
async function paste(page, file) {
  await page.evaluate(async ([name, base64]) => {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const data = new DataTransfer();
    data.items.add(new File([bytes], name, { type: 'image/png' }));
    document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
  }, ['pasted.png', fs.readFileSync(file).toString('base64')]);
}

const chip = (page, network) => page.locator('.account-chip', { hasText: network });
const tab = (page, network) => page.getByRole('tab', { name: network, exact: true });

// schedule writes and schedules a post, and returns the number of clicks.
async function schedule(page, { select, image, text }) {
  const by = createCounter();
  await by.click(page.getByRole('link', { name: 'Create', exact: true }));
  await page.locator('#caption:focus').waitFor();
  await page.keyboard.type(text);
  await image(by);
  for (const network of select) await by.click(chip(page, network));
  await by.click(tab(page, 'X'));
  await page.locator('textarea[name^=text-]:focus').waitFor();
  await page.keyboard.type(' On X, too.');
  await page.locator('#media [aria-label^="Remove "]').first().waitFor({ state: 'attached' });
  await by.click(page.getByRole('button', { name: 'Next available slot' }));
  await page.waitForFunction(() => document.getElementById('time').value !== '');
  await by.click(page.getByRole('button', { name: 'Schedule', exact: true }));
  await page.getByRole('link', { name: 'Create another' }).waitFor();
  return by.clicks;
}

// hashtags completes a hashtag with the keyboard and adds the missing hashtags of a list.
async function hashtags(page) {
  await page.goto('/hashtags/new');
  await page.getByLabel('Name').fill('Market');
  await page.getByLabel('Hashtags').fill('wintermarket quayside');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Remove #quayside' }).waitFor();
  await page.getByRole('button', { name: 'Create list' }).click();
  await page.getByText('The list was created.').waitFor();
  await page.goto('/posts/new');
  await page.locator('#caption:focus').waitFor();
  await page.keyboard.type('At the #w');
  await page.getByRole('option', { name: '#wintermarket' }).waitFor();
  await look(page, 'compose-hashtags');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.keyboard.type('today. A limited offer');
  assert.equal(await page.locator('#caption').inputValue(), 'At the #wintermarket today. A limited offer');
  await page.getByRole('button', { name: 'Hashtags', exact: true }).click();
  await page.getByRole('button', { name: 'Add all 2' }).click();
  assert.equal(await page.locator('#caption').inputValue(), 'At the #wintermarket today. A limited offer #quayside ');
  await page.getByText('Words to avoid in “Harbour Coffee”: limited offer').first().waitFor();
  await look(page, 'compose-hashtag-lists');
}

// publishDialog asks in the composer whether to publish. Canceling keeps the form and creates no draft.
async function publishDialog(page) {
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('button', { name: 'Publish now…' }).click();
  await page.getByRole('dialog', { name: 'Publish now' }).getByRole('button', { name: 'Publish to 1 account' }).waitFor();
  await look(page, 'compose-publish');
  await page.getByRole('link', { name: 'Cancel' }).click();
  await page.getByRole('dialog', { name: 'Publish now' }).waitFor({ state: 'detached' });
  assert.match(page.url(), /\/posts\/new$/);
  assert.equal(await page.getByLabel('Text', { exact: true }).inputValue(), 'From the tram.');
  const drafts = await page.evaluate(async () => (await fetch('/posts?status=draft')).text());
  assert.ok(!drafts.includes('From the tram.'));
  await page.keyboard.press('Escape');
}

// writeOnPhone writes on a phone. The time and other buttons are in the bar, and the preview replaces the form.
async function writeOnPhone(browser) {
  const page = await open(browser, { viewport: { width: 390, height: 844 } });
  await signIn(page, '/posts/new');
  await page.goto('/posts/new');
  assert.equal(await page.getByRole('navigation', { name: 'Main' }).isVisible(), false);
  await page.getByLabel('Text', { exact: true }).fill('From the tram.');
  const remembered = page.getByText('Same accounts as your last post.');
  assert.equal(await remembered.isVisible(), true);
  await page.locator('input[name=account]').first().evaluate((box) => box.form.querySelectorAll('input[name=account]:checked').forEach((other) => other.click()));
  assert.equal(await remembered.isVisible(), false);
  await chip(page, 'Bluesky').click();
  assert.equal(await page.getByText('Ready to publish.').first().isVisible(), false);
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByText('Ready to publish.').first().waitFor();
  assert.equal(await page.getByLabel('Text', { exact: true }).isVisible(), false);
  await look(page, 'compose-phone-preview');
  await page.getByRole('button', { name: 'Write' }).click();
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('button', { name: 'Publish now…' }).waitFor();
  await page.keyboard.press('Escape');
  await publishDialog(page);
  await page.getByRole('button', { name: 'Schedule', exact: true }).click(); // without a time, the form asks for one
  await page.locator('#date:focus').waitFor();
  await page.getByRole('button', { name: /^\w{3} \d+ \w{3}, \d\d:00/ }).first().click();
  await page.waitForFunction(() => document.getElementById('time').value !== '');
  await look(page, 'compose-phone-time'); // a suggested time closes the panel
  await page.getByLabel('Date', { exact: true }).waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: /^When: \w{3} \d/ }).waitFor();
  await page.getByRole('button', { name: 'Schedule', exact: true }).click();
  await page.getByRole('link', { name: 'Create another' }).waitFor();
}

run(async (browser) => {
  const page = await open(browser, { viewport: { width: 1280, height: 900 } });
  await signIn(page);
  const first = await schedule(page, { select: networks, image: () => paste(page, world.pictures.red), text: 'Open on Sunday.' });
  assert.ok(first <= 9, `the first post took ${first} clicks`);

  // The next post has the same accounts.
  const next = await schedule(page, {
    select: [],
    image: async (by) => {
      const chooser = page.waitForEvent('filechooser');
      await by.click(page.getByText('Upload files'));
      await (await chooser).setFiles([world.pictures.blue]);
    },
    text: 'Closed on Monday.',
  });
  assert.ok(next <= 5, `the next post took ${next} clicks`);

  await page.goto(`${new URL(page.url()).pathname}/edit`);
  for (const network of networks) assert.ok(await chip(page, network).locator('input').isChecked(), network);
  await tab(page, 'X').click();
  assert.equal(await page.getByLabel('Text for X').inputValue(), 'Closed on Monday. On X, too.');
  await tab(page, 'Bluesky').click();
  assert.equal(await page.getByLabel('Text for Bluesky').inputValue(), 'Closed on Monday.'); // The custom text follows the shared text.
  await tab(page, 'All accounts').click();
  await page.keyboard.type(' Again.');
  await tab(page, 'Bluesky').click();
  assert.match(await page.getByLabel('Text for Bluesky').inputValue(), /Again\./);
  await tab(page, 'X').click();
  await page.getByRole('button', { name: 'Use the shared text' }).click();
  assert.match(await page.getByLabel('Text for X').inputValue(), /Again\./);
  await page.getByRole('tab', { selected: true }).press('Home'); // with the keyboard
  await page.locator('#tab-shared:focus').waitFor();

  // The month marks the days with posts, and fills in the date. The panel stays open for the time.
  await page.getByRole('button', { name: /^When:/ }).click();
  await page.getByRole('button', { name: 'Next month' }).click();
  await page.getByRole('button', { name: 'Next month' }).click();
  await look(page, 'compose-month');
  await page.getByLabel('Time', { exact: true }).fill('');
  const day = page.locator('.month-days button:not(.other)').nth(14);
  const date = await day.getAttribute('data-day');
  await day.click();
  await page.locator('#time:focus').waitFor();
  assert.equal(await page.getByLabel('Date', { exact: true }).inputValue(), date);
  await page.locator(`.month-days .chosen[aria-current=date][data-day="${date}"]`).waitFor();
  await page.keyboard.press('Escape');

  // Dragging and the keyboard change the order of images without reloading the page. The library already has the image.
  await page.getByLabel('Upload files').setInputFiles([world.pictures.red]);
  await page.getByRole('button', { name: 'Move pasted up' }).waitFor();
  const items = page.locator('#media li.file');
  await page.locator('#media ol').evaluate((list) => list.scrollIntoView({ block: 'center' }));
  const [from, to] = [await items.nth(1).locator('.thumb').boundingBox(), await items.nth(0).locator('.thumb').boundingBox()];
  await page.mouse.move(from.x + 20, from.y + 20);
  await page.mouse.down();
  await page.mouse.move(to.x + 20, to.y + 30, { steps: 5 });
  await page.mouse.move(to.x + 20, to.y + 5, { steps: 5 });
  await page.mouse.up();
  await page.getByRole('button', { name: 'Move blue up' }).waitFor();
  await page.getByRole('button', { name: 'Move blue up' }).press('Enter');
  await page.getByRole('button', { name: 'Move pasted up' }).waitFor();
  await page.locator('[aria-label="Move blue down"]:focus').waitFor();
  await page.evaluate(() => { document.body.dataset.same = ''; });
  await page.getByRole('button', { name: 'Remove blue' }).click();
  await page.getByRole('button', { name: 'Remove blue' }).waitFor({ state: 'detached' });
  assert.ok(await page.evaluate(() => 'same' in document.body.dataset), 'the page was loaded anew');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Saved.').waitFor();
  await page.goto(`${new URL(page.url()).pathname}/edit`);
  assert.equal(await page.locator('#own .custom.changed').count(), 0);
  await hashtags(page);
  await writeOnPhone(browser);
}).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
