// Writing a thread: parts are added and removed without a reload, problems appear at their part, and typed text is kept.
'use strict';

const fs = require('node:fs');
const { assert, look, open, run, signIn, world } = require('./drive.js');

const namesOf = (page, part) => page.locator(`.thread-part[data-list="${part}"] li.file strong`).allTextContents();
const files = (page, part, n) => page.locator(`.thread-part[data-list="${part}"] li.file`).nth(n - 1).waitFor();

// give pastes or drops a picture.
async function give(page, selector, type, picture) {
  const bytes = [...fs.readFileSync(picture)];
  await page.locator(selector).evaluate((target, [kind, content]) => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array(content)], `${kind}.png`, { type: 'image/png' }));
    const init = { bubbles: true, cancelable: true };
    if (kind === 'drop') {
      target.dispatchEvent(new DragEvent('dragover', { ...init, dataTransfer: data }));
      if (!target.closest('.thread-part').querySelector('.drop.over')) throw new Error('the part is not marked');
    }
    target.dispatchEvent(kind === 'drop' ? new DragEvent('drop', { ...init, dataTransfer: data }) : new ClipboardEvent('paste', { ...init, clipboardData: data }));
  }, [type, bytes]);
}

// addMedia attaches files to parts by each way, reorders and describes them, and restores the form.
async function addMedia(page) {
  await page.goto('/posts/new');
  await page.locator('input[name=account]:checked').evaluateAll((boxes) => boxes.forEach((box) => box.click()));
  await page.locator('input[data-platform=bluesky]').first().check();
  await page.locator('#caption').fill('A thread with pictures.');
  const add = page.getByRole('button', { name: 'Add to thread' });
  await add.click();
  await page.getByLabel('Part 2', { exact: true }).fill('Two.');
  await add.click();
  await page.getByLabel('Part 3', { exact: true }).fill('Three.');
  await page.locator('.thread-part').first().getByLabel('Upload files').setInputFiles([world.pictures.red, world.pictures.blue]);
  await files(page, 'part-1', 2);
  await give(page, '#part-2', 'paste', world.pictures.red);
  await files(page, 'part-2', 1);
  await give(page, '#part-2', 'drop', world.pictures.blue); // the same file as in part 2
  await files(page, 'part-2', 2);
  assert.deepEqual(await namesOf(page, 'part-2'), ['red', 'blue']);
  assert.equal(await page.locator('#media li.file').count(), 0);
  await page.locator('.pv-thread .pv').nth(2).locator('.pic').nth(1).waitFor();

  // The library opens for a part.
  await page.locator('.thread-part').nth(1).getByRole('button', { name: 'Choose from the library' }).click();
  await page.locator('#shelf .picks label').filter({ hasNotText: /red|blue/ }).first().click();
  await page.getByRole('button', { name: 'Add 1' }).click();
  await files(page, 'part-2', 3);

  // Buttons and dragging reorder. The first occurrence of a file has its alt text.
  await page.locator('.thread-part').first().getByRole('button', { name: 'Move blue up' }).click();
  await page.waitForFunction(() => document.querySelector('.thread-part li.file strong').textContent === 'blue');
  await page.locator('.thread-part').first().getByLabel('Alt text').first().fill('A blue square');
  const [grip, first] = [page.locator('.thread-part').nth(1).locator('li.file .thumb').nth(1), page.locator('.thread-part').nth(1).locator('li.file').first()];
  await first.evaluate((item) => item.scrollIntoView({ block: 'center' })); // not behind the bar
  const [from, to] = [await grip.boundingBox(), await first.boundingBox()];
  await page.mouse.move(from.x + 20, from.y + 20);
  await page.mouse.down();
  await page.mouse.move(to.x + 20, to.y + 4, { steps: 5 });
  await page.mouse.up();
  await page.waitForFunction(() => document.querySelectorAll('.thread-part')[1].querySelector('li.file strong').textContent !== 'red');
  assert.equal(await page.locator('.thread-part').first().getByLabel('Alt text').first().inputValue(), 'A blue square');
  await look(page, 'compose-thread-media');

  // Autosave restores everything. Removing a part keeps the other's media.
  await page.locator('#kept').getByText('Saved', { exact: true }).waitFor();
  await page.goto('/posts/new');
  await page.locator('.offers > summary').click();
  await page.getByRole('link', { name: 'Restore' }).first().click();
  await files(page, 'part-1', 2);
  await files(page, 'part-2', 3);
  assert.deepEqual(await namesOf(page, 'part-1'), ['blue', 'red']);
  assert.equal((await namesOf(page, 'part-2')).length, 3);
  assert.equal(await page.locator('.thread-part').first().getByLabel('Alt text').first().inputValue(), 'A blue square');
  await page.getByRole('button', { name: 'Remove part 2' }).click();
  await page.getByLabel('Part 3', { exact: true }).waitFor({ state: 'detached' });
  await files(page, 'part-1', 3);
  await page.locator('.thread-part').getByRole('button', { name: 'Remove red' }).click();
  await page.waitForFunction(() => document.querySelectorAll('.thread-part li.file').length === 2);
  await page.getByRole('button', { name: 'Save draft' }).click();
  await page.waitForURL(/posts\/[0-9a-f-]+$/);
  assert.equal(await page.locator('.pv-thread .pv').nth(1).locator('img[alt="A blue square"]').count(), 1);
  await look(page, 'post-thread-media');
}

// split splits a text that is too long for the strictest network, in the composer.
async function split(page) {
  await page.goto('/posts/new');
  await page.locator('input[name=account]:checked').evaluateAll((boxes) => boxes.forEach((box) => box.click()));
  for (const platform of ['x', 'threads', 'bluesky']) await page.locator(`input[data-platform=${platform}]`).first().check();
  const sentences = Array.from({ length: 20 }, (_, i) => `Sentence ${i + 1} explains one step of it 👩‍👩‍👧.`);
  const button = page.getByRole('button', { name: 'Split into a thread' });
  await page.locator('#caption').fill(sentences.slice(0, 3).join(' '));
  await page.getByText('Ready to publish.').first().waitFor();
  assert.equal(await button.count(), 0);
  await page.locator('#caption').fill(`${sentences.join(' ')}\n\nhttps://harbour.example/cold-brew?step=1`);
  await button.waitFor();
  await look(page, 'compose-split');
  await button.focus();
  await page.keyboard.press('Enter');
  await page.getByText('Split.', { exact: true }).waitFor();
  await button.waitFor({ state: 'detached' });
  assert.equal(await page.evaluate(() => document.activeElement.id), 'caption');
  const texts = await page.locator('#caption, .thread-part textarea[name^=part-]').evaluateAll((fields) => fields.map((field) => field.value));
  assert.ok(texts.length > 2);
  assert.equal(texts.join(' ').replace(/\s+/g, ' '), `${sentences.join(' ')} https://harbour.example/cold-brew?step=1`);
  for (const text of texts.slice(0, -1)) assert.match(text, /👩‍👩‍👧\.$/u);
  await page.getByText('Ready to publish.').first().waitFor();
  await look(page, 'compose-split-parts');
}

// typeMeanwhile types while the server splits the text or removes a part. The answer does not overwrite what was typed.
async function typeMeanwhile(page) {
  const last = page.locator('.thread-part').last().locator('textarea[name^=part-]');
  const answer = async (button, message) => {
    const typed = `Typed before "${message}"`;
    await page.route(/\/posts\/new|\/posts$/, async (route) => {
      if (!/(^|&)do=(split|part%3Aremove)/.test(route.request().postData() ?? '')) return route.fallback();
      const response = await route.fetch();
      await last.fill(typed);
      return route.fulfill({ response });
    });
    await button.click();
    await page.getByText(message, { exact: true }).waitFor();
    await page.unroute(/\/posts\/new|\/posts$/);
    assert.equal(await last.inputValue(), typed);
  };
  const parts = await page.locator('.thread-part').count();
  await answer(page.getByRole('button', { name: 'Remove part 2' }), 'The text has changed. Remove the part again.');
  await page.locator('#caption').fill('One sentence that is repeated until it is too long. '.repeat(12));
  const button = page.getByRole('button', { name: 'Split into a thread' });
  await button.waitFor();
  await answer(button, 'The text has changed. Split it again.');
  assert.equal(await page.locator('.thread-part').count(), parts);
}

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

  await addMedia(page);
  await split(page);
  await typeMeanwhile(page);
});
