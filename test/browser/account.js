// Personal accounts: passkeys, sessions, passwords, invitations and recovery links.
'use strict';

const { assert, look, open, run, signIn, signOut: leave, world } = require('./drive.js');

const password = 'four plain words here';

// addAuthenticator adds a virtual authenticator with user verification to a page.
async function addAuthenticator(page) {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
  });
  return { cdp, authenticatorId };
}

const alert = (page) => page.locator('[role=alert]:not([hidden])').first().textContent();
const signOut = async (page) => {
  await leave(page);
  await page.getByRole('link', { name: 'Sign in' }).first().waitFor();
};

run(async (browser) => {
  const page = await open(browser);
  const key = await addAuthenticator(page);
  await page.goto('/sign-in');
  await look(page, 'sign-in-ways');
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  assert.match(await alert(page), /^No passkey was used/);

  await signIn(page);
  await page.getByRole('button', { name: /^Your account/ }).click();
  await page.getByRole('link', { name: 'Your account' }).click();
  await page.getByRole('heading', { name: 'Your account' }).waitFor();
  await look(page, 'account-without-passkeys');
  await page.getByRole('link', { name: 'Add a passkey' }).click();
  await look(page, 'passkey-new');
  await page.getByLabel('Name').fill('Work laptop');
  await page.getByRole('button', { name: 'Add passkey' }).click();
  await page.getByRole('status').waitFor();
  assert.equal(await page.getByRole('status').textContent(), 'The passkey was added. You can now sign in with it.');
  await look(page, 'account');

  // A device cannot have a second passkey of the account.
  await page.goto('/account/passkeys/new');
  await page.getByLabel('Name').fill('Once more');
  await page.keyboard.press('Enter');
  await page.locator('[role=alert]:not([hidden])').waitFor();
  assert.equal(await alert(page), 'This device already has a passkey for this account.');

  await signOut(page);
  await page.goto('/sign-in?next=%2Faccount');
  await page.getByRole('button', { name: 'Sign in with a passkey' }).focus();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/account');
  assert.match(await page.locator('.cards').first().textContent(), /Work laptop.*last used/s);
  await signInWithCopy(browser, page, key);
  await endOtherSession(browser, page);
  await recoverAccount(browser);
  await signIn(page);
  await changePassword(page);
  await acceptInvitations(browser);
  await withoutScripts(browser);
}).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});

// signInWithCopy signs in with a passkey that was copied to a second device.
async function signInWithCopy(browser, page, key) {
  await page.getByRole('link', { name: 'Rename or remove Work laptop' }).click();
  await look(page, 'passkey');
  await page.getByLabel('Name').fill('Laptop');
  await page.getByRole('button', { name: 'Rename' }).click();
  await page.getByText('The passkey was renamed.').waitFor();
  const { credentials } = await key.cdp.send('WebAuthn.getCredentials', { authenticatorId: key.authenticatorId });
  const thief = await open(browser);
  const other = await addAuthenticator(thief);
  await other.cdp.send('WebAuthn.addCredential', { authenticatorId: other.authenticatorId, credential: { ...credentials[0], signCount: 0 } });
  await thief.goto('/sign-in');
  await thief.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await thief.locator('#error').waitFor();
  assert.match(await alert(thief), /may have been copied/);
  await thief.context().close();
  await page.goto('/account');
  assert.match(await page.locator('.cards').first().textContent(), /Copied/);
  await look(page, 'account-copied');
  await page.getByRole('link', { name: 'Rename or remove Laptop' }).click();
  await page.getByRole('button', { name: 'Remove this passkey' }).click();
  await page.getByText('You have no passkey yet.').waitFor();
}

// endOtherSession ends the session of another browser.
async function endOtherSession(browser, page) {
  const other = await open(browser, { userAgent: 'Mozilla/5.0 (Windows NT 10.0; rv:130.0) Gecko/20100101 Firefox/130.0' });
  await signIn(other);
  await page.goto('/account');
  await page.getByRole('button', { name: 'Sign out Firefox on Windows' }).click();
  await page.getByText('The browser was signed out.').waitFor();
  await other.goto('/account');
  await other.getByRole('heading', { name: 'Sign in' }).waitFor();
  await other.context().close();
}

async function changePassword(page) {
  await page.goto('/account/password');
  await page.getByLabel('Current password', { exact: true }).fill('not this one');
  await page.getByLabel('New password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Change password' }).click();
  assert.equal(await alert(page), 'Your current password is incorrect.');
  await look(page, 'password-wrong');
  await page.keyboard.type(world.owner.password);
  await page.getByLabel('New password', { exact: true }).fill(password);
  await page.keyboard.press('Enter');
  await page.getByText('Your password was changed.').waitFor();
  world.owner.password = password;
}

// acceptInvitations accepts two invitations: one with a password, one with a passkey.
async function acceptInvitations(browser) {
  const page = await open(browser);
  await page.goto(world.new);
  await look(page, 'invitation');
  await page.getByLabel('Your name').fill('Nora New');
  await page.getByLabel('Choose a password', { exact: true }).fill('aaaaaaaaaaaaaa');
  await page.getByRole('button', { name: 'Create account and join', exact: true }).click();
  assert.match(await alert(page), /too easy to guess/);
  await look(page, 'invitation-wrong');
  await page.keyboard.type(password);
  await page.keyboard.press('Enter');
  await page.getByText('You joined the team.').waitFor();
  await page.goto(world.new);
  await page.getByText('This invitation was already accepted.').waitFor();

  const keyed = await open(browser);
  await addAuthenticator(keyed);
  await keyed.goto(world.keyed);
  await keyed.getByLabel('Your name').fill('Kay Keyed');
  await keyed.getByRole('button', { name: 'Create account with a passkey' }).click();
  await keyed.getByText('You joined the team.').waitFor();
  await signOut(keyed);
  await keyed.goto('/sign-in');
  await keyed.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await keyed.getByRole('button', { name: /^Your account/ }).click();
  await keyed.getByRole('link', { name: 'Your account' }).click();
  await keyed.getByText('You have no password.').waitFor();
  await keyed.getByRole('link', { name: 'Rename or remove First passkey' }).click();
  await keyed.getByRole('button', { name: 'Remove this passkey' }).click();
  assert.match(await alert(keyed), /only way to sign in/);
  await keyed.context().close();
  await page.context().close();
}

async function recoverAccount(browser) {
  const page = await open(browser);
  await page.goto(world.recovery);
  await look(page, 'recovery');
  await page.getByLabel('New password', { exact: true }).fill('quite another sentence');
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.getByText('Your new password is set.').waitFor();
  world.owner.password = 'quite another sentence';
  await page.goto(world.recovery);
  await page.getByText('This link has already been used.').waitFor();
  await page.context().close();
}

// withoutScripts signs in and changes the password without scripts, with the keyboard only.
async function withoutScripts(browser) {
  const page = await open(browser, { javaScriptEnabled: false });
  await page.goto('/sign-in?next=%2Faccount%2Fpassword');
  assert.equal(await page.getByRole('button', { name: 'Sign in with a passkey' }).count(), 0);
  await page.keyboard.type(world.owner.email);
  await page.keyboard.press('Tab');
  await page.keyboard.type(world.owner.password);
  await page.keyboard.press('Enter');
  await page.getByLabel('Current password', { exact: true }).focus();
  await page.keyboard.type(world.owner.password);
  await page.keyboard.press('Tab');
  await page.keyboard.type('words that are new again');
  await page.keyboard.press('Enter');
  await page.getByText('Your password was changed.').waitFor();
}
