/** Functions for files on disk, which need Node.js. */
import { createHash } from "node:crypto";
import { createReadStream, openAsBlob } from "node:fs";
import { basename } from "node:path";
import type { Source } from "./uploads.js";

/** A file on disk to upload. It is read twice in small pieces, once to compute the SHA-256 and once to send it. It is never kept in memory. */
export async function fileAt(path: string): Promise<Source> {
  const sum = createHash("sha256");
  for await (const piece of createReadStream(path)) sum.update(piece as Buffer);
  return { name: basename(path), content: await openAsBlob(path), sha256: sum.digest("hex") };
}
