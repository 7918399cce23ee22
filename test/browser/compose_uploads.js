// Input is not lost while files are uploaded or accounts are selected.
'use strict';

const { assert, look, open, run, signIn, world } = require('./drive.js');

// delayUploads delays uploads until the returned function is called.
async function delayUploads(page) {
  let release;
  const released = new Promise((resolve) => { release = resolve; });
  await page.route(/\/(new|edit)$/, async (route) => {
    if (route.request().method() === 'POST') await released;
    await route.continue();
  });
  return async () => {
    release();
    await page.unrouteAll({ behavior: 'wait' });
  };
}

const box = (page, at) => page.locator('input[name=account]').nth(at);
const details = async (page, at) => page.locator(`#own details[data-account="${await box(page, at).getAttribute('value')}"]`);

// write opens an account's tab and writes its own text.
async function write(page, at, text) {
  const part = await details(page, at);
  await page.locator(`[role=tab][data-account="${await box(page, at).getAttribute('value')}"]`).click();
  await part.locator('textarea[name^=text-]').fill(text);
}

const textOf = async (page, at) => (await details(page, at)).locator('textarea[name^=text-]').inputValue();

// checkToolbar checks that the toolbar is right below an account's text. The response to an upload replaces the text.
async function checkToolbar(page, at) {
  const [field, tools] = [(await details(page, at)).locator('textarea[name^=text-]'), page.locator('#tools')];
  await page.waitForFunction(([text, bar]) => Math.abs(bar.getBoundingClientRect().top - text.getBoundingClientRect().bottom) < 2,
    [await field.elementHandle(), await tools.elementHandle()]); // The field grows with its text.
  const before = await field.inputValue();
  await page.getByRole('button', { name: 'Emoji' }).click();
  await page.getByLabel('Search emoji').fill('hot bev');
  await page.getByLabel('Search emoji').press('Enter');
  assert.equal(await field.inputValue(), `${before}☕`);
  await page.keyboard.press('Escape');
}

// typeDuringUpload types custom text of accounts that were selected just before and during an upload.
async function typeDuringUpload(page) {
  await page.goto('/posts/new');
  const release = await delayUploads(page);
  await box(page, 0).check();
  await page.getByLabel('Upload files').setInputFiles([world.pictures.red]); // before the field of the account exists
  await write(page, 0, 'Typed during the upload.');
  await box(page, 1).check();
  await write(page, 1, 'Selected during the upload.');
  await page.getByRole('button', { name: /^Use different media for / }).click();
  const into = await page.locator('#into').inputValue();
  await release();
  await page.locator('#media [aria-label="Remove red"]').waitFor({ state: 'attached' }); // in the shared media
  assert.equal(await textOf(page, 0), 'Typed during the upload.');
  assert.equal(await textOf(page, 1), 'Selected during the upload.');
  assert.notEqual(into, '0');
  assert.equal(await page.locator('#into').inputValue(), into);
  await checkToolbar(page, 1);
  await page.locator('#tab-shared').click();
  assert.equal(await page.locator('#into').inputValue(), '0');
  await look(page, 'compose-typed-during-upload');
}

// pressDuringUpload presses buttons during an upload. They wait for the file, even if the response replaces the button.
async function pressDuringUpload(page) {
  await page.goto('/posts/new');
  await page.getByLabel('Upload files').setInputFiles([world.pictures.red]);
  await page.getByRole('button', { name: 'Remove red' }).waitFor();
  await page.getByText('Uploaded red.png.').waitFor();
  const release = await delayUploads(page);
  await page.getByLabel('Upload files').setInputFiles([world.pictures.blue]);
  await page.getByText('Uploading blue.png. You can keep writing.').waitFor();
  await page.getByRole('button', { name: 'Remove red' }).click();
  await page.getByText('Uploading blue.png. “Remove red” is next.').waitFor();
  await release();
  await page.getByRole('button', { name: 'Remove blue' }).waitFor();
  await page.getByRole('button', { name: 'Remove red' }).waitFor({ state: 'detached' });
  assert.equal(await page.getByRole('button', { name: 'Remove blue' }).count(), 1);
}

// checkFocus checks that an upload does not move the focus. Leaving the page asks for confirmation while the input
// cannot be stored.
async function checkFocus(page) {
  await page.goto('/posts/new');
  await page.getByRole('link', { name: 'Calendar' }).first().focus();
  await page.evaluate(async () => {
    const data = new DataTransfer();
    const canvas = new OffscreenCanvas(40, 30);
    canvas.getContext('2d').fillRect(0, 0, 20, 30);
    data.items.add(new File([await canvas.convertToBlob()], 'dropped.png', { type: 'image/png' }));
    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
  });
  await page.getByRole('button', { name: 'Remove dropped' }).waitFor();
  assert.equal(await page.locator(':focus').textContent(), 'Calendar');
  await page.getByText('Saved', { exact: true }).first().waitFor();
  await page.route('**/posts/unsaved', (route) => route.abort());
  await page.getByLabel('Text', { exact: true }).fill('Not kept.');
  await page.locator('#kept', { hasText: 'Not saved: offline.' }).waitFor();
  const asked = page.waitForEvent('dialog');
  await page.mouse.click(5, 500); // browsers ask only after an interaction with the page
  void page.goto('/posts').catch(() => {});
  await (await asked).dismiss();
  await page.getByRole('button', { name: 'Remove dropped' }).waitFor();
  await page.unrouteAll();
}

// checkRejections checks that rejected files are explained.
async function checkRejections(page) {
  await page.goto('/posts/new?caption=Hello');
  const answers = [
    [(route) => route.abort(), 'The connection was lost.'],
    [(route) => route.fulfill({ status: 503, contentType: 'text/html', body: '<form id="compose"><div id="error-files"><p>red.png: The server is busy.</p></div></form>' }), 'red.png: The server is busy.'],
    [(route) => route.fulfill({ status: 409, contentType: 'text/html', body: '<main><p id="reason">Of another team.</p></main>' }), 'Of another team.'],
  ];
  for (const [answer, reason] of answers) {
    await page.route('**/posts/new', answer, { times: 1 });
    await page.getByLabel('Upload files').setInputFiles([world.pictures.red]);
    await page.getByText(`Not uploaded: red.png. ${reason} Try again, or discard the files to save without them.`).waitFor();
    await look(page, 'compose-not-uploaded');
    await page.locator('#compose').getByRole('button', { name: 'Discard' }).click();
  }
  // Only the rejected file of two is named.
  const busy = '<form id="compose"><div id="error-files"><p>blue.png: The server is busy.</p><p>Wait a moment.</p></div></form>';
  await page.route('**/posts/new', (route) => route.fulfill({ status: 503, contentType: 'text/html', body: busy }), { times: 1 });
  await page.getByLabel('Upload files').setInputFiles([world.pictures.red, world.pictures.blue]);
  await page.getByText('Not uploaded: blue.png. blue.png: The server is busy. Wait a moment. Try again').waitFor();
  await page.locator('#compose').getByRole('button', { name: 'Discard' }).click();
  await page.context().clearCookies();
  await page.getByLabel('Upload files').setInputFiles([world.pictures.red]);
  await page.getByText('Not uploaded: red.png. You are signed out. Sign in again in another tab.').waitFor();
}

// deselectAccount checks that the text of a deselected account is kept. Saving shows its field.
async function deselectAccount(page) {
  await page.goto('/posts/new?caption=Hello');
  await box(page, 0).check();
  await write(page, 0, 'Not for nobody.');
  await box(page, 0).uncheck();
  await page.getByRole('button', { name: 'Save draft' }).click();
  await page.locator('#own').getByText('which is not selected. Select the account or clear its text.').waitFor();
  const text = (await details(page, 0)).locator('textarea[name^=text-]');
  assert.equal(await text.inputValue(), 'Not for nobody.');
  await look(page, 'compose-not-selected');
  await text.fill('');
  await page.getByRole('button', { name: 'Save draft' }).click();
  await page.getByText('Saved.').waitFor();
}

// loadNextPage adds the next page of the library and keeps the selection.
async function loadNextPage(page) {
  await page.goto('/posts/new');
  const images = await page.evaluate(() => Array.from({ length: 20 }, (_, i) => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 16, height: 16 });
    const context = canvas.getContext('2d');
    context.fillStyle = `rgb(${i * 8} 40 90)`;
    context.fillRect(0, 0, 16, 16);
    return canvas.toDataURL().split(',')[1];
  }));
  const files = images.map((data, i) => ({ name: `shade ${i}.png`, mimeType: 'image/png', buffer: Buffer.from(data, 'base64') }));
  await page.getByLabel('Upload files').setInputFiles(files);
  await page.getByRole('button', { name: 'Remove shade 19' }).waitFor();
  await page.getByText('Choose from the library').click();
  const items = page.locator('.picks > li');
  const shown = await items.count();
  await page.locator('.picks [name=picked]').first().check();
  await page.getByRole('dialog').getByRole('button', { name: 'More', exact: true }).click();
  await items.nth(shown).waitFor();
  assert.equal(await page.locator('.picks [name=picked]').first().isChecked(), true);
  assert.equal(await page.getByRole('button', { name: 'Back to newest' }).count(), 0);
  await page.getByRole('button', { name: 'Add 1', exact: true }).waitFor();
}

run(async (browser) => {
  const page = await open(browser);
  await signIn(page, '/posts/new');
  await typeDuringUpload(page);
  await pressDuringUpload(page);
  await checkFocus(page);
  await deselectAccount(page);
  await loadNextPage(page);
  await checkRejections(page);
}).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
