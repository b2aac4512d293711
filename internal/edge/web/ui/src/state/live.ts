// A live cluster as it was told of last. It is asked for again once in a heartbeat, with the versions that are here
// already, less often where the answers take long, and not at all while nobody looks.
import { batch, computed, signal } from "@preact/signals";
import { type Heard, ask, Problem } from "../api/client.ts";
import type { LiveDecision, LiveJob, LiveNode, LiveSettings, Policy } from "../api/contract.ts";
import { choose, query, route } from "./route.ts";

export const nodes = signal<LiveNode[] | null>(null);
export const jobs = signal<LiveJob[] | null>(null);
export const settings = signal<{ value: LiveSettings; etag: string } | null>(null);
/** newest are the last decisions; log is what of them is shown, which stays as it is while it is paused. */
const newest = signal<LiveDecision[] | null>(null);
const frozen = signal<LiveDecision[] | null>(null);
export const log = computed(() => frozen.value ?? newest.value);
export const paused = computed(() => frozen.value !== null);
export const wrong = signal<Problem | null>(null);
/** at is when the service answered last, by its clock. */
export const at = signal(0);

/** A page of the log has so many; more may have been made meanwhile. */
export const logRows = 100;

/** unseen is how many decisions were made since the log was paused; many is that there are at least as many. */
export const unseen = computed(() => {
  const top = frozen.value?.[0]?.assignment ?? 0;
  return frozen.value ? (newest.value ?? []).filter((d) => d.assignment > top).length : 0;
});

export function pause(): void {
  frozen.value = newest.value;
}

export function goOn(): void {
  frozen.value = null;
}

/** what was asked for, and what came: a page is asked for again only if it has changed. */
interface Page {
  etag: string;
  items: unknown[];
  next: string | null;
}

const seen = new Map<string, Page>();

type Lists = "GET /v1/clusters/{cluster}/nodes" | "GET /v1/clusters/{cluster}/jobs" | "GET /v1/clusters/{cluster}/decisions";

async function pages<T>(name: Lists, q: Record<string, string | number>, most: number, signal: AbortSignal): Promise<T[]> {
  const all: T[] = [];
  for (let cursor: string | null = null; ; ) {
    const asked: Record<string, string | number> = cursor ? { ...q, cursor } : q;
    const key = `${name} ${route.value.cluster} ${JSON.stringify(asked)}`;
    const have = seen.get(key);
    const answer: Heard<{ items: unknown[]; next_cursor?: string | null }> | null = await ask(name, { path: { cluster: route.value.cluster }, query: asked as never, signal, ...(have ? { unless: have.etag } : {}) });
    const page: Page = answer ? { etag: answer.etag, items: answer.value.items, next: answer.value.next_cursor ?? null } : have!;
    seen.set(key, page);
    if (answer) answered = answer.at;
    all.push(...(page.items as T[]));
    if (!page.next || all.length >= most) return all;
    cursor = page.next;
  }
}

let answered = 0;

const least = 1;
const longest = 10;
const pauses = [2, 4, 8, 15];

/** follow keeps what is here true until the function that it gives back is called. */
export function follow(): () => void {
  let over = false;
  let timer = 0;
  let failures = 0;
  let going: AbortController | null = null;
  const look = async () => {
    clearTimeout(timer);
    if (over || document.hidden || going) return;
    const mine = (going = new AbortController());
    const began = performance.now();
    let wait = 5;
    try {
      const cluster = route.value.cluster;
      const node = query.value.get("node");
      const set = settings.value;
      const [s, n, j, d] = await Promise.all([
        ask("GET /v1/clusters/{cluster}/live", { path: { cluster }, signal: mine.signal, ...(set ? { unless: set.etag } : {}) }),
        pages<LiveNode>("GET /v1/clusters/{cluster}/nodes", { limit: 1000 }, 5000, mine.signal),
        pages<LiveJob>("GET /v1/clusters/{cluster}/jobs", query.value.get("jobs") === "recent" ? { limit: 100 } : { state: "active", limit: 1000 }, 2000, mine.signal),
        pages<LiveDecision>("GET /v1/clusters/{cluster}/decisions", node ? { node, limit: logRows } : { limit: logRows }, logRows, mine.signal),
      ]);
      failures = 0;
      if (over) return;
      const kept = s ? { value: s.value, etag: s.etag } : set!;
      // One change of the page for all that has come; what is the same list of the same rows changes nothing.
      batch(() => {
        settings.value = kept;
        nodes.value = same(nodes.value, n);
        jobs.value = same(jobs.value, j);
        newest.value = same(newest.value, d);
        wrong.value = null;
        at.value = answered || Date.now();
      });
      const took = (performance.now() - began) / 1000;
      wait = Math.max(Math.min(Math.max(kept.value.heartbeat_s ?? 5, least), longest), 4 * took);
    } catch (e) {
      if (e instanceof DOMException) return; // asked for anew
      if (!(e instanceof Problem)) throw e;
      wait = Math.max(pauses[Math.min(failures++, pauses.length - 1)]!, e.retryAfter);
      wrong.value = e;
      if (e.status === 401 || e.status === 404) return;
    } finally {
      if (going === mine) going = null;
    }
    if (!over) timer = window.setTimeout(() => void look(), wait * 1000);
  };
  again = () => {
    going?.abort();
    going = null;
    void look();
  };
  const shown = () => {
    if (document.hidden) {
      clearTimeout(timer);
      going?.abort();
      going = null;
    } else void look();
  };
  document.addEventListener("visibilitychange", shown);
  void look();
  return () => {
    over = true;
    clearTimeout(timer);
    going?.abort();
    document.removeEventListener("visibilitychange", shown);
    again = () => {};
    seen.clear();
    nodes.value = jobs.value = newest.value = frozen.value = settings.value = wrong.value = null;
  };
}

/** again asks at once, for what is chosen now. */
export let again: () => void = () => {};

/** showNode shows the decisions of a node alone, or those of all. */
export function showNode(name: string | null): void {
  batch(() => {
    choose("node", name);
    frozen.value = newest.value = null; // they are of other nodes
  });
  again();
}

/** same is the list as it was, where the pages that came are those that were here. */
function same<T>(was: T[] | null, is: T[]): T[] {
  return was && was.length === is.length && was.every((x, i) => x === is[i]) ? was : is;
}

/** overloaded says whether a node has more to do than it should, by the policy's own rules where it has some and by
 *  its target for each processor else. */
export function overloaded(n: LiveNode, p: Policy): boolean {
  const r = n.report;
  if (!r || n.state !== "alive") return false;
  const of = { load1: r.load1, cpu_pct: r.cpu_percent, mem_pct: r.memory_percent, net_mb_s: r.net_mb_s, disk_mb_s: r.disk_mb_s };
  const rules = p.rules?.length ? p.rules : [{ metric: "load1", limit: p.target ?? 1, per: "cpu" } as const];
  return rules.some((rule) => {
    const x = of[rule.metric];
    return x !== undefined && (rule.per === "cpu" ? x / Math.max(1, n.cores) : x) > rule.limit;
  });
}
