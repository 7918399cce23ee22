// Screenshots of the components page in light and dark mode.
'use strict';

const path = require('node:path');
const { look, open, run, world } = require('./drive.js');

run(async (browser) => {
  const page = await open(browser, { viewport: { width: 1000, height: 900 } });
  await page.goto('/dev/components');
  await look(page, 'components');
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    await page.evaluate(() => document.fonts.ready);
    await page.screenshot({ path: path.join(world.pictures, `components-${colorScheme}.png`), fullPage: true });
  }
});
