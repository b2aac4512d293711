// A scenario as the address holds it: ch=<what>:<name>:<op><value>, once for each change, where op is = for a
// value and x for a factor. The service is asked with the same changes in its own words.
import type { Problem, ProblemClass, ScenarioChange } from "../api/contract.ts";
import { decimal, plain, type Units, units } from "./money.ts";

export type What = "deadline" | "demand" | "promised" | "penalty" | "price" | "contract_price" | "quota" | "contract" | "budget" | "bound";

export interface Edit {
  what: What;
  /** A class, a contract or how VMs are bought; * is all. */
  name: string;
  op: "=" | "x";
  /** In seconds, jobs, VMs, a word: what the service takes; a budget is for a month, and none is no limit. */
  value: string;
}

const whats: readonly What[] = ["deadline", "demand", "promised", "penalty", "price", "contract_price", "quota", "contract", "budget", "bound"];
const bounds = ["lower", "average", "upper", "calibrated"] as const;
type Bound = (typeof bounds)[number];

/** readable says whether what is changed can have the value. */
function readable(what: What, op: string, value: string): boolean {
  if (what === "bound") return op === "=" && bounds.includes(value as Bound);
  if (value === "none") return op === "=" && (what === "quota" || what === "budget");
  return /^\d{1,15}(?:\.\d{1,9})?$/.test(value);
}

/** longestText is how long one change may be in an address: longer than the longest names make it. */
export const longestText = 4000;

/** tooLarge is from where on numbers are no value. */
export const tooLarge = 1e15;

/** valueText is a number as addresses have it, with nine digits and places at most. */
export function valueText(v: number): string {
  return plain(Math.min(Number(v.toPrecision(9)), tooLarge - 1));
}

/** key names what an edit changes: of two edits with one key the later counts. */
export function keyOf(e: { what: What; name: string }): string {
  return `${e.what}:${e.name}`;
}

/** inOrder puts what changes all before what changes one: the service carries changes out in their order. */
export function inOrder(edits: Edit[]): Edit[] {
  const order = (e: Edit) => `${e.name === "*" ? 0 : 1}${keyOf(e)}`;
  return [...edits].sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

export function write(edits: Edit[]): string[] {
  return edits.map((e) => `${e.what}:${encodeURIComponent(e.name)}:${e.op}${e.value}`);
}

/** read takes what can be read and gives back the rest as it stands. */
export function read(texts: string[]): { edits: Edit[]; unread: string[] } {
  const edits = new Map<string, Edit>();
  const unread: string[] = [];
  for (const text of texts) {
    const m = text.length > longestText ? null : /^(\w+):([^:]*):([=x])([\w.]+)$/.exec(text);
    const name = m && readName(m[2]!);
    if (!m || name === null || !whats.includes(m[1] as What) || !readable(m[1] as What, m[3]!, m[4]!)) {
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

/** isThere says whether a problem has what an edit changes. */
export function isThere(e: Edit, p: Problem): boolean {
  switch (e.what) {
    case "contract":
    case "contract_price":
      return (p.supply.contracts ?? []).some((c) => c.name === e.name);
    case "price":
      return e.name === "spot" ? p.supply.spot !== undefined : p.supply.on_demand !== undefined;
    case "quota":
      return p.supply.on_demand !== undefined;
    case "budget":
    case "bound":
      return true;
  }
  return e.name === "*" || p.classes.some((c) => c.name === e.name);
}

const monthSeconds = 730n * 3600n;

/** upTo divides and rounds up: a limit that people type in a month's money is never less in a period's. */
const upTo = (u: Units, by: bigint): Units => (u + by - 1n) / by;

/** monthly is a limit of a period, for a month, rounded up to a cent so that it is enough. */
export function monthly(amount: string, p: Problem): string {
  const cent = 10_000_000n;
  return decimal(upTo(upTo(units(amount) * monthSeconds, BigInt(p.period_s ?? 3600)), cent) * cent);
}

/** change is an edit in the service's words. */
export function change(e: Edit, p: Problem): ScenarioChange {
  const what = e.what === "contract_price" ? "price" : e.what;
  const out: ScenarioChange = { what };
  if (e.what === "bound") return { ...out, bound: e.value as Bound };
  if (e.op === "x") out.factor = Number(e.value);
  else if (e.value !== "none") out.value = e.what === "budget" ? decimal(upTo(units(e.value) * BigInt(p.period_s ?? 3600), monthSeconds)) : e.value;
  if (e.what === "contract" || e.what === "contract_price") out.contract = e.name;
  else if (e.what === "price") out.purchase = e.name === "spot" ? "spot" : "on_demand";
  else if (e.what !== "quota" && e.what !== "budget" && e.name !== "*") out.class = e.name;
  return out;
}

/** editOf is a change in the address's words; null is one that the page cannot make. */
export function editOf(c: ScenarioChange, p: Problem): Edit | null {
  if (c.what === "bound") return c.bound ? { what: "bound", name: "*", op: "=", value: c.bound } : null;
  const op = c.factor === undefined ? "=" : "x";
  const value = c.factor === undefined ? (c.value ?? "none") : String(c.factor);
  const what: What = c.what === "price" && c.contract ? "contract_price" : (c.what as What);
  if (!whats.includes(what) || c.vm_type || !readable(what, op, value)) return null;
  const names: Partial<Record<What, string>> = { quota: "on_demand", budget: "vm_month", price: c.purchase ?? "on_demand" };
  return { what, name: names[what] ?? c.contract ?? c.class ?? "*", op, value: what === "budget" && op === "=" && value !== "none" ? monthly(value, p) : value };
}

/** Knob is something that can be changed, with what it is now. */
export interface Knob {
  what: What;
  name: string;
  label: string;
  /** Under which heading it is offered. */
  group: "Classes" | "Prices" | "Contracts" | "Limits";
  kind: "duration" | "count" | "money" | "percent" | "switch";
  now: number | null;
  /** Where the plan changes its mind, if that is known. */
  flip: number | null;
  least: number;
  most: number;
  scale: "linear" | "log";
  /** It is a limit, which need not be there; what it is first set to. */
  first?: number;
}

/** stepOf is by how much an arrow key moves from a value. */
export function stepOf(k: Knob, value: number): number {
  if (k.kind === "duration") return value < 300 ? 5 : value < 3600 ? 30 : 300;
  if (k.kind === "count") return 1;
  if (k.kind === "percent") return 0.05;
  return Math.max(0.001, ((k.now ?? k.first ?? k.most) || k.most) / 100);
}

/** Known is what the plan that is compared with says about a problem. */
export interface Known {
  /** Where it changes its mind, by what is changed. */
  flips: ReadonlyMap<string, number>;
  vms: number;
  onDemand: number;
  /** The VM bill of a month. */
  bill: number;
}

/** far is by which part a knob has to move until the plan changes its mind. */
const far = (k: Knob) => (k.flip === null || !k.now ? Infinity : Math.abs(k.flip / k.now - 1));

/** knobs are what a problem lets one change, those first that change the plan soonest. */
export function knobs(p: Problem, known: Known): Knob[] {
  const out: Knob[] = [];
  for (const c of p.classes) out.push(...ofClass(c));
  const all = (what: What, label: string) => out.push({ what, name: "*", label, group: "Classes", kind: "percent", now: 1, flip: null, least: 0, most: 3, scale: "linear" });
  all("demand", "Jobs of all classes");
  all("deadline", "Deadlines of all classes");
  all("penalty", "Values of a refused job, all classes");
  out.push({ what: "bound", name: "*", label: "Plan for bad runs: count on the cautious time", group: "Limits", kind: "switch", now: p.options?.bound === "upper" ? 1 : 0, flip: null, least: 0, most: 1, scale: "linear" });
  const price = (what: What, name: string, label: string, text: string) => {
    const now = Number(text);
    out.push({ what, name, label, group: "Prices", kind: "money", now, flip: null, least: 0, most: Math.max(3 * now, 0.01), scale: "linear" });
  };
  if (p.supply.on_demand) {
    price("price", "on_demand", "On-demand price", p.supply.on_demand.price);
    const quota = p.supply.on_demand.quota ?? null;
    const first = Math.max(quota ?? known.onDemand, 1);
    out.push({ what: "quota", name: "on_demand", label: "Limit the VMs on demand", group: "Limits", kind: "count", now: quota, flip: null, least: 0, most: Math.max(Math.ceil(1.5 * first), 10), scale: "linear", first });
  }
  if (p.supply.spot) price("price", "spot", "Spot price", p.supply.spot.price);
  for (const k of p.supply.contracts ?? []) {
    out.push({ what: "contract", name: k.name, label: `VMs in ${k.name}`, group: "Contracts", kind: "count", now: k.vms, flip: null, least: 0, most: Math.max(2 * k.vms, known.vms, 10), scale: "linear" });
    price("contract_price", k.name, `Price of a VM in ${k.name}`, k.price);
  }
  if (!p.supply.vm_types?.length) {
    const budget = p.budget?.vm_cost == null ? null : Number(monthly(p.budget.vm_cost, p));
    const first = Math.max(Math.ceil(budget ?? known.bill), 1);
    out.push({ what: "budget", name: "vm_month", label: "Limit the VM bill", group: "Limits", kind: "money", now: budget, flip: null, least: 0, most: 1.5 * first, scale: "linear", first });
  }
  for (const k of out) k.flip = known.flips.get(keyOf(k)) ?? null;
  return out.sort((a, b) => (far(a) === far(b) ? 0 : far(a) - far(b)));
}

function ofClass(c: ProblemClass): Knob[] {
  const of = { name: c.name, group: "Classes" as const, scale: "linear" as const };
  const out: Knob[] = [];
  const penalty = Number(c.penalty);
  if (c.deadline_s) out.push({ ...of, what: "deadline", label: `Deadline of ${c.name}`, kind: "duration", now: c.deadline_s, flip: null, least: c.deadline_s / 4, most: c.deadline_s * 4, scale: "log" });
  out.push({ ...of, what: "penalty", label: `Value of a refused job of ${c.name}`, kind: "money", now: penalty, flip: null, least: 0, most: Math.max(4 * penalty, 0.01) });
  out.push({ ...of, what: "demand", label: `Most jobs of ${c.name}`, kind: "count", now: c.jobs.max, flip: null, least: 0, most: Math.max(3 * c.jobs.max, 3) });
  out.push({ ...of, what: "promised", label: `Promised jobs of ${c.name}`, kind: "count", now: c.jobs.min ?? 0, flip: null, least: 0, most: Math.max(c.jobs.max, 1) });
  return out;
}

/** axisOf is what a knob is called as the axis of a curve; null is one that is on or off. */
export function axisOf(k: { what: What; name: string }): string | null {
  if (k.what === "bound") return null;
  const whole = { price: "on_demand", quota: "on_demand", budget: "vm_month" }[k.what as string] ?? "*";
  return k.name === whole ? k.what : `${k.what}:${k.name}`;
}

/** places of a slider, as whole numbers of the input element. */
export const places = 400;

/** partOf is how far along a knob's slider a value stands, from 0 to 1. */
export function partOf(k: Knob, value: number): number {
  const part = k.scale === "log" ? Math.log(value / k.least) / Math.log(k.most / k.least) : (value - k.least) / (k.most - k.least);
  return Math.min(Math.max(part, 0), 1);
}

export function toPlace(k: Knob, value: number): number {
  return Math.round(partOf(k, value) * places);
}

export function fromPlace(k: Knob, place: number): number {
  const part = place / places;
  const value = k.scale === "log" ? k.least * (k.most / k.least) ** part : k.least + part * (k.most - k.least);
  return rounded(k, value);
}

/** rounded is the value that a slider can stand at next to this one. */
export function rounded(k: Knob, value: number): number {
  const step = stepOf(k, value);
  return Number(Math.min(Math.max(Math.round(value / step) * step, k.least), k.most).toPrecision(9));
}
