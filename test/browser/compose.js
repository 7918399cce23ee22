// Posts are written: text, accounts, media, other text for one account, the time, by mouse, by keyboard and without scripts.
'use strict';

const { assert, look, open, run, signIn, world } = require('./drive.js');

const verdict = (page) => page.locator('#verdict').textContent();

run(async (browser) => {
  const page = await open(browser);
  const elsewhere = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(world.app_url) && !request.url().startsWith('data:')) elsewhere.push(request.url());
  });
  await signIn(page, '/posts/new');
  await page.goto('/posts/new');
  await look(page, 'compose-new');
  assert.match(await verdict(page), /Choose an account/);

  // What is typed is looked at by itself.
  await page.getByLabel('Text', { exact: true }).fill('Open from eight on Sunday 👋🏽 with #coffee by @harbour and https://harbour.example/menu');
  await page.locator('input[name=account]').first().check();
  await page.getByText('The networks would take this post as it is.').first().waitFor();
  assert.match(await page.locator('.counts').first().textContent(), /of 300 characters/);
  await page.getByLabel('Text', { exact: true }).fill('ä'.repeat(320));
  await page.locator('#verdict', { hasText: 'would keep this post from going out' }).waitFor();
  assert.match(await page.locator('#told').textContent(), /would keep/);
  await look(page, 'compose-too-long');
  await page.getByLabel('Text', { exact: true }).fill('Open from eight on Sunday 👋🏽 with #coffee by @harbour and https://harbour.example/menu');

  // Files are uploaded right here, described and put in order.
  await page.getByText('Add from the library, or upload').click();
  await page.getByLabel('Upload files').setInputFiles([world.pictures.red, world.pictures.blue]);
  await page.getByRole('button', { name: 'Upload into the library and add' }).click();
  await page.getByRole('button', { name: 'Move blue up' }).waitFor();
  assert.match(await page.getByLabel('Text', { exact: true }).inputValue(), /^Open from eight/);
  await page.getByRole('button', { name: 'Move blue up' }).click();
  await page.getByRole('button', { name: 'Move red up' }).waitFor();
  await page.getByLabel('What it shows, for people who cannot see it').first().fill('The sea.');
  await page.getByLabel('Search the library').fill('nothing like it');
  await page.keyboard.press('Enter');
  await page.getByText('Nothing in the library is called so.').waitFor();
  await page.getByLabel('Search the library').fill('red');
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await page.getByRole('button', { name: 'Add red' }).waitFor();
  await look(page, 'compose-media');

  // One account shows another text.
  await page.locator('#own summary').first().click();
  await page.getByLabel('Show this text in place of the post’s').check();
  await page.getByLabel(/^Text on /).fill('Only here.');
  await page.locator('#looks', { hasText: 'Only here.' }).waitFor();
  await look(page, 'compose-own');

  await page.getByText('Repeat it').click();
  await page.getByLabel('Day', { exact: true }).fill('2031-03-28');
  await page.getByLabel('Time', { exact: true }).fill('10:00');
  await page.getByLabel('How often').selectOption('weekly');
  await page.getByText('It would go out:').waitFor();
  await look(page, 'compose-repeat');
  await page.getByLabel('How often').selectOption('');
  await page.getByLabel('Day', { exact: true }).fill('2020-03-28');
  await page.getByRole('button', { name: 'Schedule', exact: true }).click();
  await page.getByRole('alert').waitFor();
  assert.match(await page.getByRole('alert').textContent(), /The time is over/);
  assert.equal(await page.evaluate(() => document.activeElement.id), 'date');
  await look(page, 'compose-wrong');
  await page.getByLabel('Day', { exact: true }).fill('2031-03-28');
  await page.getByRole('button', { name: 'Schedule', exact: true }).click();
  await page.getByText('It is scheduled').waitFor();
  const post = new URL(page.url()).pathname;

  await page.goto(post + '/edit');
  assert.equal(await page.getByLabel('What it shows, for people who cannot see it').first().inputValue(), 'The sea.');
  await look(page, 'compose-scheduled');
  await meanwhile(browser, page, post);
  await approval(page);
  await byKeyboard(browser);
  assert.deepEqual(elsewhere, []);
}).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});

// meanwhile has another browser save first.
async function meanwhile(browser, page, post) {
  const other = await open(browser);
  await signIn(other, post + '/edit');
  await other.goto(post + '/edit');
  await other.getByLabel('Text', { exact: true }).fill('By the other.');
  await other.getByRole('button', { name: 'Save', exact: true }).click();
  await other.getByText('It goes out at its time.').waitFor();
  await page.getByLabel('Text', { exact: true }).fill('By the first.');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('heading', { name: 'As it is now' }).waitFor();
  assert.equal(await page.getByLabel('Text', { exact: true }).inputValue(), 'By the first.');
  await look(page, 'compose-meanwhile');
  await other.context().close();
}

async function approval(page) {
  await page.goto('/posts/new?caption=For+the+client');
  await page.locator('input[name=account]').first().check();
  await page.getByRole('button', { name: 'Save and ask the client' }).click();
  assert.match(await page.getByLabel('Send the client this link').inputValue(), /\/approval\//);
  await look(page, 'compose-asked');
}

// byKeyboard writes a post without scripts and without a mouse.
async function byKeyboard(browser) {
  const page = await open(browser, { javaScriptEnabled: false });
  await page.goto('/sign-in?next=%2Fposts%2Fnew');
  await page.keyboard.type(world.owner.email);
  await page.keyboard.press('Tab');
  await page.keyboard.type(world.owner.password);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'New post' }).waitFor();
  await page.getByLabel('Text', { exact: true }).focus();
  await page.keyboard.type('Written by keys.');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Space');
  await page.getByRole('button', { name: 'Check', exact: true }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('16 of 300 characters').waitFor();
  await page.getByRole('button', { name: 'Save as a draft' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('Saved.').waitFor();
}
