// The changes that are being tried. They stand in the address, or under a name that the service keeps; while
// something is moved they are not there yet.
import { batch, computed, effect, signal, untracked } from "@preact/signals";
import { ask, get, Problem } from "../api/client.ts";
import type { Plan, Problem as PlannedProblem } from "../api/contract.ts";
import { flipsOf } from "../model/flips.ts";
import { perPeriod } from "../model/money.ts";
import { type Pin, readPins, writePins } from "../model/pins.ts";
import { change, type Edit, editOf, inOrder, isThere, type Knob, keyOf, knobs, read, write } from "../model/scenario.ts";
import { query, rewrite, route, stay } from "./route.ts";

/** base is the plan that is compared with, and what it was asked. */
export const base = signal<{ number: number; problem: PlannedProblem; plan: Plan } | null>(null);

/** offered is what can be changed of it. */
export const offered = computed<Knob[]>(() => {
  const from = base.value;
  if (!from) return [];
  const { cost, vms } = from.plan;
  const flips = new Map(flipsOf(from.plan, from.problem).map((f) => [keyOf(f), Number(f.at)]));
  return knobs(from.problem, { flips, vms: vms.total, onDemand: vms.on_demand, bill: Number(perPeriod(cost.bill, cost.period_s, "month") / 10_000_000n) / 100 });
});

const baseText = computed(() => query.value.get("base") ?? "");
/** wantedBase is the number of the plan that the address compares with; 0 is the current one. */
export const wantedBase = computed(() => (/^\d{1,15}$/.test(baseText.value) ? Number(baseText.value) : 0));

const inAddress = computed(() => {
  const { edits, unread } = read(query.value.getAll("ch"));
  const p = base.value?.problem;
  const there = edits.filter((e) => !p || isThere(e, p));
  return { edits: there, unread: [...unread, ...write(edits.filter((e) => !there.includes(e)))] };
});
const pinned = computed(() => readPins(query.value.getAll("pin")));
export const pins = computed(() => pinned.value.pins);

/** saved is the scenario that the address names, as the service keeps it. */
export const saved = signal<{ name: string; edits: Edit[]; unread: string[] } | null>(null);
export const savedWrong = signal<Problem | null>(null);
const savedName = computed(() => (query.value.has("ch") ? null : query.value.get("s")));

const moving = signal<Edit[] | null>(null); // not in the address yet
export const settled = computed(() => (savedName.value !== null && saved.value?.name === savedName.value ? saved.value.edits : inAddress.value.edits));
export const edits = computed(() => moving.value ?? settled.value);
export const unread = computed(() => [
  ...(baseText.value !== "" && wantedBase.value === 0 ? [`base=${baseText.value}`] : []),
  ...inAddress.value.unread.map((u) => `ch=${u}`),
  ...pinned.value.unread.map((u) => `pin=${u}`),
  ...(saved.value?.name === savedName.value ? (saved.value?.unread ?? []) : []),
]);

const most = 50;
const undone = signal<Edit[][]>([]);
const done = signal<Edit[][]>([]);
export const canUndo = computed(() => done.value.length > 0);
export const canRedo = computed(() => undone.value.length > 0);

let before: Edit[] | null = null; // the changes before the drag that is under way
let timer = 0;

function put(next: Edit[]): void {
  moving.value = next;
  clearTimeout(timer);
  timer = window.setTimeout(settle, 250);
}

function keys(next: Edit[]): Record<string, string[]> {
  const of = base.value?.number ?? null; // an address with changes names what they are compared with
  return { ch: write(next), s: [], ...(of !== null && next.length > 0 && !query.value.has("base") ? { base: [String(of)] } : {}) };
}

function settle(step = false): void {
  clearTimeout(timer);
  const next = moving.value;
  if (!next) return;
  batch(() => {
    rewrite(keys(next), step);
    moving.value = null;
  });
}

/** move changes one thing while a control is held; commit makes a step of it that can be undone. */
export function move(e: Edit | null, key: string): void {
  before ??= edits.value;
  const rest = edits.value.filter((x) => keyOf(x) !== key);
  put(e ? [...rest, e] : rest);
}

const text = (e: Edit[]) => write(inOrder(e)).join();

export function commit(step = false): void {
  if (before && text(before) !== text(edits.value)) {
    done.value = [...done.value, before].slice(-most);
    undone.value = [];
  }
  before = null;
  settle(step);
}

/** put several changes at once, as one step. */
export function apply(next: Edit[]): void {
  for (const e of next) move(e, keyOf(e));
  commit();
}

export function undo(): void {
  const last = done.value.at(-1);
  if (!last) return;
  undone.value = [...undone.value, edits.value].slice(-most);
  done.value = done.value.slice(0, -1);
  put(last);
  settle();
}

export function redo(): void {
  const next = undone.value.at(-1);
  if (!next) return;
  done.value = [...done.value, edits.value].slice(-most);
  undone.value = undone.value.slice(0, -1);
  put(next);
  settle();
}

/** open takes other changes in place of those that are there. */
export function open(next: Edit[]): void {
  before = edits.value;
  put(next);
  commit(true);
}

/** startOver leaves nothing of a link but the plan that it compares with. */
export function startOver(): void {
  open([]);
  if (unread.value.length > 0) rewrite({ ch: [], s: [], pin: writePins(pins.value), ...(wantedBase.value === 0 ? { base: [] } : {}) }, false);
}

export function setPins(next: Pin[], step = true): void {
  settle();
  rewrite({ ...keys(edits.value), pin: writePins(next) }, step);
}

/** longest is how long an address may be that is still passed on as it is. */
export const longest = 4000;

/** save keeps the changes under a name, which then stands in the address in their place. */
export async function save(name: string, problem: PlannedProblem): Promise<void> {
  settle();
  const here = stay();
  const now = edits.value;
  const made = (await ask("POST /v1/clusters/{cluster}/scenarios", { path: { cluster: route.value.cluster }, body: { name, changes: inOrder(now).map((e) => change(e, problem)) } }))!.value;
  if (!here()) return;
  const of = base.value?.number ?? null;
  batch(() => {
    saved.value = { name: made.name, edits: now, unread: [] };
    rewrite({ ch: [], s: [made.name], base: of === null ? [] : [String(of)] }, true);
  });
}

/** follow reads the scenario that the address names. */
export function follow(): () => void {
  return effect(() => {
    const name = savedName.value;
    const p = base.value?.problem;
    if (name === null || !p || untracked(() => saved.value?.name) === name) return;
    void load(name, p);
  });
}

async function load(name: string, p: PlannedProblem): Promise<void> {
  const counts = () => savedName.value === name && base.value?.problem === p;
  try {
    const found = await get("GET /v1/clusters/{cluster}/scenarios/{name}", { cluster: route.value.cluster, name });
    if (!counts()) return;
    const all = found.changes.map((c) => ({ c, e: editOf(c, p) }));
    batch(() => {
      saved.value = { name, edits: all.flatMap(({ e }) => (e ? [e] : [])), unread: all.flatMap(({ c, e }) => (e ? [] : [`${c.what} of scenario ${name}`])) };
      savedWrong.value = null;
    });
  } catch (e) {
    if (!(e instanceof Problem)) throw e;
    if (counts()) savedWrong.value = e;
  }
}

/** forget ends the steps that can be undone: another cluster is looked at. */
export function forget(): void {
  settle();
  done.value = [];
  undone.value = [];
  saved.value = null;
  savedWrong.value = null;
}
