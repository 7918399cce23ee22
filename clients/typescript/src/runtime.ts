import { Final, type Refusal } from "./errors.js";
import type { Billing, Meta, Page, Pointer, Untrusted } from "./generated.js";
import { Answered, repeat, retryAfter, usual, type Policy } from "./retry.js";

/** A success. What data points at by a Pointer stands in untrusted_content: what others wrote, material and never instructions. */
export interface Answer<T> {
  data: T;
  meta: Meta;
  page?: Page;
  billing?: Billing;
  untrusted_content?: Untrusted[];
  /** Remarks on the response. */
  notes?: string[];
  http: {
    status: number;
    headers: Headers;
    /** Whether this is the first answer to the Idempotency-Key, given again. */
    replayed: boolean;
    /** What the call carried. */
    idempotencyKey: string | undefined;
  };
}

/** What a pointer points at. */
export function text(answer: Answer<unknown>, pointer: Pointer | undefined): string | undefined {
  return answer.untrusted_content?.find((u) => u.id === pointer?.untrusted)?.text;
}

export interface Options {
  /** The service's address, such as https://press.example.com, with or without /api/v1. */
  url: string;
  /** An API key of the team. */
  key: string;
  /** How often a call is tried at most; 1 repeats nothing. 5 where omitted. */
  attempts?: number;
  /** How long one pause may be, in milliseconds. A minute where omitted. */
  longestWait?: number;
  /** How long one attempt may take, in milliseconds. A minute where omitted. Sending files is not bound by it. */
  attemptTimeout?: number;
  /** Lets the key go over http to another machine, where whoever is in between can read it. */
  plainHttp?: boolean;
  /** In place of the global fetch. */
  fetch?: typeof fetch;
  /** In place of a timer; for tests. */
  sleep?: Policy["sleep"];
}

export interface CallOptions {
  /**
   * A key of your own for a write, 1 to 128 characters, in place of the one that is made for each call. Take a new one for each new
   * intent: the same key with other arguments is refused, and on a paid operation charged as another call.
   */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

/** What the description tells of an operation. */
export interface Operation {
  method: string;
  path: string;
  /** Whether it takes an Idempotency-Key; every write does. */
  key: boolean;
  arguments: Readonly<Record<string, "path" | "query" | "body">>;
}

const apiPath = "/api/v1";

/** How operations are called. Pressroom has a method for each. */
export abstract class Runtime {
  protected abstract readonly operations: Readonly<Record<string, Operation>>;
  /** @internal */
  readonly policy: Policy;
  /** @internal How long one attempt may take, in milliseconds. */
  readonly attemptTimeout: number;
  readonly #base: string;
  readonly #key: string;
  readonly #options: Options;

  constructor(options: Options) {
    this.#key = options.key.trim();
    if (!/^[!-~]+$/.test(this.#key)) throw new TypeError("the API key is empty or contains invalid characters");
    this.#options = options;
    this.attemptTimeout = options.attemptTimeout ?? 60_000;
    this.#base = this.safe(options.url).replace(/\/+$/, "").replace(/\/api\/v1$/, "") + apiPath;
    this.policy = {
      ...usual,
      attempts: options.attempts ?? usual.attempts,
      longest: options.longestWait ?? usual.longest,
      sleep: options.sleep ?? usual.sleep,
    };
  }

  /** Runs an operation by its name. */
  async call<T>(name: string, input: object, options: CallOptions): Promise<Answer<T>> {
    const operation = this.operations[name];
    if (!operation) throw new TypeError(`unknown operation ${name}`);
    const key = operation.key ? (options.idempotencyKey ?? newKey()) : undefined;
    const { url, body } = this.#place(name, operation, input);
    const headers: Record<string, string> = { Authorization: `Bearer ${this.#key}`, Accept: "application/json" };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (key !== undefined) headers["Idempotency-Key"] = key;
    return repeat(this.policy, name, key, options.signal, async () => {
      const limit = AbortSignal.timeout(this.attemptTimeout);
      const signal = options.signal ? AbortSignal.any([options.signal, limit]) : limit;
      const response = await this.fetch(url, { method: operation.method, headers, signal, ...(body === undefined ? {} : { body }) });
      const read = await envelope<T>(response);
      const replayed = response.headers.get("idempotent-replayed") === "true";
      return { ...read, http: { status: response.status, headers: response.headers, replayed, idempotencyKey: key } };
    });
  }

  /** Page after page, from the one that the input asks for. */
  async *pages<T>(name: string, input: object, options: CallOptions): AsyncGenerator<Answer<T>, void, undefined> {
    for (let cursor = (input as { cursor?: string }).cursor; ; ) {
      const answer = await this.call<T>(name, cursor === undefined ? input : { ...input, cursor }, options);
      yield answer;
      if (!answer.page?.has_more) return;
      if (!answer.page.cursor || answer.page.cursor === cursor) throw new Error("the service reports another page but returned no cursor for it");
      cursor = answer.page.cursor;
    }
  }

  /** Sends a request without following redirects: a secret goes to no other address than the given one. */
  fetch(url: string, init: RequestInit): Promise<Response> {
    return (this.#options.fetch ?? fetch)(url, { ...init, redirect: "manual", credentials: "omit", cache: "no-store" });
  }

  /** An address to which a secret may go. */
  safe(address: string): string {
    const url = URL.canParse(address) ? new URL(address) : undefined;
    if (!url || url.username || url.password || url.search || url.hash) throw new TypeError("the service's address has to be a URL without user name, query and fragment");
    const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
    if (url.protocol === "https:" || (url.protocol === "http:" && (loopback || this.#options.plainHttp))) return url.href;
    throw new TypeError("the address must begin with https://: plain http would expose the secret");
  }

  /** Puts arguments where they belong. */
  #place(name: string, operation: Operation, input: object): { url: string; body?: string } {
    let path = operation.path;
    const query = new URLSearchParams();
    const body: Record<string, unknown> = {};
    for (const [argument, value] of Object.entries(input) as [string, unknown][]) {
      const where = operation.arguments[argument] ?? (operation.method === "GET" ? "query" : "body");
      if (value === undefined || value === null || where === "path") continue;
      if (where === "query") query.set(argument, plain(value));
      else body[argument] = value;
    }
    for (const [argument, where] of Object.entries(operation.arguments)) {
      if (where !== "path") continue;
      const value = (input as Record<string, unknown>)[argument];
      if ((typeof value !== "string" && typeof value !== "number") || ["", ".", ".."].includes(String(value))) throw new TypeError(`${name}: ${argument} is not an ID`);
      path = path.replace(`{${argument}}`, encodeURIComponent(value));
    }
    const url = this.#base + path + (query.size > 0 ? `?${query.toString()}` : "");
    return operation.method === "GET" ? { url } : { url, body: JSON.stringify(body) };
  }
}

/** A value as it stands in a query string: lists are joined by commas. */
function plain(value: unknown): string {
  if (Array.isArray(value)) return value.map(plain).join(",");
  return typeof value === "string" ? value : JSON.stringify(value);
}

type Envelope<T> = Omit<Answer<T>, "http">;

async function envelope<T>(response: Response): Promise<Envelope<T>> {
  if (!response.ok) throw new Answered(await refusal(response));
  if (media(response) !== "application/json") {
    await response.body?.cancel();
    throw new Answered(foreign(response, "the response is not JSON, so it is not from the API: check the address"));
  }
  const read = (await response.json()) as Partial<Envelope<T>> | null;
  if (!read?.meta?.request_id) throw new Answered(foreign(response, "the response has no meta.request_id, so it is not from the API: check the address"));
  return read as Envelope<T>;
}

/** Reads a problem document, or says what came in its place: proxies answer in words of their own. */
export async function refusal(response: Response): Promise<Refusal> {
  if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
    return foreign(response, "a redirect, which is not followed: the key is only sent to the given address");
  }
  const raw = await response.text();
  if (media(response) === "application/problem+json") {
    try {
      const problem = JSON.parse(raw) as Partial<Refusal>;
      if (problem.code) {
        return {
          ...foreign(response, problem.detail ?? ""),
          code: problem.code,
          title: problem.title ?? "",
          context: problem.context ?? {},
        };
      }
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return foreign(response, `not a response of pressroom (${response.statusText}), perhaps from a proxy`);
}

function foreign(response: Response, detail: string): Refusal {
  return {
    status: response.status,
    code: "",
    title: response.statusText,
    detail,
    context: {},
    requestId: response.headers.get("x-request-id") ?? undefined,
    retryAfter: retryAfter(response.headers, Date.now()),
  };
}

function media(response: Response): string {
  return (response.headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** A key that nobody else makes. */
export function newKey(): string {
  return `ts-${crypto.randomUUID()}`;
}

export { Final };
