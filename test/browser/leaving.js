// The operator's pages and the pages that delete data: finding and pausing a team, deleting a draft and a team.
'use strict';

const { execFileSync } = require('node:child_process');

const { assert, look, open, run, signIn, world } = require('./drive.js');

run(async (browser) => {
  const page = await open(browser);
  await signIn(page, '/operator');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await look(page, 'operator');
  for (const part of ['teams', 'people', 'pauses', 'queue', 'networks', 'posts', 'ledger', 'events']) {
    await page.goto(`/operator/${part}`);
    await look(page, `operator-${part}`);
  }

  // With the keyboard only: find a team, grant credits, and see an error in the form.
  await page.goto('/operator/teams');
  await page.locator('main tbody a').first().focus();
  await page.keyboard.press('Enter');
  const grant = page.locator('details', { has: page.getByText('Grant credits', { exact: true }) });
  await grant.locator('summary').focus();
  await page.keyboard.press('Enter');
  await look(page, 'operator-team');
  const team = page.url();
  const credits = grant.getByLabel('Credits', { exact: true });
  await credits.fill('ten');
  await grant.getByLabel('Reference').fill('browser 1');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  assert.equal(await credits.inputValue(), 'ten');
  await look(page, 'operator-team-wrong');
  await credits.fill('10');
  await page.keyboard.press('Enter');
  await page.getByText('10 credits granted.').waitFor();
  await page.goto(`${team}/close`);
  await look(page, 'operator-close');
  await page.goto('/operator/people/1');
  await look(page, 'operator-person');
  await page.goto('/operator/ledger');
  await page.getByRole('button', { name: 'Audit ledger' }).click();
  await page.getByText('Everything adds up.').waitFor();
  await look(page, 'operator-ledger-proved');

  await page.goto('/settings/export');
  await look(page, 'leaving-export');
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download data' }).click()]);
  assert.match(download.suggestedFilename(), /^pressroom-team-\d+\.zip$/);
  assert.equal(await download.failure(), null);
  await page.goto('/account/delete');
  await look(page, 'leaving-person');
  await page.goto('/settings/delete');
  await look(page, 'leaving-team');
  const name = await page.locator('h1 bdi').innerText();
  await page.getByLabel('Enter the team’s name to confirm').fill('another');
  assert.equal(await page.getByRole('button', { name: 'Delete team' }).isDisabled(), true);
  await look(page, 'leaving-team-wrong');
  const del = async () => {
    await page.getByLabel('Enter the team’s name to confirm').fill(name);
    await page.getByRole('button', { name: 'Delete team' }).click();
  };
  await del();
  await page.getByRole('alert').getByText('The only operator of this service').waitFor();
  await look(page, 'leaving-team-last-operator');
  execFileSync(world.binary, ['admin', 'teams', 'add', '--name', 'Later', '--owner', '1'], {
    env: { ...process.env, PRESSROOM_DATABASE: `sqlite:${world.data}/pressroom.db` },
  });
  await del();
  await page.getByRole('button', { name: 'Delete team' }).waitFor({ state: 'detached' });
  await look(page, 'leaving-team-gone');
  assert.deepEqual(page.complaints, []);
});
