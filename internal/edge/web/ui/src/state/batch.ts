// The batch that is packed: what is asked stands in the address, or is a batch that was given or kept. One
// question of a kind is under way at a time, and the newest one counts.
import { computed, effect, type Signal, signal, untracked } from "@preact/signals";
import { ask, get, Problem } from "../api/client.ts";
import type { Batch, ClassBatch, KeptPacking, Packing, PackingAnswer, Run } from "../api/contract.ts";
import { secondsOf } from "../model/batch.ts";
import { choose, chooseAll, query, route, stay } from "./route.ts";
import { ended, followRun, isRun } from "./runs.ts";

/** given is a batch that somebody brought, in place of the cluster's classes. */
export const given = signal<Batch | null>(null);
export const kept = signal<KeptPacking | null>(null);
/** moving is the number of machines while the slider is held. */
const moving = signal<number | null>(null);

const whole = (key: string, other: number, least: number, most: number) => {
  const n = Number(query.value.get(key) ?? NaN);
  return Number.isInteger(n) && n >= least && n <= most ? n : other;
};

export const machines = computed(() => moving.value ?? whole("m", given.value?.machines.count ?? 10, 1, 10_000));
export const disks = computed(() => whole("d", given.value?.machines.disks ?? 4, 1, 10_000));
export const hosts = computed(() => whole("h", given.value?.machines.hosts_per_extra ?? 0, 0, 10_000));
export const penalty = computed(() => {
  const p = Number(query.value.get("p") ?? NaN);
  return p >= 1 && p <= 1000 ? p : (given.value?.machines.penalty ?? 1);
});
export const begin = computed(() => secondsOf(query.value.get("begin") ?? "") ?? 22 * 3600);
export const by = computed(() => query.value.get("by") ?? "05:00");

/** jobs are the classes that were chosen, with how many of each; none is each class once. */
export const jobs = computed(() => {
  const found = new Map<string, number>();
  for (const text of query.value.getAll("job")) {
    const m = /^(.+):(\d{1,4})$/s.exec(text);
    if (m && Number(m[2]) >= 0 && Number(m[2]) <= 1000) found.set(m[1]!, Number(m[2]));
  }
  return found;
});

export function setJobs(of: Map<string, number>): void {
  chooseAll("job", [...of].map(([name, n]) => `${name}:${n}`));
}

export function move(n: number): void {
  moving.value = n;
}

export function settle(): void {
  if (moving.value === null) return;
  choose("m", String(moving.value));
  moving.value = null;
}

/** Asked is what is to be packed. */
type Asked = { kind: "classes"; body: ClassBatch } | { kind: "batch"; body: Batch };

const asked = computed<Asked>(() => {
  const on = { count: machines.value, disks: disks.value, hosts_per_extra: hosts.value, penalty: penalty.value };
  if (given.value) return { kind: "batch", body: { ...given.value, machines: on } };
  const body: ClassBatch = { machines: on };
  const some = [...jobs.value].filter(([, n]) => n > 0).map(([name, n]) => ({ class: name, count: n }));
  if (jobs.value.size > 0) body.jobs = some;
  return { kind: "classes", body };
});

const stopped = "Stopped before it was answered.";

function ending(r: Run): string {
  return r.state === "failed" ? `Stopped: ${r.error?.detail ?? "the run failed."}` : stopped;
}

/** over waits for a run's end; meanwhile it is told of. */
function over(first: Run, told: Signal<Run | null>): Promise<Run> {
  return new Promise((then) => {
    const stop = followRun(first, (r) => {
      told.value = ended(r) ? null : r;
      if (!ended(r)) return;
      setTimeout(() => stop());
      then(r);
    });
  });
}

export function cancelRun(told: Signal<Run | null>): void {
  const r = told.value;
  if (r && !r.cancelling) void ask("DELETE /v1/runs/{id}", { path: { id: r.id } }).then((a) => told.value && (told.value = a!.value), () => {});
}

/** keeping is the run that packs a batch to keep it, where that takes long. */
export const keeping = signal<Run | null>(null);

/** keep packs a batch, keeps the packing and shows it. It gives back what went wrong in a word, if it is no Problem. */
export async function keep(batch: Batch): Promise<string> {
  const here = stay();
  const answer = await ask("POST /v1/clusters/{cluster}/packings", { path: { cluster: route.value.cluster }, body: batch, key: crypto.randomUUID() });
  let made = answer!.value;
  if (isRun(made)) {
    const r = await over(made, keeping);
    if (r.state !== "succeeded") return ending(r);
    made = (await get("GET /v1/runs/{id}/result", { id: r.id })) as KeptPacking;
  }
  if (!here()) return "";
  given.value = kept.value = null;
  for (const k of ["m", "d", "h", "p", "job"]) choose(k, null);
  choose("kept", made.id);
  return "";
}

/** Work is a question: its last answer, what went wrong since, and the run that works on it where it takes long. */
export class Work {
  readonly answer = signal<{ of: string; value: PackingAnswer } | null>(null);
  readonly wrong = signal<{ detail: string; problem: Problem | null } | null>(null);
  readonly run = signal<Run | null>(null);
  readonly since = signal(0); // when it was asked, while it is under way
  #underWay = false;
  #now = "";
  #asking: AbortController | null = null;

  constructor(readonly query: { compare?: true }) {}

  /** send asks until the newest question is answered. */
  async send(newest: () => { key: string; asked: Asked; query?: object } | null): Promise<void> {
    if (this.#underWay) return;
    this.#underWay = true;
    for (let next = newest(); next && next.key !== this.#now; next = newest()) {
      this.#now = next.key;
      this.since.value = Date.now();
      try {
        const value = await this.#once(next.asked, { ...this.query, ...next.query }, () => newest()?.key !== this.#now);
        if (value) {
          this.answer.value = { of: next.key, value };
          this.wrong.value = null;
        }
      } catch (e) {
        if (e instanceof DOMException && e.name === "AbortError") {
          if (newest()?.key === this.#now) this.wrong.value = { detail: stopped, problem: null };
          continue;
        }
        if (!(e instanceof Problem)) throw e;
        this.wrong.value = { detail: e.message, problem: e };
        if (e.status === 429 || e.status === 503 || e.status === 0) {
          this.#now = ""; // again, after a pause
          await new Promise((then) => setTimeout(then, Math.max(1, e.retryAfter) * 1000));
        }
      } finally {
        this.since.value = 0;
      }
    }
    this.#underWay = false;
  }

  async #once(asked: Asked, query: object, stale: () => boolean): Promise<PackingAnswer | null> {
    const { signal } = (this.#asking = new AbortController());
    const answer =
      asked.kind === "classes"
        ? await ask("POST /v1/clusters/{cluster}/class-packings", { path: { cluster: route.value.cluster }, query, body: asked.body, signal })
        : await ask("POST /v1/packings", { path: {}, query, body: asked.body, signal });
    this.#asking = null;
    return isRun(answer!.value) ? this.#follow(answer!.value, stale) : answer!.value;
  }

  /** follow waits for a run, and ends it when another question has come. */
  async #follow(first: Run, stale: () => boolean): Promise<PackingAnswer | null> {
    const look = setInterval(() => stale() && this.cancel(), 300);
    const r = await over(first, this.run);
    clearInterval(look);
    if (r.state === "succeeded") return (await get("GET /v1/runs/{id}/result", { id: r.id })) as PackingAnswer;
    if (!stale()) this.wrong.value = { detail: ending(r), problem: null };
    return null;
  }

  /** supersede ends a request for something else than what is asked now, unless it may be answered at any moment. */
  supersede(): void {
    if (this.since.value && Date.now() - this.since.value > 150) this.#asking?.abort();
  }

  /** cancel ends what is under way, a request or a run. */
  cancel(): void {
    this.#asking?.abort();
    cancelRun(this.run);
  }

  forget(): void {
    this.#now = "";
    this.answer.value = this.wrong.value = null;
    this.since.value = 0;
  }
}

export const packing = new Work({});
export const comparing = new Work({ compare: true });
export const fewest = new Work({});

const key = computed(() => `${route.value.cluster} ${JSON.stringify(asked.value)}`);

/** seen is the packing that is shown, and the batch that it is of. */
export const seen = computed<{ packing: Packing; batch: Batch | null } | null>(() => {
  const k = kept.value;
  if (k && key.value === keptKey()) return { packing: k.packing, batch: k.batch };
  const a = packing.answer.value?.value;
  return a?.packing ? { packing: a.packing, batch: a.exact_batch ?? given.value } : null;
});

/** keptKey is the question that the kept packing answers. */
function keptKey(): string {
  const k = kept.value;
  return k ? `${route.value.cluster} ${JSON.stringify({ kind: "batch", body: { ...k.batch, machines: { count: k.batch.machines.count, disks: k.batch.machines.disks, hosts_per_extra: k.batch.machines.hosts_per_extra ?? 0, penalty: k.batch.machines.penalty ?? 1 } } })}` : "";
}

/** current says whether what is shown answers what is asked. */
export const current = computed(() => packing.answer.value?.of === key.value || key.value === keptKey());

/** compared says likewise of the other ways of packing. */
export const compared = computed(() => comparing.answer.value?.of === key.value);

const here = () => route.value.page === "batch";
const waiting = () => query.value.get("kept") !== null && given.value === null; // for what is kept

/** follow answers every change of what is asked, and compares once nothing has changed for a while. */
export function follow(may: boolean): () => void {
  let timer = 0;
  const newest = () => (here() && may && !waiting() ? { key: key.value, asked: asked.value } : null);
  const stop = effect(() => {
    const question = key.value;
    if (waiting()) return;
    clearTimeout(timer);
    untracked(() => {
      packing.supersede();
      comparing.supersede();
      if (question !== keptKey()) void packing.send(newest);
      timer = window.setTimeout(() => void comparing.send(newest), 700);
    });
  });
  return () => {
    stop();
    clearTimeout(timer);
    packing.cancel();
    comparing.cancel();
    fewest.cancel();
    for (const w of [packing, comparing, fewest]) w.forget();
    given.value = kept.value = null;
  };
}

/** findFewest looks for the fewest machines on which the batch ends in time, and takes that number. */
export async function findFewest(): Promise<void> {
  const end = secondsOf(by.value);
  if (end === null) return;
  const hours = ((end - begin.value + 86_400) % 86_400 || 86_400) / 3600;
  const about = key.value;
  const question = { key: `${about} ${hours}`, asked: asked.value, query: { by_hours: hours } };
  fewest.forget();
  await fewest.send(() => question);
  const found = fewest.answer.value?.value.machines;
  if (found && here() && key.value === about) choose("m", String(found.machines));
}

/** open shows what is kept. */
export async function open(id: string): Promise<void> {
  const here = stay();
  const answer = await get("GET /v1/clusters/{cluster}/packings/{packing}", { cluster: route.value.cluster, packing: id });
  if (!here() || query.value.get("kept") !== id) return;
  kept.value = answer;
  given.value = answer.batch;
}
