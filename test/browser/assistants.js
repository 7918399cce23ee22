// People authorize assistants. The MCP client of the TypeScript SDK discovers the authorization server from the MCP
// URL, registers, and gets the access that the person allowed. Another person denies access. A third person has to
// sign in again first.
'use strict';

const http = require('node:http');
const { assert, look, open, run, signIn, world } = require('./drive.js');

const mcpAddress = new URL('/mcp', world.app_url);

// startRedirectServer starts a server for the redirects of the client.
async function startRedirectServer() {
  const arrived = [];
  const waiting = [];
  const server = http.createServer((request, response) => {
    const at = new URL(request.url, 'http://127.0.0.1');
    if (at.pathname !== '/callback') {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>Back</title><h1>You can close this window</h1>');
    const next = waiting.shift();
    if (next) next(at.searchParams);
    else arrived.push(at.searchParams);
  });
  await new Promise((listens) => { server.listen(0, '127.0.0.1', listens); });
  return {
    address: `http://127.0.0.1:${server.address().port}`,
    back: () => (arrived.length ? Promise.resolve(arrived.shift()) : new Promise((resolve) => { waiting.push(resolve); })),
    close: () => server.close(),
  };
}

// createStorage stores the client's registration and tokens.
function createStorage(redirect) {
  const saved = {};
  return {
    saved,
    get redirectUrl() { return redirect; },
    get clientMetadata() {
      return { client_name: 'Quay helper', redirect_uris: [redirect], grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'], token_endpoint_auth_method: 'none' };
    },
    state: () => 'the state of this program',
    clientInformation: () => saved.client,
    saveClientInformation: (client) => { saved.client = client; },
    tokens: () => saved.tokens,
    saveTokens: (tokens) => { saved.tokens = tokens; },
    redirectToAuthorization: (address) => { saved.address = address; },
    saveCodeVerifier: (verifier) => { saved.verifier = verifier; },
    codeVerifier: () => saved.verifier,
  };
}

// createClient returns a client of the SDK.
async function createClient(redirect) {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const { UnauthorizedError } = await import('@modelcontextprotocol/sdk/client/auth.js');
  const storage = createStorage(redirect);
  const transport = () => new StreamableHTTPClientTransport(mcpAddress, { authProvider: storage });
  return {
    storage,
    // authorizationURL returns the URL to which the client sends the person.
    async authorizationURL() {
      const first = transport();
      await assert.rejects(new Client({ name: 'test', version: '1' }).connect(first), UnauthorizedError);
      this.first = first;
      return storage.saved.address.href;
    },
    // connect connects with the code from the redirect.
    async connect(back) {
      await this.first.finishAuth(back.get('code'));
      const client = new Client({ name: 'test', version: '1' });
      await client.connect(transport());
      return client;
    },
  };
}

run(async (browser) => {
  const port = await startRedirectServer();
  try {
    const helper = await createClient(`${port.address}/callback`);
    const page = await open(browser, { alsoTo: [port.address] });
    await allowAccess(page, port, helper);
    await denyAccess(page, port, helper);
    await loseSession(page, port);
    await withoutScripts(browser, port);
    await manageConnections(page, port);
  } finally {
    port.close();
  }
}).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});

// manageConnections lists the connections and revokes one. Its client then has no access.
async function manageConnections(page, port) {
  const helper = await createClient(`${port.address}/callback`);
  await page.goto(await helper.authorizationURL());
  await page.getByRole('radio', { name: /^Full/ }).check();
  await page.getByRole('button', { name: 'Allow' }).click();
  const client = await helper.connect(await port.back());
  await page.goto('/settings/assistants');
  await page.getByText('last used').first().waitFor();
  await page.getByRole('button', { name: 'Copy: Address for Claude', exact: true }).waitFor();
  await look(page, 'settings-assistants');
  await page.goto('/account');
  await look(page, 'account-assistants');
  await page.getByRole('link', { name: /^Manage Quay helper/ }).first().click();
  await page.getByText('it is not verified').waitFor();
  await look(page, 'settings-assistant');
  await page.getByLabel('Daily credit limit').fill('lots');
  await page.getByRole('button', { name: 'Save' }).click();
  assert.match(await page.getByRole('alert').textContent(), /^Enter a daily limit/);
  await look(page, 'settings-assistant-wrong');
  await page.getByRole('link', { name: 'Disconnect this app…' }).click();
  await look(page, 'settings-assistant-end');
  await page.getByRole('button', { name: 'Disconnect app' }).click();
  await page.getByText('The app was disconnected').waitFor();
  await look(page, 'settings-assistants-ended');
  await page.getByRole('link', { name: 'Quay helper' }).first().click();
  await page.getByRole('link', { name: 'Delete this app…' }).click();
  await look(page, 'settings-assistant-forget');
  await page.getByRole('button', { name: 'Delete app' }).click();
  await page.getByText('The app was deleted').waitFor();
  await assert.rejects(client.callTool({ name: 'get_identity', arguments: {} }));
  assert.deepEqual(page.complaints, []);
}

// allowAccess signs in, selects permissions with the keyboard and allows access.
async function allowAccess(page, port, helper) {
  await signInAt(page, await helper.authorizationURL());
  await page.getByRole('heading', { name: /^Authorize Quay helper/ }).waitFor();
  await page.getByText('Quay helper').first().waitFor();
  await page.getByText(new URL(port.address).host).waitFor();
  await look(page, 'assistant-consent');
  await page.getByRole('radio', { name: /^Drafts/ }).focus();
  assert.ok(await page.getByRole('radio', { name: /^Drafts/ }).isChecked());
  await page.keyboard.press('ArrowUp');
  assert.ok(await page.getByRole('radio', { name: /^Read only/ }).isChecked());
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  const back = await port.back();
  assert.equal(back.get('state'), 'the state of this program');
  assert.equal(back.get('iss'), world.app_url);
  const client = await helper.connect(back);
  assert.equal(helper.storage.saved.tokens.scope, 'read');
  const names = (await client.listTools()).tools.map((tool) => tool.name);
  assert.ok(names.includes('get_identity') && !names.includes('create_post'), names.join());
  const who = await client.callTool({ name: 'get_identity', arguments: {} });
  assert.deepEqual(who.structuredContent.data.capabilities, ['read']);
  const wrote = await client.callTool({ name: 'create_post', arguments: { caption: 'Not by this one' } });
  assert.ok(wrote.isError && wrote.content[0].text.includes('write_not_allowed'), wrote.content[0].text);
  await client.close();
  assert.deepEqual(page.complaints, []);
}

async function signInAt(page, address) {
  await signIn(page, address);
}

// denyAccess denies access, which the client gets as an error.
async function denyAccess(page, port, helper) {
  helper.storage.saved.tokens = undefined;
  await page.goto(await helper.authorizationURL());
  await page.getByRole('button', { name: 'Deny' }).click();
  const back = await port.back();
  assert.equal(back.get('error'), 'access_denied');
  assert.equal(back.get('code'), null);
  await page.getByRole('heading', { name: 'You can close this window' }).waitFor();
}

// loseSession ends the session while the consent page is open. After signing in again, the same page is shown.
async function loseSession(page, port) {
  const other = await createClient(`${port.address}/callback`);
  await page.goto(await other.authorizationURL());
  await page.getByRole('radio', { name: /^Full/ }).check();
  await page.context().clearCookies();
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.getByLabel('Password', { exact: true }).waitFor();
  await look(page, 'assistant-signed-out');
  await page.getByLabel('Email').fill(world.owner.email);
  await page.getByLabel('Password', { exact: true }).fill(world.owner.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: /^Authorize Quay helper/ }).waitFor();
  await page.getByRole('radio', { name: /^Full/ }).check();
  await page.getByRole('button', { name: 'Allow' }).click();
  const client = await other.connect(await port.back());
  const who = await client.callTool({ name: 'get_identity', arguments: {} });
  assert.deepEqual(who.structuredContent.data.capabilities, ['read', 'write', 'publish', 'spend']);
  await client.close();
}

async function withoutScripts(browser, port) {
  const other = await createClient(`${port.address}/callback`);
  const page = await open(browser, { alsoTo: [port.address], javaScriptEnabled: false });
  await signInAt(page, await other.authorizationURL());
  await page.getByRole('button', { name: 'Allow' }).click();
  const client = await other.connect(await port.back());
  assert.ok((await client.listTools()).tools.length > 20);
  await client.close();
  assert.deepEqual(page.complaints, []);
}
