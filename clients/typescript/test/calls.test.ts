// Tests of the client with a server that sends given responses.
import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { Pressroom, APIError, NoResponseError, upload, wait, type Code, type Options } from "../src/index.js";
import { retryAfter } from "../src/retry.js";

type Answering = (response: ServerResponse, request: IncomingMessage) => void;

const success = JSON.stringify({ data: { id: "p" }, meta: { request_id: "r" } });

function answer(status: number, type: string, body: string, headers: Record<string, string> = {}): Answering {
  return (response) => response.writeHead(status, { "Content-Type": type, ...headers }).end(body);
}

const ok = answer(200, "application/json", success);

function problem(status: number, code: Code, headers: Record<string, string> = {}): Answering {
  const body = { type: "x", title: "T.", status, detail: "D.", code, context: { argument: "caption", reason: "too_long" } };
  return answer(status, "application/problem+json", JSON.stringify(body), headers);
}

function proxy(status: number, headers: Record<string, string> = {}): Answering {
  return answer(status, "text/html", "<h1>busy</h1>", headers);
}

const cut: Answering = (response) => {
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": "1000" });
  response.write('{"data":', () => response.destroy());
};

interface Asked {
  url: string;
  key: string | undefined;
  authorization: string | undefined;
  length: string | undefined; // of the body
}

async function serving(t: TestContext, answers: Answering[], options: Partial<Options> = {}): Promise<{ client: Pressroom; asked: Asked[]; waits: number[]; url: string }> {
  const asked: Asked[] = [];
  const waits: number[] = [];
  const server = createServer((request, response) => {
    const { authorization, "idempotency-key": key, "content-length": length } = request.headers;
    asked.push({ url: request.url ?? "", key: key as string | undefined, authorization, length });
    request.resume();
    answers[Math.min(asked.length, answers.length) - 1]?.(response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sleep: NonNullable<Options["sleep"]> = (ms) => {
    waits.push(ms);
    return Promise.resolve();
  };
  return { client: new Pressroom({ url, key: "prk_test", sleep, ...options }), asked, waits, url };
}

const draft = { caption: "c", account_ids: [1] };

const cases: { name: string; answers: Answering[]; asked: number; code?: Code; wait?: number }[] = [
  { name: "a proxy's 503", answers: [proxy(503), ok], asked: 2 },
  { name: "a proxy's 502 with seconds", answers: [proxy(502, { "Retry-After": "7" }), ok], asked: 2, wait: 7000 },
  { name: "429 with seconds", answers: [problem(429, "rate_limited", { "Retry-After": "3" }), ok], asked: 2, wait: 3000 },
  { name: "429 for an hour", answers: [problem(429, "daily_call_limit_reached", { "Retry-After": "3600" }), ok], asked: 1, code: "daily_call_limit_reached" },
  { name: "an idempotency key in progress", answers: [problem(409, "idempotency_key_in_progress", { "Retry-After": "1" }), ok], asked: 2, wait: 1000 },
  { name: "500 with a key", answers: [problem(500, "internal_error"), ok], asked: 2 },
  { name: "cut off", answers: [cut, ok], asked: 2 },
  { name: "always busy", answers: [problem(429, "rate_limited", { "Retry-After": "1" })], asked: 5, code: "rate_limited", wait: 1000 },
  { name: "a reused idempotency key", answers: [problem(422, "idempotency_key_reused"), ok], asked: 1, code: "idempotency_key_reused" },
  { name: "an unavailable provider", answers: [problem(502, "provider_unavailable"), ok], asked: 1, code: "provider_unavailable" },
  { name: "no credits", answers: [problem(402, "insufficient_credits"), ok], asked: 1, code: "insufficient_credits" },
  { name: "a code of a later version", answers: [problem(422, "brand_new"), ok], asked: 1, code: "brand_new" },
];

for (const c of cases) {
  test(`retries: ${c.name}`, async (t) => {
    const { client, asked, waits } = await serving(t, c.answers);
    if (c.code) await assert.rejects(client.createPost(draft), (e) => e instanceof APIError && e.code === c.code && e.attempts === c.asked);
    else assert.equal((await client.createPost(draft)).http.idempotencyKey, asked[0]?.key);
    assert.equal(asked.length, c.asked);
    if (c.wait !== undefined) assert.ok(waits[0] !== undefined && waits[0] >= c.wait && waits[0] < c.wait + 1000, `it paused ${waits.join()}`);
    assert.ok(asked[0]?.key, "no key was sent");
    assert.equal(new Set(asked.map((a) => a.key)).size, 1, "the key changed");
  });
}

test("each write has a new key unless the caller sets one, and reads have none", async (t) => {
  const { client, asked } = await serving(t, [ok]);
  await client.createPost(draft);
  await client.createPost(draft);
  await client.createPost(draft, { idempotencyKey: "mine" });
  await client.getPost({ id: "p" }, { idempotencyKey: "mine" });
  assert.notEqual(asked[0]?.key, asked[1]?.key);
  assert.deepEqual([asked[2]?.key, asked[3]?.key], ["mine", undefined]);
});

test("an operation whose arguments are all in the path has no body", async (t) => {
  const { client, asked } = await serving(t, [ok]);
  await client.publishPost({ post_id: "p" });
  await client.updatePost({ id: "p" });
  assert.deepEqual(asked.map((a) => a.length), ["0", "2"]);
});

test("a date in Retry-After is relative to the Date of the response", () => {
  const now = Date.parse("2026-03-29T08:00:00Z");
  const date = (ms: number): string => new Date(now + ms).toUTCString();
  const cases: [Record<string, string>, number][] = [
    [{ "retry-after": "120" }, 120_000],
    [{ "retry-after": "-5" }, 0],
    [{ "retry-after": "soon" }, 0],
    [{}, 0],
    [{ "retry-after": date(30_000) }, 30_000],
    [{ "retry-after": date(-30_000) }, 0],
    [{ "retry-after": date(3_600_000), date: date(3_595_000) }, 5_000],
  ];
  for (const [headers, want] of cases) assert.equal(retryAfter(new Headers(headers), now), want, JSON.stringify(headers));
});

test("a redirect is not followed", async (t) => {
  const other = await serving(t, [ok]);
  for (const status of [301, 302, 307, 308]) {
    const { client, asked } = await serving(t, [answer(status, "text/plain", "", { Location: `${other.url}/api/v1/me` })]);
    await assert.rejects(client.getIdentity(), (e) => e instanceof APIError && e.detail.includes("redirect"));
    assert.equal(asked.length, 1);
  }
  assert.equal(other.asked.length, 0);
});

test("an error says if a response is not from the API", async (t) => {
  const cases: [Answering, number, string][] = [
    [proxy(404), 404, "proxy"],
    [proxy(200), 200, "not JSON"],
    [answer(200, "application/json", '{"ok":true}'), 200, "meta"],
    [answer(422, "application/problem+json", "{"), 422, "proxy"],
  ];
  for (const [answering, status, says] of cases) {
    const { client } = await serving(t, [answering]);
    await assert.rejects(client.getIdentity(), (e) => e instanceof APIError && e.status === status && e.code === "" && e.detail.includes(says));
  }
});

test("the error of an aborted call contains its key", async (t) => {
  const abort = new AbortController();
  const { client } = await serving(t, [(): void => { abort.abort(new Error("enough")); }]);
  await assert.rejects(client.createPost(draft, { signal: abort.signal, idempotencyKey: "k" }), (e) => {
    return e instanceof NoResponseError && e.idempotencyKey === "k" && e.message.includes("in 1 attempt:");
  });
});

test("an attempt that times out is retried", async (t) => {
  const { client, asked } = await serving(t, [() => undefined, ok], { attemptTimeout: 500 });
  await client.getPost({ id: "p" });
  assert.equal(asked.length, 2);
});

test("arguments are sent in the path or in the query", async (t) => {
  const { client, asked } = await serving(t, [ok]);
  await client.listMedia({ folder_id: 0 });
  await client.listSocialAccounts({ active_only: false });
  await client.getReport({ type: "profile", id: "a b/c", sections: ["times", "posts"] });
  assert.deepEqual(asked.map((a) => a.url), ["/api/v1/media?folder_id=0", "/api/v1/social-accounts?active_only=false", "/api/v1/reports/profile/a%20b%2Fc?sections=times%2Cposts"]);
  for (const id of ["", ".", ".."]) await assert.rejects(client.getPost({ id }), TypeError);
  assert.equal(asked.length, 3);
});

test("iteration ends if the service repeats a cursor", async (t) => {
  const page = JSON.stringify({ data: { posts: [{ id: "a" }] }, meta: { request_id: "r" }, page: { has_more: true, cursor: "1" } });
  const { client, asked } = await serving(t, [answer(200, "application/json", page)]);
  await assert.rejects(async () => {
    for await (const post of client.listPostsAll()) assert.equal(post.id, "a");
  }, /another page/);
  assert.equal(asked.length, 2);
});

/** The response to create_uploads, with links to the server itself. */
function opened(links: number): Answering {
  return (response, request) => {
    const uploads = Array.from({ length: links }, (_, i) => ({ url: `http://${request.headers.host}/uploads/${i}`, state: "waiting" }));
    answer(201, "application/json", JSON.stringify({ data: { job_id: "j", upload: { uploads } }, meta: { request_id: "r" } }))(response, request);
  };
}

const stored = answer(201, "application/json", '{"data":{"media_id":7}}');

function files(n: number): { name: string; content: Blob }[] {
  return Array.from({ length: n }, (_, i) => ({ name: `${i}.png`, content: new Blob([`${i}`]) }));
}

test("each file is sent to its link, with any value of parallel", async (t) => {
  for (const parallel of [0, -1, Number.NaN, 1, 9]) {
    const { client } = await serving(t, [opened(2), stored]);
    assert.deepEqual(await upload(client, files(2), { parallel }), [{ name: "0.png", mediaId: 7 }, { name: "1.png", mediaId: 7 }]);
  }
  const { client } = await serving(t, [opened(1), stored]);
  await assert.rejects(upload(client, files(2)), /opened 1 links for 2 files/);
});

test("the error of a later batch contains the key of the whole upload", async (t) => {
  const { client, asked } = await serving(t, [(response, request): void => {
    if (request.method === "PUT") stored(response, request);
    else if (request.headers["idempotency-key"] === "k") opened(50)(response, request);
    else problem(422, "validation_failed")(response, request);
  }]);
  const results = await upload(client, files(101), { idempotencyKey: "k" });
  assert.deepEqual([results.length, results[49]?.mediaId, results[100]?.name], [101, 7, "100.png"]);
  for (const { error } of results.slice(50)) assert.ok(error instanceof APIError && error.idempotencyKey === "k");
  assert.equal(asked.at(-1)?.key, "k-2");
  const { client: none } = await serving(t, [problem(422, "validation_failed")]);
  await assert.rejects(upload(none, files(1), { idempotencyKey: "k" }), (e) => e instanceof APIError && e.idempotencyKey === "k");
});

test("only an empty file fails, and an error has the index of the invalid file among all files", async (t) => {
  const empty = { name: "empty.png", content: new Blob([]) };
  const some = [empty, ...files(2)];
  const { client } = await serving(t, [opened(2), stored]);
  const [first, ...rest] = await upload(client, some);
  assert.match(first?.error?.message ?? "", /empty.png: the file is empty/);
  assert.deepEqual(rest, [{ name: "0.png", mediaId: 7 }, { name: "1.png", mediaId: 7 }]);
  const { client: idle, asked } = await serving(t, [opened(0)]);
  assert.equal((await upload(idle, [empty]))[0]?.mediaId, undefined);
  assert.equal(asked.length, 0, "a batch without files would be for the upload page");
  const body = { code: "validation_failed", detail: "D.", context: { argument: "files.size_bytes", reason: "out_of_range", item: 1 } };
  const { client: strict } = await serving(t, [answer(422, "application/problem+json", JSON.stringify(body))]);
  await assert.rejects(upload(strict, some), (e) => e instanceof APIError && e.context.item === 2 && /^1.png: .*files.size_bytes \(item 2\)/.test(e.message));
});

test("the message of an APIError contains its context", async (t) => {
  const body = { code: "plan_limit_reached", detail: "D.", context: { limit: "storage_bytes", state: "published", problems: ["caption_too_long"] } };
  const { client } = await serving(t, [answer(403, "application/problem+json", JSON.stringify(body))]);
  await assert.rejects(client.createPost(draft), /plan_limit_reached storage_bytes published caption_too_long/);
});

test("an aborted wait is always rejected with a NoResponseError", async (t) => {
  const running = answer(200, "application/json", JSON.stringify({ data: { job_id: "j", state: "running", finished: false }, meta: { request_id: "r" } }));
  for (const between of [true, false]) {
    const abort = new AbortController();
    const stop = (): void => { abort.abort(new Error("enough")); };
    const sleep: NonNullable<Options["sleep"]> = () => (stop(), Promise.reject(new Error("given up")));
    const { client } = await serving(t, [between ? running : stop], { sleep });
    await assert.rejects(wait(client, "j", { signal: abort.signal }), (e) => e instanceof NoResponseError && e.message.includes("enough"));
  }
});

test("wait_seconds is at most half of the timeout of an attempt", async (t) => {
  const job = (finished: boolean): Answering => answer(200, "application/json", JSON.stringify({ data: { job_id: "j", state: "succeeded", finished }, meta: { request_id: "r" } }));
  for (const [attemptTimeout, seconds] of [[60_000, 20], [20_000, 10], [1_500, 0]] as const) {
    const { client, asked, waits } = await serving(t, [job(false), job(false), job(false), job(true)], { attemptTimeout });
    await wait(client, "j");
    for (const a of asked) assert.equal(a.url, `/api/v1/jobs/j?wait_seconds=${seconds}`);
    assert.ok((waits[2] ?? 0) >= 400, `pauses of ${waits.join(", ")}`);
  }
});

test("addresses and keys", () => {
  for (const url of ["http://press.example.com", "http://127.0.0.1.example.com", "ftp://press.example.com", "press.example.com", "https://ada:pw@press.example.com", "https://press.example.com?x=1", ""]) {
    assert.throws(() => new Pressroom({ url, key: "prk_x" }), TypeError, url);
  }
  for (const url of ["https://press.example.com", "http://localhost:8080/", "http://[::1]/api/v1"]) new Pressroom({ url, key: "prk_x" });
  new Pressroom({ url: "http://press.example.com", key: "prk_x", plainHttp: true });
  for (const key of ["", " ", "prk_\nx"]) assert.throws(() => new Pressroom({ url: "https://press.example.com", key }), TypeError);
});
