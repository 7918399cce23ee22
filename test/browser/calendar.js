// The calendar: moving posts by dragging and with the keyboard, undoing a move, and the summary of a post.
'use strict';

const { assert, look, open, run, signIn, world } = require('./drive.js');

const post = (page, text) => page.locator('.event').filter({ hasText: text });
const day = (date) => `[data-day="${date}"]`;

// moveForClient drags a post that waits for its client, and one that the client has approved. The second move asks first.
async function moveForClient(page) {
  const month = page.url();
  const move = (to) => post(page, 'As agreed').dragTo(page.locator(day(to)));
  const send = async () => {
    await page.getByRole('button', { name: 'Create link' }).click();
    return page.locator('#link').inputValue();
  };
  await page.goto(`/approvals/new?post=${world.agreed}`);
  await send();
  await page.goto(month);
  await move(world.days[1]);
  await page.locator('#moved').getByText(/The client’s link no longer shows it\.$/).waitFor();
  await look(page, 'calendar-moved-unsent');
  await page.locator('#moved').getByRole('link', { name: 'Send again' }).click();
  await page.goto(await send());
  await page.getByLabel('Your name').fill('Cleo');
  await page.getByRole('button', { name: 'Approve', exact: true }).click();
  await page.getByText('Approved by Cleo').waitFor();

  await page.goto(month);
  const dialog = page.getByRole('dialog', { name: 'Move this post?' });
  await move(world.days[0]);
  await dialog.getByText('The client must approve the post again after a move.').waitFor();
  await look(page, 'calendar-move-approved');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.locator(day(world.days[1])).getByText('As agreed').waitFor();
  await move(world.days[0]);
  await dialog.getByRole('button', { name: 'Move post' }).click();
  await page.locator('#moved').getByText(/The client must approve it again\.$/).waitFor();
  await page.locator(day(world.days[0])).getByText('As agreed').waitFor();
}

run(async (browser) => {
  const page = await open(browser, { viewport: { width: 1440, height: 900 } });
  await page.route(`${world.app_url}/live`, (route) => route.abort()); // no live updates, so that the page shows changes of others only after a move
  await signIn(page, `/sign-in?next=${encodeURIComponent(`/calendar?day=${world.days[0]}`)}`);

  // One drag moves a post to another day, and Undo moves it back.
  await post(page, 'Winter market').dragTo(page.locator(day(world.days[1])));
  await page.locator('#moved').getByText(/^“Winter market” moved to .*, 10:00\.$/).waitFor();
  await page.locator(day(world.days[1])).getByText('Winter market').waitFor();
  await look(page, 'calendar-moved');
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.locator(day(world.days[0])).getByText('Winter market').waitFor();

  // A post that somebody else changed in the meantime is not moved. The page shows its current time.
  await page.request.patch(`${world.base_url}/posts/${world.market}`, {
    headers: { Authorization: `Bearer ${world.keys.full}` }, data: { caption: 'Summer market' },
  });
  await post(page, 'Winter market').dragTo(page.locator(day(world.days[1])));
  await page.getByRole('alert').getByText('Someone else changed this post in the meantime').waitFor();
  await page.locator(day(world.days[0])).getByText('Summer market').waitFor();

  // If a move cannot be sent, the post returns to its place.
  await page.context().setOffline(true);
  await post(page, 'Summer market').dragTo(page.locator(day(world.days[1])));
  await page.getByRole('alert').getByText('The post was not moved.').waitFor();
  await page.locator(day(world.days[0])).getByText('Summer market').waitFor();
  await page.context().setOffline(false);

  await moveForClient(page);

  // In the week view, the lower half of an hour means half past the hour. A draft is dragged from the list next to
  // the hours.
  await page.getByRole('link', { name: 'Week', exact: true }).click();
  const hour = page.locator(`[data-at^="${world.days[1]}T14"]`);
  await post(page, 'Latte art').dragTo(hour, { targetPosition: { x: 20, y: 50 } });
  await page.locator('#moved').getByText(/moved to .*, 14:30\.$/).waitFor();
  await hour.getByText('Latte art').waitFor();
  await look(page, 'calendar-week-moved');

  // With the keyboard, Enter opens the summary, the summary moves the post, and Escape closes it.
  await page.getByRole('link', { name: 'Latte art' }).focus();
  await page.keyboard.press('Enter');
  const summary = page.getByRole('dialog', { name: 'Post' });
  await summary.getByText('Draft', { exact: true }).waitFor();
  await look(page, 'calendar-summary');
  await page.keyboard.press('Escape');
  await summary.waitFor({ state: 'hidden' });
  assert.equal(await page.locator(':focus').textContent(), 'Latte art');
  await page.keyboard.press('Enter');
  await summary.locator('.move summary').press('Enter');
  await summary.getByLabel('Time').fill('16:15');
  await summary.getByRole('button', { name: 'Reschedule' }).press('Enter');
  await page.locator('#moved').getByText(/moved to .*, 16:15\.$/).waitFor();
  assert.equal(await page.locator(':focus').textContent(), 'Undo');

  // A click in an hour starts a post for that time.
  await page.locator(`[data-at^="${world.days[1]}T11"]`).click({ position: { x: 20, y: 10 } });
  await page.waitForURL(`**/posts/new?date=${world.days[1]}&time=11:00`);
  await page.goBack();

  // A click on an empty day of the month starts a post for that day.
  const week = page.url();
  await page.goto('/calendar');
  const empty = page.locator('.month .day.empty[data-day]').last();
  const emptyDay = await empty.getAttribute('data-day');
  await empty.click({ position: { x: 40, y: 60 } });
  await page.waitForURL(`**/posts/new?date=${emptyDay}`);
  await page.goto(week);

  // The filter applies immediately.
  await page.getByLabel('State').selectOption('scheduled');
  await page.getByRole('link', { name: 'Clear filters' }).waitFor();
  assert.equal(await post(page, 'Latte art').count(), 0);

  await keepAfternoon(browser, page);
  await phone(browser);
}).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});

// keepAfternoon moves a post of the afternoon to another day in American English, which writes it as 4:15 PM.
async function keepAfternoon(browser, signedIn) {
  const page = await open(browser, { viewport: { width: 1440, height: 900 }, locale: 'en-US' });
  await page.context().addCookies(await signedIn.context().cookies());
  await page.goto(`/calendar?day=${world.days[0]}`);
  await post(page, 'Latte art').dragTo(page.locator(day(world.days[0])));
  await page.locator('#moved').getByText(/moved to .*, 4:15 PM\.$/).waitFor();
  await page.context().close();
}

// phone opens the filters and a post's summary on a phone.
async function phone(browser) {
  const page = await open(browser, { viewport: { width: 390, height: 844 } });
  await page.route('**/live', (route) => route.abort()); // no live updates, so that the page shows changes of others only after a move
  await signIn(page, `/sign-in?next=${encodeURIComponent(`/calendar?day=${world.days[0]}`)}`);
  const bar = await page.locator('.calbar .segments').boundingBox();
  const filter = page.getByRole('button', { name: 'Filter' });
  assert.ok(Math.abs((await filter.boundingBox()).y - bar.y) < 10, 'the controls need a second row');
  await filter.click();
  await page.getByLabel('State').waitFor();
  await look(page, 'calendar-filter');
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Summer market' }).click();
  await page.getByRole('dialog', { name: 'Post' }).getByRole('link', { name: 'Edit' }).waitFor();
  await look(page, 'calendar-summary-phone');
}
