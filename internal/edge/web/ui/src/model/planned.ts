// The time of a class by itself, as plans count it.
import type { Class, JobAnswer, Options } from "../api/contract.ts";

type Bound = NonNullable<Options["bound"]>;
export type Coefficients = [mapWork: number, reduceWork: number, fixed: number];

/** planned are the coefficients of a class's time = A · jobs / map slots + B · jobs / reduce slots + C, as plans count it: at
 *  its speed, which leaves the overhead as it is, times the factors of its calibration, where plans use that, and of its promise.
 *  C is the shortest possible time: with any number of VMs. Those of the bounds are null for a class that is given as work. */
export function planned(c: Pick<Class, "demand" | "calibration" | "promise" | "target">, bounds: JobAnswer["coefficients"] | null, overhead: number, bound: Bound, speed = 1): Coefficients {
  if (c.demand) return [c.demand.map_work_s / speed, c.demand.reduce_work_s / speed, c.demand.fixed_s / speed];
  const used = bound === "calibrated" ? c.calibration : undefined;
  const by = used ? (used.bound as "lower" | "average" | "upper") : bound === "calibrated" ? "average" : bound;
  const factor = (used?.factor ?? 1) * (c.target ? (c.promise?.factor ?? 1) : 1);
  const [a = 0, b = 0, fixed = 0] = bounds?.[by] ?? [];
  return [(a / speed) * factor, (b / speed) * factor, ((fixed - overhead) / speed + overhead) * factor];
}
