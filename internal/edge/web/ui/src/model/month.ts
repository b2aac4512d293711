// What is left of a month, and what its bill to come rests on.
import type { Units } from "./money.ts";
import { percent } from "./words.ts";

export interface Ahead {
  bill: Units;
  /** How much of it rests on no forecast; all, where that is all after this hour. Null where nothing is after it. */
  unforeseen: Units | "all" | null;
  /** Whether hours are planned in whole jobs, as the plans in force are, where the forecast's bill counts parts. */
  whole: boolean;
  /** Whether jobs may wait, which count as they arrive. */
  waits: boolean;
  /** Whether upfront payments fall into it, which are in no plan's bill and not in this one. */
  upfront: boolean;
}

const hour = 3_600_000;

/** leftOf is when the hour of a moment ends, and when its month does, in UTC as the service counts. In a month's last hour no hour is
 *  left between the two, and months cannot be asked for. */
export function leftOf(at: number): { begins: number; ends: number } {
  const day = new Date(at);
  return { begins: Math.ceil(at / hour) * hour, ends: Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 1) };
}

/** inLastHour is what is to come when no other hour of the month is: the rest of this one, by its plan. */
export const inLastHour = (bill: Units): Ahead => ({ bill, unforeseen: null, whole: false, waits: false, upfront: false });

/** basis is what the bill to come rests on. */
export function basis({ bill, unforeseen, whole }: Ahead, money: (u: Units) => string): string {
  if (unforeseen === null) return "by the plan of this hour, the month's last.";
  if (whole) return `by the forecast, in whole jobs as plans are${unforeseen === 0n ? "" : "; some hours have none"}.`;
  if (unforeseen === 0n) return "by the forecast.";
  if (unforeseen === "all") return "with demand as it is where there is no forecast.";
  return `by the forecast; ${money(unforeseen)} of it (${percent(Number(unforeseen) / Number(bill))}) rests on none.`;
}
