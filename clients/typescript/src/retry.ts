import { Final, Refused, Unanswered, type Refusal } from "./errors.js";

/** How calls are repeated; times in milliseconds. */
export interface Policy {
  /** How often a call is tried at most. */
  attempts: number;
  /** The pause before the first repeat; each further one is twice as long. */
  first: number;
  /** The longest pause: an answer that asks for more is given back at once. */
  longest: number;
  /** Waits, or rejects as soon as the signal does. */
  sleep: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

export const usual: Policy = { attempts: 5, first: 500, longest: 60_000, sleep };

/** Thrown by an attempt that was refused. */
export class Answered extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.detail);
  }
}

/** Tries until it succeeds, is refused for good or is given up. The same key goes with every attempt. */
export async function repeat<T>(
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
    const told = failure instanceof Answered ? new Refused(operation, key, n, failure.refusal) : new Unanswered(operation, key, n, failure);
    const wait = pause(policy, n, failure);
    if (wait === undefined || n >= policy.attempts || signal?.aborted) throw told;
    try {
      await policy.sleep(wait, signal);
    } catch {
      throw told;
    }
  }
}

/** How long to wait for a repeat; undefined where none may mend it. */
function pause(policy: Policy, n: number, failure: unknown): number | undefined {
  if (hopeless(failure)) return undefined;
  if (!(failure instanceof Answered)) return backoff(policy, n);
  const { refusal } = failure;
  if (!passing(refusal) || refusal.retryAfter > policy.longest) return undefined;
  return refusal.retryAfter > 0 ? refusal.retryAfter + Math.random() * policy.first : backoff(policy, n);
}

/** Reasons that Node.js names and that come back at once: no such host, no certificate to trust. Browsers name none. */
const lasting = /^(ENOTFOUND|EPROTO|CERT_.*|ERR_TLS_.*|.*SELF_SIGNED_CERT.*|UNABLE_TO_.*)$/;

function hopeless(failure: unknown): boolean {
  if (failure instanceof Final) return true;
  const cause = failure instanceof Error ? (failure.cause as { code?: unknown } | undefined) : undefined;
  return typeof cause?.code === "string" && lasting.test(cause.code);
}

/** A pause from half to the whole of what doubles with each attempt. */
function backoff(policy: Policy, n: number): number {
  const whole = Math.min(policy.first * 2 ** Math.min(n - 1, 16), policy.longest);
  return whole / 2 + Math.random() * (whole / 2);
}

/**
 * Whether a refusal may be gone in a while. provider_unavailable is for the caller to look at: a post may have gone out.
 */
function passing(r: Refusal): boolean {
  switch (r.code) {
    case "idempotency_key_in_progress":
    case "rate_limited":
    case "daily_call_limit_reached":
    case "daily_credit_limit_reached":
    case "internal_error":
      return true;
    case "": // a proxy's words
      return [429, 500, 502, 503, 504].includes(r.status);
    default:
      return r.status === 503 || (r.status === 429 && r.retryAfter > 0);
  }
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(new Error("given up", { cause: signal?.reason }));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/**
 * How long an answer asks to wait, in milliseconds: seconds, or a date, which is counted from the answer's own clock where it tells
 * that, as ours may be wrong.
 */
export function retryAfter(headers: Headers, now: number): number {
  const text = headers.get("retry-after")?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const until = Date.parse(text);
  if (Number.isNaN(until)) return 0;
  const theirs = Date.parse(headers.get("date") ?? "");
  return Math.max(0, until - (Number.isNaN(theirs) ? now : theirs));
}
