// Screenshots of the demo team's pages for the README, in light and dark mode.
'use strict';

const path = require('node:path');
const { assert, open, run, signIn, world } = require('./drive.js');

const desktop = { width: 1440, height: 900 };

run(async (browser) => {
  const page = await open(browser, { viewport: desktop });
  await signIn(page);
  const post = await page.goto('/posts?status=scheduled').then(() => page.locator('main a[href^="/posts/"]').evaluateAll(
    (links) => links.map((a) => a.getAttribute('href')).find((to) => /^\/posts\/[0-9a-f-]{36}$/.test(to))));
  assert.ok(post, 'the demo team has no scheduled post');
  await page.goto('/reports');
  const report = await page.getByRole('link', { name: '@north.cafe' }).getAttribute('href');
  for (const [name, to] of Object.entries({ calendar: '/calendar', composer: `${post}/edit`, report })) {
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme });
      await page.goto(to);
      await page.waitForFunction(() => document.fonts.status === 'loaded' && [...document.images].every((i) => i.complete || i.loading === 'lazy'));
      await page.screenshot({ path: path.join(world.screenshots, `${name}-${colorScheme}.png`) });
    }
  }
  assert.deepEqual(page.complaints, []);
});
