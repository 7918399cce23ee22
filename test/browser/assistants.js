// People authorize assistants. The MCP client of the TypeScript SDK discovers the authorization server from the MCP URL,
// registers, and gets access to what the person allowed. Another person denies access, and a third one signs in again first.
'use strict';

const http = require('node:http');
const { assert, look, open, run, signIn, world } = require('./drive.js');

const mcpAddress = new URL('/mcp', world.app_url);

// landing starts a server for the redirects of the client.
async function landing() {
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

// memory stores the client's registration and tokens.
function memory(redirect) {
  const kept = {};
  return {
    kept,
    get redirectUrl() { return redirect; },
    get clientMetadata() {
      return { client_name: 'Quay helper', redirect_uris: [redirect], grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'], token_endpoint_auth_method: 'none' };
    },
    state: () => 'the state of this program',
    clientInformation: () => kept.client,
    saveClientInformation: (client) => { kept.client = client; },
    tokens: () => kept.tokens,
    saveTokens: (tokens) => { kept.tokens = tokens; },
    redirectToAuthorization: (address) => { kept.address = address; },
    saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
    codeVerifier: () => kept.verifier,
  };
}

// program is a client of the SDK.
async function program(redirect) {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const { UnauthorizedError } = await import('@modelcontextprotocol/sdk/client/auth.js');
  const remembers = memory(redirect);
  const transport = () => new StreamableHTTPClientTransport(mcpAddress, { authProvider: remembers });
  return {
    remembers,
    // asks returns the URL to which the client sends the person.
    async asks() {
      const first = transport();
      await assert.rejects(new Client({ name: 'test', version: '1' }).connect(first), UnauthorizedError);
      this.first = first;
      return remembers.kept.address.href;
    },
    // enters connects with the code from the redirect.
    async enters(back) {
      await this.first.finishAuth(back.get('code'));
      const client = new Client({ name: 'test', version: '1' });
      await client.connect(transport());
      return client;
    },
  };
}

run(async (browser) => {
  const port = await landing();
  try {
    const helper = await program(`${port.address}/callback`);
    const page = await open(browser, { alsoTo: [port.address] });
    await letIn(page, port, helper);
    await refuse(page, port, helper);
    await sessionLost(page, port);
    await withoutScripts(browser, port);
    await lookAfter(page, port);
  } finally {
    port.close();
  }
}).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});

// lookAfter lists the connections and revokes one. Its client then has no access.
async function lookAfter(page, port) {
  const helper = await program(`${port.address}/callback`);
  await page.goto(await helper.asks());
  await page.getByRole('radio', { name: /^Full/ }).check();
  await page.getByRole('button', { name: 'Allow' }).click();
  const client = await helper.enters(await port.back());
  await page.goto('/settings/assistants');
  await page.getByText('last used').first().waitFor();
  await page.getByRole('button', { name: 'Copy address' }).waitFor();
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
  await page.getByRole('link', { name: 'Disconnect this assistant…' }).click();
  await look(page, 'settings-assistant-end');
  await page.getByRole('button', { name: 'Disconnect assistant' }).click();
  await page.getByText('The assistant was disconnected').waitFor();
  await look(page, 'settings-assistants-ended');
  await page.getByRole('link', { name: 'Quay helper' }).first().click();
  await page.getByRole('link', { name: 'Delete this assistant…' }).click();
  await look(page, 'settings-assistant-forget');
  await page.getByRole('button', { name: 'Delete assistant' }).click();
  await page.getByText('The assistant was deleted').waitFor();
  await assert.rejects(client.callTool({ name: 'get_identity', arguments: {} }));
  assert.deepEqual(page.complaints, []);
}

// letIn signs in, selects permissions with the keyboard and allows access.
async function letIn(page, port, helper) {
  await signInAt(page, await helper.asks());
  await page.getByRole('heading', { name: 'Authorize an assistant?' }).waitFor();
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
  const client = await helper.enters(back);
  assert.equal(helper.remembers.kept.tokens.scope, 'read');
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

// refuse denies access, which the client gets as an error.
async function refuse(page, port, helper) {
  helper.remembers.kept.tokens = undefined;
  await page.goto(await helper.asks());
  await page.getByRole('button', { name: 'Deny' }).click();
  const back = await port.back();
  assert.equal(back.get('error'), 'access_denied');
  assert.equal(back.get('code'), null);
  await page.getByRole('heading', { name: 'You can close this window' }).waitFor();
}

// sessionLost ends the session while the consent page is open. After signing in again, the same page is shown.
async function sessionLost(page, port) {
  const other = await program(`${port.address}/callback`);
  await page.goto(await other.asks());
  await page.getByRole('radio', { name: /^Full/ }).check();
  await page.context().clearCookies();
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.getByLabel('Password').waitFor();
  await look(page, 'assistant-signed-out');
  await page.getByLabel('Email').fill(world.owner.email);
  await page.getByLabel('Password').fill(world.owner.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: 'Authorize an assistant?' }).waitFor();
  await page.getByRole('radio', { name: /^Full/ }).check();
  await page.getByRole('button', { name: 'Allow' }).click();
  const client = await other.enters(await port.back());
  const who = await client.callTool({ name: 'get_identity', arguments: {} });
  assert.deepEqual(who.structuredContent.data.capabilities, ['read', 'write', 'publish', 'spend']);
  await client.close();
}

async function withoutScripts(browser, port) {
  const other = await program(`${port.address}/callback`);
  const page = await open(browser, { alsoTo: [port.address], javaScriptEnabled: false });
  await signInAt(page, await other.asks());
  await page.getByRole('button', { name: 'Allow' }).click();
  const client = await other.enters(await port.back());
  assert.ok((await client.listTools()).tools.length > 20);
  await client.close();
  assert.deepEqual(page.complaints, []);
}
