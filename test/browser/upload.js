// The upload page: selecting and dropping files, rejected files, descriptions, and ending the upload.
'use strict';

const { assert, look, open, run, signIn, world } = require('./drive.js');
const fs = require('node:fs');

run(async (browser) => {
  const page = await open(browser);
  await signIn(page);
  await page.goto(world.upload_page_url);
  await look(page, 'upload-empty');
  await chosen(page);
  await rejected(page);
  await dropped(page);
  await described(page);
  await look(page, 'upload-full');
  await withoutScripts(browser);
  await kept(page);
  await ended(page);
}).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});

const files = (page) => page.getByRole('region', { name: 'Files' });
const uploads = (page) => page.getByRole('list', { name: 'Uploads from this page' });

// chosen uploads two files with the dialog, opened with the keyboard.
async function chosen(page) {
  const dialog = page.waitForEvent('filechooser'); // Wait before the dialog opens.
  await page.evaluate(() => {
    window.seen = [];
    new MutationObserver(() => {
      for (const bar of document.querySelectorAll('progress')) window.seen.push(bar.value);
    }).observe(document.getElementById('uploads'), { childList: true, subtree: true });
  });
  await page.getByLabel(/Choose files/).focus();
  await page.keyboard.press('Enter');
  await (await dialog).setFiles([world.pictures.red, world.pictures.large]);
  await page.getByText('2 of 2 uploaded.').waitFor();
  const values = await page.evaluate(() => window.seen);
  assert.ok(values.includes(100), `progress reached ${Math.max(...values)}`);
  assert.ok(values.every((v) => v >= 0 && v <= 100));
  await files(page).getByText('large.png').waitFor();
  assert.equal(await files(page).getByText('In the library', { exact: true }).count(), 2);
  await page.waitForFunction(() => [...document.querySelectorAll('.thumb img')].every((i) => { i.loading = 'eager'; return i.complete && i.naturalWidth > 0; }));
}

async function rejected(page) {
  await page.getByLabel(/Choose files/).setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Not a picture.\n') });
  await page.getByText('2 of 3 uploaded, 1 rejected.').waitFor();
  assert.match(await uploads(page).getByRole('listitem').filter({ hasText: 'notes.txt' }).textContent(), /image|type/i);
}

async function dropped(page) {
  const bytes = fs.readFileSync(world.pictures.green).toString('base64');
  const transfer = await page.evaluateHandle((base64) => {
    const out = new DataTransfer();
    out.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], 'Grün & blau.png', { type: 'image/png' }));
    return out;
  }, bytes);
  await page.dispatchEvent('#drop', 'dragover', { dataTransfer: transfer });
  assert.match(await page.locator('#drop').getAttribute('class'), /over/);
  await page.dispatchEvent('#drop', 'drop', { dataTransfer: transfer });
  await files(page).getByText('Grün & blau').waitFor();
  assert.doesNotMatch(await page.locator('#drop').getAttribute('class'), /over/);
}

// described enters a description, which is kept while another file arrives and after reloading the page.
async function described(page) {
  const field = files(page).getByRole('listitem').filter({ hasText: 'red' }).getByLabel(/^Alt text/);
  await field.fill('A red square "on" white');
  await field.press('Tab');
  await files(page).getByText('Saved').waitFor();
  await field.fill('being written');
  await page.getByLabel(/Choose files/).setInputFiles(world.pictures.blue);
  await files(page).getByText('blue').first().waitFor();
  assert.equal(await field.inputValue(), 'being written');
  await field.fill('A red square "on" white');
  await field.press('Tab');
  await files(page).getByText('Saved').waitFor();
}

// withoutScripts signs in, and uploads a file with a description without scripts.
async function withoutScripts(browser) {
  const page = await open(browser, { javaScriptEnabled: false });
  await signIn(page, world.upload_page_url);
  const yellow = { name: 'yellow.png', mimeType: 'image/png', buffer: fs.readFileSync(world.pictures.yellow) };
  await page.getByLabel(/Choose files/).setInputFiles([yellow, { name: 'bad.gif', mimeType: 'image/gif', buffer: Buffer.from('x') }]);
  await page.getByRole('button', { name: 'Upload' }).click();
  await page.getByRole('alert').filter({ hasText: 'bad.gif: ' }).waitFor();
  const row = files(page).getByRole('listitem').filter({ hasText: 'yellow' });
  await row.getByLabel(/^Alt text/).fill('Yellow');
  await row.getByRole('button', { name: 'Save' }).click();
  await page.waitForURL(world.upload_page_url);
  assert.equal(await row.getByLabel(/^Alt text/).inputValue(), 'Yellow');
}

async function kept(page) {
  await page.reload();
  for (const name of ['red', 'large', 'Grün & blau', 'blue', 'yellow']) {
    await files(page).getByText(name).first().waitFor();
  }
  const row = files(page).getByRole('listitem').filter({ hasText: 'red' });
  assert.equal(await row.getByLabel(/^Alt text/).inputValue(), 'A red square "on" white');
  assert.equal(await row.getByRole('img').getAttribute('alt'), 'A red square "on" white');
}

async function ended(page) {
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByText('This upload is closed.').waitFor();
  assert.equal(await page.getByLabel(/Choose files/).count(), 0);
  await look(page, 'upload-closed');
}
