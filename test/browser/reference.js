// The API reference and the guides for visitors, and copying a command.
'use strict';

const { assert, look, open, run, world } = require('./drive.js');

run(async (browser) => {
  const page = await open(browser);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  for (const name of ['start', 'assistants', 'answers', 'api/posts', 'api/reports', 'api/account']) {
    await page.goto(`/docs/${name}`);
    await look(page, `docs-${name.replace('/', '-')}`);
  }
  for (const name of ['', '?q=sealing+key', '/app', '/networks', '/adr/0025-pages-are-not-cached']) {
    await page.goto(`/docs/guides${name}`);
    await look(page, `guides${name.replace(/[^a-z]+/g, '-')}`);
  }
  await page.goto('/docs');
  await look(page, 'docs');
  await page.getByRole('link', { name: 'Create a draft' }).click();
  assert.match(page.url(), /\/docs\/api\/posts#create_post$/);
  await page.getByRole('button', { name: 'Copy: Command: Create a draft' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('Copied.').waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.ok(copied.startsWith('curl ') && copied.includes('$PRESSROOM_KEY') && copied.includes(`${world.app_url}/api/v1/posts`), copied);
}).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
