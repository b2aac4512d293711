// What the pages of the history have in common: the period that costs are shown for, and how plans are told of.
import type { PlanSummary } from "../api/contract.ts";
import { type Period, periodTexts, perPeriod, shownPeriods, type Units } from "../model/money.ts";
import { clock } from "../model/time.ts";
import { Segments } from "../parts/segments.tsx";
import { now } from "../state/clock.ts";
import { cluster } from "../state/cluster.ts";
import { choose, chosen } from "../state/route.ts";

/** each says that a bill of a plan goes on as in the hour that it was made for. */
export const each: Record<Period, string> = { hour: "an hour", day: "a day at its hour's rate", month: "a month at its hour's rate" };

export const numbered = (n: number) => new Intl.NumberFormat("en-US").format(n);

/** moment is when something was, by the cluster's clocks. */
export function moment(at: string): string {
  return clock(new Date(at), cluster.value?.time_zone ?? "UTC", new Date(now.value));
}

export function period(): Period {
  return chosen<Period>("per", shownPeriods);
}

export function Periods() {
  return <Segments label="Amounts for each" name="per" words={shownPeriods} texts={periodTexts} value={period()} choose={(w) => choose("per", w === "hour" ? null : w)} />;
}

/** bill is what a plan pays for VMs; what refused jobs are valued at is on no bill. */
export function bill(p: PlanSummary, per: Period): Units {
  return perPeriod(p.bill, p.period_s, per);
}

/** why says what a plan was made for. */
export function why(p: PlanSummary): string {
  return p.why || "Not on record";
}

/** made is when a plan was made, and for when if that is another moment. */
export function made(p: PlanSummary): string {
  const later = Math.abs(Date.parse(p.at) - Date.parse(p.created_at)) > 60_000 ? `, for ${moment(p.at)}` : "";
  return moment(p.created_at) + later;
}
