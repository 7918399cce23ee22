// Tests of the client with the program at PRESSROOM_URL, which has sandbox networks.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { deflateSync, crc32 } from "node:zlib";
import { JobFailedError, Pressroom, APIError, text, upload, wait } from "../src/index.js";
import { fileAt } from "../src/node.js";

const url = process.env["PRESSROOM_URL"] ?? "";
const key = process.env["PRESSROOM_KEY"] ?? "";
const options = { skip: url === "" ? "PRESSROOM_URL is not set" : false };

/** Sends every request, but loses the first response of each URL. */
function lossy(): typeof fetch {
  const lost = new Set<string>();
  return async (input, init) => {
    const response = await fetch(input, init);
    const at = `${init?.method ?? "GET"} ${new URL(input as string).pathname}`;
    if (lost.has(at)) return response;
    lost.add(at);
    await response.arrayBuffer();
    throw new TypeError(`the response to ${at} was lost`);
  };
}

/** A PNG of one color. */
function picture(seed: number, side = 8): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const framed = Buffer.alloc(body.length + 8);
    framed.writeUInt32BE(data.length, 0);
    body.copy(framed, 4);
    framed.writeUInt32BE(crc32(body) >>> 0, body.length + 4);
    return framed;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(side, 0);
  head.writeUInt32BE(side, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(side * 3, seed)]);
  const pixels = deflateSync(Buffer.concat(Array.from({ length: side }, () => row)));
  return Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]), chunk("IHDR", head), chunk("IDAT", pixels), chunk("IEND", Buffer.alloc(0))]);
}

test("writes take effect once although the first response to each URL is lost", options, async () => {
  const client = new Pressroom({ url, key, fetch: lossy() });
  const plain = new Pressroom({ url, key });
  const directory = await mkdtemp(join(tmpdir(), "pressroom-"));
  const path = join(directory, "disk.png");
  await writeFile(path, picture(1));
  const content = new Blob([new Uint8Array(picture(2))], { type: "image/png" });
  const files = await upload(client, [await fileAt(path), { name: "memory.png", content }]);
  for (const file of files) assert.ok(file.mediaId, file.error?.message);

  const media_ids = files.map((f) => f.mediaId ?? 0);
  const post = await client.createPost({ caption: "typed-once", account_ids: [1], media_ids });
  assert.equal(post.http.replayed, true);
  const published = await client.publishPost({ post_id: post.data.id });
  assert.equal((await wait(client, published.data.job_id)).data.state, "succeeded");
  let seen = 0;
  for await (const p of plain.listPostsAll({ limit: 2 })) if (p.excerpt === "typed-once") seen++;
  assert.equal(seen, 1);

  const before = (await plain.getCredits()).data.balance ?? 0;
  const report = await client.createReport({ type: "profile", subject: "typed.answers" });
  assert.equal(report.http.replayed, true);
  const made = (await wait(client, report.data.job_id)).data.result as { credits_charged: number };
  assert.equal(before - ((await plain.getCredits()).data.balance ?? 0), made.credits_charged);
});

test("errors contain the reason", options, async () => {
  const client = new Pressroom({ url, key });
  await assert.rejects(client.createPost({ caption: "to nobody", account_ids: [] }), (e) => {
    return e instanceof APIError && e.status === 422 && e.code === "validation_failed" && e.context.argument === "account_ids" && e.requestId !== undefined;
  });
  const post = await client.createPost({ caption: "no [sandbox:reject@bluesky]", account_ids: [1] });
  const published = await client.publishPost({ post_id: post.data.id });
  await assert.rejects(wait(client, published.data.job_id), (e) => e instanceof JobFailedError && e.job.error?.code === "rejected_content");
  const failed = await client.getPost({ id: post.data.id });
  assert.ok(text(failed, failed.data.accounts[0]?.network_message));
  const [file] = await upload(client, [{ name: "notes.txt", content: new Blob(["no picture"]) }]);
  assert.ok(file?.error instanceof APIError && file.error.context.reason === "type_refused");
});
