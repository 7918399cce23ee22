// The settings of a team: keys, the API switch, the team, members, plan, credits and activity log.
'use strict';

const { assert, look, open, run, signIn } = require('./drive.js');

const said = (page, text) => page.getByText(text).first().waitFor();

run(async (browser) => {
  const page = await open(browser);
  await signIn(page, '/settings');
  await look(page, 'settings');
  const value = await createKey(page);
  await checkRejectedCalls(page, value);
  await team(page);
  await members(page);
  await checkPlanAndCredits(page);
  await page.goto('/settings/audit');
  await look(page, 'settings-audit');
  await page.getByLabel('Event').selectOption('key.created');
  await page.waitForURL(/kind=key\.created/); // the filter applies at once
  await said(page, 'created an API key with the permission “Drafts”');
  await withoutScripts(browser);
}).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});

// createKey creates a key with the keyboard only and returns its value.
async function createKey(page) {
  await page.goto('/settings/keys');
  await look(page, 'settings-keys');
  await page.getByRole('link', { name: 'New API key' }).focus();
  await page.keyboard.press('Enter');
  await page.getByLabel('Name').focus();
  await page.keyboard.type('Calendar robot');
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Tab');
  await page.keyboard.type('25');
  await look(page, 'settings-key-new');
  await page.keyboard.press('Enter');
  await said(page, 'Copy the key now');
  const value = await page.getByLabel('API key', { exact: true }).inputValue();
  assert.match(value, /^prk_[0-9A-Za-z]{38}$/);
  await look(page, 'settings-key-made');
  await page.reload();
  await said(page, 'This key was already created');
  assert.ok(!(await page.content()).includes(value), 'loading the page again shows the key');
  return value;
}

// checkRejectedCalls changes and revokes the key, and checks the rejected calls.
async function checkRejectedCalls(page, value) {
  const me = () => page.request.get('/api/v1/me', { headers: { Authorization: `Bearer ${value}` } }).then((answer) => answer.status());
  assert.equal(await me(), 200);
  await page.goto('/settings/keys');
  await page.getByRole('link', { name: 'Calendar robot' }).click();
  await page.getByLabel('Daily credit limit').fill('lots');
  await page.getByRole('button', { name: 'Save' }).click();
  assert.match(await page.getByRole('alert').textContent(), /0 or more credits/);
  await look(page, 'settings-key-wrong');
  await page.getByLabel('Daily credit limit').fill('30');
  await page.getByRole('button', { name: 'Save' }).click();
  await said(page, 'The key was saved');
  await page.getByRole('link', { name: 'Revoke this key…' }).click();
  await said(page, 'The key was last used');
  await look(page, 'settings-key-revoke');
  await page.getByRole('button', { name: 'Revoke key' }).click();
  await said(page, 'The key was revoked');
  assert.equal(await me(), 401);
  await look(page, 'settings-keys-revoked');
  await page.goto('/settings/access');
  await look(page, 'settings-access');
  await page.getByRole('switch', { name: 'API keys and assistants' }).click();
  await said(page, 'API and tool access is off');
  await look(page, 'settings-access-off');
  await page.getByRole('switch', { name: 'API keys and assistants' }).click();
  await said(page, 'API and tool access is on');
}

async function team(page) {
  await page.goto('/settings/team');
  await look(page, 'settings-team');
  const zone = page.getByRole('combobox', { name: 'Time zone' });
  await zone.fill('nowhere');
  await page.getByRole('option', { name: 'No matches' }).waitFor();
  await page.keyboard.press('Tab');
  assert.equal(await zone.inputValue(), 'Berlin (UTC+1)');
  await zone.fill('asia tok');
  await page.getByRole('option', { name: 'Tokyo (UTC+9)' }).waitFor();
  await look(page, 'settings-zone');
  await zone.press('Enter');
  assert.equal(await zone.inputValue(), 'Tokyo (UTC+9)');
  await zone.press('Enter'); // The list is closed, so it submits the form.
  await said(page, 'Saved. Times are now shown in Asia/Tokyo');
}

async function members(page) {
  await page.goto('/settings/members');
  await page.getByText('Invite members', { exact: true }).first().click();
  await page.getByLabel('Email').fill('nora@harbour.example');
  await page.getByRole('button', { name: 'Create invitations' }).click();
  await said(page, 'Send this link to the person.');
  await look(page, 'settings-invited');
  await page.getByRole('link', { name: 'Done' }).click();
  await look(page, 'settings-members');
  await page.getByRole('button', { name: 'Revoke the invitation of nora@harbour.example' }).click();
  await said(page, 'The invitation was revoked');
  await page.getByRole('link', { name: 'Ada Okafor', exact: true }).click();
  await look(page, 'settings-member');
}

async function checkPlanAndCredits(page) {
  await page.goto('/settings/plan');
  await look(page, 'settings-plan');
  await page.goto('/settings/credits');
  await look(page, 'settings-credits');
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: /as CSV/ }).click()]);
  assert.match(download.suggestedFilename(), /^credits-\d{4}-\d{2}\.csv$/);
}

// withoutScripts sets the daily limit.
async function withoutScripts(browser) {
  const page = await open(browser, { javaScriptEnabled: false });
  await signIn(page, '/settings/credits');
  await page.getByLabel('Daily credit limit').fill('40');
  await page.keyboard.press('Enter');
  await said(page, 'The daily limit was saved');
}
