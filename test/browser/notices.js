// Notifications: the count in the header, opening items with the keyboard, marking as read, and the settings.
'use strict';

const { assert, look, open, run, signIn } = require('./drive.js');

run(async (browser) => {
  const page = await open(browser);
  await signIn(page, '/notices');
  const text = 'A post couldn’t be published. See what went wrong, then try again.';
  for (let i = 0; i < 50 && (await page.getByText(text).count()) < 2; i++) {
    await page.waitForTimeout(200);
    await page.reload();
  }
  const unread = async () => Number((await page.getByRole('link', { name: /^Notifications/ }).textContent()).match(/\d+/)?.[0] ?? 0);
  const before = await unread();
  assert.equal(before, 3); // the demo team also has a comment of a client
  assert.equal(await page.getByText('An API key was created').count(), 0); // quickstart prints its own keys
  await look(page, 'notices');
  await page.getByRole('link', { name: text }).first().focus();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/posts/*');
  assert.equal(await unread(), before - 1);
  const bell = page.getByRole('link', { name: /^Notifications/ });
  const panel = page.locator('#notices');
  await bell.focus();
  await page.keyboard.press('Enter');
  await panel.getByText(/ commented on a post\./).waitFor();
  assert.equal(await bell.getAttribute('aria-expanded'), 'true');
  await look(page, 'notices-panel');
  await bell.click();
  await panel.waitFor({ state: 'hidden' });
  await bell.click();
  await panel.getByRole('button', { name: 'Mark all as read' }).click();
  await page.getByText('All notifications were marked as read.').waitFor();
  assert.equal(await page.getByRole('link', { name: 'Notifications', exact: true }).count(), 1);
  await look(page, 'notices-read');
  await page.getByRole('link', { name: 'Notification settings' }).click();
  const failed = page.getByRole('switch', { name: 'A post failed: In the app' });
  await failed.uncheck();
  await page.getByText('Your settings were saved.').waitFor();
  await page.reload();
  assert.equal(await failed.isChecked(), false);
  await failed.check();
  await page.getByText('Your settings were saved.').waitFor();
  await look(page, 'notices-settings');
  await page.goto('/settings/credits');
  await page.getByLabel('Notify when fewer credits are left than').fill('many');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  await page.getByLabel('Notify when fewer credits are left than').fill('50');
  await page.keyboard.press('Enter');
  await page.getByText('The threshold was saved.').waitFor();
}).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
