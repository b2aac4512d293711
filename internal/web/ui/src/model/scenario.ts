// A scenario as the address holds it: ch=<what>:<name>:<op><value>, once for each change, where op is = for a
// value and x for a factor. The service is asked with the same changes in its own words.
import type { Problem, ProblemClass, ScenarioChange } from "../api/contract.ts";

export type What = "deadline" | "demand" | "promised" | "penalty" | "price" | "contract_price" | "quota" | "contract" | "budget";

export interface Edit {
  what: What;
  /** A class, a contract or how VMs are bought; * is all. */
  name: string;
  op: "=" | "x";
  /** In seconds, jobs, VMs, per cent of nothing: what the service takes; a budget is for a month. */
  value: string;
}

const whats: readonly What[] = ["deadline", "demand", "promised", "penalty", "price", "contract_price", "quota", "contract", "budget"];

/** key names what an edit changes: of two edits with one key the later counts. */
export function keyOf(e: { what: What; name: string }): string {
  return `${e.what}:${e.name}`;
}

export function write(edits: Edit[]): string[] {
  return edits.map((e) => `${e.what}:${encodeURIComponent(e.name)}:${e.op}${e.value}`);
}

/** read takes what can be read and gives back the rest as it stands. */
export function read(texts: string[]): { edits: Edit[]; unread: string[] } {
  const edits = new Map<string, Edit>();
  const unread: string[] = [];
  for (const text of texts) {
    const m = /^(\w+):([^:]*):([=x])(\d{1,15}(?:\.\d{1,9})?)$/.exec(text);
    const name = m && readName(m[2]!);
    if (!m || name === null || !whats.includes(m[1] as What)) {
      unread.push(text);
      continue;
    }
    const e: Edit = { what: m[1] as What, name, op: m[3] as "=" | "x", value: m[4]! };
    edits.set(keyOf(e), e);
  }
  return { edits: [...edits.values()], unread };
}

function readName(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

const monthHours = 730;

/** change is an edit in the service's words. */
export function change(e: Edit, p: Problem): ScenarioChange {
  const what = e.what === "contract_price" ? "price" : e.what;
  const out: ScenarioChange = { what };
  if (e.op === "x") out.factor = Number(e.value);
  else out.value = e.value;
  switch (e.what) {
    case "contract":
    case "contract_price":
      out.contract = e.name;
      break;
    case "price":
      out.purchase = e.name === "spot" ? "spot" : "on_demand";
      break;
    case "quota":
      break;
    case "budget":
      out.value = String((Number(e.value) / (monthHours * 3600)) * (p.period_s ?? 3600));
      break;
    default:
      if (e.name !== "*") out.class = e.name;
  }
  return out;
}

/** Knob is something that can be changed, with what it is now. */
export interface Knob {
  what: What;
  name: string;
  label: string;
  kind: "duration" | "count" | "money" | "percent";
  now: number | null;
  /** Where the plan changes its mind, if that is known. */
  flip: number | null;
  least: number;
  most: number;
  scale: "linear" | "log";
  step: number;
}

/** knobs are what a problem lets one change, in the order in which people are shown them. */
export function knobs(p: Problem, flips: Map<string, { deadline: number | null; penalty: number | null }>): Knob[] {
  const out: Knob[] = [];
  const hours = (p.period_s ?? 3600) / 3600;
  for (const c of p.classes) out.push(...ofClass(c, flips.get(c.name)));
  out.push({ what: "demand", name: "*", label: "Jobs of all classes", kind: "percent", now: 1, flip: null, least: 0, most: 3, scale: "linear", step: 0.05 });
  if (p.supply.on_demand) {
    const price = Number(p.supply.on_demand.price);
    out.push({ what: "price", name: "on_demand", label: "On-demand price", kind: "money", now: price, flip: null, least: 0, most: Math.max(3 * price, 0.01), scale: "linear", step: step(price) });
    const quota = p.supply.on_demand.quota ?? null;
    out.push({ what: "quota", name: "on_demand", label: "Most VMs on demand", kind: "count", now: quota, flip: null, least: 0, most: Math.max(2 * (quota ?? 50), 10), scale: "linear", step: 1 });
  }
  for (const k of p.supply.contracts ?? []) {
    out.push({ what: "contract", name: k.name, label: `VMs in ${k.name}`, kind: "count", now: k.vms, flip: null, least: 0, most: Math.max(2 * k.vms, 10), scale: "linear", step: 1 });
  }
  const budget = p.budget?.vm_cost == null ? null : (Number(p.budget.vm_cost) / hours) * monthHours;
  out.push({ what: "budget", name: "vm_month", label: "Limit of the VM bill a month", kind: "money", now: budget, flip: null, least: 0, most: Math.max(2 * (budget ?? 10_000), 100), scale: "linear", step: 10 });
  return out;
}

function step(value: number): number {
  return Math.max(0.001, Number((value / 100).toPrecision(1)));
}

function ofClass(c: ProblemClass, flip: { deadline: number | null; penalty: number | null } | undefined): Knob[] {
  const out: Knob[] = [];
  const penalty = Number(c.penalty);
  if (c.deadline_s)
    out.push({
      what: "deadline",
      name: c.name,
      label: `Deadline of ${c.name}`,
      kind: "duration",
      now: c.deadline_s,
      flip: flip?.deadline ?? null,
      least: c.deadline_s / 4,
      most: c.deadline_s * 4,
      scale: "log",
      step: c.deadline_s < 300 ? 5 : c.deadline_s < 3600 ? 30 : 300,
    });
  out.push({ what: "penalty", name: c.name, label: `Cost of refusing ${c.name}`, kind: "money", now: penalty, flip: flip?.penalty ?? null, least: 0, most: Math.max(4 * penalty, 0.01), scale: "linear", step: step(penalty) });
  out.push({ what: "demand", name: c.name, label: `Most jobs of ${c.name}`, kind: "count", now: c.jobs.max, flip: null, least: 0, most: Math.max(3 * c.jobs.max, 3), scale: "linear", step: 1 });
  return out;
}

/** places of a slider, as whole numbers of the input element. */
export const places = 400;

export function toPlace(k: Knob, value: number): number {
  const part = k.scale === "log" ? Math.log(value / k.least) / Math.log(k.most / k.least) : (value - k.least) / (k.most - k.least);
  return Math.round(Math.min(Math.max(part, 0), 1) * places);
}

export function fromPlace(k: Knob, place: number): number {
  const part = place / places;
  const value = k.scale === "log" ? k.least * (k.most / k.least) ** part : k.least + part * (k.most - k.least);
  return Number((Math.round(value / k.step) * k.step).toPrecision(12));
}
