import type { Code, Job } from "./generated.js";

/** Identifiers of a refusal, never a value that was sent. Which there are depends on the code. */
export interface Context {
  argument?: string;
  /** Which item of the argument, a list, is to blame; the first is 0. */
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

/** What a call that failed has to tell. */
export abstract class CallFailed extends Error {
  constructor(
    message: string,
    readonly operation: string,
    /** What the call carried. Repeated with it and the same arguments, a write is done once. */
    readonly idempotencyKey: string | undefined,
    readonly attempts: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** What is read of an answer that is no success. */
export interface Refusal {
  status: number;
  /** Empty where the answer was no problem document. */
  code: Code | "";
  title: string;
  detail: string;
  context: Context;
  requestId: string | undefined;
  /** Milliseconds to wait before a repeat, 0 where nothing was said. */
  retryAfter: number;
}

/** A refusal. Programs act on code, and on status where they do not know the code; the texts are for people. */
export class Refused extends CallFailed implements Refusal {
  readonly status: number;
  readonly code: Code | "";
  readonly title: string;
  readonly detail: string;
  readonly context: Context;
  readonly requestId: string | undefined;
  readonly retryAfter: number;

  constructor(operation: string, key: string | undefined, attempts: number, r: Refusal) {
    const { argument, item, reason, scope, limit, state, problems } = r.context;
    const which = item === undefined ? argument : `${argument ?? ""} (item ${item})`;
    const about = [r.code, which, reason, scope, limit, state, ...(problems ?? [])].filter(Boolean).join(" ");
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

/** A call of which nobody knows whether it was done; cause is the reason. */
export class Unanswered extends CallFailed {
  constructor(operation: string, key: string | undefined, attempts: number, cause: unknown) {
    super(`${operation}: no response in ${attempts === 1 ? "1 attempt" : `${attempts} attempts`}: ${reason(cause)}`, operation, key, attempts, { cause });
  }
}

/** A job that ended and did not, or not wholly, succeed. Its result tells what did. */
export class JobFailed extends Error {
  constructor(readonly job: Job) {
    super(`job ${job.job_id} ${job.state.replaceAll("_", " ")}: ${job.error?.code ?? ""}: ${job.error?.message ?? ""}`);
    this.name = "JobFailed";
  }
}

/** An error that a repeat would not mend. */
export class Final extends Error {}

function reason(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return cause.cause instanceof Error ? `${cause.message}: ${cause.cause.message}` : cause.message;
}
