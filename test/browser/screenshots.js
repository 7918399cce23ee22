// Screenshots of the demo team's pages for the README, in light and dark mode.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { assert, open, run, signIn, world } = require('./drive.js');

const desktop = { width: 1440, height: 900 };

// compressed returns a screenshot as a small WebP image for the front page.
async function compressed(browser, png) {
  const page = await browser.newPage();
  const url = await page.evaluate(async (source) => {
    const image = new Image();
    image.src = source;
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [1120, 700];
    const context = canvas.getContext('2d');
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return canvas.toDataURL('image/webp', 0.82);
  }, `data:image/png;base64,${png.toString('base64')}`);
  await page.close();
  return Buffer.from(url.split(',')[1], 'base64');
}

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
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    await page.goto('/calendar');
    await page.waitForFunction(() => document.fonts.status === 'loaded' && [...document.images].every((i) => i.complete || i.loading === 'lazy'));
    fs.writeFileSync(path.join(world.front, `front-${colorScheme}.webp`), await compressed(browser, await page.screenshot()));
  }
  assert.deepEqual(page.complaints, []);
});
