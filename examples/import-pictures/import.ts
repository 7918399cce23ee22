// Puts the pictures and videos of a folder into the library, and drafts a post for each that has a caption: harbour.jpg is
// shown under what harbour.txt says. What was done is noted in imported.json, in the same folder: a second run does what is
// new. Where a run was cut off between the draft and the note, the next one gets the same draft again by its key.
//
//   PRESSROOM_URL=https://press.example.com PRESSROOM_KEY=prk_… node dist/import.js FOLDER ACCOUNT_ID…
import { createHash } from "node:crypto";
import { readdir, readFile, rename, writeFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { Pressroom, Refused, upload, type Source, type Uploaded } from "pressroom-client";
import { fileAt } from "pressroom-client/node";

const kinds = new Set([".jpg", ".jpeg", ".png", ".webp", ".gif", ".mp4", ".mov"]);

/** What was done, by the file's name and hash. */
type Notes = Record<string, { media_id: number; post_id?: string }>;

async function main([folder, ...accounts]: string[]): Promise<number> {
  const account_ids = accounts.map(Number);
  const { PRESSROOM_URL: url, PRESSROOM_KEY: key } = process.env;
  if (folder === undefined || account_ids.length === 0 || !accounts.every((id) => /^[1-9]\d{0,14}$/.test(id)) || !url || !key) {
    console.error("usage: PRESSROOM_URL=… PRESSROOM_KEY=… node dist/import.js FOLDER ACCOUNT_ID…");
    return 2;
  }
  const client = new Pressroom({ url, key });
  const notes = await remembered(folder);
  const sources = await fresh(folder, notes);
  const files = await upload(client, sources, { parallel: 4 });
  let failed = 0;
  for (const [i, source] of sources.entries()) {
    try {
      await draft(client, folder, source, files[i], account_ids, notes);
    } catch (error) {
      failed++;
      console.error(`${source.name}: ${error instanceof Refused ? `${error.code} ${error.context.reason ?? ""}` : String(error)}`);
    }
  }
  console.log(`${sources.length - failed} new, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

/** The files that no earlier run has done. */
async function fresh(folder: string, notes: Notes): Promise<Source[]> {
  const found: Source[] = [];
  for (const name of (await readdir(folder)).sort()) {
    if (!kinds.has(extname(name).toLowerCase())) continue;
    const source = await fileAt(join(folder, name));
    if (!notes[noteOf(source)]) found.push(source);
  }
  return found;
}

async function draft(client: Pressroom, folder: string, source: Source, file: Uploaded | undefined, account_ids: number[], notes: Notes): Promise<void> {
  if (file?.mediaId === undefined) throw file?.error ?? new Error("it was not uploaded");
  const caption = await captionOf(folder, source.name);
  const note: Notes[string] = { media_id: file.mediaId };
  if (caption !== undefined) {
    const key = createHash("sha256").update(JSON.stringify([source.sha256, caption, account_ids])).digest("hex");
    const post = await client.createPost({ caption, account_ids, media_ids: [file.mediaId] }, { idempotencyKey: `import-${key}` });
    note.post_id = post.data.id;
  }
  notes[noteOf(source)] = note;
  await remember(folder, notes);
  console.log(`${source.name}: media ${note.media_id}${note.post_id ? `, post ${note.post_id}` : ""}`);
}

function noteOf(source: Source): string {
  return `${source.name} ${source.sha256 ?? ""}`;
}

async function captionOf(folder: string, name: string): Promise<string | undefined> {
  try {
    return (await readFile(join(folder, name.slice(0, -extname(name).length) + ".txt"), "utf8")).trim();
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return undefined;
    throw error;
  }
}

async function remembered(folder: string): Promise<Notes> {
  try {
    return JSON.parse(await readFile(join(folder, "imported.json"), "utf8")) as Notes;
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return {};
    throw error;
  }
}

/** Writes beside and moves into place, so that a run that is cut off leaves the notes whole. */
async function remember(folder: string, notes: Notes): Promise<void> {
  const file = join(folder, "imported.json");
  await writeFile(`${file}.new`, JSON.stringify(notes, undefined, 2));
  await rename(`${file}.new`, file);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
