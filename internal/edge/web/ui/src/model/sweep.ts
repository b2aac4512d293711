// What a curve can be drawn over, and how its points are read, written into files and tried in What if.
import type { Sweep, SweepPoint, Vary } from "../api/contract.ts";
import { eachAtRate, decimal, headline, one, plain, price, scaled, units, type Units } from "./money.ts";
import { axisOf, type Edit, type Knob, valueText, type What } from "./scenario.ts";
import type { Column } from "./table.ts";
import { duration } from "./time.ts";
import { count, percentAtMost } from "./words.ts";

/** Parameter is a knob as the axis of a curve: by a factor of what it is now, in per cent, or by its own number. */
export interface Parameter {
  /** As the address has it: deadline, or deadline:nightly-etl. */
  key: string;
  label: string;
  what: What;
  name: string;
  by: "factor" | "value";
  unit: "%" | "VMs" | "jobs" | "a month";
  /** In the unit; null is no limit. */
  now: number | null;
  from: number;
  to: number;
  /** What a hundred per cent are, as changes have it. */
  whole: number;
  /** Whether that is a time. */
  timed: boolean;
}

const monthHours = 730n;
const labels: { [W in What]?: string } = { budget: "Limit of the VM bill", quota: "Most VMs on demand" };
const counted: { [W in What]?: Parameter["unit"] } = { contract: "VMs", quota: "VMs", promised: "jobs", budget: "a month" };

/** parameterOf is a knob as an axis; null is one that is on or off. */
export function parameterOf(k: Knob): Parameter | null {
  const key = axisOf(k);
  if (key === null) return null;
  const of = { key, label: labels[k.what] ?? k.label, what: k.what, name: k.name, whole: k.now ?? 1, timed: k.kind === "duration" };
  const unit = counted[k.what];
  if (!unit) return { ...of, by: "factor", unit: "%", now: 100, from: k.what === "penalty" ? 0 : 50, to: 200 };
  const most = k.what === "promised" ? k.most : k.what === "budget" ? (k.now ? 2 * k.now : Math.max(20_000, 2 * (k.first ?? 0))) : Math.max(2 * (k.now ?? Math.max(k.first ?? 0, 50)), 10);
  return { ...of, by: "value", unit, now: k.now, from: 0, to: Math.round(most) };
}

/** placeOf is where a change stands on its axis; null is no limit. */
export function placeOf(of: Parameter, e: Edit): number | null {
  if (e.value === "none") return null;
  const share = e.op === "x" ? Number(e.value) : Number(e.value) / of.whole;
  return of.by === "factor" ? 100 * share : e.op === "x" ? (of.now ?? 0) * share : Number(e.value);
}

/** Range is what of a parameter is asked for, in its unit. */
export interface Range {
  of: Parameter;
  from: number;
  to: number;
  n: number;
}

/** coarse is how many values of a parameter a grid has: those of a factor and of few VMs or jobs have what it is now among them. */
export function coarse(of: Parameter): number {
  if (of.unit === "%") return Math.round((of.to - of.from) / 25) + 1;
  return of.unit !== "a month" && of.to - of.from <= 10 ? of.to - of.from + 1 : 7;
}

/** sent is a number in the service's words. */
function sent(of: Parameter, x: number, period: number): string {
  if (of.unit === "%") return plain(x / 100);
  if (of.unit === "VMs" || of.unit === "jobs") return String(Math.round(x));
  return plain(x * (period / (Number(monthHours) * 3600)));
}

/** shownOf is a number of the service's in the unit of its parameter. */
export function shownOf(of: Parameter, x: number, period: number): number {
  if (of.unit === "%") return Number((x * 100).toPrecision(10));
  return of.unit !== "a month" ? x : Number((x * ((Number(monthHours) * 3600) / period)).toPrecision(10));
}

/** vary is a range in the service's words. */
export function vary(r: Range, period: number): Vary {
  const { what, name, by } = r.of;
  const v: Vary = { what: what === "contract_price" ? "price" : (what as Vary["what"]), by, from: sent(r.of, r.from, period), to: sent(r.of, r.to, period), steps: r.n };
  if (what.startsWith("contract")) v.contract = name;
  else if (what === "price" && name === "spot") v.purchase = "spot";
  else if (!["price", "quota", "budget"].includes(what) && name !== "*") v.class = name;
  return v;
}

/** axisOfVary is what is varied as the address has it. */
export function axisOfVary(v: Vary): string {
  const name = v.contract ?? v.class ?? (v.purchase === "spot" ? "spot" : undefined);
  const what = v.what === "price" && v.contract !== undefined ? "contract_price" : v.what;
  return name === undefined ? what : `${what}:${name}`;
}

/** numbers are the values of what is varied, to the last place, as the service has them. */
export function numbers(v: Vary): string[] {
  if (v.values) return v.values.map(String);
  const from = units(String(v.from));
  const span = units(String(v.to)) - from;
  const last = BigInt((v.steps ?? 2) - 1);
  const whole = v.by === "value" && ["demand", "promised", "quota", "contract"].includes(v.what);
  const out: string[] = [];
  for (let k = 0n; k <= last; k++) {
    const x = from + scaled(span, k, last);
    const text = decimal(whole ? scaled(x, 1n, one) * one : x);
    if (out.at(-1) !== text) out.push(text);
  }
  return out;
}

/** place is a value of a parameter as people read it. */
export function place(of: Parameter, x: number, currency: string): string {
  const short = String(Number(x.toPrecision(4)));
  if (of.unit === "VMs") return short === "1" ? "1 VM" : `${short} VMs`;
  if (of.unit === "jobs") return short === "1" ? "1 job" : `${short} jobs`;
  if (of.unit === "a month") return `${headline(units(x.toFixed(2)), currency)} a month`;
  return `${short} %${of.timed ? ` (${duration((of.whole * x) / 100)})` : ""}`;
}

/** heading is the same in a few letters, over a column. */
export const heading = (of: Parameter, x: number, currency: string): string => (of.timed ? duration((of.whole * x) / 100) : place(of, x, currency));

/** edit is a place on an axis as a change. */
export function edit({ what, name, by }: Parameter, x: number): Edit {
  return by === "factor" ? { what, name, op: "x", value: valueText(x / 100) } : { what, name, op: "=", value: valueText(x) };
}

export const metrics = ["cost", "vms", "served", "worth"] as const;
export type Metric = (typeof metrics)[number];
export const metricTexts: Record<Metric, string> = { cost: "Bill and value refused", vms: "VMs", served: "Jobs served", worth: "Price of a VM in the relaxation" };

export const possible = (p: SweepPoint): boolean => p.status !== "infeasible";

/** monthly is an amount of a planning period for a month. */
export function monthly(amount: string, period: number): Units {
  return scaled(units(amount), monthHours * 3600n, BigInt(period));
}

/** hourly is an amount of a planning period for an hour. */
function hourly(amount: string, period: number): Units {
  return scaled(units(amount), 3600n, BigInt(period));
}

/** height is where a point stands in a chart; null where it has no such figure. */
export function height(m: Metric, p: SweepPoint): number | null {
  if (!possible(p)) return null;
  if (m === "cost") return Number(p.cost.per_month);
  if (m === "vms") return p.vms.total;
  if (m === "served") return p.admitted;
  return p.price?.high == null ? null : Number(p.price.high) / (p.cost.period_s / 3600);
}

/** figure is the same as people read it. */
export function figure(m: Metric, p: SweepPoint): string {
  if (!possible(p)) return "no";
  if (m === "cost") return headline(units(p.cost.per_month), p.cost.currency);
  if (m === "vms") return String(p.vms.total);
  if (m === "served") return String(p.admitted);
  return p.price?.high == null ? "–" : price(hourly(p.price.high, p.cost.period_s), p.cost.currency);
}

/** readPoint is what a point says when it is read. */
export function readPoint(of: Parameter[], s: Sweep, p: SweepPoint): string {
  const where = p.parameters.map((x, i) => place(of[i]!, shownOf(of[i]!, x, s.period_s), s.currency)).join(", ");
  if (!possible(p)) return `${where} · no plan: ${p.conflict}`;
  const gap = p.gap > 0 ? ` · within ${percentAtMost(p.gap)}` : "";
  return `${where} · VM bill ${headline(monthly(p.cost.bill, s.period_s), s.currency)} ${eachAtRate.month}${units(p.cost.penalties) > 0n ? `, value refused ${headline(monthly(p.cost.penalties, s.period_s), s.currency)}` : ""} · ${p.vms.total} VMs · ${p.admitted} jobs served${gap}`;
}

/** cheapest is the first of the points where bill and value refused together are least. */
export function cheapest(points: SweepPoint[]): SweepPoint | null {
  let best: SweepPoint | null = null;
  for (const p of points) if (possible(p) && (!best || units(p.cost.total) < units(best.cost.total))) best = p;
  return best;
}

/** impossible are the stretches of a curve without a plan. Where they end between two points is not known,
 *  unless the curve says it. */
export function impossible(of: Parameter, s: Sweep): { from: number; to: number }[] {
  const all = [...s.points].sort((a, b) => a.parameters[0]! - b.parameters[0]!);
  const out: { from: number; to: number }[] = [];
  for (let i = 0; i < all.length; i++) {
    if (possible(all[i]!)) continue;
    const from = all[i]!.parameters[0]!;
    while (i + 1 < all.length && !possible(all[i + 1]!)) i++;
    let to = all[i]!.parameters[0]!;
    const least = s.curve?.least;
    if (least != null && least > to && all[i + 1] && least < all[i + 1]!.parameters[0]!) to = least;
    out.push({ from: shownOf(of, from, s.period_s), to: shownOf(of, to, s.period_s) });
  }
  return out;
}

/** said is the sentence that the page leads with. */
export function said(of: Parameter[], s: Sweep, now: Units | null): string {
  const best = cheapest(s.points);
  if (!best) return s.points.length === 0 ? "No point is planned yet." : `No plan can keep every promise at any of ${s.points.length} points.`;
  const cost = units(best.cost.per_month);
  const where = best.parameters.map((x, i) => place(of[i]!, shownOf(of[i]!, x, s.period_s), s.currency)).join(", ");
  const change = now === null ? 0n : cost - now;
  const against = now === null ? "" : change === 0n ? "; together that is as now" : `; together that is ${headline(change < 0n ? -change : change, s.currency)} ${change < 0n ? "less" : "more"} than now`;
  const value = units(best.cost.penalties);
  const lead =
    value === 0n
      ? `Best at ${where}: a VM bill of ${headline(monthly(best.cost.bill, s.period_s), s.currency)} ${eachAtRate.month}, and ${best.refused === 0 ? "nothing refused" : `${count(best.refused, "job", "jobs")} refused that you value at nothing`}.`
      : `Best at ${where}: a VM bill of ${headline(monthly(best.cost.bill, s.period_s), s.currency)} ${eachAtRate.month}, and jobs refused that are valued at ${headline(monthly(best.cost.penalties, s.period_s), s.currency)}${against}.`;
  if (of.length > 1) {
    const none = s.points.filter((p) => !possible(p)).length;
    return none === 0 ? lead : `${lead} At ${none} of ${s.points.length} points no plan keeps every promise.`;
  }
  const zone = impossible(of[0]!, s);
  const low = zone.find((z) => z.from === Math.min(...s.points.map((p) => shownOf(of[0]!, p.parameters[0]!, s.period_s))));
  if (low) {
    const exact = s.curve?.least != null && Math.abs(shownOf(of[0]!, s.curve.least, s.period_s) - low.to) < 1e-9;
    return `${lead} ${exact ? "Below" : "Up to"} ${place(of[0]!, low.to, s.currency)} no plan keeps every promise.`;
  }
  return zone.length === 0 ? lead : `${lead} From ${place(of[0]!, zone[0]!.from, s.currency)} no plan keeps every promise.`;
}

/** nameOf is a parameter as the service heads its column. */
function nameOf(v: Vary): string {
  return [v.what, v.vm_type, v.contract, v.class, v.purchase === "spot" && "spot", v.by !== "value" && "factor"].filter(Boolean).join(" ");
}

/** columnsOf are those of the service's own table, so that files are the same wherever they are made. */
export function columnsOf(of: Parameter[], s: Sweep): Column<SweepPoint>[] {
  const ok = <T,>(f: (p: SweepPoint) => T) => (p: SweepPoint) => (possible(p) ? f(p) : null);
  const file = (key: string, value: (p: SweepPoint) => string | number | null): Column<SweepPoint> => ({ key, title: key, value, number: true, inFilesOnly: true });
  const none = (amount: string | undefined) => amount ?? "0.00";
  return [
    ...of.map((o, i): Column<SweepPoint> => ({ key: nameOf(s.vary[i]!), title: o.label, number: true, value: (p) => p.parameters[i]!, show: (p) => place(o, shownOf(o, p.parameters[i]!, s.period_s), s.currency) })),
    { key: "status", title: "Plan", value: (p) => p.status, show: (p) => (!possible(p) ? "none" : p.gap > 0 ? `within ${percentAtMost(p.gap)}` : "proved") },
    { key: "currency", title: "Currency", value: () => s.currency, inFilesOnly: true },
    { key: "bill", title: `VM bill ${eachAtRate.month}`, number: true, value: ok((p) => p.cost.bill), show: (p) => (possible(p) ? headline(monthly(p.cost.bill, s.period_s), s.currency) : "no") },
    file("on_demand", ok((p) => p.cost.on_demand)),
    file("spot", ok((p) => none(p.cost.spot))),
    file("reserved", ok((p) => p.cost.reserved)),
    file("reserved_idle", ok((p) => p.cost.reserved_idle)),
    { key: "value_refused", title: `Value refused ${eachAtRate.month}`, number: true, value: ok((p) => p.cost.penalties), show: (p) => (possible(p) ? headline(monthly(p.cost.penalties, s.period_s), s.currency) : "no") },
    file("bill_and_value_refused", ok((p) => p.cost.total)),
    { key: "vms", title: "VMs", number: true, value: ok((p) => p.vms.total) },
    file("vms_on_demand", ok((p) => p.vms.on_demand)),
    file("vms_reserved", ok((p) => p.vms.reserved)),
    file("vms_spot", ok((p) => p.vms.spot)),
    { key: "admitted", title: "Jobs served", number: true, value: ok((p) => p.admitted) },
    { key: "refused", title: "Refused", number: true, value: ok((p) => p.refused) },
    file("gap", ok((p) => p.gap)),
    file("vm_price_low", ok((p) => p.price?.low ?? null)),
    { key: "vm_price_high", title: "Price of a VM in the relaxation, an hour", number: true, value: ok((p) => p.price?.high ?? null), show: (p) => figure("worth", p) },
    { key: "conflict", title: "Why there is no plan", value: (p) => p.conflict || null, show: (p) => p.conflict },
  ];
}
