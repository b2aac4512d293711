// The one way to the service. Operations are named as in openapi.yaml, so that the compiler refuses what
// the contract does not have.
import type { Fault, Operations, ProblemDetails } from "./contract.ts";

/** Problem is an answer that says what is wrong; status 0 is a service that does not answer. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly details: ProblemDetails | null,
    readonly retryAfter: number,
  ) {
    super(details?.detail ?? "Headroom does not answer.");
  }
}

/** faultsOf are the mistakes that an answer names; one of a general kind where it names no field. */
export function faultsOf(p: Problem | null): Fault[] {
  if (!p) return [];
  const named = p.details?.errors;
  return named?.length ? named : [{ code: "", detail: p.message }];
}

/** Answer is a value and its version. */
export interface Answer<T> {
  value: T;
  etag: string;
}

/** Heard is an answer as it came: when, by the service's clock, and between how many milliseconds that is ahead of ours. */
export interface Heard<T> extends Answer<T> {
  at: number;
  ahead: [number, number];
}

interface Asked<O extends { path: object; query: object; body: unknown }> {
  path: O["path"];
  query?: O["query"];
  body?: O["body"];
  /** Only if what is there is not of this version; null is answered where it is. */
  unless?: string;
  /** Only if what is there still is of this version. */
  match?: string;
  /** Names a change, so that sending it again does not repeat it. */
  key?: string;
  /** Long work is to be a run at once. */
  inBackground?: boolean;
  /** It is to arrive even if the page is left meanwhile. */
  keepalive?: boolean;
  signal?: AbortSignal;
}

/** ask sends a request. It throws a Problem for everything that is not what was asked for. */
export async function ask<N extends keyof Operations>(name: N, asked: Asked<Operations[N]>): Promise<Heard<Operations[N]["answer"]> | null> {
  const sent = Date.now();
  const answer = await send(name, asked);
  if (answer.status === 304) return null;
  const came = Date.now();
  const at = Date.parse(answer.headers.get("Date") ?? "") || came; // in whole seconds
  const body = answer.status === 204 ? null : await json(answer);
  return { value: body, etag: answer.headers.get("ETag") ?? "", at, ahead: [at - came, at + 1000 - sent] };
}

/** file is ask for an answer that is kept as it comes: a table, a spreadsheet. */
export async function file<N extends keyof Operations>(name: N, asked: Asked<Operations[N]>): Promise<Blob> {
  return whole((await send(name, asked)).blob());
}

/** whole waits for an answer, or its body. One that breaks off is as good as none. */
async function whole<T>(coming: Promise<T>): Promise<T> {
  try {
    return await coming;
  } catch (e) {
    if (e instanceof DOMException && e.name === "AbortError") throw e;
    throw new Problem(0, null, 0);
  }
}

const json = async (answer: Response) => ((answer.headers.get("Content-Type") ?? "").includes("json") ? await whole(answer.json()) : null);

async function send<N extends keyof Operations>(name: N, asked: Asked<Operations[N]>): Promise<Response> {
  const [method, template] = name.split(" ") as [string, string];
  const headers: Record<string, string> = { Accept: "application/json" };
  if (asked.unless) headers["If-None-Match"] = asked.unless;
  if (asked.match) headers["If-Match"] = asked.match;
  if (asked.key) headers["Idempotency-Key"] = asked.key;
  if (asked.inBackground) headers["Prefer"] = "respond-async";
  const init: RequestInit = { method, headers, cache: "no-store", credentials: "same-origin" };
  if (asked.keepalive) init.keepalive = true;
  if (asked.signal) init.signal = asked.signal;
  if (asked.body !== undefined) {
    headers["Content-Type"] = "application/json";
    init.body = JSON.stringify(asked.body);
  }
  const answer = await once(address(template, asked.path, asked.query ?? {}), init);
  if (!answer.ok && answer.status !== 304) throw new Problem(answer.status, await json(answer), Number(answer.headers.get("Retry-After") ?? 0));
  return answer;
}

const underWay = new Map<string, { since: number; answer: Promise<Response> }>();
const shared = 3_000; // what takes longer may never be answered

/** once sends a request. Parts of the page that ask for the same at the same time share one request and its answer;
 *  but what was asked before a change is not shared with who asks after it began or ended. */
function once(at: string, init: RequestInit): Promise<Response> {
  if (init.method !== "GET") {
    afresh();
    return whole(fetch(at, init)).finally(afresh);
  }
  if (init.signal) return whole(fetch(at, init)); // it can be given up, which is nobody else's wish
  const key = JSON.stringify([at, init.headers]);
  let coming = underWay.get(key);
  if (!coming || performance.now() - coming.since > shared) {
    const mine = (coming = { since: performance.now(), answer: whole(fetch(at, init).then(read)) });
    underWay.set(key, mine);
    const over = () => void (underWay.get(key) === mine && underWay.delete(key));
    mine.answer.then(over, over);
  }
  return coming.answer.then((answer) => answer.clone());
}

/** afresh has everything asked anew from now on: something has changed, and what is under way may not know it. */
export const afresh = () => underWay.clear();

/** read has an answer with all of its body. */
async function read(answer: Response): Promise<Response> {
  const { status, statusText, headers } = answer;
  return new Response(status === 204 || status === 304 ? null : await answer.blob(), { status, statusText, headers });
}

/** get is ask for what must be there. */
export async function get<N extends keyof Operations>(name: N, path: Operations[N]["path"], query?: Operations[N]["query"]): Promise<Operations[N]["answer"]> {
  const asked: Asked<Operations[N]> = { path };
  if (query) asked.query = query;
  return (await ask(name, asked))!.value;
}

/** table is the CSV that an operation answers when it is asked for that. */
export async function table<N extends keyof Operations>(name: N, path: Operations[N]["path"], query: Operations[N]["query"] & { format: "csv" }): Promise<string> {
  const answer = await once(address(name.slice(4), path, query), { method: "GET", headers: { Accept: "text/csv" }, cache: "no-store", credentials: "same-origin" });
  if (!answer.ok) throw new Problem(answer.status, await json(answer), 0);
  return whole(answer.text());
}

/** Listed are operations that answer in pages. */
type Listed = { [N in keyof Operations]: Operations[N]["answer"] extends { items: unknown[]; next_cursor?: string | null } ? N : never }[keyof Operations];
type Item<N extends Listed> = Operations[N]["answer"] extends { items: (infer T)[] } ? T : never;

/** list asks for all pages, up to a number of rows that a page of ours can show. */
export async function list<N extends Listed>(name: N, path: Operations[N]["path"], query: Operations[N]["query"] = {}, most = 10_000): Promise<Item<N>[]> {
  const found: Item<N>[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = (await get(name, path, { limit: 200, ...query, ...(cursor ? { cursor } : {}) })) as { items: Item<N>[]; next_cursor?: string | null };
    found.push(...page.items);
    if (!page.next_cursor || found.length >= most) return found;
    cursor = page.next_cursor;
  }
}

/** upload sends a file and tells how many bytes have gone; a fetch could not say. */
export function upload<N extends keyof Operations>(name: N, asked: { path: Operations[N]["path"]; query?: Operations[N]["query"]; file: Blob; kind: string; sent: (bytes: number) => void; signal: AbortSignal }): Promise<Operations[N]["answer"]> {
  const [method, template] = name.split(" ") as [string, string];
  return new Promise((then, fail) => {
    const request = new XMLHttpRequest();
    request.onloadend = afresh;
    request.open(method, address(template, asked.path, asked.query ?? {}));
    request.setRequestHeader("Accept", "application/json");
    request.setRequestHeader("Content-Type", asked.kind);
    request.upload.onprogress = (e) => asked.sent(e.loaded);
    request.onload = () => {
      const kind = request.getResponseHeader("Content-Type") ?? "";
      const body = kind.includes("json") ? JSON.parse(request.responseText) : null;
      if (request.status >= 200 && request.status < 300) then(body);
      else fail(new Problem(request.status, body, Number(request.getResponseHeader("Retry-After") ?? 0)));
    };
    request.onerror = () => fail(new Problem(0, null, 0));
    request.onabort = () => fail(new DOMException("cancelled", "AbortError"));
    asked.signal.addEventListener("abort", () => request.abort());
    request.send(asked.file);
  });
}

/** address fills a template's names in. */
export function address(template: string, path: object, query: object = {}): string {
  const names = path as Record<string, string>;
  const at = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(names[name] ?? ""));
  const keys = new URLSearchParams();
  for (const [k, v] of Object.entries(query)) for (const one of Array.isArray(v) ? v : [v]) if (one !== undefined) keys.append(k, String(one));
  const text = keys.toString();
  return text ? `${at}?${text}` : at;
}
