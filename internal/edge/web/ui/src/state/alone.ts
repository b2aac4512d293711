// What a class comes to by itself, as POST /v1/bounds has it.
import { ask } from "../api/client.ts";
import type { JobAnswer, Options } from "../api/contract.ts";
import { duration } from "../model/time.ts";
import { type Edited, neat, slotsOf } from "./classes.ts";

export interface Alone {
  /** Null is that no number of VMs is enough. */
  vmsPerJob: number | null;
  /** The part of its time that no VM shortens, in seconds; null where it is not known. */
  fastest: number | null;
  said: string;
}

/** alone asks for the coefficients of time = A · jobs / map slots + B · jobs / reduce slots + C; the fewest VMs
 *  with which time is the deadline are then (√(A/a) + √(B/b))² / (deadline - C) a job, for a and b slots a VM. */
export async function alone({ class: c, figures }: Edited, bound: NonNullable<Options["bound"]>): Promise<Alone> {
  if (c.vms_per_job !== undefined) return { vmsPerJob: Number(c.vms_per_job), fastest: null, said: "As it was typed in; nothing is computed." };
  const [type, slots] = slotsOf(c)[0] ?? ["", undefined];
  const speed = c.speed?.[type] || 1;
  const by = bound === "calibrated" ? (c.calibration?.bound ?? "average") : bound;
  const factor = (bound === "calibrated" ? (c.calibration?.factor ?? 1) : 1) / speed;
  let times: number[] = c.demand ? [c.demand.map_work_s, c.demand.reduce_work_s, c.demand.fixed_s].map((t) => t / speed) : [];
  let said = "";
  if (figures) {
    const profile = neat(figures);
    const reduce = (profile.reduce_tasks ?? 0) > 0;
    const body = { kind: "job" as const, profile, jobs: 1, slots: { map: slots?.map ?? 1, ...(reduce ? { reduce: slots?.reduce ?? 1 } : {}) }, share: { map: 1, ...(reduce ? { reduce: 1 } : {}) } };
    const answer = (await ask("POST /v1/bounds", { path: {}, body }))!.value as JobAnswer;
    times = answer.coefficients[by].map((t, i) => (i === 2 ? (t - (profile.overhead_s ?? 0)) * factor + (profile.overhead_s ?? 0) : t * factor));
    const on = reduce && slots ? `With ${slots.map} map and ${slots.reduce} reduce ${slots.map + slots.reduce === 2 ? "slot" : "slots"}` : "On one VM";
    said = `${on} a job takes ${duration(answer.lower_s / speed)} to ${duration(answer.upper_s / speed)}.`;
  }
  const [a = 0, b = 0, fixed = 0] = times;
  const room = (c.deadline_s ?? 0) - fixed;
  const root = Math.sqrt(a / (slots?.map ?? 1)) + Math.sqrt(b / (slots?.reduce ?? 1));
  return { vmsPerJob: room > 0 ? root ** 2 / room : null, fastest: fixed, said };
}
