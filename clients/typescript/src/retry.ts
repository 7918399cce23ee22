import { APIError, NoResponseError, type ErrorResponse } from "./errors.js";

/** How calls are retried. Times are in milliseconds. */
export interface Policy {
  /** The maximum number of attempts per call. */
  attempts: number;
  /** The pause before the first retry. Each further pause is twice as long. */
  first: number;
  /** The longest pause. If Retry-After asks for a longer pause, the call fails immediately. */
  longest: number;
  /** Waits for this many milliseconds. The promise is rejected as soon as the signal is aborted. */
  sleep: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

export const defaultPolicy: Policy = { attempts: 5, first: 500, longest: 60_000, sleep };

/** Thrown by an attempt that got an error response. */
export class FailedAttempt extends Error {
  constructor(readonly response: ErrorResponse) {
    super(response.detail);
  }
}

/**
 * Calls attempt until it succeeds, fails permanently, has no attempts left, or the signal is aborted. key is the idempotency key that all
 * attempts send.
 */
export async function withRetries<T>(
  policy: Policy,
  operation: string,
  key: string | undefined,
  signal: AbortSignal | undefined,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let n = 1; ; n++) {
    let failure: unknown;
    try {
      signal?.throwIfAborted();
      return await attempt();
    } catch (error) {
      failure = error;
    }
    const failed = failure instanceof FailedAttempt ? new APIError(operation, key, n, failure.response) : new NoResponseError(operation, key, n, failure);
    const wait = delayBeforeRetry(policy, n, failure);
    if (wait === undefined || n >= policy.attempts || signal?.aborted) throw failed;
    try {
      await policy.sleep(wait, signal);
    } catch {
      throw failed;
    }
  }
}

/** How long to wait before the next attempt; undefined if another attempt cannot help. */
function delayBeforeRetry(policy: Policy, n: number, failure: unknown): number | undefined {
  if (isPermanent(failure)) return undefined;
  if (!(failure instanceof FailedAttempt)) return backoff(policy, n);
  const { response } = failure;
  if (!isTemporary(response) || response.retryAfter > policy.longest) return undefined;
  return response.retryAfter > 0 ? response.retryAfter + Math.random() * policy.first : backoff(policy, n);
}

/** Error codes of Node.js for failures that a retry does not fix: unknown host, untrusted certificate. Browsers report no codes. */
const permanentCodes = /^(ENOTFOUND|EPROTO|CERT_.*|ERR_TLS_.*|.*SELF_SIGNED_CERT.*|UNABLE_TO_.*)$/;

function isPermanent(failure: unknown): boolean {
  const cause = failure instanceof Error ? (failure.cause as { code?: unknown } | undefined) : undefined;
  return typeof cause?.code === "string" && permanentCodes.test(cause.code);
}

/** A random pause between half of the delay and the whole delay. The delay doubles with each attempt. */
function backoff(policy: Policy, n: number): number {
  const delay = Math.min(policy.first * 2 ** Math.min(n - 1, 16), policy.longest);
  return delay / 2 + Math.random() * (delay / 2);
}

/**
 * Whether the same call may succeed soon. A call that failed with provider_unavailable (502) is not retried, because a data provider is
 * unreachable or not configured, which retries rarely fix. Nothing was done or charged.
 */
function isTemporary(r: ErrorResponse): boolean {
  switch (r.code) {
    case "idempotency_key_in_progress":
    case "rate_limited":
    case "daily_call_limit_reached":
    case "daily_credit_limit_reached":
    case "internal_error":
      return true;
    case "": // not a problem document, so the response is from a proxy
      return [429, 500, 502, 503, 504].includes(r.status);
    default:
      return r.status === 503 || (r.status === 429 && r.retryAfter > 0);
  }
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(new Error("aborted", { cause: signal?.reason }));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/**
 * The delay that Retry-After requests, in milliseconds; 0 for none. A date is relative to the Date header of the response if there is one,
 * because the local clock may be wrong.
 */
export function retryAfter(headers: Headers, now: number): number {
  const text = headers.get("retry-after")?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const until = Date.parse(text);
  if (Number.isNaN(until)) return 0;
  const serverTime = Date.parse(headers.get("date") ?? "");
  return Math.max(0, until - (Number.isNaN(serverTime) ? now : serverTime));
}
