// What the service says of the changes that are tried. At most one request is under way, the newest change
// wins, and an older answer never takes the place of a newer one.
import { batch, computed, effect, signal, untracked } from "@preact/signals";
import { ask, get, Problem } from "../api/client.ts";
import type { Problem as PlannedProblem, ScenarioAnswer, ScenarioOutcome, WhatIf } from "../api/contract.ts";
import { change, type Edit, inOrder, write } from "../model/scenario.ts";
import { current, session } from "./cluster.ts";
import { base, edits, follow, forget, pins, wantedBase } from "./edits.ts";
import { rewrite, route, stay } from "./route.ts";
import { work } from "./working.ts";

export interface Answered {
  /** The changes that it answers. */
  edits: Edit[];
  of: string;
  base: ScenarioOutcome;
  scenario: ScenarioAnswer;
  milliseconds: number;
}

export const answered = signal<Answered | null>(null);
/** shown is the answer, if it is about the plan that is compared with. */
export const shown = computed(() => (answered.value && base.value && answered.value.of.startsWith(keyOfEdits(base.value.number, [])) ? answered.value : null));
export const wrong = signal<Problem | null>(null);
/** Somebody did not want to wait for the answer. */
export const stopped = signal(false);

/** answers are those that were had, pins' among them; by plan and changes. */
const answers = new Map<string, Answered>();
const mostAnswers = 50;
export const summaries = signal<ReadonlyMap<string, ScenarioAnswer>>(new Map());

export function keyOfEdits(number: number, e: Edit[]): string {
  return `${number} ${write(inOrder(e)).join(" ")}`;
}

let underWay: { began: number; abort: AbortController } | null = null;
let asking = "";
let painted = 0; // when the last answer came

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
  return base.value && route.value.page === "explore" ? keyOfEdits(base.value.number, edits.value) : "";
}

function unasked(): boolean {
  return newest() !== "" && newest() !== asking;
}

let busy = false;

/** send asks until the newest question and those of the pins are answered, one request at a time. */
async function send(): Promise<void> {
  if (busy) return;
  busy = true;
  try {
    for (;;) {
      if (unasked()) {
        if (!recall()) {
          await pace();
          await sendNewest();
        }
      } else if (!(await sendPins())) return;
    }
  } finally {
    busy = false;
  }
}

/** recall shows an answer that was had before. */
function recall(): boolean {
  const known = answers.get(newest());
  if (!known) return false;
  asking = known.of;
  batch(() => {
    answered.value = known;
    wrong.value = null;
    stopped.value = false;
  });
  return true;
}

/** given waits for an answer that can be given up. */
async function given<T>(from: (signal: AbortSignal) => Promise<T>, tell: boolean): Promise<T | null> {
  const abort = new AbortController();
  underWay = { began: performance.now(), abort };
  const end = work(() => {
    stopped.value = tell;
    abort.abort();
  });
  try {
    return await from(abort.signal);
  } catch (e) {
    if (e instanceof DOMException && e.name === "AbortError") return null;
    if (!(e instanceof Problem)) throw e;
    wrong.value = e;
    if (e.status === 429 || e.status === 503 || e.status === 0) {
      asking = ""; // again, after a pause
      await new Promise((then) => setTimeout(then, Math.max(1, e.retryAfter) * 1000));
    }
    return null;
  } finally {
    underWay = null;
    end();
  }
}

const question = "POST /v1/clusters/{cluster}/what-if";

/** questionOf asks what changes of a stored plan's inputs come to. */
function questionOf(from: { number: number; problem: PlannedProblem }, all: { name: string; edits: Edit[] }[], detail: "full" | "classes" | "summary") {
  const scenarios = all.map(({ name, edits }) => ({ name, changes: inOrder(edits).map((e) => change(e, from.problem)) }));
  return { path: { cluster: route.peek().cluster }, body: { plan: from.number, detail, scenarios } };
}

/** inFull is an answer with both plans. */
export async function inFull(a: Answered): Promise<WhatIf> {
  return (await ask(question, questionOf(base.value!, [{ name: "what if", edits: a.edits }], "full")))!.value;
}

async function sendNewest(): Promise<void> {
  const of = newest();
  const from = base.value;
  if (!of || !from) return;
  asking = of;
  const tried = edits.value;
  const began = performance.now();
  const answer = await given((signal) => ask(question, { ...questionOf(from, [{ name: "what if", edits: tried }], "classes"), signal }), true);
  const scenario = answer?.value.scenarios[0];
  if (!answer || !scenario) return;
  painted = performance.now();
  const mine = { edits: tried, of, base: answer.value.base, scenario, milliseconds: painted - began };
  answers.set(of, mine);
  if (answers.size > mostAnswers) answers.delete(answers.keys().next().value!);
  batch(() => {
    answered.value = mine;
    wrong.value = null;
    stopped.value = false;
  });
}

/** sendPins asks for what is not known of the pins; false is nothing to ask. */
async function sendPins(): Promise<boolean> {
  const b = base.value;
  if (!b || route.value.page !== "explore") return false;
  const known = summaries.value;
  const open = pins.value.filter((p) => !known.has(keyOfEdits(b.number, p.edits)));
  if (open.length === 0) return false;
  await pace();
  const answer = await given((signal) => ask(question, { ...questionOf(b, open.map((p) => ({ name: p.letter, edits: p.edits })), "summary"), signal }), false);
  if (!answer) return unasked();
  const all = new Map(summaries.value);
  for (const [i, p] of open.entries()) all.set(keyOfEdits(b.number, p.edits), answer.value.scenarios[i]!);
  summaries.value = all;
  return true;
}

const patience = 150; // milliseconds after which an answer that is out of date is given up
const starving = 1000; // unless nothing has been answered for so long

/** begin loads the plan that the address compares with, and answers every change of the address. */
export function begin(): () => void {
  const stopFollowing = follow();
  const stopLoading = effect(() => {
    const name = route.value.cluster;
    const wanted = wantedBase.value;
    const now = current.value;
    const have = untracked(() => base.value);
    const follows = untracked(() => edits.value.length === 0 && pins.value.length === 0); // there is nothing yet that is compared
    if (!now || now.plan.cluster !== name || (have && (wanted === 0 ? !follows || have.number === now.plan.number : have.number === wanted))) return;
    if (!wanted || wanted === now.plan.number) base.value = { number: now.plan.number, problem: now.problem, plan: now.plan.plan };
    else void load(name, wanted);
  });
  const stopSending = effect(() => {
    edits.value;
    pins.value;
    base.value;
    untracked(() => {
      const now = performance.now();
      if (underWay && unasked() && now - underWay.began > patience && now - painted < starving) underWay.abort.abort();
      void send();
    });
  });
  const stopReturning = effect(() => {
    session.value;
    untracked(() => {
      if (wrong.value?.status !== 401) return;
      asking = ""; // what was asked while nobody was signed in
      void send();
    });
  });
  return () => {
    stopReturning();
    stopFollowing();
    stopLoading();
    stopSending();
    underWay?.abort.abort();
    forget();
    base.value = null;
    answered.value = null;
    wrong.value = null;
    stopped.value = false;
    summaries.value = new Map();
    answers.clear();
    asking = "";
  };
}

async function load(name: string, number: number): Promise<void> {
  const here = stay();
  const counts = () => here() && wantedBase.value === number;
  try {
    const of = { cluster: name, plan: String(number) };
    const [problem, { plan }] = await Promise.all([get("GET /v1/clusters/{cluster}/plans/{plan}/problem", of), get("GET /v1/clusters/{cluster}/plans/{plan}", of)]);
    if (counts()) base.value = { number, problem, plan };
  } catch (e) {
    if (!(e instanceof Problem)) throw e;
    if (counts()) wrong.value = e;
  }
}

/** compareWith takes another plan to compare with. */
export function compareWith(number: number): void {
  rewrite({ base: [String(number)] }, true);
}
