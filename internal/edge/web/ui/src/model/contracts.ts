// Contracts, what they come to over time and what is worth buying, in sentences and rows.
import type { Contract, CurrentPlan, Horizon, Purchase, PurchaseFound, WhatIf } from "../api/contract.ts";
import { headline, scaled, units, type Units } from "./money.ts";
import { count, inText, percent } from "./words.ts";

const monthHours = 730n;
const day = 86_400_000;

/** Held is a contract with what becomes of it. */
export interface Held {
  contract: Contract;
  /** Used of all its VM-hours ahead; null is not known. */
  used: number | null;
  /** What its idle VMs cost in a month; null is not known. */
  idle: Units | null;
  /** What one more VM in it is worth in a month; null is not known. */
  worth: Units | null;
}

/** inForce is whether a contract counts at a moment. */
export const inForce = (c: Contract, at: number): boolean => Date.parse(c.from) <= at && at < Date.parse(c.until);

/** held brings contracts together with what the months ahead and the current plan say of them. */
export function held(contracts: Contract[], h: Horizon | null, plan: CurrentPlan | null): Held[] {
  const totals = new Map(h?.contracts.map((c) => [c.name, c]) ?? []);
  const worths = new Map(plan?.plan.prices?.contracts.map((c) => [c.name, c.worth]) ?? []);
  return contracts.map((contract) => {
    const total = totals.get(contract.name);
    const worth = worths.get(contract.name);
    return {
      contract,
      used: total?.utilisation ?? null,
      idle: total && total.hours > 0 ? perMonth(units(total.reserved_idle), total.hours) : null,
      worth: worth === undefined ? null : scaled(units(worth), monthHours * 3600n, BigInt(plan!.plan.cost.period_s)),
    };
  });
}

/** perMonth is an amount of some hours for a month of 730. */
export function perMonth(amount: Units, hours: number): Units {
  return scaled(amount, monthHours * 1000n, BigInt(Math.round(hours * 1000)));
}

/** nextEnd is the contract in force that ends first. */
export function nextEnd(contracts: Contract[], at: number): Contract | null {
  return contracts.filter((c) => inForce(c, at) && c.vms > 0).sort((a, b) => Date.parse(a.until) - Date.parse(b.until))[0] ?? null;
}

/** without says what becomes of the bill and of refused jobs once a contract is no more. */
export function without(w: WhatIf): string {
  const s = w.scenarios[0]!;
  if (s.status === "infeasible") return "Without it no plan keeps every promise.";
  const bill = (c: typeof s.cost) => scaled(units(c.bill), monthHours * 3600n, BigInt(c.period_s));
  const more = bill(s.cost) - bill(w.base.cost);
  const change = more === 0n ? "the bill stays the same" : more > 0n ? `the bill rises by ${headline(more, s.cost.currency)} a month` : `the bill falls by ${headline(-more, s.cost.currency)} a month`;
  const refused = s.refused - w.base.refused;
  return `Without it ${change}${refused > 0 ? `, and ${count(refused, "more job is", "more jobs are")} refused` : ""}.`;
}

/** lead is the sentence about the contract that ends next. */
export function lead(contracts: Contract[], w: WhatIf | null, at: number): string {
  if (contracts.length === 0) return "There are no contracts. Every VM is paid by the hour.";
  const next = nextEnd(contracts, at);
  if (!next) return contracts.some((c) => Date.parse(c.from) > at) ? "No contract is in force yet. Every VM is paid by the hour." : "No contract is in force any more. Every VM is paid by the hour.";
  const left = Date.parse(next.until) - at;
  const days = Math.floor(left / day);
  return `${inText(next.name)} ends ${days > 0 ? `in ${count(days, "day", "days")}` : "within a day"}.${w ? ` ${without(w)}` : ""}`;
}

/** monthName is a month of the calendar, in UTC as the service counts. */
export function monthName(start: string, short = false): string {
  return new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", month: short ? "short" : "long", year: short ? "2-digit" : "numeric" }).format(new Date(start));
}

/** date is a day, in UTC as months are, or in a zone. */
export function date(moment: string, zone = "UTC"): string {
  return new Intl.DateTimeFormat("en-GB", { timeZone: zone, day: "numeric", month: "short", year: "numeric" }).format(new Date(moment));
}

/** monthsSaid is the sentence about the months ahead. */
export function monthsSaid(h: Horizon): string {
  const end = new Date(Date.parse(h.total.start) + h.total.hours * 3_600_000).toISOString();
  const none = h.total.infeasible_hours ?? 0;
  const time = `from ${date(h.total.start)} to ${date(end)}`;
  const lead = h.scenario === undefined ? `F${time.slice(1)} the VM bill` : `With ${h.scenario ? `the scenario "${inText(h.scenario)}"` : "the changes"} the VM bill ${time}`;
  return `${lead} is ${headline(units(h.total.cost.bill), h.currency)}${asItIsSaid(h)}${h.total.bill_without_forecast ? `, of which ${headline(units(h.total.bill_without_forecast), h.currency)} rest on hours without a forecast of some class` : ""}${refusedSaid(h)}.${wholeSaid(h)}${dearestSaid(h)}${none > 0 ? ` In ${count(none, "hour", "hours")} no plan keeps every promise.` : ""}`;
}

/** wholeSaid is the bill if the plans of single hours are rented as they are made, where that is another one. */
function wholeSaid(h: Horizon): string {
  const of = h.total.in_whole_jobs;
  if (!of || units(of.bill) === units(h.total.cost.bill)) return "";
  const none = of.infeasible_hours ?? 0;
  if (none > (h.total.infeasible_hours ?? 0)) return ` Plans of single hours hold whole jobs, and ${count(Math.ceil(none), "hour has", "hours have")} none.`;
  return ` Plans of single hours hold whole jobs: rented as they are made, the bill is ${headline(units(of.bill), h.currency)}.`;
}

/** refusedSaid goes on with the value of refused jobs, where there is some. */
function refusedSaid(h: Horizon): string {
  const value = units(h.total.cost.penalties);
  const was = h.as_it_is && (h.as_it_is.total.infeasible_hours ?? 0) < h.as_it_is.total.hours ? units(h.as_it_is.total.cost.penalties) : null;
  if (value === 0n && !was) return "";
  const said = `efused jobs, on no bill, are valued at ${headline(value, h.currency)}`;
  return h.scenario === undefined ? `; r${said}` : `. R${said}${was === null ? "" : `, and as it is at ${headline(was, h.currency)}`}`;
}

/** asItIsSaid goes on after the bill under a scenario with that of the same time as it is; it is empty where none is laid over it. */
function asItIsSaid(h: Horizon): string {
  if (h.scenario === undefined) return "";
  if (!h.as_it_is) return ". What it is without the scenario was not planned before the work was ended";
  const was = h.as_it_is.total;
  if ((was.infeasible_hours ?? 0) >= was.hours) return ". As it is, no hour has a plan";
  const bill = headline(units(was.cost.bill), h.currency);
  if (!h.total.difference) return `. As it is, it is ${bill}; the two are not compared, because hours without a plan are in neither`;
  const by = units(h.total.difference.bill);
  return by === 0n ? ", the same as without it" : `, ${headline(by < 0n ? -by : by, h.currency)} ${by < 0n ? "less" : "more"} than as it is (${bill})`;
}

const leastToCompare = 62 * 24; // hours: in fewer, one of two months may be a few days

/** dearestSaid names the month with the highest bill, or the first of several, of those with a plan for every hour; it is empty
 *  where all of these are alike. */
export function dearestSaid(h: Horizon): string {
  if (h.total.hours < leastToCompare) return "";
  const whole = h.months.filter((m) => !m.infeasible_hours);
  const most = whole.reduce<Units>((m, x) => (units(x.cost.bill) > m ? units(x.cost.bill) : m), 0n);
  const [dearest, ...others] = whole.filter((m) => units(m.cost.bill) === most);
  if (!dearest || others.length + 1 === whole.length) return "";
  const bill = headline(most, h.currency);
  const of = whole.length < h.months.length ? " of those with a plan for every hour" : "";
  if (others.length === 0) return ` The dearest month${of} is ${monthName(dearest.start)}, with a bill of ${bill}.`;
  if (others.length > 1) return ` ${others.length + 1} of ${of ? `the ${whole.length} months with a plan for every hour` : `${whole.length} months`} share the highest bill, ${bill}; ${monthName(dearest.start)} is the first of them.`;
  return ` The dearest months${of} are ${monthName(dearest.start)} and ${monthName(others[0]!.start)}, each with a bill of ${bill}.`;
}

/** Bills are those that a purchase changes. */
export function bills(p: Purchase): { today: Units; bought: Units; fall: Units; share: number } | null {
  if (!p.bill_saving) return null;
  const today = units(p.today.bill);
  const bought = units(p.recommended.bill);
  return { today, bought, fall: today - bought, share: today > 0n ? Number(today - bought) / Number(today) : 0 };
}

/** paysBack is in which month from now the bill has fallen by what was paid upfront; null is not in this time. */
export function paysBack(p: Purchase): number | null {
  const i = p.months.findIndex((m) => m.month === p.bill_break_even_month);
  return i < 0 ? null : i + 1;
}

/** buy is the sentence that answers what to buy. */
export function buy(p: Purchase): string {
  if (p.status === "infeasible") return `No purchase ${p.found ? "that was tried " : ""}keeps every promise.${withoutPlan(p.found)}`;
  const bought = p.offers.filter((o) => o.vms > 0);
  if (bought.length === 0) return `Buy nothing. ${p.found ? foundSaid(p, p.found) : "No offer lowers bill and value refused together."}`;
  const what = `Buy ${numbers(p, p.offers.map((o) => o.vms))}.`;
  const rest = p.found ? `${withoutPlan(p.found)} ${foundSaid(p, p.found)}` : "";
  const bill0 = bills(p);
  if (!bill0 || !p.penalties_avoided) return `${what}${rest}`;
  const monthly = (amount: Units) => headline(perMonth(amount, p.horizon.total.hours), p.currency);
  const fall = bill0.fall;
  const by = `by ${monthly(fall < 0n ? -fall : fall)} a month (${share(Math.abs(bill0.share))})`;
  const bill = fall === 0n ? "The VM bill stays the same" : `The VM bill ${fall > 0n ? "falls" : "rises"} ${by}`;
  const back = fall <= 0n || units(p.obligation) === 0n ? "" : p.demand_needed_until ? `, if demand lasts until the end of ${monthName(p.demand_needed_until)}` : `, but going on like this by less than the ${headline(units(p.obligation), p.currency)} owed`;
  const avoided = units(p.penalties_avoided);
  const served = p.served_more_job_hours ?? 0;
  const value = `${monthly(avoided < 0n ? -avoided : avoided)} a month`;
  const hours = count(Math.round(Math.abs(served)), "job-hour", "job-hours");
  const less = avoided === 0n ? "" : served !== 0 && served > 0 === avoided > 0n ? ` It serves ${hours} ${served > 0 ? "more" : "fewer"}, which you value at ${value}.` : ` The value refused ${avoided > 0n ? "falls" : "rises"} by ${value}.`;
  return `${what} ${bill}${back}.${less}${rest}`;
}

/** numbers counts the VMs of each offer. */
const numbers = (p: Purchase, vms: number[]): string =>
  p.offers
    .map((o, i) => ({ n: vms[i] ?? 0, name: o.name }))
    .filter((x) => x.n > 0)
    .map((x) => `${count(x.n, "VM", "VMs")} of "${inText(x.name)}"`)
    .join(" and ");

/** foundSaid says how the purchase was found, where that was not in the cluster as it is. */
function foundSaid(p: Purchase, f: PurchaseFound): string {
  const how = sentence(weighedHow(f.left_out));
  if (!f.vms) return `${how}, no purchase keeps every promise.`;
  if (f.vms.every((n) => n === 0)) return `${how}, none lowers bill and value refused together.`;
  const tried = f.others_tried > 0 ? `; ${count(f.others_tried, "other was", "others were")} tried` : "";
  if (f.vms.every((n, i) => n === p.offers[i]?.vms)) return `${how}, it is the best as well${tried}.`;
  return `${how}, ${numbers(p, f.vms)} would be best, but not ${asMonths(f.left_out)}${tried}.`;
}

/** apartSaid says of which question figures are, where that is not the cluster as it is. */
export const apartSaid = (p: Purchase): string => (p.found ? `These figures are of the offers ${weighedHow(p.found.left_out)}.` : "");

/** withoutPlan says in which hours today's contracts have no plan, and what would do. */
function withoutPlan(f: PurchaseFound | null | undefined): string {
  const left = f?.today_without_plan;
  if (!left) return "";
  const cure = left.cure ? ` ${left.cure.detail.replace(/\.$/, "")}, and every hour has a plan.` : "";
  return ` ${count(Math.ceil(left.hours), "hour has", "hours have")} no plan with today's contracts alone, the first on ${date(left.first)}: ${inText(left.conflict)}${cure}`;
}

const parts = (what: string[]) => what.filter((l) => l !== "started_jobs").map((l) => (l === "spot" ? "spot VMs" : l === "other_types" ? "the other types of VMs" : "the budget")).join(" and ");
const hourly = (what: string[]) => what.includes("started_jobs");

/** weighedHow says how offers were weighed. */
const weighedHow = (what: string[]) => [hourly(what) ? "hour by hour" : "", parts(what) ? `without ${parts(what)}` : ""].filter(Boolean).join(" and ");

/** asMonths says that nothing is left out. */
const asMonths = (what: string[]) => [parts(what) ? `with ${parts(what)}` : "", hourly(what) ? "as months plan it" : ""].filter(Boolean).join(", ");

const sentence = (begin: string) => begin.charAt(0).toUpperCase() + begin.slice(1);

export const share = (x: number | null): string => (x === null ? "–" : x === 0 ? "0 %" : percent(x));

/** assumptions are what may be said to follow the forecasts; none is nothing. */
export const assumptions = ["", "last_week_repeats", "last_month_repeats", "flat", "ends"] as const;
export type Assumption = (typeof assumptions)[number];
export const assumptionTexts: Record<Assumption, string> = { "": "nothing is assumed", last_week_repeats: "the last week repeats", last_month_repeats: "the last 28 days repeat", flat: "demand stays at its average", ends: "demand ends" };
