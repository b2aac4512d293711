// The clusters that may be seen, and the current plan of the one that is open. A failure never takes away
// what was seen last: it stands beside it.
import { batch, computed, effect, signal } from "@preact/signals";
import { afresh, type Heard, ask, get, Problem } from "../api/client.ts";
import type { Cluster, CurrentPlan, Problem as PlannedProblem, Session } from "../api/contract.ts";
import { watch } from "../api/events.ts";
import { setClock } from "./clock.ts";
import { unsaved } from "./drafts.ts";
import { noPlanYet } from "../model/words.ts";
import { route } from "./route.ts";

export const session = signal<Session | null>(null);
export const clusters = signal<Cluster[] | null>(null);
export const trouble = signal<Problem | null>(null);
export const current = signal<{ plan: CurrentPlan; etag: string; problem: PlannedProblem } | null>(null);
/** The last moment at which the service answered. */
export const heard = signal(0);
/** When it is asked again by itself, in the time of this machine; 0 where that would not help. */
export const again = signal(0);

export const cluster = computed(() => clusters.value?.find((c) => c.name === route.value.cluster) ?? null);

const last = "headroom.cluster";

/** remember keeps which cluster was open last, for pages that are about none. */
export function remember(name: string): void {
  localStorage.setItem(last, name);
}

/** lastCluster is that, if it is still there, or else the first; "" where there is none. */
export function lastCluster(): string {
  const names = clusters.value?.map((c) => c.name) ?? [];
  const before = localStorage.getItem(last) ?? "";
  return names.includes(before) ? before : (names[0] ?? "");
}

/** signIn opens the page for signing in, which comes back here. Drafts stay, so that nobody is asked. */
export function signIn(): void {
  unsaved.value = new Set();
  sessionStorage.setItem("headroom.return", location.pathname + location.search);
  location.assign("/sign-in");
}

/** signInHere opens a session without leaving the page, so that nothing on it is lost. */
export async function signInHere(token: string): Promise<void> {
  session.value = (await ask("POST /v1/session", { path: {}, body: { token } }))!.value;
  tryNow();
}

/** mayAsk says whether the session's key may ask questions, once that is known: it may come after what is on the page. */
export function mayAsk(): Promise<boolean> {
  return new Promise((say) => {
    const stop = effect(() => {
      const who = session.value;
      if (!who) return;
      say(who.role !== "viewer");
      queueMicrotask(() => stop());
    });
  });
}

/** begin asks who we are and what there is to see. */
export async function begin(): Promise<void> {
  try {
    session.value = await get("GET /v1/session", {});
    const found: Cluster[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await get("GET /v1/clusters", {}, cursor ? { cursor, limit: 200 } : { limit: 200 });
      found.push(...page.items);
      if (!page.next_cursor) break;
      cursor = page.next_cursor;
    }
    batch(() => {
      clusters.value = found;
      heard.value = Date.now();
      if (trouble.value && (passes(trouble.value) || trouble.value.status === 401)) fine(); // what is said of the plan stays
    });
  } catch (e) {
    fail(e);
  }
}

const pauses = [1, 2, 4, 8, 15]; // seconds until it is tried again by itself
let tries = 0;
let timer = 0;

function fine(): void {
  clearTimeout(timer);
  tries = 0;
  batch(() => {
    heard.value = Date.now();
    trouble.value = null;
    again.value = 0;
  });
}

/** passes says whether a failure may be over when it is tried again. */
function passes(p: Problem): boolean {
  return p.status === 0 || p.status === 429 || p.status >= 500;
}

function fail(e: unknown): void {
  if (!(e instanceof Problem)) throw e;
  clearTimeout(timer);
  const seconds = Math.max(e.retryAfter, pauses[Math.min(tries++, pauses.length - 1)]!);
  batch(() => {
    trouble.value = e;
    again.value = passes(e) ? Date.now() + seconds * 1000 : 0;
  });
  if (passes(e)) timer = window.setTimeout(tryNow, seconds * 1000);
}

/** tryNow asks for what could not be had. */
export function tryNow(): void {
  clearTimeout(timer);
  again.value = 0;
  if (!clusters.value) void begin();
  if (route.value.cluster) void refresh(route.value.cluster);
  else if (clusters.value) void begin();
}

/** numberIn is the number of the plan that a problem is of, as its version tells. */
const numberIn = (etag: string) => Number(/\d+/.exec(etag)?.[0] ?? 0);

let asked = 0;
let newest = 0; // of the questions for a plan that have been answered, the one asked last
let read: Heard<CurrentPlan> | null = null; // the last answer, of which the problem may still be on its way

/** refresh brings the current plan, if there is another than the one that is shown. An answer that comes after that
 *  to a later question is out of date. Where a plan's number was told, an answer that was under way before may be of
 *  another one: then it is asked for again. */
export async function refresh(name: string, told = 0): Promise<void> {
  const mine = ++asked;
  const counts = () => route.value.cluster === name && mine > newest;
  const shown = current.value?.plan.cluster === name ? current.value : null;
  const mayBe = shown ? null : ask("GET /v1/clusters/{cluster}/plans/{plan}/problem", { path: { cluster: name, plan: "current" } }).catch(() => null); // of the plan that comes meanwhile, most likely
  let answer = read?.value.cluster === name ? read : null;
  let other = false; // than what was known
  const look = async () => {
    const came = await ask("GET /v1/clusters/{cluster}/plans/current", answer ? { path: { cluster: name }, unless: answer.etag } : { path: { cluster: name } });
    other ||= came !== null;
    return (answer = came ?? answer!);
  };
  try {
    let { value, etag, at, ahead } = await look();
    if (told && told !== value.number) ({ value, etag, at, ahead } = await look());
    if (counts()) read = { value, etag, at, ahead };
    const early = await mayBe;
    const problem = shown?.plan.number === value.number ? shown.problem : early && numberIn(early.etag) === value.number ? early.value : await get("GET /v1/clusters/{cluster}/plans/{plan}/problem", { cluster: name, plan: String(value.number) });
    if (!counts()) return;
    newest = mine;
    batch(() => {
      fine();
      if (!other && current.value?.plan === value) return;
      setClock(ahead);
      if (shown && shown.plan.number !== value.number) afresh(); // for those who ask because of it
      current.value = { plan: value, etag, problem };
    });
  } catch (e) {
    if (!counts()) return;
    newest = mine;
    fail(e);
  }
}

/** look asks whether the plan is still the newest: that it has become old, or that its cluster is gone, is no
 *  event of the stream. A first plan is asked for as well, as the stream may be away. */
const look = () => {
  if (!document.hidden && (!trouble.value || noPlanYet(trouble.value)) && route.value.cluster) void refresh(route.value.cluster);
};
const every = 5_000;

let stop = () => {};
let open = "";

/** follow keeps the plan of the open cluster current. */
export function follow(): void {
  setInterval(look, every);
  effect(() => {
    const name = route.value.cluster;
    if (name === open) return;
    stop();
    open = name;
    current.value = null;
    if (trouble.value && trouble.value.status !== 401) fine(); // it was another cluster's
    if (!name) return;
    void refresh(name);
    stop = watch(`/v1/clusters/${encodeURIComponent(name)}/plans/events`, "plan", (number) => void refresh(name, Number(number ?? 0)));
  });
}
