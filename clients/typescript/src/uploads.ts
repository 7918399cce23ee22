import { CallError, APIError } from "./errors.js";
import type { Pressroom, UploadLink } from "./generated.js";
import { FailedAttempt, withRetries } from "./retry.js";
import { newKey, readErrorResponse, type CallOptions } from "./runtime.js";

const maxBatchFiles = 50; // maximum number of files in one call to create_uploads

/** A file to upload. */
export interface Source {
  /** The name of the file in the library. */
  name: string;
  content: Blob;
  /** In lowercase hexadecimal digits. If it is omitted, upload reads the whole file into memory to compute it. */
  sha256?: string;
}

export interface UploadOptions extends CallOptions {
  /** The folder of the library. By default, the files are in no folder. */
  folderId?: number;
  /** The number of concurrent uploads. The default is 4, also for 0. */
  parallel?: number;
}

/** The result of uploading one file: its ID in the library, or the error. */
export type Uploaded = { name: string; mediaId: number; error?: never } | { name: string; mediaId?: never; error: Error };

/**
 * Adds files to the media library. It opens one-time links, sends the bytes and retries. It skips files that the library already has. The results
 * are in the order of the files. If a single file fails, for example because it is empty, the other files are still sent. Files are sent in
 * batches of 50. If a whole batch fails, its files and all later files have the error as their result. If the first batch fails, the promise is
 * rejected.
 */
export async function upload(client: Pressroom, files: readonly Source[], options: UploadOptions = {}): Promise<Uploaded[]> {
  const key = options.idempotencyKey ?? newKey();
  const results: Uploaded[] = [];
  for (let from = 0; from < files.length; from += maxBatchFiles) {
    const batch = files.slice(from, from + maxBatchFiles);
    const batchKey = from === 0 ? key : `${key}-${from / maxBatchFiles + 1}`;
    try {
      results.push(...(await uploadNonEmpty(client, batch, from, { ...options, idempotencyKey: batchKey })));
    } catch (thrown) {
      const error = withUploadKey(thrown, batchKey, key);
      if (from === 0) throw error;
      return [...results, ...files.slice(from).map(({ name }) => ({ name, error }))];
    }
  }
  return results;
}

/**
 * Returns the error of a batch with the idempotency key of the whole upload instead of the batch's key. The keys of batches are derived from it, and
 * the caller needs it to repeat the upload.
 */
function withUploadKey(thrown: unknown, batchKey: string, key: string): Error {
  if (thrown instanceof CallError && thrown.idempotencyKey === batchKey) return Object.assign(thrown, { idempotencyKey: key });
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** Uploads the files of a batch that are not empty. The library rejects a whole batch if one of its files is empty. */
async function uploadNonEmpty(client: Pressroom, files: readonly Source[], before: number, options: UploadOptions & { idempotencyKey: string }): Promise<Uploaded[]> {
  const nonEmpty = files.filter((file) => file.content.size > 0);
  let sent: Uploaded[] = [];
  try {
    if (nonEmpty.length > 0) sent = await uploadBatch(client, nonEmpty, options);
  } catch (error) {
    const invalid = error instanceof APIError ? nonEmpty[error.context.item ?? nonEmpty.length] : undefined;
    if (error instanceof APIError && invalid) {
      const item = before + files.indexOf(invalid); // index among the caller's files
      error.message = `${invalid.name}: ${error.message.replace(`(item ${error.context.item})`, `(item ${item})`)}`;
      error.context.item = item;
    }
    throw error;
  }
  return files.map((file) => sent[nonEmpty.indexOf(file)] ?? { name: file.name, error: new Error(`${file.name}: the file is empty`) });
}

async function uploadBatch(client: Pressroom, files: readonly Source[], options: UploadOptions & { idempotencyKey: string }): Promise<Uploaded[]> {
  const descriptions = [];
  for (const f of files) descriptions.push({ sha256: f.sha256 ?? (await digest(f.content)), size_bytes: f.content.size, file_name: f.name });
  const call: CallOptions = { idempotencyKey: options.idempotencyKey, ...(options.signal ? { signal: options.signal } : {}) };
  const batch = await client.createUploads({ files: descriptions, ...(options.folderId === undefined ? {} : { folder_id: options.folderId }) }, call);
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
  const parallel = options.parallel !== undefined && options.parallel >= 1 ? options.parallel : 4; // without workers, nothing would be sent
  await Promise.all(Array.from({ length: parallel }, worker));
  return results;
}

async function uploadOne(client: Pressroom, file: Source, link: UploadLink, index: number, job: string, signal: AbortSignal | undefined): Promise<Uploaded> {
  const { name } = file;
  if (link.media_id !== undefined) return { name, mediaId: link.media_id };
  if (link.url === undefined) return { name, error: new Error(`${name} is ${link.state} and has no open link: upload it with another Idempotency-Key`) };
  try {
    const url = client.checkUrl(link.url);
    return { name, mediaId: await withRetries(client.policy, `upload ${name}`, undefined, signal, () => put(client, file, url, link, signal)) };
  } catch (error) {
    if (error instanceof APIError && error.code === "upload_link_used") return resultFromJob(client, name, index, job, signal);
    return { name, error: error instanceof Error ? error : new Error(String(error)) };
  }
}

async function put(client: Pressroom, file: Source, url: string, link: UploadLink, signal: AbortSignal | undefined): Promise<number> {
  const headers = { ...link.headers, "Content-Type": "application/octet-stream" }; // the service detects the type
  const body = file.content.type ? file.content.slice(0, file.content.size, "") : file.content;
  const response = await client.fetch(url, { method: "PUT", headers, body, ...(signal ? { signal } : {}) });
  if (response.status !== 201) throw new FailedAttempt(await readErrorResponse(response));
  const answer = (await response.json()) as { data?: { media_id?: number } };
  if (!answer.data?.media_id) throw new Error("the response has no media_id");
  return answer.data.media_id;
}

/** Reads the result of a file from the job. It is used if the link has already received the file, but the response was lost. */
async function resultFromJob(client: Pressroom, name: string, index: number, job: string, signal: AbortSignal | undefined): Promise<Uploaded> {
  try {
    const answer = await client.getJob({ job_id: job }, signal ? { signal } : {});
    const result = answer.data.type === "media_import" ? answer.data.result : undefined;
    const file = result && "files" in result ? result.files[index] : undefined;
    if (file?.state === "stored" && file.media_id) return { name, mediaId: file.media_id };
    return { name, error: new Error(`${name} is ${file?.state ?? "unknown"}: ${file?.reason ?? ""}`) };
  } catch (error) {
    if (error instanceof CallError) return { name, error };
    throw error;
  }
}

/** Computes the SHA-256 in memory, because browsers cannot compute it in pieces. In Node.js, `fileAt` reads a file in small pieces. */
async function digest(content: Blob): Promise<string> {
  const sum = await crypto.subtle.digest("SHA-256", await content.arrayBuffer());
  return Array.from(new Uint8Array(sum), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
