// The title of a post appears with the first account whose network publishes titles, and is kept while it is hidden.
'use strict';

const { assert, look, open, run, signIn, world } = require('./drive.js');

const platform = (page, name) => page.locator(`input[data-platform=${name}]`).first();
const title = (page) => page.getByLabel('Title', { exact: true });
const shownTitle = (page, text) => page.locator('#preview .pv-pinterest .title', { hasText: text });

// writeTitle shows the field and previews the title.
async function writeTitle(page) {
  await page.locator('input[name=account]:checked').evaluateAll((boxes) => boxes.forEach((box) => box.click()));
  await platform(page, 'bluesky').check();
  assert.equal(await title(page).isVisible(), false);
  await platform(page, 'pinterest').check();
  assert.equal(await title(page).isVisible(), true);
  await page.getByLabel('Text', { exact: true }).fill('Open from eight.');
  await page.getByLabel('Upload files').setInputFiles([world.pictures.red]);
  await title(page).fill('Winter menu');
  await shownTitle(page, 'Winter menu').waitFor();
  await look(page, 'compose-title');
}

// hide deselects the account, and selects it again.
async function hide(page) {
  await platform(page, 'pinterest').uncheck();
  assert.equal(await title(page).isVisible(), false);
  assert.equal(await title(page).inputValue(), 'Winter menu');
  await platform(page, 'pinterest').check();
  assert.equal(await title(page).isVisible(), true);
}

// customize gives the account a title of its own, which is too long at first.
async function customize(page) {
  const account = await platform(page, 'pinterest').getAttribute('value');
  const tab = page.locator(`[role=tab][data-account="${account}"]`);
  await tab.click();
  const own = page.getByLabel('Title for Pinterest');
  await own.fill('x'.repeat(101));
  await page.locator('#own .near', { hasText: 'The title is too long for Pinterest: 101/100' }).waitFor();
  await own.fill('Pin of the menu');
  await shownTitle(page, 'Pin of the menu').waitFor();
  assert.equal(await tab.getAttribute('title'), 'Customized');
  await look(page, 'compose-title-own');
  await page.getByRole('button', { name: 'Save draft' }).click();
  await page.getByText('Saved. It will not be published').waitFor();
  await page.locator('.pv-pinterest .title', { hasText: 'Pin of the menu' }).waitFor({ state: 'attached' });
}

run(async (browser) => {
  const page = await open(browser);
  await signIn(page, '/posts/new');
  await writeTitle(page);
  await hide(page);
  await customize(page);
  assert.deepEqual(page.complaints, []);
}).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
