// Signing in and out, with the mouse and with the keyboard only.
'use strict';

const { assert, look, open, run, signOut, world } = require('./drive.js');

run(async (browser) => {
  const page = await open(browser);
  await page.goto('/');
  await look(page, 'front');
  await page.getByRole('link', { name: 'API', exact: true }).click();
  await page.goto('/docs/errors');
  await look(page, 'errors');

  await page.goto('/sign-in?next=%2Fdocs%2Ferrors');
  await look(page, 'sign-in');
  await page.getByLabel('Email').fill(world.owner.email);
  await page.getByLabel('Password', { exact: true }).fill('not this one');
  await page.getByRole('button', { name: 'Sign in' }).click();
  assert.equal(await page.getByRole('alert').textContent(), 'Incorrect email or password.');
  assert.equal(await page.getByLabel('Email').inputValue(), world.owner.email);
  assert.equal(await page.getByLabel('Password', { exact: true }).inputValue(), '');
  await look(page, 'sign-in-wrong');

  // The eye button shows the password. When the form is sent, the browser sees a password field.
  const password = page.getByLabel('Password', { exact: true });
  await page.getByRole('button', { name: 'Show password' }).click();
  assert.equal(await password.getAttribute('type'), 'text');
  await page.getByRole('button', { name: 'Show password' }).click();
  assert.equal(await password.getAttribute('type'), 'password');

  // The focus is in the field that must be corrected.
  await page.keyboard.type(world.owner.password);
  await page.keyboard.press('Enter');
  await page.waitForURL('**/docs/errors');
  const cookie = (await page.context().cookies()).find((c) => c.name === 'pressroom');
  assert.deepEqual([cookie.name, cookie.httpOnly, cookie.sameSite], ['pressroom', true, 'Lax']);
  await page.goto('/');
  await page.getByRole('button', { name: /^Your account/ }).waitFor();
  await look(page, 'home');
  await signOut(page);
  await page.getByRole('link', { name: 'Sign in' }).first().waitFor();
  await page.goBack();
  await page.reload();
  assert.equal(await page.getByRole('button', { name: /^Your account/ }).count(), 0);

  await page.goto('/nothing/here');
  await look(page, 'missing');
  await byKeyboard(browser);
}).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});

// byKeyboard signs in and out with Tab and Enter, without scripts, and checks that the focus is visible.
async function byKeyboard(browser) {
  const page = await open(browser, { javaScriptEnabled: false });
  const tab = async () => {
    await page.keyboard.press('Tab');
    const at = page.locator(':focus');
    const box = await at.boundingBox();
    assert.ok(box.width > 20 && box.height > 10 && box.x >= 0, `the focus is not to be seen at ${await at.evaluate((e) => e.outerHTML)}`);
    assert.notEqual(await at.evaluate((e) => getComputedStyle(e).outlineStyle), 'none');
    return at;
  };
  await page.goto('/');
  for (let at = await tab(); (await at.textContent()) !== 'Sign in'; at = await tab());
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.keyboard.type(world.owner.email);
  await tab();
  await page.keyboard.type(world.owner.password);
  await tab();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: /^Your account/ }).waitFor();
  for (let at = await tab(); !(await at.textContent()).includes('Your account'); at = await tab());
  await page.keyboard.press('Enter');
  for (let at = await tab(); (await at.textContent()) !== 'Sign out'; at = await tab());
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Sign in' }).first().waitFor();
}
