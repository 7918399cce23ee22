// Setting up a new installation in two steps, and on one page without JavaScript.
'use strict';

const { assert, look, open, run, world } = require('./drive.js');

run(async (browser) => {
  const plain = await open(browser, { javaScriptEnabled: false });
  await plain.goto('/setup');
  await plain.getByLabel('Name of your team').waitFor();
  assert.equal(await plain.getByRole('button', { name: 'Continue' }).isVisible(), false);
  await plain.context().close();

  const page = await open(browser);
  await page.goto('/setup');
  await look(page, 'setup');
  assert.equal(await page.getByLabel('Name of your team').isVisible(), false);
  await page.getByLabel('Setup code').fill(world.code);
  await page.keyboard.press('Enter'); // The browser asks for the other fields of the step.
  assert.equal(await page.getByLabel('Your name').isVisible(), true);
  await page.getByLabel('Your name').fill('Ada Okafor');
  await page.getByLabel('Email').fill('ada@harbour.example');
  await page.getByLabel('Choose a password').fill('four plain words here');
  await page.keyboard.press('Enter');
  const team = page.getByLabel('Name of your team');
  await team.fill('Harbour Coffee');
  await look(page, 'setup-team');

  // Nothing is lost between the steps.
  await page.getByRole('button', { name: 'Back' }).click();
  assert.equal(await page.getByLabel('Choose a password').inputValue(), 'four plain words here');
  await page.getByRole('button', { name: 'Continue' }).click();
  assert.equal(await team.inputValue(), 'Harbour Coffee');
  await page.getByRole('button', { name: 'Create account and team' }).click();
  await page.getByText('Your account and your team are ready.').waitFor();
  assert.deepEqual(page.complaints, []);
}).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
