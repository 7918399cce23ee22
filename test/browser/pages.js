// Every page that links lead to, one of each kind: it is there, and passes the checks.
'use strict';

const { assert, look, open, run, signIn } = require('./drive.js');

// kind is an address without what tells two pages of one kind apart.
function kind(address) {
  const parts = address.pathname.split('/').map((part) => (/\d/.test(part) ? '*' : part));
  return parts.join('/') + '?' + [...address.searchParams.keys()].sort().join('&');
}

run(async (browser) => {
  const page = await open(browser);
  await signIn(page, '/posts');
  await page.goto('/');
  const waiting = [new URL(page.url())];
  const seen = new Set(waiting.map(kind));
  const checked = [];
  while (waiting.length > 0) {
    const address = waiting.shift();
    const answer = await page.request.get(address.href);
    assert.equal(answer.status(), 200, `${address.href}, linked from the pages before`);
    if (!/^text\/html/.test(answer.headers()['content-type'])) continue;
    await page.goto(address.href);
    await look(page, 'page' + kind(address).replace(/[^a-z]+/g, '-'));
    checked.push(kind(address));
    for (const href of await page.locator('a[href]').evaluateAll((links) => links.map((a) => a.href))) {
      const to = new URL(href);
      to.hash = '';
      if (to.origin !== address.origin || seen.has(kind(to))) continue;
      seen.add(kind(to));
      waiting.push(to);
    }
  }
  assert.ok(checked.length >= 60, `only these were found: ${checked.join(' ')}`);
}).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
