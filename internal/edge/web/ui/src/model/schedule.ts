// What waiting for cheaper hours does, in words and rows.
import type { Schedule, ScheduledStart } from "../api/contract.ts";
import { headline, units } from "./money.ts";
import { count } from "./words.ts";

/** Moved is runs that start later than they could, by so many hours. */
export interface Moved extends ScheduledStart {
  hours: number;
}

/** moved lists what starts later than in the hour after its arrival, the most runs first. */
export function moved(a: Schedule): Moved[] {
  const waits = new Set(a.classes.filter((c) => c.waits).map((c) => c.name));
  return a.schedule
    .map((s) => ({ ...s, hours: Math.round((Date.parse(s.start) - Date.parse(s.arrived)) / 3_600_000) - 1 }))
    .filter((s) => waits.has(s.class) && s.hours > 0)
    .sort((x, y) => y.jobs - x.jobs || x.start.localeCompare(y.start));
}

/** waited says what waiting does to the bill, and to the value of what is refused. */
export function waited(a: Schedule): string {
  const later = a.classes.reduce((n, c) => n + c.later, 0);
  if (later === 0) return "No run starts later than it could";
  const bill = units(a.at_once.bill) - units(a.cost.bill);
  const value = units(a.at_once.value_refused) - units(a.cost.value_refused);
  const change = (by: bigint, what: string) => (by > 0n ? `lower ${what} by ${headline(by, a.currency)}` : `raise ${what} by ${headline(-by, a.currency)}`);
  const parts = [...(bill !== 0n ? [change(bill, "the VM bill")] : []), ...(value !== 0n ? [change(value, "the value refused")] : [])];
  const runs = count(later, "run", "runs");
  return parts.length > 0 ? `${runs} that start later ${parts.join(", and ")}` : `${runs} start later, at the same VM bill`;
}
