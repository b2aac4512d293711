// The scenario that is being tried: its changes stand in the address, its answer comes from the service. At
// most one request is under way; the newest change wins.
import { batch, computed, effect, signal, untracked } from "@preact/signals";
import { ask, get, Problem } from "../api/client.ts";
import type { Problem as PlannedProblem, ScenarioAnswer, ScenarioOutcome } from "../api/contract.ts";
import { change, type Edit, keyOf, read, write } from "../model/scenario.ts";
import { current } from "./cluster.ts";
import { choose, chooseAll, query, route } from "./route.ts";

export interface Answered {
  /** The changes that it answers. */
  of: string;
  base: ScenarioOutcome;
  scenario: ScenarioAnswer;
  milliseconds: number;
}

/** base is the plan that is compared with, and what it was asked. */
export const base = signal<{ number: number; problem: PlannedProblem } | null>(null);
export const answered = signal<Answered | null>(null);
export const wrong = signal<Problem | null>(null);
export const slow = signal(0); // since when a request is under way, if for long

const inAddress = computed(() => read(query.value.getAll("ch")));
const moving = signal<Edit[] | null>(null); // not in the address yet
export const edits = computed(() => moving.value ?? inAddress.value.edits);
export const unread = computed(() => inAddress.value.unread);

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

function settle(): void {
  clearTimeout(timer);
  const next = moving.value;
  if (!next) return;
  chooseAll("ch", write(next));
  if (base.value && !query.value.get("base")) choose("base", String(base.value.number));
  moving.value = null;
}

/** move changes one thing while a control is held; commit makes a step of it that can be undone. */
export function move(e: Edit | null, key: string): void {
  before ??= edits.value;
  const rest = edits.value.filter((x) => keyOf(x) !== key);
  put(e ? [...rest, e] : rest);
}

export function commit(): void {
  if (before && write(before).join() !== write(edits.value).join()) {
    done.value = [...done.value, before].slice(-most);
    undone.value = [];
  }
  before = null;
  settle();
}

export function undo(): void {
  const last = done.value.at(-1);
  if (!last) return;
  undone.value = [...undone.value, edits.value];
  done.value = done.value.slice(0, -1);
  put(last);
  settle();
}

export function redo(): void {
  const next = undone.value.at(-1);
  if (!next) return;
  done.value = [...done.value, edits.value];
  undone.value = undone.value.slice(0, -1);
  put(next);
  settle();
}

export function startOver(): void {
  before = edits.value;
  put([]);
  commit();
}

let underWay = false;
let asking = "";

// The service answers so many solves of a key in a second, and lets the next one wait for one.
const perSecond = 19;
const sent: number[] = [];

async function pace(): Promise<void> {
  const first = sent.length < perSecond ? 0 : sent.shift()!;
  const wait = first ? first + 1000 - performance.now() : 0;
  if (wait > 0) await new Promise((then) => setTimeout(then, wait));
  sent.push(performance.now());
}

/** newest is the question that should be answered; "" is none. */
function newest(): string {
  return base.value && route.value.page === "what-if" ? `${base.value.number} ${write(edits.value).join(" ")}` : "";
}

/** send asks until the newest question is answered, one request at a time. */
async function send(): Promise<void> {
  if (underWay) return;
  underWay = true;
  try {
    while (newest() !== "" && newest() !== asking) {
      await pace();
      await sendNewest();
    }
  } finally {
    underWay = false;
  }
}

async function sendNewest(): Promise<void> {
  const of = newest();
  const problem = base.value?.problem;
  if (!of || !problem) return;
  asking = of;
  const changes = edits.value.map((e) => change(e, problem));
  const began = performance.now();
  const late = window.setTimeout(() => (slow.value = Date.now()), 300);
  try {
    const answer = await ask("POST /v1/what-if", { path: {}, body: { problem, scenarios: [{ name: "what if", changes }], detail: "full" } });
    batch(() => {
      const scenario = answer!.value.scenarios[0];
      if (scenario) answered.value = { of, base: answer!.value.base, scenario, milliseconds: performance.now() - began };
      wrong.value = null;
    });
  } catch (e) {
    if (!(e instanceof Problem)) throw e;
    wrong.value = e;
    if (e.status === 429 || e.status === 503 || e.status === 0) {
      asking = ""; // again, after a pause
      await new Promise((then) => setTimeout(then, Math.max(1, e.retryAfter) * 1000));
    }
  } finally {
    clearTimeout(late);
    slow.value = 0;
  }
}

/** begin loads the plan that the address compares with, and answers every change of the address. */
export function begin(): () => void {
  const stopLoading = effect(() => {
    const name = route.value.cluster;
    const wanted = Number(query.value.get("base") ?? 0);
    const now = current.value;
    const have = untracked(() => base.value);
    if (!now || now.plan.cluster !== name || (have && (wanted === 0 || have.number === wanted))) return;
    if (!wanted || wanted === now.plan.number) base.value = { number: now.plan.number, problem: now.problem };
    else void load(name, wanted);
  });
  const stopSending = effect(() => {
    edits.value;
    base.value;
    untracked(() => void send());
  });
  return () => {
    stopLoading();
    stopSending();
    base.value = null;
    answered.value = null;
    asking = "";
  };
}

async function load(name: string, number: number): Promise<void> {
  try {
    const problem = await get("GET /v1/clusters/{cluster}/plans/{plan}/problem", { cluster: name, plan: String(number) });
    base.value = { number, problem };
  } catch (e) {
    if (!(e instanceof Problem)) throw e;
    wrong.value = e;
  }
}
