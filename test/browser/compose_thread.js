// Writing a thread: parts are added and removed without a reload, problems appear at their part, and typed text is kept.
'use strict';

const { assert, look, open, run, signIn } = require('./drive.js');

run(async (browser) => {
  const page = await open(browser);
  await signIn(page, '/posts/new');
  await page.goto('/posts/new');
  await page.locator('#caption').fill('Three things we learned about cold brew:');
  const add = page.getByRole('button', { name: 'Add to thread' });
  assert.ok(await add.isHidden());
  await page.locator('input[data-platform=bluesky]').first().check();
  await add.waitFor();

  // A new part gets the focus.
  await add.focus();
  await page.keyboard.press('Enter');
  const second = page.getByLabel('Part 2', { exact: true });
  await second.waitFor();
  await page.waitForFunction(() => document.activeElement.id === 'part-1');
  await page.keyboard.type('1. Use a coarse grind.');
  await add.click();
  const third = page.getByLabel('Part 3', { exact: true });
  await third.fill('x'.repeat(301));
  const problem = page.locator('.thread-part').nth(1).getByText('Too long for Bluesky: 301/300 characters.');
  await problem.waitFor();
  assert.equal(await page.locator('.pv-thread .pv').count(), 3);
  await look(page, 'compose-thread');

  // Removing a part keeps the others.
  await page.getByRole('button', { name: 'Remove part 2' }).click();
  await third.waitFor({ state: 'detached' });
  assert.equal(await second.inputValue(), 'x'.repeat(301));
  await second.fill('2. Wait 16 hours.');
  await problem.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Save draft' }).click();
  await page.waitForURL(/posts\/[0-9a-f-]+$/);
  assert.equal(await page.locator('.pv-thread').getByText('2. Wait 16 hours.').count(), 1);
  await look(page, 'post-thread');
});
