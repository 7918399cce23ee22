// Drafts, schedules or publishes a post from a GitHub workflow. It calls only the API of pressroom and, in a re-run, GitHub's API.
import { createHash, randomUUID } from "node:crypto";
import { createReadStream, openAsBlob } from "node:fs";
import { appendFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** An error with a text that says what to do. */
class Failure extends Error {}

/** A failure that may pass. The next attempt may begin after a pause in milliseconds. */
class TemporaryFailure extends Failure {
  constructor(message, pause = 0) {
    super(message);
    this.pause = pause;
  }
}

const again = "Then re-run the job: nothing is published twice.";
const attempts = 5;
const longestPause = 60_000; // ms
// Idempotency keys are valid for 24 hours. The rest is a margin for the time that a run takes.
const repeatable = 20 * 60 * 60 * 1000;

/** Returns the value of an input. GitHub keeps the names of inputs in upper case. */
function input(name) {
  return (process.env[`INPUT_${name.toUpperCase()}`] ?? "").trim();
}

function required(name) {
  const value = input(name);
  if (value !== "") return value;
  throw new Failure(`The input ${name} is missing. If it comes from a secret or a variable, check that this workflow can read it.`);
}

/** Reads and checks the inputs before anything is sent. */
function readInputs() {
  const key = required("api_key");
  console.log(`::add-mask::${key}`);
  const accounts = required("account_ids").split(/[\s,]+/).filter(Boolean);
  const wrong = accounts.find((id) => !/^[1-9][0-9]{0,15}$/.test(id));
  if (wrong) throw new Failure(`The input account_ids contains "${wrong}". It must have numbers: pressroom accounts list shows them.`);
  const mode = input("mode") || "draft";
  if (!["draft", "schedule", "publish"].includes(mode)) throw new Failure("The input mode must be draft, schedule or publish.");
  const scheduledAt = input("scheduled_at");
  if (mode === "schedule" && !scheduledAt) throw new Failure("The mode schedule needs the input scheduled_at.");
  if (mode === "publish" && scheduledAt) throw new Failure("The mode publish publishes now. Remove scheduled_at, or use schedule.");
  const minutes = Number(input("wait_minutes") || "10");
  if (!(minutes >= 0 && minutes <= 360)) throw new Failure("The input wait_minutes must be a number from 0 to 360.");
  const media = input("media").split("\n").map((path) => path.trim()).filter(Boolean);
  const caption = input("caption");
  if (caption === "" && media.length === 0) throw new Failure("The inputs caption and media are both empty. Set at least one of them.");
  return { base: baseURL(required("api_url")), key, accounts: accounts.map(Number), mode, scheduledAt, minutes, media, caption };
}

/** Returns the URL of the API. An API key is not sent over an unencrypted connection to another host. */
function baseURL(text) {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const local = url && ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  if (!url || !(url.protocol === "https:" || (url.protocol === "http:" && local))) {
    throw new Failure("The input api_url must be an address with https, such as https://pressroom.example.");
  }
  return url.origin + url.pathname.replace(/\/+$/, "").replace(/(\/api\/v1)?$/, "/api/v1");
}

/**
 * Returns the idempotency key of this step. It is the same in every attempt of a run, so a re-run continues with the post of the first
 * attempt instead of creating another one.
 */
function idempotencyKey() {
  const given = input("idempotency_key");
  if (given.length > 100) throw new Failure("The input idempotency_key has more than 100 characters.");
  if (given) return given;
  const run = process.env.GITHUB_RUN_ID;
  if (!run) return `action-${randomUUID()}`;
  const step = ["GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_JOB", "GITHUB_ACTION"].map((name) => process.env[name] ?? "");
  const hash = createHash("sha256").update(JSON.stringify([...step, input("job_index")])).digest("hex");
  return `github-${run}-${hash.slice(0, 32)}`;
}

/** Rejects a re-run of an old run, because pressroom no longer knows the keys of its first attempt. */
async function checkRerun() {
  if (!(Number(process.env.GITHUB_RUN_ATTEMPT) > 1)) return;
  const startNew = "Nothing was sent. Look in pressroom whether the post exists. If it does not, start a new run instead of a re-run.";
  let began;
  try {
    const { GITHUB_API_URL: api, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run } = process.env;
    const response = await fetch(`${api}/repos/${repository}/actions/runs/${run}`, {
      headers: { Accept: "application/vnd.github+json", Authorization: `Bearer ${input("github_token")}` },
      signal: AbortSignal.timeout(30_000),
    });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    began = Date.parse((await response.json()).created_at);
  } catch (error) {
    const unknown = `This is a re-run, and GitHub did not say when the run began (${error.message}).`;
    throw new Failure(`${unknown} Give the job "permissions: actions: read". ${startNew}`);
  }
  if (!(Date.now() - began < repeatable)) throw new Failure(`This is a re-run of a run that began more than 20 hours ago. ${startNew}`);
}

/** Runs an action, and repeats it after temporary failures. */
async function retry(action) {
  for (let n = 1; ; n++) {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof TemporaryFailure)) throw error;
      if (n === attempts || error.pause > longestPause) throw new Failure(error.message);
      await sleep(Math.max(500 * 2 ** n, error.pause));
    }
  }
}

/** Sends a request once, and returns the content of the response. */
async function send(what, url, options, timeout) {
  let response, text;
  try {
    response = await fetch(url, { ...options, redirect: "manual", signal: AbortSignal.timeout(timeout) });
    text = await response.text();
  } catch (error) {
    const reason = error.cause?.code ?? error.cause?.message ?? error.message;
    throw new TemporaryFailure(`pressroom did not respond to ${what} (${reason}). Check api_url. ${again}`);
  }
  const answer = parse(text);
  if (response.ok && answer?.data) return { ...answer, replayed: response.headers.has("Idempotent-Replayed") };
  const message = explain(response, answer, what);
  if (response.status !== 429 && response.status < 500) throw new Failure(message);
  throw new TemporaryFailure(message, Number(response.headers.get("Retry-After")) * 1000 || 0); // 0 for a date
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // from a proxy
  }
}

/** Calls an operation. All attempts have the same idempotency key. */
function call(request, method, path, body, step) {
  const headers = { Accept: "application/json", Authorization: `Bearer ${request.key}` };
  if (step) Object.assign(headers, { "Content-Type": "application/json", "Idempotency-Key": `${request.idempotencyKey}-${step}` });
  return retry(() => send(`${method} ${path}`, request.base + path, { method, headers, body: body && JSON.stringify(body) }, 60_000));
}

const advice = {
  unauthorized: "Check the secret with the API key. It may be wrong, revoked or expired.",
  write_not_allowed: "The API key must have the level drafts or full.",
  publish_not_allowed: "The API key must have the level full. With the level drafts, use the mode draft.",
  not_found: "Check account_ids: the accounts must belong to the team of the API key.",
  idempotency_key_reused: "The inputs differ from those of the first attempt. Start a new run, or use another idempotency_key.",
  preflight_blocked: "The draft is kept. Correct it in pressroom, or correct the inputs and start a new run.",
  awaiting_client_approval: "The draft is kept. It can be sent after the client has approved it.",
};

/** Returns the text for an error response. */
function explain(response, problem, what) {
  if (!problem?.code) return `${what}: HTTP ${response.status} without a response of pressroom. Check api_url.`;
  const { reason, argument, problems = [] } = problem.context ?? {};
  const where = [problem.code, reason, argument, ...problems].filter(Boolean).join(", ");
  const request = `Request ID: ${response.headers.get("X-Request-Id") ?? "none"}.`;
  return [`${what}: ${problem.detail ?? problem.title}`, `(${where})`, advice[problem.code], request].filter(Boolean).join(" ");
}

async function describe(path) {
  try {
    const hash = createHash("sha256");
    for await (const part of createReadStream(path)) hash.update(part);
    return { sha256: hash.digest("hex"), size_bytes: (await stat(path)).size, file_name: basename(path) };
  } catch (error) {
    const hint = "Paths are relative to the workspace; run actions/checkout before.";
    throw new Failure(`The file "${path}" of the input media cannot be read (${error.code}). ${hint}`);
  }
}

/** Uploads the files that the library does not have, and returns the IDs of all. */
async function upload(request) {
  if (request.media.length === 0) return [];
  const files = await Promise.all(request.media.map(describe));
  // Links expire, so each attempt of each run has its own. The library recognizes the files that have arrived.
  const { GITHUB_RUN_ID: run = "local", GITHUB_RUN_ATTEMPT: attempt = 1 } = process.env;
  return retry(async () => {
    const { data } = await call(request, "POST", "/uploads", { files }, `upload-${run}-${attempt}`); // a repeat renews the links
    const ids = [];
    for (const [i, link] of data.upload.uploads.entries()) ids.push(link.media_id ?? (await put(request.media[i], link)));
    return ids;
  });
}

/** Sends a file, in a minute and a second for each megabyte. */
async function put(path, link) {
  if (!link.url) throw new Failure(`The file "${path}" is not accepted any more (${link.state}). Start a new run.`);
  const body = await openAsBlob(path);
  const request = { method: "PUT", headers: link.headers, body };
  const { data } = await send(`the upload of "${path}"`, link.url, request, 60_000 + Math.ceil(body.size / 1000));
  return data.media_id;
}

/** Submits the post as the mode says, and returns it. */
async function submit(request, id) {
  const { mode, scheduledAt } = request;
  if (mode === "schedule") await call(request, "POST", `/posts/${id}/schedule`, { scheduled_at: scheduledAt }, "schedule");
  if (mode === "draft" && scheduledAt) await call(request, "PATCH", `/posts/${id}`, { scheduled_at: scheduledAt }, "plan");
  if (mode === "publish") {
    let { data: job } = await call(request, "POST", `/posts/${id}/publish`, {}, "publish");
    const end = Date.now() + request.minutes * 60_000;
    for (let pause = 500; !job.finished && Date.now() < end; pause = Math.min(2 * pause, 5000)) {
      await sleep(pause);
      ({ data: job } = await call(request, "GET", `/jobs/${encodeURIComponent(job.job_id)}`));
    }
  }
  return call(request, "GET", `/posts/${id}`);
}

async function setOutputs(values) {
  const lines = Object.entries(values).map(([name, value]) => {
    const end = randomUUID();
    return `${name}<<${end}\n${value}\n${end}\n`;
  });
  if (process.env.GITHUB_OUTPUT) await appendFile(process.env.GITHUB_OUTPUT, lines.join(""));
}

/** Writes a command of the workflow, which marks the message in the log. */
function annotate(kind, message) {
  console.log(`::${kind}::${message.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A")}`);
}

/** Fails if an account has no post. */
function checkAccounts({ data: post, meta, untrusted_content: quotes }, mode) {
  if (mode !== "publish") return;
  for (const account of post.accounts.filter((a) => a.state === "failed" || a.state === "unconfirmed")) {
    const message = quotes?.find((quote) => quote.id === account.network_message?.untrusted)?.text;
    const why = [account.explanation, message, account.error_code && `(${account.error_code})`].filter(Boolean).join(" ");
    annotate("error", `${account.platform} @${account.username}: ${why}`);
  }
  if (post.status === "failed" || post.status === "partially_published") {
    const status = post.status.replace("_", " ");
    throw new Failure(`The post is ${status}. A re-run does not send it again: correct and retry it at ${meta.app_url}`);
  }
  if (post.status === "processing") annotate("warning", `The networks have not answered yet. pressroom continues: ${meta.app_url}`);
}

async function main() {
  const request = readInputs();
  request.idempotencyKey = idempotencyKey();
  await checkRerun();
  const media = await upload(request);
  const draft = { caption: request.caption, account_ids: request.accounts, ...(media.length > 0 && { media_ids: media }) };
  const created = await call(request, "POST", "/posts", draft, "draft");
  const id = created.data.id;
  await setOutputs({ post_id: id, status: created.data.status, url: created.meta.app_url });
  const result = await submit(request, id);
  const { data: post, meta } = result;
  const permalinks = post.accounts.map((a) => a.permalink).filter(Boolean);
  await setOutputs({ post_id: id, status: post.status, url: meta.app_url, permalinks: permalinks.join("\n") });
  console.log(`${created.replayed ? "Continued with" : "Created"} post ${id}: ${post.status.replace("_", " ")}. ${meta.app_url}`);
  permalinks.forEach((link) => console.log(link));
  checkAccounts(result, request.mode);
}

try {
  await main();
} catch (error) {
  annotate("error", error instanceof Failure ? error.message : `Unexpected error, please report it: ${error.stack}`);
  process.exitCode = 1;
}
