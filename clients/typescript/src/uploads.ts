import { CallFailed, Refused } from "./errors.js";
import type { Pressroom, UploadLink } from "./generated.js";
import { Answered, repeat } from "./retry.js";
import { newKey, refusal, type CallOptions } from "./runtime.js";

const batchFiles = 50; // as many as one call of create_uploads takes

/** A file to upload: its bytes, and its name as the library is to show it. The SHA-256, in small hexadecimal digits, is worked out where omitted, in memory. */
export interface Source {
  name: string;
  content: Blob;
  sha256?: string;
}

export interface UploadOptions extends CallOptions {
  /** The folder of the library, none where omitted. */
  folderId?: number;
  /** Files at a time; 4 where omitted or 0. */
  parallel?: number;
}

/** What became of a file: its id in the library, or why it has none. */
export type Uploaded = { name: string; mediaId: number; error?: never } | { name: string; mediaId?: never; error: Error };

/**
 * Puts files into the media library: opens one-time links, sends the bytes, and repeats what was cut off. A file that the library has already
 * is not sent. There is a result for each file, in their order; what fails alone, as an empty file does, does not keep the others from
 * being sent. What fails for a whole batch of 50 stands with its files and those behind them, and rejects where nothing was sent before.
 */
export async function upload(client: Pressroom, files: readonly Source[], options: UploadOptions = {}): Promise<Uploaded[]> {
  const key = options.idempotencyKey ?? newKey();
  const results: Uploaded[] = [];
  for (let from = 0; from < files.length; from += batchFiles) {
    const batch = files.slice(from, from + batchFiles);
    const batchKey = from === 0 ? key : `${key}-${from / batchFiles + 1}`;
    try {
      results.push(...(await uploadFit(client, batch, from, { ...options, idempotencyKey: batchKey })));
    } catch (thrown) {
      const error = ofUpload(thrown, batchKey, key);
      if (from === 0) throw error;
      return [...results, ...files.slice(from).map(({ name }) => ({ name, error }))];
    }
  }
  return results;
}

/** What failed, with the key of the whole upload, which is what a repeat has to carry: each batch makes its own of it. */
function ofUpload(thrown: unknown, batchKey: string, key: string): Error {
  if (thrown instanceof CallFailed && thrown.idempotencyKey === batchKey) return Object.assign(thrown, { idempotencyKey: key });
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** uploadBatch of the files that have bytes: of an empty one the library takes nothing, and it would refuse them all. */
async function uploadFit(client: Pressroom, files: readonly Source[], before: number, options: UploadOptions & { idempotencyKey: string }): Promise<Uploaded[]> {
  const fit = files.filter((file) => file.content.size > 0);
  let sent: Uploaded[] = [];
  try {
    if (fit.length > 0) sent = await uploadBatch(client, fit, options);
  } catch (error) {
    const blamed = error instanceof Refused ? fit[error.context.item ?? fit.length] : undefined;
    if (error instanceof Refused && blamed) { // it is counted among all files, as the caller knows them
      const item = before + files.indexOf(blamed);
      error.message = `${blamed.name}: ${error.message.replace(`(item ${error.context.item})`, `(item ${item})`)}`;
      error.context.item = item;
    }
    throw error;
  }
  return files.map((file) => sent[fit.indexOf(file)] ?? { name: file.name, error: new Error(`${file.name}: the file is empty`) });
}

async function uploadBatch(client: Pressroom, files: readonly Source[], options: UploadOptions & { idempotencyKey: string }): Promise<Uploaded[]> {
  const described = [];
  for (const f of files) described.push({ sha256: f.sha256 ?? (await digest(f.content)), size_bytes: f.content.size, file_name: f.name });
  const call: CallOptions = { idempotencyKey: options.idempotencyKey, ...(options.signal ? { signal: options.signal } : {}) };
  const batch = await client.createUploads({ files: described, ...(options.folderId === undefined ? {} : { folder_id: options.folderId }) }, call);
  const links = batch.data.upload.uploads;
  if (links.length !== files.length) throw new Error(`the service opened ${links.length} links for ${files.length} files`);
  const results: Uploaded[] = new Array<Uploaded>(files.length);
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < files.length; i = next++) {
      const file = files[i];
      const link = links[i];
      if (file && link) results[i] = await uploadOne(client, file, link, i, batch.data.job_id, options.signal);
    }
  };
  const parallel = options.parallel !== undefined && options.parallel >= 1 ? options.parallel : 4; // of no worker nothing would be sent
  await Promise.all(Array.from({ length: parallel }, worker));
  return results;
}

async function uploadOne(client: Pressroom, file: Source, link: UploadLink, index: number, job: string, signal: AbortSignal | undefined): Promise<Uploaded> {
  const { name } = file;
  if (link.media_id !== undefined) return { name, mediaId: link.media_id };
  if (link.url === undefined) return { name, error: new Error(`${name} is ${link.state} and has no open link: upload it with another Idempotency-Key`) };
  try {
    const url = client.safe(link.url);
    return { name, mediaId: await repeat(client.policy, `upload ${name}`, undefined, signal, () => put(client, file, url, link, signal)) };
  } catch (error) {
    if (error instanceof Refused && error.code === "upload_link_used") return settled(client, name, index, job, signal);
    return { name, error: error instanceof Error ? error : new Error(String(error)) };
  }
}

async function put(client: Pressroom, file: Source, url: string, link: UploadLink, signal: AbortSignal | undefined): Promise<number> {
  const headers = { ...link.headers, "Content-Type": "application/octet-stream" }; // what it is follows from the bytes
  const body = file.content.type ? file.content.slice(0, file.content.size, "") : file.content;
  const response = await client.fetch(url, { method: "PUT", headers, body, ...(signal ? { signal } : {}) });
  if (response.status !== 201) throw new Answered(await refusal(response));
  const answer = (await response.json()) as { data?: { media_id?: number } };
  if (!answer.data?.media_id) throw new Error("the response has no media_id");
  return answer.data.media_id;
}

/** Asks the job about a file whose link was used by an attempt of which the answer was lost. */
async function settled(client: Pressroom, name: string, index: number, job: string, signal: AbortSignal | undefined): Promise<Uploaded> {
  try {
    const answer = await client.getJob({ job_id: job }, signal ? { signal } : {});
    const result = answer.data.type === "media_import" ? answer.data.result : undefined;
    const file = result && "files" in result ? result.files[index] : undefined;
    if (file?.state === "stored" && file.media_id) return { name, mediaId: file.media_id };
    return { name, error: new Error(`${name} is ${file?.state ?? "unknown"}: ${file?.reason ?? ""}`) };
  } catch (error) {
    if (error instanceof CallFailed) return { name, error };
    throw error;
  }
}

/** In memory: browsers have no other way. In Node.js, `fileAt` reads a file in small pieces. */
async function digest(content: Blob): Promise<string> {
  const sum = await crypto.subtle.digest("SHA-256", await content.arrayBuffer());
  return Array.from(new Uint8Array(sum), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
