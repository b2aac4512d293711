// What a class comes to by itself, as POST /v1/bounds has it.
import { ask } from "../api/client.ts";
import type { JobAnswer, Options } from "../api/contract.ts";
import { planned } from "../model/planned.ts";
import { duration } from "../model/time.ts";
import { type Edited, neat, slotsOf } from "./classes.ts";

export interface Alone {
  /** Null is that no number of VMs is enough. */
  vmsPerJob: number | null;
  /** Its shortest possible time, with any number of VMs, in seconds; null where it is not known. */
  fastest: number | null;
  said: string;
}

/** alone asks for the coefficients of time = A · jobs / map slots + B · jobs / reduce slots + C; the fewest VMs
 *  with which time is the deadline are then (√(A/a) + √(B/b))² / (deadline - C) a job, for a and b slots a VM. */
export async function alone({ class: c, figures }: Edited, bound: NonNullable<Options["bound"]>): Promise<Alone> {
  if (c.vms_per_job !== undefined) return { vmsPerJob: Number(c.vms_per_job), fastest: null, said: "As it was typed in; nothing is computed." };
  const [type, slots] = slotsOf(c)[0] ?? ["", undefined];
  const speed = c.speed?.[type] || 1;
  let bounds: JobAnswer["coefficients"] | null = null;
  let said = "";
  if (figures) {
    const profile = neat(figures);
    const reduce = (profile.reduce_tasks ?? 0) > 0;
    const body = { kind: "job" as const, profile, jobs: 1, slots: { map: slots?.map ?? 1, ...(reduce ? { reduce: slots?.reduce ?? 1 } : {}) }, share: { map: 1, ...(reduce ? { reduce: 1 } : {}) } };
    const answer = (await ask("POST /v1/bounds", { path: {}, body }))!.value as JobAnswer;
    bounds = answer.coefficients;
    const on = reduce && slots ? `With ${slots.map} map and ${slots.reduce} reduce ${slots.map + slots.reduce === 2 ? "slot" : "slots"}` : "On one VM";
    said = `${on} a job takes ${duration(answer.lower_s / speed)} to ${duration(answer.upper_s / speed)}.`;
  }
  const [a, b, fixed] = planned(c, bounds, figures?.overhead_s ?? 0, bound, speed);
  const room = (c.deadline_s ?? 0) - fixed;
  const root = Math.sqrt(a / (slots?.map ?? 1)) + Math.sqrt(b / (slots?.reduce ?? 1));
  return { vmsPerJob: room > 0 ? root ** 2 / room : null, fastest: fixed, said };
}
