// Second factors: adding an authenticator app, signing in with codes, and requiring a second factor in a team.
'use strict';

const crypto = require('node:crypto');
const { readFileSync } = require('node:fs');
const { assert, look, open, run, signIn, world } = require('./drive.js');

// computeCode computes the code of an authenticator app (RFC 6238) for a base32 secret, at a time that is ahead
// steps of 30 seconds in the future.
function computeCode(secret, ahead = 0) {
  const bits = [...secret].map((c) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(c).toString(2).padStart(5, '0')).join('');
  const key = Buffer.from(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2)));
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + ahead));
  const mac = crypto.createHmac('sha1', key).update(step).digest();
  return String((mac.readUInt32BE(mac[19] & 15) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

run(async (browser) => {
  const page = await open(browser);
  await signIn(page);
  const { secret, codes } = await addApp(page);
  await signInWithCodes(page, secret, codes);
  await requireFactor(browser, page);
}).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});

// addApp adds an authenticator app on the account page.
async function addApp(page) {
  await page.goto('/account');
  await page.getByRole('link', { name: 'Add an authenticator app' }).click();
  await page.getByRole('img', { name: 'QR code' }).waitFor();
  const { width, modules } = await page.locator('svg.qr').evaluate((svg) => ({ width: svg.getBoundingClientRect().width, modules: svg.viewBox.baseVal.width }));
  assert.equal(width % modules, 0, `a QR code of ${modules} modules is ${width} px wide, so that scanners fail on it`);
  await look(page, 'authenticator-new');
  await page.getByText('Can’t scan the code?').click();
  const secret = await page.locator('code.secret').textContent();
  await look(page, 'authenticator-new-key');
  await page.getByLabel('Code', { exact: true }).fill('000000');
  await page.getByRole('button', { name: 'Add app' }).click();
  await page.locator('#error').waitFor();
  assert.equal(await page.locator('#code').evaluate((field) => document.activeElement === field), true);
  await look(page, 'authenticator-new-wrong');
  await page.keyboard.type(computeCode(secret));
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Save your recovery codes' }).waitFor();
  await look(page, 'recovery-codes');
  const codes = await page.locator('.codes code').allTextContents();
  assert.equal(codes.length, 10);
  const saving = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download as a text file' }).click();
  const file = await saving;
  assert.equal(file.suggestedFilename(), 'pressroom-recovery-codes.txt');
  const text = readFileSync(await file.path(), 'utf8');
  for (const code of codes) assert.ok(text.includes(code), 'the file lacks a code');
  await page.getByRole('link', { name: 'I have saved them' }).click();
  await page.getByRole('heading', { name: 'Your account' }).waitFor();
  await look(page, 'account-authenticator');
  await page.getByRole('link', { name: 'Manage app and recovery codes' }).click();
  await look(page, 'authenticator');
  return { secret, codes };
}

// signInWithCodes signs in with the password and a code, and with the password and a recovery code.
async function signInWithCodes(page, secret, codes) {
  const asks = async () => {
    await page.context().clearCookies();
    await page.goto('/sign-in');
    await page.getByLabel('Email').fill(world.owner.email);
    await page.getByLabel('Password', { exact: true }).fill(world.owner.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Two-factor authentication' }).waitFor();
  };
  await asks();
  await look(page, 'code');
  await page.keyboard.type('000000');
  await page.keyboard.press('Enter');
  await page.locator('#error').waitFor();
  await look(page, 'code-wrong');
  await page.keyboard.type(computeCode(secret, 1)); // The current code may have been used.
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: /^Your account/ }).waitFor();

  await asks();
  await page.getByText('Use a recovery code').click();
  await page.getByLabel('Recovery code').fill('wrong');
  await page.getByRole('button', { name: 'Sign in with a recovery code' }).click();
  await page.locator('#error').waitFor();
  await look(page, 'code-recovery-wrong');
  await page.getByLabel('Recovery code').fill(codes[0].toLowerCase());
  await page.keyboard.press('Enter');
  await page.getByText('You have 9 recovery codes left.').waitFor();
}

// requireFactor makes the team require a second factor. A new member must set one up.
async function requireFactor(browser, page) {
  await page.goto('/settings/team');
  await look(page, 'settings-factor');
  await page.getByRole('switch', { name: 'Require two-factor authentication' }).click();
  await page.getByText('Members now need two-factor authentication.').waitFor();
  await look(page, 'settings-factor-required');

  const member = await open(browser);
  await member.goto(world.new);
  await member.getByLabel('Your name').fill('Nora New');
  await member.getByLabel('Choose a password', { exact: true }).fill('four plain words here');
  await member.getByRole('button', { name: 'Create account and join', exact: true }).click();
  await member.getByRole('heading', { name: 'Set up two-factor authentication' }).waitFor();
  await look(member, 'second-factor');
  await page.goto('/settings/members');
  await look(page, 'settings-members-factors');
  await member.getByRole('link', { name: 'Add an authenticator app' }).click();
  await member.getByText('Can’t scan the code?').click();
  await member.getByLabel('Code', { exact: true }).fill(computeCode(await member.locator('code.secret').textContent()));
  await member.keyboard.press('Enter');
  await member.getByRole('link', { name: 'I have saved them' }).click();
  await member.getByRole('link', { name: 'Posts' }).first().waitFor();
}
