// Writing posts: text, accounts, media, custom text per account and time, with the mouse, the keyboard and without scripts.
'use strict';

const path = require('node:path');
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
  assert.match(await verdict(page), /Select an account/);
  assert.equal(await page.locator('[data-options]:visible').count(), 0); // those of the selected networks only

  // Typed text is checked automatically.
  await page.getByLabel('Text', { exact: true }).fill('Open from eight on Sunday 👋🏽 with #coffee by @harbour and https://harbour.example/menu');
  await page.locator('input[name=account]').first().check();

  // The options of a network are below the text for all accounts, and open in the tab of its account.
  for (const network of ['youtube', 'tiktok']) {
    const account = page.locator(`input[data-platform=${network}]`).first();
    const options = page.locator(`#${network}`);
    const audience = options.getByLabel(/^Who can (watch|view)/);
    assert.ok(await options.isHidden());
    await account.check();
    await options.waitFor();
    assert.ok(await audience.isHidden());
    await page.getByRole('tab', { name: /TikTok|YouTube/ }).click();
    assert.ok(await audience.isVisible());
    await page.getByRole('tab').nth(1).click();
    assert.ok(await options.isHidden());
    await page.locator('#tab-shared').click();
    await audience.selectOption({ index: network === 'youtube' ? 2 : 1 });
    await options.locator('summary').click();
    assert.equal(await options.locator('summary').getByText(await audience.evaluate((field) => field.selectedOptions[0].text)).count(), 1);
    await audience.evaluate((field) => { field.value = ''; });
    await account.uncheck();
    assert.ok(await options.isHidden());
  }
  await page.getByText('Ready to publish.').first().waitFor();
  assert.match(await page.locator('.counts').first().textContent(), /of 300 characters/);
  await page.getByLabel('Text', { exact: true }).fill('ä'.repeat(320));
  await page.locator('#verdict', { hasText: '1 problem to fix before publishing.' }).waitFor();
  assert.match(await page.locator('#told').textContent(), /to fix/);
  await page.locator('#near-caption', { hasText: 'Too long for Bluesky' }).waitFor(); // and nowhere else
  assert.equal(await page.locator('li.reason:visible', { hasText: 'Too long for Bluesky' }).count(), 1);
  await look(page, 'compose-too-long');
  await page.getByLabel('Text', { exact: true }).fill('Open from eight on Sunday 👋🏽 with #coffee by @harbour and https://harbour.example/menu');

  // Emoji are found and inserted at the cursor with the keyboard only.
  await page.getByLabel('Text', { exact: true }).press('Control+Home');
  await page.getByRole('button', { name: 'Emoji' }).click();
  await page.getByLabel('Search emoji').fill('hot bev');
  await page.getByLabel('Search emoji').press('Enter');
  assert.match(await page.getByLabel('Text', { exact: true }).inputValue(), /^☕Open from eight/);
  await look(page, 'compose-emoji');
  await page.getByLabel('Search emoji').fill('');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.locator(':focus').textContent(), '😃');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  assert.equal(await page.locator(':focus').textContent(), '😃');
  await page.keyboard.press('Enter');
  assert.match(await page.getByLabel('Text', { exact: true }).inputValue(), /^☕😃Open from eight/);
  await page.keyboard.press('Escape');
  assert.equal(await page.getByLabel('Search emoji').isVisible(), false);
  await page.getByRole('button', { name: 'Emoji' }).click(); // The panel now begins with recently used emoji.
  assert.deepEqual(await page.getByRole('region', { name: 'Frequently used' }).getByRole('button').allTextContents(), ['☕', '😃']);
  await page.keyboard.press('Escape');
  await page.getByLabel('Text', { exact: true }).fill('Open from eight on Sunday 👋🏽 with #coffee by @harbour and https://harbour.example/menu');

  // Files are uploaded, described and sorted in the form.
  await page.getByLabel('Upload files').setInputFiles([world.pictures.red, world.pictures.blue]);
  await page.getByLabel('Text', { exact: true }).press('Control+End'); // typing continues during the upload
  await page.keyboard.type(' Mean');
  await page.getByRole('button', { name: 'Move blue up' }).waitFor();
  await page.keyboard.type('while.'); // no letter is lost when the files arrive in the middle of a word
  assert.match(await page.getByLabel('Text', { exact: true }).inputValue(), /^Open from eight.* Meanwhile\.$/);
  assert.equal(await page.getByText('You can keep writing.').count(), 0);
  await page.getByRole('button', { name: 'Move blue up' }).click();
  await page.getByRole('button', { name: 'Move red up' }).waitFor();
  await page.getByLabel('Alt text').first().fill('The sea.');
  // Library files are selected in a dialog with live search.
  await page.getByText('Choose from the library').click();
  const library = page.getByRole('dialog', { name: 'Media library' });
  await library.getByLabel('Search the library').fill('nothing like it');
  await library.getByText('No files match your filters.').waitFor();
  await library.getByLabel('Search the library').fill('');
  await library.getByLabel('red', { exact: true }).check();
  await library.getByLabel('Winter blend').check();
  await library.getByRole('button', { name: 'Add 2' }).waitFor();
  await look(page, 'compose-library');
  await library.getByLabel('Search the library').fill('winter market');
  await library.getByLabel('red', { exact: true }).waitFor({ state: 'detached' });
  await library.getByLabel('Winter market').check();
  await library.getByRole('button', { name: 'Add 3' }).click();
  await page.getByRole('button', { name: 'Remove Winter market' }).click(); // The red image was added before.
  await page.getByRole('button', { name: 'Remove Winter market' }).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Remove Winter blend' }).click();
  await page.getByRole('button', { name: 'Remove Winter blend' }).waitFor({ state: 'detached' });
  assert.equal(await page.locator('#media li.file').count(), 2);
  await page.getByText('Choose from the library').click();
  await page.keyboard.press('Escape');
  await library.waitFor({ state: 'hidden' });
  await look(page, 'compose-media');

  // One account has custom text.
  await page.getByRole('tab').nth(1).click();
  await page.getByRole('textbox', { name: /^Text for / }).fill('Only here.');
  await page.locator('#looks', { hasText: 'Only here.' }).waitFor();
  await look(page, 'compose-own');

  await page.getByText('Repeat', { exact: true }).click();
  await page.getByRole('button', { name: 'When: Date and time' }).click();
  await page.locator('#date:focus').waitFor();
  await page.getByLabel('Date', { exact: true }).fill('2031-03-28');
  await page.getByLabel('Time', { exact: true }).fill('10:00');
  await page.keyboard.press('Enter'); // closes the panel
  await page.getByRole('button', { name: /^When: Fri 28 Mar 2031, 10:00/ }).waitFor();
  assert.equal(await page.getByLabel('Date', { exact: true }).isVisible(), false);
  await page.getByLabel('How often').selectOption('weekly');
  await page.locator('#next', { hasText: 'Next: 28 Mar · 4, 11, 18, 25 Apr' }).waitFor();
  await look(page, 'compose-repeat');
  await page.getByLabel('How often').selectOption('');
  await page.getByRole('button', { name: /^When:/ }).click();
  await page.getByLabel('Date', { exact: true }).fill('2020-03-28');
  await page.getByRole('button', { name: 'Schedule', exact: true }).click();
  await page.getByRole('alert').getByRole('link', { name: /That time has passed/ }).waitFor();
  assert.match(await page.locator('#error-date').textContent(), /That time has passed/);
  await page.locator('#date:focus').waitFor(); // The browser focuses it some time after it shows the page.
  await look(page, 'compose-wrong');
  await page.getByLabel('Date', { exact: true }).fill('2031-03-28');
  await page.getByRole('button', { name: 'Schedule', exact: true }).click();
  await page.getByRole('link', { name: 'Create another' }).waitFor();
  const post = new URL(page.url()).pathname;

  await page.goto(post + '/edit');
  assert.equal(await page.getByLabel('Alt text').first().inputValue(), 'The sea.');
  await look(page, 'compose-scheduled');
  await saveElsewhere(browser, page, post);
  await requestApproval(page, browser);
  await editSelectedAccount(page);
  await saveDroppedFiles(page);
  await signOutWhileWriting(page);
  await returnAfterSubmit(page);
  await cancelSubmit(page);
  await returnToForm(page);
  await writeByKeyboard(browser);
  assert.deepEqual(elsewhere, []);
}).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});

// saveElsewhere saves the post in another browser first.
async function saveElsewhere(browser, page, post) {
  const other = await open(browser);
  await signIn(other, post + '/edit');
  await other.goto(post + '/edit');
  await other.getByLabel('Text', { exact: true }).fill('By the other.');
  await other.getByRole('button', { name: 'Save', exact: true }).click();
  await other.getByText('It will be published at its scheduled time.').waitFor();
  await page.getByLabel('Text', { exact: true }).fill('By the first.');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('heading', { name: 'Saved version' }).waitFor();
  assert.equal(await page.getByLabel('Text', { exact: true }).inputValue(), 'By the first.');
  await look(page, 'compose-meanwhile');
  await other.context().close();
}

async function requestApproval(page, browser) {
  await page.goto('/posts/new?caption=For+the+client');
  await page.locator('input[name=account]').first().check();
  await page.getByLabel('Upload files').setInputFiles([path.join(__dirname, '../../internal/platform/mediainfo/testdata/front.mp4')]);
  await page.getByLabel('Cover frame (in seconds)').waitFor();
  await page.getByRole('button', { name: /^When:/ }).click();
  await page.getByLabel('Date', { exact: true }).fill('2031-10-26'); // On this day, half past two occurs twice.
  await page.getByLabel('Time', { exact: true }).fill('02:30');
  await page.getByText('Which one do you mean?').waitFor();
  await page.getByLabel('The second, 02:30').check();
  await look(page, 'compose-twice');
  await page.getByLabel('Time', { exact: true }).fill('04:30');
  await page.getByText('Which one do you mean?').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Next available slot' }).click();
  await page.waitForFunction(() => (document.getElementById('time')?.value ?? '04:30') !== '04:30');
  await page.getByRole('button', { name: 'Send for approval…' }).click();
  await look(page, 'compose-ask');
  const dialog = page.getByRole('dialog', { name: 'Send for approval' });
  await dialog.getByLabel('Schedule when approved').uncheck();
  await dialog.getByRole('button', { name: 'Create link' }).click();
  const link = await page.getByLabel('Client link').inputValue();
  assert.match(link, /\/approval\//);
  await look(page, 'compose-asked');
  const client = await open(browser);
  await client.goto(link);
  await client.waitForFunction(() => document.querySelector('video')?.readyState > 0);
  await look(client, 'approval');
  await client.getByLabel('Your name').fill('Grace');
  await client.getByRole('button', { name: 'Approve' }).click();
  await client.getByText('you can close this page.').waitFor();
  await client.context().close();

  await page.getByText('Approved', { exact: true }).first().waitFor(); // the page follows the decision
  await page.goto(new URL(page.url()).pathname + '/edit'); // The dialog says why an approved draft is not sent again.
  await page.getByRole('button', { name: 'Send for approval…' }).click();
  await dialog.getByText('The client has already approved the post.').waitFor();
  await look(page, 'compose-approved');
  await dialog.getByRole('link', { name: 'Back to the post' }).click();
  await dialog.waitFor({ state: 'detached' });
}

// writeByKeyboard writes a post without scripts and with the keyboard only.
async function writeByKeyboard(browser) {
  const page = await open(browser, { javaScriptEnabled: false });
  await page.goto('/sign-in?next=%2Fposts%2Fnew');
  await page.locator('#email:focus').waitFor();
  await page.keyboard.type(world.owner.email);
  await page.keyboard.press('Tab');
  await page.keyboard.type(world.owner.password);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'New post' }).waitFor();
  await page.getByLabel('Text', { exact: true }).focus();
  await page.keyboard.type('Written by keys.');
  await page.locator('input[name=account]').first().focus();
  assert.ok(await page.locator('input[name=account]:focus').isChecked()); // The accounts of the last post are selected.
  await page.keyboard.press('Space');
  await page.keyboard.press('Space');
  await page.getByRole('button', { name: 'Check', exact: true }).focus();
  await page.keyboard.press('Enter');
  await page.locator('#tallies', { hasText: '16 / 300' }).waitFor();
  await page.getByRole('button', { name: 'Save draft' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('Saved.').waitFor();
}

// editSelectedAccount selects an account and immediately edits its custom text, and checks the options of a series.
async function editSelectedAccount(page) {
  await page.goto('/posts/new');
  await page.locator('input[name=account]').first().check();
  await page.getByRole('tab').nth(1).click();
  await page.getByLabel(/^Text for /).fill('Only there, at once.');
  await page.locator('#looks', { hasText: 'Only there, at once.' }).waitFor();
  await page.locator('input[name=account]').first().uncheck();
  await page.getByLabel(/^Text for /).waitFor({ state: 'hidden' });
  await page.getByText('Repeat', { exact: true }).click();
  await page.getByLabel('How often').selectOption('monthly');
  await page.getByText('Day of the month', { exact: true }).waitFor();
  assert.ok(!await page.getByText('Weekdays', { exact: true }).isVisible());
  assert.ok(!await page.getByLabel('Last day', { exact: true }).isVisible());
  await page.getByLabel('On a date').check();
  await page.getByLabel('Last day', { exact: true }).waitFor();
}

// saveDroppedFiles saves custom text and files that were dropped, pasted or selected just before.
async function saveDroppedFiles(page) {
  await page.goto('/posts/new?caption=Kept');
  await page.locator('input[name=account]').first().check();
  await page.getByRole('tab').nth(1).click();
  await page.getByLabel(/^Text for /).fill('Typed, and no box ticked.');
  await page.locator('#tab-shared').click(); // where the shared media can be changed
  for (const [event, name] of [['drop', 'dropped'], ['paste', 'pasted']]) {
    const shade = name === 'dropped' ? 60 : 120;
    await page.evaluate(async ([event, name, shade]) => {
      const canvas = new OffscreenCanvas(40, 30);
      const paint = canvas.getContext('2d');
      paint.fillStyle = `rgb(${shade} 0 0)`;
      paint.fillRect(0, 0, 40, 30);
      const data = new DataTransfer();
      data.items.add(new File([await canvas.convertToBlob()], `${name}.png`, { type: 'image/png' }));
      const field = document.getElementById('caption');
      field.dispatchEvent(event === 'drop'
        ? new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })
        : new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
    }, [event, name, shade]);
    await page.getByRole('button', { name: `Remove ${name}` }).waitFor();
  }
  await page.getByLabel('Upload files').setInputFiles([world.pictures.blue]);
  await page.getByRole('button', { name: 'Save draft' }).click(); // before the upload has ended
  await page.getByText('Saved.').waitFor();
  await page.goto(new URL(page.url()).pathname + '/edit');
  assert.equal(await page.getByLabel(/^Text for /).inputValue(), 'Typed, and no box ticked.');
  for (const name of ['dropped', 'pasted', 'blue']) await page.getByRole('button', { name: `Remove ${name}` }).waitFor();

  // If the connection breaks, the form keeps the file, and the button waits for the upload.
  await page.route('**/edit', (route) => route.abort(), { times: 1 });
  await page.getByLabel('Upload files').setInputFiles([world.pictures.red]);
  await page.getByText('Not uploaded: red.png.').waitFor();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Saved.').waitFor();
  await page.goto(new URL(page.url()).pathname + '/edit');
  await page.getByRole('button', { name: 'Remove red' }).waitFor();
}

// signOutWhileWriting signs out while a post is written. The typed text is not lost.
async function signOutWhileWriting(page) {
  await page.goto('/posts/new');
  await page.locator('input[name=account]').first().check();
  await page.context().clearCookies();
  await page.getByLabel('Text', { exact: true }).fill('Precious words');
  await page.getByText('The preview is not available.').waitFor({ state: 'attached' });
  await page.getByRole('button', { name: 'Save draft' }).click();
  await page.getByText('Your input will be restored').waitFor();
  await look(page, 'compose-signed-out');
  await page.getByLabel('Email').fill(world.owner.email);
  await page.getByLabel('Password', { exact: true }).fill(world.owner.password);
  await page.keyboard.press('Enter');
  await page.getByText('You are signed in again.').waitFor();
  assert.equal(await page.getByLabel('Text', { exact: true }).inputValue(), 'Precious words');
  assert.ok(await page.locator('input[name=account]').first().isChecked());
}

// cancelSubmit cancels submitting the form, continues to write, and then sees that another tab has submitted the form.
async function cancelSubmit(page) {
  await page.goto('/posts/new');
  const text = page.getByLabel('Text', { exact: true });
  await text.fill('Stopped');
  await page.route('**/posts/new', (route) => route.abort('aborted'), { times: 1 });
  await page.getByRole('button', { name: 'Save draft' }).click();
  const kept = page.waitForRequest((request) => request.url().endsWith('/posts/unsaved') && request.postData()?.includes('Stopped+twice'));
  await page.waitForTimeout(3100);
  await text.fill('Stopped twice');
  await kept;
  await page.locator('#kept', { hasText: 'Saved' }).waitFor();
  await page.evaluate(() => fetch('/posts/new', { method: 'POST', body: new URLSearchParams([...new FormData(document.getElementById('compose'))].filter(([, value]) => typeof value === 'string').concat([['do', 'save']])) }));
  await text.fill('Stopped and lost');
  await page.locator('#kept', { hasText: 'Not saved: This form was already submitted, perhaps in another tab.' }).waitFor();
  await look(page, 'compose-submitted-elsewhere');
  page.once('dialog', (dialog) => dialog.accept());
}

// returnToForm leaves the page in the middle of a sentence and finds the text again.
async function returnToForm(page) {
  await page.goto('/posts/new');
  await page.locator('input[name=account]').first().check();
  await page.getByLabel('Text', { exact: true }).pressSequentially('In the middle of a');
  await page.locator('#kept', { hasText: 'Saved' }).waitFor();
  await page.getByLabel('Text', { exact: true }).pressSequentially(' sentence');
  await page.goto('/posts'); // No dialog asks for confirmation, because nothing is lost.
  do await page.goto('/posts/new'); while (await page.getByText('In the middle of a sentence').count() === 0); // It may be stored late.
  await look(page, 'compose-unsaved');
  await page.getByText(/^\d+ unfinished posts?$/).click();
  await page.getByRole('link', { name: 'Restore' }).first().click();
  assert.equal(await page.getByLabel('Text', { exact: true }).inputValue(), 'In the middle of a sentence');
  assert.ok(await page.locator('input[name=account]').first().isChecked());
  await page.getByRole('button', { name: 'Save draft' }).click();
  await page.getByText('Saved.').waitFor();
}

// returnAfterSubmit goes back to a submitted form and is redirected to its post.
async function returnAfterSubmit(page) {
  await page.getByRole('button', { name: 'Save draft' }).click();
  await page.getByText('Saved.').waitFor();
  const post = new URL(page.url()).pathname;
  await page.goBack();
  await page.getByText('This form was already submitted.').waitFor();
  assert.equal(new URL(page.url()).pathname, post + '/edit');
}
