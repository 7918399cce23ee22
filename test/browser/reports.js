// Reports and accounts: creating, reading, tracking, comparing, sharing and printing.
'use strict';

const { assert, look, open, run, signIn, world } = require('./drive.js');

run(async (browser) => {
  const page = await open(browser);
  await signIn(page, '/reports');
  await page.getByRole('link', { name: '@north.cafe' }).waitFor();
  await look(page, 'reports');

  await page.getByRole('link', { name: 'New report' }).click();
  await page.locator('#subject').fill('no name at all');
  await page.getByRole('button', { name: 'Create report' }).click();
  await page.getByRole('alert').waitFor();
  assert.equal(await page.locator('#subject').inputValue(), 'no name at all');
  await look(page, 'report-new-wrong');
  // Neither Back nor a return to the page with the error loses what was typed.
  for (const to of [() => page.goto('/reports'), () => page.goBack(), () => page.goBack()]) {
    await to();
    if (page.url().includes('/reports/new')) assert.equal(await page.locator('#subject').inputValue(), 'no name at all');
  }
  assert.match(page.url(), /\/reports\/new\?type=profile&platform=instagram&subject=no\+name\+at\+all$/);

  // The page of a new report shows its progress automatically.
  await page.locator('#subject').fill('@slow.cafe');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: '@slow.cafe' }).waitFor();
  await page.getByText('This page updates automatically.').waitFor();
  await look(page, 'report-pending');
  await page.getByRole('heading', { name: 'Score', exact: true }).waitFor({ timeout: 60_000 });
  assert.equal(await page.locator('[data-follow]').count(), 0);

  await page.goto('/reports');
  await page.getByRole('link', { name: '@north.cafe' }).click();
  await page.getByRole('heading', { name: '@north.cafe' }).waitFor();
  await look(page, 'report-profile');
  await checkCharts(page);
  await followContents(page);
  await page.emulateMedia({ media: 'print' });
  for (const name of ['Refresh', 'Turn on tracking']) assert.equal(await page.getByRole('button', { name }).isVisible(), false, name);
  if (process.env.PICTURES) await page.screenshot({ path: `${__dirname}/../../build/browser/report-print.png`, fullPage: true });
  await page.emulateMedia({ media: 'screen' });
  await printReport(page);
  await shareReport(browser, page);

  await checkFolding(page);

  // Tracking is turned on with the keyboard only.
  await page.getByLabel('Frequency').focus();
  await page.keyboard.press('Tab');
  assert.equal(await page.locator(':focus').textContent(), 'Turn on tracking');
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('Tracking is on').waitFor();
  await look(page, 'report-tracked');

  await page.goto('/reports/new');
  await page.getByLabel('A hashtag on Instagram').check();
  assert.equal(await page.locator('label[for=subject]').innerText(), 'Hashtag');
  await page.locator('#subject').fill('latteart');
  await page.getByRole('button', { name: 'Create report' }).click();
  await page.getByRole('heading', { name: 'Engagement per post' }).waitFor({ timeout: 60_000 });
  await look(page, 'report-hashtag');

  // The preview follows the subject. If a subject's preview is not available, no preview is shown.
  await page.goto('/reports/new');
  await page.locator('#subject').fill('quiet.cafe');
  await page.locator('#preview').getByText('@quiet.cafe').waitFor();
  await page.route('**/reports/new/preview*', (route) => route.abort());
  await page.locator('#subject').fill('missing.cafe');
  await page.locator('#preview:empty').waitFor({ state: 'attached' });
  await page.unroute('**/reports/new/preview*');
  await page.getByRole('button', { name: 'Create report' }).click();
  await page.getByRole('button', { name: 'Try again' }).waitFor({ timeout: 60_000 });
  await look(page, 'report-failed');

  await page.goto('/reports?type=profile');
  for (const box of await page.getByRole('checkbox', { name: /^Compare/ }).all()) await box.check();
  await page.getByRole('button', { name: /^Compare \d+ profiles$/ }).click();
  await page.getByRole('heading', { name: 'Compare profiles' }).waitFor();
  await look(page, 'report-compare');
  await page.goto('/reports?query=nothing+of+this+name');
  await look(page, 'reports-none');
  await accounts(page);
}).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});

// accounts opens an account's analytics and disconnects the account.
async function accounts(page) {
  await page.goto('/analytics?days=90');
  await look(page, 'analytics');
  await page.locator('.range > summary').click();
  await page.locator('#from').focus();
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('.range[open]').count(), 0, 'Escape closes the form of a period');
  assert.equal(await page.locator('.range > summary').evaluate((e) => e === document.activeElement), true);
  await page.goto('/accounts');
  await look(page, 'accounts');
  const bluesky = page.getByRole('main').getByRole('listitem').filter({ hasText: 'Bluesky' }).first();
  const name = await bluesky.getByRole('link').first().textContent();
  await bluesky.getByRole('link').first().click();
  await page.getByRole('heading', { name: 'Performance' }).waitFor();
  await page.getByRole('link', { name: '90 days' }).click();
  await page.locator('[aria-current="page"]', { hasText: '90 days' }).waitFor();
  await look(page, 'account');
  await page.locator('.account-head .pop:not(.range) > summary').click();
  await page.getByRole('link', { name: 'Disconnect' }).click();
  await page.getByRole('heading', { name: `Disconnect ${name}?` }).waitFor();
  await look(page, 'account-disconnect');
  await page.getByRole('button', { name: 'Disconnect' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('was disconnected').waitFor();
  assert.equal(await page.getByRole('link', { name, exact: true }).count(), 0);
  await page.locator('summary', { hasText: 'Connect an account' }).click();
  await page.getByRole('button', { name: 'Bluesky' }).click();
  await page.getByRole('heading', { name: 'Connect Bluesky' }).waitFor();
}

// followContents follows the links of the table of contents. Each leads to an existing section that gets the focus.
async function followContents(page) {
  const links = page.getByRole('navigation', { name: 'On this page' }).getByRole('link');
  assert.ok(await links.count() > 8);
  for (const link of await links.all()) {
    const target = await link.getAttribute('href');
    assert.equal(await page.locator(target).count(), 1, `${target} is not on the page`);
  }
  await links.filter({ hasText: 'Best posts' }).focus();
  await page.keyboard.press('Enter');
  assert.ok(await page.getByRole('heading', { name: 'Best posts' }).evaluate((e) => e.getBoundingClientRect().top < innerHeight));
  await links.filter({ hasText: 'Formats' }).click();
  await page.locator('.contents a[aria-current]', { hasText: 'Formats' }).waitFor();
}

// printReport prints the report. The document has complete pages without controls.
async function printReport(page) {
  await page.evaluate(() => { window.print = () => document.body.setAttribute('data-printed', ''); });
  await page.getByRole('button', { name: 'Print or save as PDF' }).click();
  await page.locator('body[data-printed]').waitFor({ state: 'attached' });
  await page.emulateMedia({ media: 'print' });
  for (const name of ['Print or save as PDF', 'Create']) assert.equal(await page.getByRole('button', { name }).isVisible(), false, name);
  assert.equal(await page.getByText('Report by pressroom').isVisible(), true);
  await page.emulateMedia({ media: null });
  const pdf = (await page.pdf({ preferCSSPageSize: true })).toString('latin1');
  const pages = pdf.match(/\/Type \/Page\b/g).length;
  assert.ok(pages >= 4 && pages <= 12, `${pages} pages`);
}

// shareReport creates a share link and opens it without an account.
async function shareReport(browser, page) {
  const report = page.url();
  await page.getByRole('link', { name: 'Share' }).click();
  await page.getByRole('button', { name: 'Create link' }).click();
  const link = await page.getByLabel('Your new link').inputValue();
  await page.getByRole('button', { name: 'Copy' }).waitFor();
  await look(page, 'report-share');
  const guest = await open(browser);
  await guest.goto(link);
  await guest.getByRole('heading', { name: '@north.cafe' }).waitFor();
  await look(guest, 'report-shared');
  await guest.context().close();
  await page.goto(report);
}

// checkFolding checks that later sections are collapsed, more of them on a phone. Links to them expand them, and print shows them.
async function checkFolding(page) {
  const wide = page.viewportSize();
  const folded = page.locator('details.fold:not([open])');
  const formats = page.locator('details.fold:not([open])', { has: page.locator('#formats') });
  assert.equal(await formats.count(), 0);
  assert.ok(await folded.count() > 3, 'the later parts are open');
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto(page.url().replace(/#.*/, ''));
  await formats.waitFor();
  const shown = (id) => page.locator(`#${id}`).evaluate((e) => e.closest('details').querySelector('table, ol').checkVisibility({ contentVisibilityProperty: true }));
  assert.equal(await shown('best'), true);
  assert.equal(await shown('formats'), false);
  await page.emulateMedia({ media: 'print' });
  assert.equal(await shown('formats'), true, 'on paper');
  await page.emulateMedia({ media: 'screen' });
  await page.getByRole('navigation', { name: 'On this page' }).getByRole('link', { name: 'Formats' }).click();
  assert.equal(await shown('formats'), true);
  await look(page, 'report-phone');
  await page.setViewportSize(wide);
  await page.goto(page.url().replace(/#.*/, ''));
}

// checkCharts checks that charts exist, use the colors of the scheme, and have text alternatives.
async function checkCharts(page) {
  const heat = page.locator('svg.plot.heat');
  assert.ok((await heat.getAttribute('aria-label')).includes('weekday and hour'));
  const colour = () => heat.locator('rect.h5').first().evaluate((e) => getComputedStyle(e).fill);
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await colour();
  await page.emulateMedia({ colorScheme: 'dark' });
  assert.notEqual(await colour(), light);
  await page.emulateMedia({ colorScheme: null });
  assert.ok(await page.locator('svg.plot').count() >= 2);
}
