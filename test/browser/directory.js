// Signing in with a directory: unknown people see an error. A person who was signed out while writing a post signs
// in again without losing the text.
'use strict';

const { assert, look, open, run, world } = require('./drive.js');

run(async (browser) => {
  const page = await open(browser, { alsoTo: [world.directory], ignoreHTTPSErrors: true });
  await page.goto('/posts');
  await look(page, 'directory');
  assert.equal(await page.getByLabel('Password', { exact: true }).count(), 0);
  await page.getByRole('link', { name: 'Sign in with your organization’s directory' }).click();
  await page.getByRole('alert').waitFor();
  await look(page, 'directory-unknown');

  await page.goto('/posts');
  await page.getByRole('link', { name: 'Sign in with your organization’s directory' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Posts', exact: true }).waitFor();
  await page.getByRole('button', { name: /^Your account/ }).click();
  await page.getByRole('link', { name: 'Your account' }).click();
  await page.getByText('You sign in with your organization’s directory.').waitFor();
  await look(page, 'directory-account');

  await page.goto('/posts/new');
  await page.context().clearCookies();
  await page.getByLabel('Text', { exact: true }).fill('Precious words');
  await page.getByRole('button', { name: 'Save draft' }).click();
  await page.getByText('Your input will be restored').waitFor();
  await look(page, 'directory-signed-out');
  const [beside] = await Promise.all([page.waitForEvent('popup'), page.getByRole('link', { name: /directory/ }).click()]);
  await beside.getByRole('button', { name: /^Your account/ }).waitFor();
  await page.getByRole('button', { name: 'I have signed in: show the form again' }).click();
  await page.getByRole('heading', { name: 'New post' }).waitFor();
  assert.equal(await page.getByLabel('Text', { exact: true }).inputValue(), 'Precious words');
}).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
