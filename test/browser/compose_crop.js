// Cropping an image of a post: by mouse, by keyboard and on a phone. Everything that was typed is kept.
'use strict';

const { assert, look, open, run, signIn, world } = require('./drive.js');

const names = (page, list) => page.locator(`${list} li.file strong`).allTextContents();
const cropButton = (page, name) => page.getByRole('button', { name: `Crop or rotate ${name}`, exact: true });
const focused = (page) => page.evaluate(() => document.activeElement.getAttribute('aria-label'));

// write fills in a form with two images and returns its content.
async function write(page) {
  await page.goto('/posts/new');
  await page.locator('input[name=account]:checked').evaluateAll((boxes) => boxes.forEach((box) => box.click()));
  for (const platform of ['instagram', 'pinterest']) await page.locator(`input[data-platform=${platform}]`).first().check();
  await page.getByLabel('Text', { exact: true }).fill('Typed, and not saved.');
  await page.getByLabel('Upload files').setInputFiles([world.pictures.red, world.pictures.blue]);
  await cropButton(page, 'blue').waitFor();
  await page.locator('#media').getByLabel('Alt text').nth(1).fill('A blue picture.');
  await page.locator('#first-comment').evaluate((field) => { field.value = 'More below.'; });
  await page.locator('#date').evaluate((field) => { field.value = '2031-05-06'; });
  await page.locator('#time').evaluate((field) => { field.value = '10:15'; });
  return contentOf(page);
}

// contentOf returns what the form would send, except its media and values that belong to one page.
const contentOf = (page) => page.evaluate(() => [...new FormData(document.getElementById('compose'))]
  .filter(([name, value]) => typeof value === 'string' && value && !/^(once|seen|media|partmedia.*|alt-.*|picked)$/.test(name)).map((pair) => pair.join('=')).sort());

// cancel leaves the crop page without a change.
async function cancel(page, content) {
  await cropButton(page, 'blue').click();
  await page.getByRole('heading', { name: 'Crop or rotate' }).waitFor();
  assert.deepEqual(await page.locator('.shapes strong').allTextContents(), ['Free', '1:1', '4:5', '2:3', '1.91:1', '9:16', '16:9']);
  await look(page, 'compose-crop');
  await page.getByRole('link', { name: 'Cancel' }).click();
  await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Crop or rotate blue');
  assert.deepEqual(await contentOf(page), content);
  assert.deepEqual(await names(page, '#media'), ['red', 'blue']);
}

// cropByKeyboard opens the crop page, rotates the image and saves it with the keyboard.
async function cropByKeyboard(page, content) {
  assert.equal(await focused(page), 'Crop or rotate blue');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Crop or rotate' }).waitFor();
  await page.getByRole('button', { name: 'Rotate right' }).focus();
  await page.keyboard.press('Space');
  await page.getByRole('radio', { name: /^Free/ }).focus();
  for (let i = 0; i < 2; i += 1) await page.keyboard.press('ArrowDown');
  await page.getByText(/The new image has 51 × 6\d pixels/).waitFor();
  await page.getByRole('button', { name: 'Save and use in the post' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('The new image is in the post.').waitFor();
  await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Crop or rotate blue 4x5');
  assert.deepEqual(await names(page, '#media'), ['red', 'blue 4x5']);
  assert.equal(await page.locator('#media').getByLabel('Alt text').nth(1).inputValue(), 'A blue picture.');
  assert.deepEqual(await contentOf(page), content);
  await look(page, 'compose-cropped');
}

// cropOwn crops an image of one account. The account's tab is shown afterward.
async function cropOwn(page) {
  const account = await page.locator('input[data-platform=pinterest]').first().getAttribute('value');
  await page.locator(`[role=tab][data-account="${account}"]`).click();
  await page.getByRole('button', { name: /^Use different media for / }).click();
  await page.getByLabel('Upload files').setInputFiles([world.pictures.red]);
  const details = `#own details[data-account="${account}"]`;
  await page.locator(details).getByRole('button', { name: 'Crop or rotate red', exact: true }).click();
  await page.getByRole('radio', { name: /^2:3/ }).check();
  assert.deepEqual(await page.locator('.shapes strong').allTextContents(), ['Free', '2:3', '1:1', '4:5', '1.91:1', '9:16', '16:9']);
  await page.getByRole('button', { name: 'Save and use in the post' }).click();
  await page.getByText('The new image is in the post.').waitFor();
  await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Crop or rotate red 2x3');
  assert.deepEqual(await names(page, details), ['red 2x3']);
  assert.deepEqual(await names(page, '#media'), ['red', 'blue 4x5']);
  assert.equal(await page.locator(`[role=tab][data-account="${account}"]`).getAttribute('aria-selected'), 'true');
}

// save saves the draft with the cropped images.
async function save(page) {
  await page.getByRole('button', { name: 'Save draft' }).click();
  await page.getByText('Saved. It will not be published').waitFor();
}

// cropOnPhone crops an image by touch on a narrow screen.
async function cropOnPhone(browser) {
  const page = await open(browser, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await signIn(page, '/posts/new');
  await page.getByLabel('Text', { exact: true }).fill('On the phone.');
  await page.getByLabel('Upload files').setInputFiles([world.pictures.blue]);
  await cropButton(page, 'blue').tap();
  await page.locator('.shapes label').filter({ hasText: '9:16' }).tap();
  assert.equal(await page.getByRole('radio', { name: /^9:16/ }).isChecked(), true);
  await page.getByRole('button', { name: 'Save and use in the post' }).tap();
  await page.getByText('The new image is in the post.').waitFor();
  assert.deepEqual(await names(page, '#media'), ['blue 9x16']);
  assert.equal(await page.getByLabel('Text', { exact: true }).inputValue(), 'On the phone.');
  assert.deepEqual(page.complaints, []);
}

run(async (browser) => {
  const page = await open(browser);
  await signIn(page, '/posts/new');
  const content = await write(page);
  await cancel(page, content);
  await cropByKeyboard(page, content);
  await cropOwn(page);
  await save(page);
  await cropOnPhone(browser);
}).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
