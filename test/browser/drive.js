// What the scripts here share: a browser, the checks that every page has to pass, and pictures of them.
'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { chromium } = require('playwright-core');

const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const pictures = path.join(__dirname, '..', '..', 'build', 'browser');
const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

// world is what the Go test tells of the program that runs.
const world = JSON.parse(process.env.PRESSROOM_BROWSER_WORLD);

// run gives a script a page of a fresh browser. Anything that a page complains of is a failure.
async function run(script) {
  const browser = await chromium.launch({ executablePath: world.chromium, args: flags });
  try {
    await script(browser);
  } catch (failed) {
    for (const page of browser.contexts().flatMap((context) => context.pages())) {
      const text = await page.evaluate(() => document.body.innerText).catch(String); // it may be between two pages
      console.error(`shown at ${page.url()}:\n${text.slice(0, 2000)}`);
    }
    throw failed;
  } finally {
    await browser.close();
  }
}

// open makes a window, with cookies of its own. Pages send requests to the program alone, and to the origins of alsoTo.
async function open(browser, { alsoTo = [], ...options } = {}) {
  const context = await browser.newContext({ baseURL: world.app_url, viewport: { width: 1000, height: 800 }, reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(30_000); // a machine that tests much else beside this is slow
  const page = await context.newPage();
  page.complaints = [];
  page.on('pageerror', (error) => page.complaints.push(String(error)));
  page.on('console', (message) => {
    if (/Content.Security.Policy|Refused to/i.test(message.text())) page.complaints.push(message.text());
  });
  const own = [new URL(world.app_url).origin, ...alsoTo];
  page.on('request', (request) => {
    const to = new URL(request.url());
    if (/^https?:$/.test(to.protocol) && !own.includes(to.origin)) page.complaints.push(`a request left for ${to.origin}`);
  });
  return page;
}

// signIn opens an address that needs a person, and becomes one.
async function signIn(page, address = '/sign-in') {
  await page.goto(address);
  await page.getByLabel('Email').fill(world.owner.email);
  await page.getByLabel('Password').fill(world.owner.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: /^Your account/ }).waitFor();
}

// signOut does so in the person's menu.
async function signOut(page) {
  await page.getByRole('button', { name: /^Your account/ }).click();
  await page.getByRole('button', { name: 'Sign out', exact: true }).first().click();
}

// In the dark nothing but the colours is another.
const rules = { light: {}, dark: { runOnly: ['color-contrast'] } };

// look checks the page as it is now: for people who cannot see it, on a narrow screen, in light and in dark. With PICTURES
// set, it saves a picture of each.
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
