// Posts: the list, the calendar, a post from draft to result, failed and unconfirmed posts, a series, and jobs.
'use strict';

const { assert, look, open, run, signIn, world } = require('./drive.js');

const heading = (page, name) => page.getByRole('heading', { name, exact: true }).waitFor();

run(async (browser) => {
  const page = await open(browser);
  await signIn(page, '/sign-in?next=%2Fposts');
  await heading(page, 'Posts');
  await look(page, 'posts');
  await page.getByRole('link', { name: 'Published' }).click();
  await page.locator('a[aria-current]', { hasText: 'Published' }).waitFor();
  await page.getByLabel('From', { exact: true }).fill('2020-01-01');
  await page.getByLabel('To', { exact: true }).fill('2020-01-02');
  await page.getByRole('heading', { name: 'No posts match these filters.' }).waitFor();
  assert.ok(await page.getByRole('button', { name: 'Apply' }).isHidden());
  assert.equal(await page.evaluate(() => document.activeElement.id), 'to');
  await look(page, 'posts-none');
  await searchAgain(page);
  await showNewTimes(browser, page);

  await page.getByRole('link', { name: 'Calendar' }).first().click();
  await page.getByText('Upcoming').first().waitFor({ state: 'attached' });
  await look(page, 'calendar-month');
  await page.goto('/calendar?view=week&day=' + new Date(Date.now() + 30 * 3600e3).toISOString().slice(0, 10));
  await look(page, 'calendar-week');

  await page.goto('/posts/' + world.draft);
  await look(page, 'post-draft');
  await page.locator('.post-head summary.icon-button').click();
  await page.getByRole('link', { name: 'Send for approval…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Send for approval' });
  await dialog.getByLabel('Message to the client').fill('Have a look, please.');
  await look(page, 'post-ask');
  await dialog.getByRole('button', { name: 'Create link' }).click();
  await page.getByLabel('Client link').waitFor();
  await look(page, 'post-client');
  const link = await page.getByLabel('Client link').inputValue();
  await copyLinks(page, link);
  const client = await open(browser);
  await client.goto(link);
  await client.getByLabel('Your name').fill('Grace');
  await client.getByLabel('Comment (required to request changes)').fill('Please without the tart.');
  await client.getByRole('button', { name: 'Request changes' }).click();
  await client.getByText('Changes requested').first().waitFor();
  await page.getByText('Please without the tart.').waitFor(); // The page is updated automatically.
  await look(page, 'post-rejected');

  await watchPublishing(page);
  await checkFailedPost(page);
  await resolveUnconfirmed(page);

  await page.goto('/posts/' + world.series);
  await page.getByText('Every day').waitFor();
  await look(page, 'post-series');
  await page.locator('.post-head summary.icon-button').click();
  await page.getByRole('link', { name: 'End the series…' }).click();
  await heading(page, 'End the series');
  await look(page, 'post-series-end');
  await skipByKeyboard(browser);
}).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});

// searchAgain enters another text before the first search has a response, which cancels the first request.
async function searchAgain(page) {
  await page.route('**/posts?*q=first*', () => {}); // never responds
  const begun = page.waitForRequest('**/posts?*q=first*');
  await page.getByRole('main').getByRole('searchbox').fill('first');
  const ended = page.waitForEvent('requestfailed', (request) => request.url().includes('q=first'));
  await begun;
  await page.getByRole('main').getByRole('searchbox').fill('second');
  await ended;
  await page.waitForURL('**/posts?*q=second*');
  await page.unrouteAll();
}

// showNewTimes shows the new times of rescheduled posts as the server writes times in each language.
async function showNewTimes(browser, signedIn) {
  for (const [locale, reschedule, time] of [
    ['en-GB', 'Reschedule…', /^\w{3} \d+ \w{3}, \d\d:\d\d → Fri 28 Mar, 09:05$/],
    ['en-US', 'Reschedule…', /^\w{3}, \w{3} \d+, \d+:\d\d [AP]M → Fri, Mar 28, 9:05 AM$/],
    ['de-DE', 'Neu planen …', /^\w\w\., \d+\. \S+, \d\d:\d\d → Fr\., 28\. März, 09:05$/],
  ]) {
    const page = await open(browser, { locale });
    await page.context().addCookies(await signedIn.context().cookies());
    await page.goto('/posts?status=scheduled');
    await page.locator('[name=post]').first().check();
    await page.getByRole('button', { name: reschedule }).click();
    await page.locator('#reschedule input[type=date]').fill('2031-03-28');
    await page.locator('#reschedule input[type=time]').fill('09:05');
    const move = page.locator('[data-moves] li').first();
    await move.waitFor();
    assert.match(await move.textContent(), time);
    await page.context().close();
  }
}

// copyLinks copies the client's link of a draft from the approvals and from the list of posts, and returns to the draft.
async function copyLinks(page, link) {
  const address = page.url();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  for (const from of ['/approvals', '/posts?status=waiting']) {
    await page.goto(from);
    const item = page.getByRole('main').getByRole('listitem').filter({ has: page.locator(`a[href="/posts/${world.draft}"]`) }).first();
    await page.evaluate(() => navigator.clipboard.writeText(''));
    await item.getByRole('button', { name: 'Copy link' }).click();
    await item.getByText('Copied.').waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), link, from);
  }
  await page.goto(address);
}

// watchPublishing watches a slow post until it is published, without reloading the page.
async function watchPublishing(page) {
  await page.goto('/posts/' + world.slow);
  await page.locator('.post-head summary.icon-button').click();
  await page.getByRole('link', { name: 'Publish now…' }).click();
  await heading(page, 'Publish now');
  await look(page, 'post-publish');
  const [list, button] = await Promise.all([page.locator('ul.cards').last().boundingBox(), page.getByRole('button', { name: 'Publish to 1 account' }).boundingBox()]);
  assert.ok(button.y - list.y - list.height >= 16, 'the button touches the accounts');
  await page.getByRole('button', { name: 'Publish to 1 account' }).click();
  await page.getByText('Publishing: 0 of 1 account done.').waitFor();
  await page.getByText('Publishing', { exact: true }).first().waitFor();
  await page.screenshot({ path: require('node:path').join(__dirname, '..', '..', 'build', 'browser', 'post-publishing.png'), fullPage: true });
  await page.getByText('Published', { exact: true }).first().waitFor({ timeout: 30_000 });
  await page.getByRole('button', { name: 'Duplicate' }).waitFor();
  await page.getByText('Technical details', { exact: true }).click();
  await page.getByText('Sent to the network – published').waitFor();
  await look(page, 'post-published');
  await page.getByRole('link', { name: 'View the last publishing job' }).click();
  await heading(page, 'Publishing a post');
  await look(page, 'job');
  await page.getByRole('link', { name: 'Open the post' }).click();
  await page.locator('#accounts').waitFor();
}

async function checkFailedPost(page) {
  await page.goto('/posts/' + world.failed);
  await page.getByText('Published to 1 of 2 accounts.').waitFor();
  for (const story of await page.getByText('Technical details', { exact: true }).all()) await story.click();
  await look(page, 'post-failed');
  await page.getByRole('button', { name: /^Retry / }).click();
  await page.getByText('Retrying 1 account.').waitFor();
  await page.getByText('It was retried moments ago.').waitFor({ timeout: 30_000 });
  await look(page, 'post-failed-again');
  await page.getByRole('link', { name: /^Bluesky: / }).click();
  const wait = page.getByText(/You can retry it in \d+ seconds?\./);
  const shown = await wait.textContent();
  await page.waitForFunction((text) => !document.body.innerText.includes(text), shown.match(/in \d+ seconds?/)[0]);
  await look(page, 'post-account-waits');
}

async function resolveUnconfirmed(page) {
  await page.goto('/posts/' + world.doubtful);
  await look(page, 'post-doubtful');
  await page.getByRole('link', { name: /^Check whether it was published/ }).click();
  await look(page, 'post-decide');
  await page.getByLabel('It was published. It will not be sent again.').check();
  await page.getByLabel('Link to the post (optional)').fill('ftp://nowhere');
  await page.getByRole('button', { name: 'Save decision' }).click();
  assert.match(await page.getByRole('alert').textContent(), /must be a full URL/);
  assert.ok(await page.getByLabel('It was published. It will not be sent again.').isChecked());
  await look(page, 'post-decide-wrong');
  await page.getByLabel('Link to the post (optional)').fill('https://bsky.app/profile/harbour.example/post/3k');
  await page.getByRole('button', { name: 'Save decision' }).click();
  await page.getByText('Marked as published.').waitFor();
}

// skipByKeyboard opens a post in the calendar and skips an occurrence, with Tab and Enter only and without scripts.
async function skipByKeyboard(browser) {
  const page = await open(browser, { javaScriptEnabled: false });
  await signIn(page, '/sign-in?next=%2Fcalendar%3Fview%3Dweek%26day%3D' + new Date(Date.now() + 30 * 3600e3).toISOString().slice(0, 10));
  const reach = async (name) => {
    const seen = [];
    for (let nowhere = 0; ;) {
      await page.keyboard.press('Tab');
      const at = page.locator(':focus');
      if (await at.count() === 0) { // The focus is in a date field or behind the page's end.
        assert.ok(nowhere++ < 3, `the keyboard does not reach ${name} at ${page.url()}, only ${seen.join(', ')}`);
        continue;
      }
      const text = (await at.textContent()).trim();
      assert.notEqual(await at.evaluate((e) => getComputedStyle(e).outlineStyle), 'none');
      if (name.test(text)) return page.keyboard.press('Enter');
      seen.push(text);
    }
  };
  await reach(/Coffee of the week/);
  await page.locator('#preview').waitFor();
  const series = page.getByText('Template of the series');
  if (await series.count() === 0) { // The post was the template.
    await reach(/^\w{3} \d+ \w{3} \d{4}, 10:00$/);
    await series.waitFor();
  }
  await reach(/^More actions/);
  await reach(/^Skip this one/);
  await page.getByText('Skipped. This post is now a draft').waitFor();
}
