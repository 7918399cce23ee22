/** A client for pressroom's API. */
export * from "./generated.js";
export { CallError, JobFailedError, APIError, NoResponseError, type Context } from "./errors.js";
export { text, type Answer, type CallOptions, type Options } from "./runtime.js";
export { upload, type Source, type Uploaded, type UploadOptions } from "./uploads.js";
export { wait, type WaitOptions } from "./jobs.js";
