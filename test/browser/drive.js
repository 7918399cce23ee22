// Shared code of the scripts: the browser, checks for every page, and screenshots.
'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { chromium } = require('playwright-core');

const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const pictures = path.join(__dirname, '..', '..', 'build', 'browser');
const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

// world is the data from the Go test about the running program.
const world = JSON.parse(process.env.PRESSROOM_BROWSER_WORLD);

// run runs a script in a new browser. Errors in the console and requests to other origins fail the test.
async function run(script) {
  const browser = await chromium.launch({ executablePath: world.chromium, args: flags });
  try {
    await script(browser);
  } catch (failed) {
    for (const page of browser.contexts().flatMap((context) => context.pages())) {
      const text = await page.evaluate(() => document.body.innerText).catch(String); // The page may be navigating.
      console.error(`shown at ${page.url()}:\n${text.slice(0, 2000)}`);
    }
    throw failed;
  } finally {
    await browser.close();
  }
}

// open opens a page with separate cookies. Pages may send requests only to the program and to the origins in alsoTo.
async function open(browser, { alsoTo = [], ...options } = {}) {
  const context = await browser.newContext({ baseURL: world.app_url, viewport: { width: 1000, height: 800 }, reducedMotion: 'reduce', locale: 'en-GB', ...options });
  context.setDefaultTimeout(30_000); // Other tests may slow down the machine.
  const page = await context.newPage();
  page.complaints = [];
  page.on('pageerror', (error) => page.complaints.push(String(error)));
  page.on('console', (message) => {
    if (/Content.Security.Policy|Refused to/i.test(message.text())) page.complaints.push(message.text());
  });
  const own = [new URL(world.app_url).origin, ...alsoTo];
  page.on('request', (request) => {
    const to = new URL(request.url());
    if (/^https?:$/.test(to.protocol) && !own.includes(to.origin)) page.complaints.push(`request to ${to.origin}`);
  });
  return page;
}

// signIn opens a page that requires signing in, and signs in.
async function signIn(page, address = '/sign-in') {
  await page.goto(address);
  await page.getByLabel('Email').fill(world.owner.email);
  await page.getByLabel('Password', { exact: true }).fill(world.owner.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: /^Your account/ }).waitFor();
}

// signOut signs out in the person's menu.
async function signOut(page) {
  await page.getByRole('button', { name: /^Your account/ }).click();
  await page.getByRole('button', { name: 'Sign out', exact: true }).first().click();
}

// Only colors differ in dark mode.
const rules = { light: {}, dark: { runOnly: ['color-contrast'] } };

// look checks the current page for accessibility and for narrow screens, in light and dark mode. If PICTURES is set,
// it saves screenshots.
async function look(page, name) {
  const wide = page.viewportSize();
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    if (colorScheme === 'light') await page.evaluate(axe);
    const { violations } = await page.evaluate((options) => axe.run(options), rules[colorScheme]);
    assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).join(' ')}`), [], `${name}, ${colorScheme}`);
    for (const width of [wide.width, 320]) {
      await page.setViewportSize({ width, height: wide.height });
      const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.equal(over, 0, `${name} is ${over} px wider than a screen of ${width} px`);
      if (process.env.PICTURES) await page.screenshot({ path: path.join(pictures, `${name}-${colorScheme}-${width}.png`), fullPage: true, timeout: 60_000 });
    }
    await page.setViewportSize(wide);
  }
  await page.emulateMedia({ colorScheme: null });
  assert.deepEqual(page.complaints, [], name);
}

module.exports = { assert, look, open, run, signIn, signOut, world };
