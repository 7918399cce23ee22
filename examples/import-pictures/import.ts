// Uploads the images and videos of a folder to the library, and drafts a post for each file that has a caption. The
// caption of harbour.jpg is the text of harbour.txt. The program records its work in imported.json in the same folder, so
// that another run imports only new files. If a run is interrupted after it created a draft, the idempotency key lets the
// next run find the same draft.
//
//   PRESSROOM_URL=https://press.example.com PRESSROOM_KEY=prk_… node dist/import.js FOLDER ACCOUNT_ID…
import { createHash } from "node:crypto";
import { readdir, readFile, rename, writeFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { Pressroom, APIError, upload, type Source, type Uploaded } from "pressroom-client";
import { fileAt } from "pressroom-client/node";

const kinds = new Set([".jpg", ".jpeg", ".png", ".webp", ".gif", ".mp4", ".mov"]);

/** The imported files by their name and hash. */
type Imported = Record<string, { media_id: number; post_id?: string }>;

async function main([folder, ...accounts]: string[]): Promise<number> {
  const account_ids = accounts.map(Number);
  const { PRESSROOM_URL: url, PRESSROOM_KEY: key } = process.env;
  if (folder === undefined || account_ids.length === 0 || !accounts.every((id) => /^[1-9]\d{0,14}$/.test(id)) || !url || !key) {
    console.error("usage: PRESSROOM_URL=… PRESSROOM_KEY=… node dist/import.js FOLDER ACCOUNT_ID…");
    return 2;
  }
  const client = new Pressroom({ url, key });
  const imported = await readImported(folder);
  const sources = await newSources(folder, imported);
  const files = await upload(client, sources, { parallel: 4 });
  let failed = 0;
  for (const [i, source] of sources.entries()) {
    try {
      await createDraft(client, folder, source, files[i], account_ids, imported);
    } catch (error) {
      failed++;
      console.error(`${source.name}: ${error instanceof APIError ? `${error.code} ${error.context.reason ?? ""}` : String(error)}`);
    }
  }
  console.log(`${sources.length - failed} imported, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

/** Returns the files that no previous run has imported. */
async function newSources(folder: string, imported: Imported): Promise<Source[]> {
  const sources: Source[] = [];
  for (const name of (await readdir(folder)).sort()) {
    if (!kinds.has(extname(name).toLowerCase())) continue;
    const source = await fileAt(join(folder, name));
    if (!imported[recordKey(source)]) sources.push(source);
  }
  return sources;
}

/** Creates a draft if the file has a caption, and records the file as imported. */
async function createDraft(client: Pressroom, folder: string, source: Source, file: Uploaded | undefined, account_ids: number[], imported: Imported): Promise<void> {
  if (file?.mediaId === undefined) throw file?.error ?? new Error("the file was not uploaded");
  const caption = await readCaption(folder, source.name);
  const record: Imported[string] = { media_id: file.mediaId };
  if (caption !== undefined) {
    const key = createHash("sha256").update(JSON.stringify([source.sha256, caption, account_ids])).digest("hex");
    const post = await client.createPost({ caption, account_ids, media_ids: [file.mediaId] }, { idempotencyKey: `import-${key}` });
    record.post_id = post.data.id;
  }
  imported[recordKey(source)] = record;
  await writeImported(folder, imported);
  console.log(`${source.name}: media ${record.media_id}${record.post_id ? `, post ${record.post_id}` : ""}`);
}

function recordKey(source: Source): string {
  return `${source.name} ${source.sha256 ?? ""}`;
}

async function readCaption(folder: string, name: string): Promise<string | undefined> {
  try {
    return (await readFile(join(folder, name.slice(0, -extname(name).length) + ".txt"), "utf8")).trim();
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return undefined;
    throw error;
  }
}

async function readImported(folder: string): Promise<Imported> {
  try {
    return JSON.parse(await readFile(join(folder, "imported.json"), "utf8")) as Imported;
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return {};
    throw error;
  }
}

/** Writes a new file and renames it, so that an interrupted run does not leave an incomplete file. */
async function writeImported(folder: string, imported: Imported): Promise<void> {
  const file = join(folder, "imported.json");
  await writeFile(`${file}.new`, JSON.stringify(imported, undefined, 2));
  await rename(`${file}.new`, file);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
