import type { Code, Job } from "./generated.js";

/** Details of an error response. Which members it has depends on the code. It never contains argument values. */
export interface Context {
  argument?: string;
  /** The index of the invalid item, if the argument is a list. The first item is 0. */
  item?: number;
  reason?: string;
  scope?: string;
  limit?: string;
  paused?: string;
  state?: string;
  problems?: string[];
  retry_after_seconds?: number;
  [other: string]: unknown;
}

/** A call that failed. */
export abstract class CallError extends Error {
  constructor(
    message: string,
    readonly operation: string,
    /** The idempotency key of the call. If you repeat the call with this key and the same arguments, a write takes effect only once. */
    readonly idempotencyKey: string | undefined,
    readonly attempts: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The content of an error response. */
export interface ErrorResponse {
  status: number;
  /** Empty if the response is not a problem document. */
  code: Code | "";
  title: string;
  detail: string;
  context: Context;
  requestId: string | undefined;
  /** Milliseconds to wait before a retry; 0 if the response does not say. */
  retryAfter: number;
}

/** A call that got an error response. Programs should check code, or status if they do not know the code. The texts are for people. */
export class APIError extends CallError implements ErrorResponse {
  readonly status: number;
  readonly code: Code | "";
  readonly title: string;
  readonly detail: string;
  readonly context: Context;
  readonly requestId: string | undefined;
  readonly retryAfter: number;

  constructor(operation: string, key: string | undefined, attempts: number, r: ErrorResponse) {
    const { argument, item, reason, scope, limit, state, problems } = r.context;
    const place = item === undefined ? argument : `${argument ?? ""} (item ${item})`;
    const about = [r.code, place, reason, scope, limit, state, ...(problems ?? [])].filter(Boolean).join(" ");
    super(`${operation}: ${r.status} ${about}: ${r.detail}${r.requestId ? ` [request ${r.requestId}]` : ""}`, operation, key, attempts);
    this.status = r.status;
    this.code = r.code;
    this.title = r.title;
    this.detail = r.detail;
    this.context = r.context;
    this.requestId = r.requestId;
    this.retryAfter = r.retryAfter;
  }
}

/** A call without a response. A write may have taken effect. cause is the reason. */
export class NoResponseError extends CallError {
  constructor(operation: string, key: string | undefined, attempts: number, cause: unknown) {
    super(`${operation}: no response in ${attempts === 1 ? "1 attempt" : `${attempts} attempts`}: ${reason(cause)}`, operation, key, attempts, { cause });
  }
}

/** A job that failed completely or partially. The job's result says what succeeded. */
export class JobFailedError extends Error {
  constructor(readonly job: Job) {
    super(`job ${job.job_id} ${job.state.replaceAll("_", " ")}: ${job.error?.code ?? ""}: ${job.error?.message ?? ""}`);
    this.name = "JobFailedError";
  }
}

function reason(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return cause.cause instanceof Error ? `${cause.message}: ${cause.cause.message}` : cause.message;
}
