// A batch as its page tells of it: what kind its jobs are of, and when things happen by the clock.
import type { Batch, BatchJob, Packing, PackedPhase, PhaseJob } from "../api/contract.ts";
import { count, isolated, percent, percentAtMost, type Tone } from "./words.ts";
import { duration } from "./time.ts";

/** Kind is what a job keeps busy: processors, disks, both or neither. */
export type Kind = "cpu" | "io" | "both" | "neither";

export const kinds: Record<Kind, string> = { cpu: "CPU-bound", io: "I/O-bound", both: "both", neither: "neither, or not known" };

/** kindOf judges a job by what it was seen to use, and by its role where that is all that is known. */
function kindOf(job: BatchJob | undefined, options: Batch["options"]): Kind {
  if (job?.usage) {
    const cpu = job.usage.cpu_percent > (options?.cpu_percent ?? 60);
    const io = job.usage.io_mb_s > (options?.io_mb_s ?? 100);
    return cpu ? (io ? "both" : "cpu") : io ? "io" : "neither";
  }
  return job?.role === "guest" ? "cpu" : job?.role === "host" ? "io" : "neither";
}

export function kindsOf(batch: Batch | null): Map<string, Kind> {
  return new Map(batch?.jobs.map((j) => [j.name, kindOf(j, batch.options)]) ?? []);
}

/** Algorithms are the ways of packing, as people call them. */
export const algorithms: Record<Packing["algorithm"], string> = { sequential: "One after another", pair: "Pairs", multi: "Together", pso: "The paper's swarm" };

/** secondsOf reads a time of day, 22:00; null is none. */
export function secondsOf(text: string): number | null {
  const m = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text.trim());
  return m ? Number(m[1]) * 3600 + Number(m[2]) * 60 : null;
}

/** at is the time of day so many seconds after a beginning. */
export function at(begin: number, seconds: number, exact = false): string {
  const s = Math.round(begin + seconds);
  const two = (n: number) => String(n).padStart(2, "0");
  const text = `${two(Math.floor(s / 3600) % 24)}:${two(Math.floor(s / 60) % 60)}`;
  return exact ? `${text}:${two(s % 60)}` : text;
}

function jobsOf(p: Packing): number {
  return p.jobs.reduce((n, j) => n + j.count, 0);
}

/** lead is the sentence that the page begins with. */
export function lead(p: Packing, begin: number): string {
  const night = begin >= 18 * 3600 || begin < 5 * 3600;
  const n = jobsOf(p);
  const days = Math.floor((begin + p.end_s) / 86_400);
  const when = `${at(begin, p.end_s, p.end_s < 600)}${days > 1 ? `, ${days} days later` : days === 1 && !(night && p.end_s < 12 * 3600) ? " the next day" : ""}`;
  const saved = p.saving >= 0.0005 ? `, ${percent(p.saving)} sooner than one after another` : p.saving <= -0.0005 ? `, ${percent(-p.saving)} later than one after another` : ", as soon as one after another";
  const missed = p.deadlines?.missed ?? 0;
  return `The ${night ? "night" : "batch"}'s ${count(n, "job ends", "jobs end")} at ${when}${n > 1 ? saved : ""}.${missed > 0 ? ` ${count(missed, "deadline is", "deadlines are")} missed.` : ""}`;
}

/** deadlinesOf are by when jobs must be done, in seconds from the start. */
export function deadlinesOf(p: Packing): Map<string, number> {
  return new Map(p.jobs.flatMap((j) => (j.deadline_s ? [[j.name, j.deadline_s] as const] : [])));
}

/** proof is what is known of no packing being better; where deadlines are missed, of none missing fewer. */
export function proof(p: Packing): { tone: Tone; text: string } {
  if (p.deadlines && p.deadlines.missed > 0) return p.deadlines.proved ? { tone: "good", text: "Proved: none misses fewer" } : { tone: "warning", text: "Others may miss fewer" };
  return p.status === "optimal" ? { tone: "good", text: "Proved shortest" } : { tone: "warning", text: `Within ${percentAtMost(p.gap)}` };
}

export interface JobRow {
  phase: number;
  job: PhaseJob;
  start: number;
  kind: Kind;
  deadline: number | null;
}

export function rowsOf(p: Packing, of: Map<string, Kind>): JobRow[] {
  const due = deadlinesOf(p);
  return p.phases.flatMap((f, i) => f.jobs.map((job) => ({ phase: i + 1, job, start: f.start_s, kind: of.get(job.job) ?? "neither", deadline: due.get(job.job) ?? null })));
}

/** nameOf tells jobs that are alike apart. */
export function nameOf(p: Packing, j: PhaseJob): string {
  return (p.jobs.find((x) => x.name === j.job)?.count ?? 1) > 1 ? `${j.job} ${j.number}` : j.job;
}

/** said is what a job in its phase reads. */
export function said(p: Packing, r: JobRow, begin: number): string {
  const exact = p.end_s < 7200;
  const due = r.deadline === null ? "" : r.job.late ? `; late, due by ${at(begin, r.deadline, exact)}` : `; due by ${at(begin, r.deadline, exact)}`;
  const as = r.job.role === "guest" ? " as extra VMs" : "";
  return `Phase ${r.phase}: ${isolated(nameOf(p, r.job))} on ${count(r.job.vms, "VM", "VMs")}${as}, ${at(begin, r.start, exact)} to ${at(begin, r.job.end_s, exact)} (${duration(r.job.seconds)}), ${kinds[r.kind]}${due}`;
}

/** standing is what stands on a machine in a phase: for each job of it there, on how many disks and as how many extra VMs. */
export function standing(f: PackedPhase, machine: number): { job: number; disks: number; extras: number }[] {
  const here = f.placement?.[machine];
  const of = new Map<number, { job: number; disks: number; extras: number }>();
  const add = (job: number, what: "disks" | "extras") => {
    if (job < 0) return;
    const s = of.get(job) ?? { job, disks: 0, extras: 0 };
    s[what]++;
    of.set(job, s);
  };
  for (const j of here?.disks ?? []) add(j, "disks");
  for (const j of here?.extras ?? []) add(j, "extras");
  return [...of.values()];
}
