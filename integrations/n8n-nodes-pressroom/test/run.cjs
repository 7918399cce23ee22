// Runs the built nodes against a running pressroom with the parts of n8n that execute nodes.
const assert = require('node:assert/strict');
const { test } = require('node:test');
const { randomUUID } = require('node:crypto');
const { setTimeout: sleep } = require('node:timers/promises');
const { ExecuteContext, LoadOptionsContext, PollContext, RoutingNode } = require('n8n-core');
const { Workflow } = require('n8n-workflow');
const { n8n } = require('../package.json');

const url = process.env.PRESSROOM_URL;

/** Loads the classes that package.json names. */
function load(paths) {
	return paths.map((path) => new (Object.values(require(`../${path}`))[0])());
}

const [credential] = load(n8n.credentials);
const types = new Map(load(n8n.nodes).map((type) => [type.description.name, type]));
const nodeTypes = { getByNameAndVersion: (name) => types.get(name), getByName: (name) => types.get(name), getKnownTypes: () => ({}) };

/** Returns the helper that adds credentials to requests, as n8n does for the generic type. */
function credentialsHelper(workflow, apiKey) {
	const data = { url: `${url}/`, apiKey };
	const resolve = (value) => workflow().expression.getSimpleParameterValue(node('pressroom', {}), value, 'internal', { $credentials: data });
	return {
		getParentTypes: () => [],
		isCredentialUsableByNode: () => true,
		getDecrypted: async () => ({ ...data }),
		preAuthentication: async () => undefined,
		authenticate: async (_, __, request) => ({
			...request,
			headers: { ...request.headers, ...resolve(credential.authenticate.properties.headers) },
		}),
	};
}

function node(type, parameters) {
	const id = randomUUID();
	const credentials = { pressroomApi: { id: '1', name: 'key' } };
	return { id, name: 'node', type, typeVersion: 1, position: [0, 0], parameters, credentials };
}

/** Returns the parts of n8n that run a node. */
function setUp(type, parameters, { apiKey = process.env.PRESSROOM_KEY, execution = randomUUID(), id } = {}) {
	const one = { ...node(type, parameters), ...(id && { id }) };
	const workflow = new Workflow({ id: 'w', nodes: [one], connections: {}, active: true, nodeTypes });
	const additionalData = { executionId: execution, credentialsHelper: credentialsHelper(() => workflow, apiKey), variables: {} };
	return { one: workflow.getNode('node'), workflow, additionalData };
}

/** Runs an operation of the node on items. */
async function run(resource, operation, parameters = {}, options = {}) {
	const { one, workflow, additionalData } = setUp('pressroom', { resource, operation, ...parameters }, options);
	const items = options.items ?? [{ json: {} }];
	const runData = { resultData: { runData: {} }, executionData: { contextData: {}, runtimeData: undefined } };
	const data = { main: [items] };
	const executeData = { node: one, data, source: null };
	const context = new ExecuteContext(workflow, one, additionalData, 'manual', runData, 0, items, data, executeData, []);
	const [result] = await new RoutingNode(context, types.get('pressroom')).runNode();
	return result.map((item) => item.json);
}

test('posts', async () => {
	const again = { execution: randomUUID(), id: randomUUID() };
	const draft = { caption: 'From a workflow', accountIds: [1], additionalFields: {} };
	const [created] = await run('post', 'create', draft, again);
	assert.equal(created.status, 'draft');
	const [repeated] = await run('post', 'create', draft, again);
	assert.equal(repeated.id, created.id, 'a second try of an execution makes another draft');
	const [other] = await run('post', 'create', draft);
	assert.notEqual(other.id, created.id);
	const [updated] = await run('post', 'update', { postId: created.id, caption: 'From a workflow: {{ 1 }}' });
	assert.equal(updated.caption, 'From a workflow: {{ 1 }}');
	const [kept] = await run('post', 'update', { postId: created.id, additionalFields: { mediaIds: '' } });
	assert.equal(kept.caption, updated.caption, 'an update without a caption removes it');
	const [scheduled] = await run('post', 'schedule', { postId: created.id, scheduledAt: '2031-01-02T10:00' });
	assert.equal(scheduled.status, 'scheduled');
	assert.equal((await run('post', 'cancel', { postId: created.id }))[0].status, 'draft');
	assert.deepEqual((await run('post', 'validate', { postId: created.id }))[0].problems, []);
	let [job] = await run('post', 'publish', { postId: created.id });
	for (let n = 0; n < 100 && !job.finished; n++) {
		await sleep(100);
		[job] = await run('job', 'get', { jobId: job.job_id });
	}
	assert.equal(job.state, 'succeeded');
	assert.equal((await run('post', 'get', { postId: created.id }))[0].status, 'published');
});

test('items and expressions', async () => {
	const items = [{ json: { text: 'one of two' } }, { json: { text: 'two of two' } }];
	const created = await run('post', 'create', { caption: '={{ $json.text }}', accountIds: ['1'], additionalFields: {} }, { items });
	assert.deepEqual(created.map((post) => post.caption), ['one of two', 'two of two']);
	const key = { additionalFields: { idempotencyKey: randomUUID() } };
	const [first] = await run('post', 'create', { caption: 'keyed', accountIds: [1], ...key });
	const [second] = await run('post', 'create', { caption: 'keyed', accountIds: [1], ...key });
	assert.equal(first.id, second.id);
});

test('lists', async () => {
	const items = Array.from({ length: 40 }, (_, n) => ({ json: { n } }));
	await run('post', 'create', { caption: '=Draft {{ $json.n }}', accountIds: [1], additionalFields: {} }, { items });
	const all = await run('post', 'getAll', { returnAll: true, filters: {} });
	assert.ok(all.length > 50, `${all.length} posts are fewer than two pages`);
	assert.equal(new Set(all.map((post) => post.id)).size, all.length);
	assert.equal((await run('post', 'getAll', { limit: 2, filters: {} })).length, 2);
	const drafts = await run('post', 'getAll', { limit: 5, filters: { status: 'draft' } });
	assert.ok(drafts.length > 0 && drafts.every((post) => post.status === 'draft'));
	const media = await run('media', 'getAll', { limit: 5, filters: { kind: 'image' } });
	assert.ok(media.length > 0 && media.every((item) => item.kind === 'image'));
	const draft = { caption: 'With pictures', accountIds: [1], additionalFields: { mediaIds: ` ${media[0].id}, ` } };
	assert.deepEqual((await run('post', 'create', draft))[0].media.map((item) => item.id), [media[0].id]);
	const [post] = await run('post', 'create', draft);
	const [kept] = await run('post', 'update', { postId: post.id, caption: 'Other words', additionalFields: { mediaIds: '' } });
	assert.deepEqual(kept.media.map((item) => item.id), [media[0].id], 'an empty field removes the media');
	for (const wrong of ['abc', `${media[0].id};${media[0].id}`, '={{ { id: 1 } }}']) {
		await assert.rejects(run('post', 'create', { ...draft, additionalFields: { mediaIds: wrong } }), /./, `${wrong} is dropped`);
	}
	const [imported] = await run('media', 'import', { url: 'https://www.example.com/a.png', additionalFields: { fileName: 'a' } });
	assert.match(imported.job_id, /^media_import:/);
	const accounts = await run('account', 'getAll', { returnAll: true });
	assert.ok(accounts.length > 0);
	const [analytics] = await run('analytics', 'get', { accountId: accounts[0].id, days: 7 });
	assert.ok(analytics.period);
	const { one, workflow, additionalData } = setUp('pressroom', {});
	const names = await types.get('pressroom').methods.loadOptions.getAccounts.call(new LoadOptionsContext(workflow, one, additionalData, ''));
	assert.equal(names.length, accounts.length);
});

test('errors', async () => {
	const draft = { caption: 'x', accountIds: [1], additionalFields: {} };
	const wrong = run('post', 'create', draft, { apiKey: 'prk_wrong' });
	await assert.rejects(wrong, { httpCode: '401', description: /Check the API key of the credential/ });
	await assert.rejects(run('post', 'get', { postId: randomUUID() }), { httpCode: '404', message: /Item not found/ });
	const [long] = await run('post', 'create', { ...draft, caption: 'long '.repeat(100) });
	await assert.rejects(run('post', 'publish', { postId: long.id }), { description: /Validate the post.*preflight_blocked/ });
});

/** Publishes a post, and returns its ID when the networks have answered. */
async function publish(caption) {
	const [post] = await run('post', 'create', { caption, accountIds: [1], additionalFields: {} });
	let [job] = await run('post', 'publish', { postId: post.id });
	while (!job.finished) {
		await sleep(100);
		[job] = await run('job', 'get', { jobId: job.job_id });
	}
	return post.id;
}

test('trigger', async () => {
	const { one, workflow, additionalData } = setUp('pressroomTrigger', { events: ['published'] });
	const trigger = types.get('pressroomTrigger');
	const poll = (mode = 'trigger') => trigger.poll.call(new PollContext(workflow, one, additionalData, mode, 'activate'));
	assert.equal((await poll('manual'))[0].length, 1, 'a manual run shows the newest post');
	assert.equal(await poll(), null, 'the first poll only remembers');
	const fails = 'this fails [sandbox:reject@bluesky]';
	await publish(fails);
	one.parameters.events = ['published', 'failed'];
	assert.equal(await poll(), null, 'the first poll of an event only remembers');
	const ids = [await publish('the trigger sees this'), await publish(fails)];
	const [posts] = await poll();
	assert.deepEqual(new Set(posts.map((item) => item.json.id)), new Set(ids));
	assert.equal(await poll(), null, 'each event is sent once');
});

test('credential', async () => {
	const { one, workflow } = setUp('pressroom', {});
	const values = { $credentials: { url: `${url}/`, apiKey: process.env.PRESSROOM_KEY } };
	const { baseURL, url: path } = workflow.expression.getSimpleParameterValue(one, credential.test.request, 'internal', values);
	const { headers } = workflow.expression.getSimpleParameterValue(one, credential.authenticate.properties, 'internal', values);
	const response = await fetch(baseURL + path, { headers });
	assert.equal(response.status, 200);
});
