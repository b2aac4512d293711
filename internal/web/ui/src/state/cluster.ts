// The clusters that may be seen, and the current plan of the one that is open. A failure never takes away
// what was seen last: it stands beside it.
import { batch, computed, effect, signal } from "@preact/signals";
import { ask, get, Problem } from "../api/client.ts";
import type { Cluster, CurrentPlan, Problem as PlannedProblem, Session } from "../api/contract.ts";
import { watch } from "../api/events.ts";
import { setClock } from "./clock.ts";
import { route } from "./route.ts";

export const session = signal<Session | null>(null);
export const clusters = signal<Cluster[] | null>(null);
export const trouble = signal<Problem | null>(null);
export const current = signal<{ plan: CurrentPlan; etag: string; problem: PlannedProblem } | null>(null);
/** The last moment at which the service answered. */
export const heard = signal(0);

export const cluster = computed(() => clusters.value?.find((c) => c.name === route.value.cluster) ?? null);

/** signIn opens the page for signing in, which comes back here. */
export function signIn(): void {
  sessionStorage.setItem("headroom.return", location.pathname + location.search);
  location.assign("/sign-in");
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
      trouble.value = null;
    });
  } catch (e) {
    fail(e);
  }
}

function fail(e: unknown): void {
  if (!(e instanceof Problem)) throw e;
  trouble.value = e;
}

/** refresh brings the current plan, if there is another than the one that is shown. */
export async function refresh(name: string): Promise<void> {
  const shown = current.value?.plan.cluster === name ? current.value : null;
  try {
    const answer = await ask("GET /v1/clusters/{cluster}/plans/current", shown ? { path: { cluster: name }, unless: shown.etag } : { path: { cluster: name } });
    let problem = shown?.problem;
    if (answer && (!problem || answer.value.number !== shown?.plan.number)) {
      problem = await get("GET /v1/clusters/{cluster}/plans/{plan}/problem", { cluster: name, plan: String(answer.value.number) });
    }
    if (route.value.cluster !== name) return;
    batch(() => {
      heard.value = Date.now();
      trouble.value = null;
      if (!answer) return;
      setClock(answer.at);
      current.value = { plan: answer.value, etag: answer.etag, problem: problem! };
    });
  } catch (e) {
    if (route.value.cluster === name) fail(e);
  }
}

let stop = () => {};
let open = "";

/** follow keeps the plan of the open cluster current. */
export function follow(): void {
  effect(() => {
    const name = route.value.cluster;
    if (name === open) return;
    stop();
    open = name;
    current.value = null;
    if (!name) return;
    void refresh(name);
    stop = watch(`/v1/clusters/${encodeURIComponent(name)}/plans/events`, "plan", () => void refresh(name));
  });
}
