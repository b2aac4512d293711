// The time axis of a plan: stretches in which nothing changed, behind and ahead, and what begins or ends on the way.
import type { Contract, Horizon, PlanSummary, Price } from "../api/contract.ts";
import { type Period, perPeriod, type Units } from "./money.ts";

/** Stretch is a time in which the same VMs are rented. */
export interface Stretch {
  from: number;
  until: number;
  reserved: number;
  demand: number;
  spot: number;
  /** The bill of an hour. */
  bill: Units;
  refused: number;
  /** The plan that was in force; null is ahead. */
  plan: PlanSummary | null;
}

/** Held is a plan with the time in which it was in force; one that is in force now has no end. */
export interface Held {
  plan: PlanSummary;
  since: number;
  until: number | null;
}

/** heldOf reads a list of plans in force. */
export function heldOf(plans: PlanSummary[]): Held[] {
  return plans.map((p) => ({ plan: p, since: Date.parse(p.since!), until: p.until ? Date.parse(p.until) : null }));
}

/** behind are the stretches of the plans that were in force until now, the oldest first. */
export function behind(held: Held[], now: number): Stretch[] {
  return held
    .map(({ plan: p, since, until }) => ({ from: since, until: Math.min(until ?? now, now), reserved: p.vms_reserved, demand: p.vms_on_demand, spot: p.vms_spot, bill: perPeriod(p.bill, p.period_s, "hour"), refused: p.refused, plan: p }))
    .filter((s) => s.from < s.until)
    .reverse();
}

/** heldAt is the plan that was in force at a moment; the oldest known where that is later. */
export function heldAt(held: Held[], at: number): Held | undefined {
  return held.find((h) => h.since <= at) ?? held.at(-1);
}

/** aheadOf are the hours to come, those that follow each other alike together. */
export function aheadOf(h: Horizon): Stretch[] {
  return h.periods.filter((p) => p.status !== "infeasible").map((p) => {
    const from = Date.parse(p.start);
    return { from, until: from + p.hours * 3_600_000, reserved: p.vms.reserved, demand: p.vms.on_demand, spot: p.vms.spot ?? 0, bill: perPeriod(p.cost.bill, Math.round(p.hours * 3600), "hour"), refused: p.refused, plan: null };
  });
}

/** Priced is the price of a VM type on demand, from a moment on. */
export interface Priced {
  type: string;
  steps: { from: number; until: number; price: number; text: string }[];
}

/** pricesIn are the prices on demand in a time, by VM type. */
export function pricesIn(prices: Price[], from: number, until: number): Priced[] {
  const by = new Map<string, Priced>();
  for (const p of [...prices].sort((a, b) => Date.parse(a.from) - Date.parse(b.from))) {
    const [begins, ends] = [Date.parse(p.from), p.until ? Date.parse(p.until) : Infinity];
    if (p.purchase === "spot" || begins >= until || ends <= from) continue;
    const of = by.get(p.vm_type) ?? { type: p.vm_type, steps: [] };
    of.steps.push({ from: Math.max(begins, from), until: Math.min(ends, until), price: Number(p.price), text: p.price });
    by.set(p.vm_type, of);
  }
  return [...by.values()];
}

/** endsIn are contracts that end in a time. */
export function endsIn(contracts: Contract[], from: number, until: number): { name: string; at: number; vms: number }[] {
  return contracts.map((c) => ({ name: c.name, at: Date.parse(c.until), vms: c.vms })).filter((c) => c.at > from && c.at < until);
}

/** guessed are times ahead that rest on no forecast; within a day they are taken to be its last hours. */
export function guessed(h: Horizon): { from: number; until: number }[] {
  const first = Date.parse(h.total.start);
  return h.days
    .filter((d) => (d.hours_without_forecast ?? 0) > 0)
    .map((d) => {
      const until = Math.max(Date.parse(d.start), first) + d.hours * 3_600_000;
      return { from: until - d.hours_without_forecast! * 3_600_000, until };
    });
}

/** difference is by how much an hour, day or month of one bill is more than that of an older plan. */
export function difference(is: PlanSummary, was: PlanSummary, per: Period): Units | null {
  return is.currency === was.currency ? perPeriod(is.bill, is.period_s, per) - perPeriod(was.bill, was.period_s, per) : null;
}

