// What waiting for cheaper hours does, in words and rows.
import type { FollowedSchedule, Schedule, ScheduledStart } from "../api/contract.ts";
import { headline, units, upTo } from "./money.ts";
import { count } from "./words.ts";

const hour = 3_600_000;

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

/** waited says what waiting does to the bill, and to the value of what is refused; with all, of a schedule in which all run. */
export function waited(a: Schedule, all = false): string {
  const later = a.classes.reduce((n, c) => n + c.later, 0);
  if (later === 0) return "No run starts later than it could";
  const bill = units(a.at_once.bill) - units(a.cost.bill);
  const value = units(a.at_once.value_refused) - units(a.cost.value_refused);
  const change = (by: bigint, what: string) => (by > 0n ? `lower ${what} by ${headline(by, a.currency)}` : `raise ${what} by ${headline(-by, a.currency)}`);
  const parts = [...(bill !== 0n ? [change(bill, "the VM bill")] : []), ...(value !== 0n ? [change(value, "the value refused")] : [])];
  const runs = count(later, "run", "runs");
  return parts.length > 0 ? all ? `If no job is refused, ${runs} that start later ${parts.join(", and ")}` : `${runs} that start later ${parts.join(", and ")}` : `${runs} start later, at the same VM bill`;
}

/** told says what a schedule comes to, as "headroom whatif schedule" does; said writes a moment. */
export function told(a: Schedule, all: boolean, said: (at: string) => string): string {
  const sum = (f: (c: Schedule["classes"][number]) => number) => a.classes.reduce((n, c) => n + f(c), 0);
  const [arrived, refused, later] = [sum((c) => c.arrived), sum((c) => c.refused), sum((c) => c.later)];
  const money = (u: bigint) => headline(u, a.currency);
  const end = new Date(Date.parse(a.hours.at(-1)!.start) + hour).toISOString();
  const saved = units(a.saved);
  const gap = units(a.cost.total) - units(a.proof.bound);
  return [
    `From ${said(a.hours[0]!.start)} until ${said(end)} the VM bill is ${money(units(a.cost.bill))}, for ${number(arrived - refused)} of ${count(arrived, "run", "runs")}.`,
    all && "That is if no job is refused that finds room. The plans of the hours refuse those that are not worth their VMs, and rent fewer.",
    refused > 0 && `${count(refused, "run is", "runs are")} refused, on no bill and valued at ${money(units(a.cost.value_refused))}.`,
    later > 0 && `${count(later, "run waits", "runs wait")} for a later hour, and bill and value refused together are ${saved === 0n ? "as high as in" : saved > 0n ? `${money(saved)} lower than in` : `${money(-saved)} higher than in`} the cheapest plan found without waiting.`,
    a.status !== "optimal" && `They are at most ${upTo(gap, a.currency)} more than necessary.`,
  ]
    .filter(Boolean)
    .join(" ");
}

const number = (n: number) => new Intl.NumberFormat("en-US").format(n);

/** Standing is what a schedule does with a class that may wait in its first hour. */
export interface Standing {
  class: string;
  running: number;
  waiting: number;
  /** The next start, and of how many runs. */
  next: { at: string; jobs: number } | null;
  /** What leases tell: how many of those that wait ask for a place, and how many cannot end in time any more. Null without any. */
  leases: { asking: number; missed: number } | null;
}

/** standing is that of each class that may wait, as "headroom plan schedule" tells it. */
export function standing({ question, answer }: FollowedSchedule): Standing[] {
  const first = question?.periods[0];
  if (!first || !answer) return [];
  const start = Date.parse(first.start);
  const runs = (s: ScheduledStart) => Date.parse(s.start) <= start && Date.parse(s.start) + Math.ceil(s.run_s / 3600) * hour > start;
  const jobs = (rows: ScheduledStart[]) => rows.reduce((n, s) => n + s.jobs, 0);
  return answer.classes
    .filter((c) => c.waits)
    .map(({ name }) => {
      const starts = answer.schedule.filter((s) => s.class === name);
      const before = question.before?.running?.filter((s) => s.class === name) ?? [];
      const later = starts.filter((s) => Date.parse(s.start) > start).sort((x, y) => Date.parse(x.start) - Date.parse(y.start));
      const at = later[0]?.start;
      const leases = question.before?.leases?.filter((l) => l.class === name) ?? [];
      return {
        class: name,
        running: jobs([...before, ...starts].filter(runs)),
        waiting: jobs(later.filter((s) => Date.parse(s.arrived) < start)),
        next: at === undefined ? null : { at, jobs: jobs(later.filter((s) => Date.parse(s.start) === Date.parse(at))) },
        leases: leases.length === 0 ? null : { asking: leases.reduce((n, l) => n + l.waiting, 0), missed: leases.reduce((n, l) => n + l.missed, 0) },
      };
    });
}

/** waitingFor says of a class of which nothing runs how many wait, and when the next start; said writes a moment. */
export function waitingFor(s: Standing, said: (at: string) => string): string {
  const wait = s.waiting > 0 ? count(s.waiting, "waits", "wait") : "none waits";
  if (!s.next) return wait;
  const at = said(s.next.at);
  return `${wait}, up to ${count(s.next.jobs, "starts", "start")} ${at.includes(",") ? "on" : "at"} ${at}`;
}
