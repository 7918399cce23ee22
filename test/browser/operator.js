// The operator's pages with the keyboard only: opening each page, finding a team and a person, pausing and resuming.
'use strict';

const { assert, look, open, run, signIn, world } = require('./drive.js');

run(async (browser) => {
  const page = await open(browser);
  await signIn(page, '/sign-in?next=%2Foperator');
  await page.getByText('All systems operational').waitFor();
  for (const name of ['Teams', 'People', 'Switches and pauses', 'Background jobs', 'Networks', 'Unconfirmed posts', 'Ledger audit', 'Audit log']) {
    await page.goto('/operator');
    await page.getByRole('navigation', { name: 'Operator' }).getByRole('link', { name, exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name, level: 1 }).waitFor();
  }
  await findTeamAndPerson(page);
  await pausePublishing(page);
  assert.deepEqual(page.complaints, []);
}).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});

// findTeamAndPerson finds the team by a part of its name and the person by email address.
async function findTeamAndPerson(page) {
  await page.goto('/operator/teams');
  await page.getByRole('main').getByRole('searchbox').fill('harbour');
  await page.keyboard.press('Enter');
  await page.waitForURL(/q=harbour/);
  await page.getByRole('main').getByRole('link', { name: 'Harbour Coffee' }).click();
  await page.getByText('This matches the newest entry').waitFor();
  await page.goto('/operator/people');
  await page.getByRole('main').getByRole('searchbox').fill(world.owner.email);
  await page.keyboard.press('Enter');
  await page.waitForURL(/q=ada/);
  await look(page, 'operator-people');
  await page.getByRole('main').getByRole('link', { name: 'Ada Okafor' }).click();
  await page.getByText('This is your account.').waitFor();
}

// pausePublishing pauses publishing for the team, checks the team's page, and ends the pause.
async function pausePublishing(page) {
  await page.goto('/operator/pauses');
  assert.equal(await page.getByLabel('The whole service').isVisible(), false);
  await page.getByRole('link', { name: 'Add a pause' }).click();
  await page.getByLabel('The whole service').check();
  assert.equal(await page.getByRole('main').getByLabel('Team', { exact: true }).isVisible(), false);
  await page.getByText(/^The pause applies to /).waitFor();
  await page.getByLabel('One team').check();
  await page.getByRole('main').getByLabel('Team', { exact: true }).fill(String(world.team.id));
  assert.equal(await page.getByLabel('API key or assistant').isVisible(), false);
  await page.getByRole('radio', { name: /^Publishing/ }).check();
  await page.getByLabel('Reason').fill('odd posts');
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  await page.getByText('It takes effect everywhere within a second.').waitFor();
  await look(page, 'operator-paused');
  await page.goto(`/operator/teams/${world.team.id}`);
  await page.getByText('Publishing is paused: odd posts').waitFor();
  await page.goto('/operator/pauses');
  await page.getByRole('button', { name: /^End the pause/ }).click();
  await page.getByText('The pause was ended.').waitFor();
}
