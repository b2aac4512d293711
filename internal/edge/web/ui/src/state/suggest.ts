// A price to begin with for the jobs of a class: the hint that a problem without one is refused with.
import { ask, get, Problem } from "../api/client.ts";
import type { Problem as Asked, ProblemClass } from "../api/contract.ts";
import { type Edited, neat } from "./classes.ts";

export interface Suggested {
  value: string;
  /** Why so much, as the service says it. */
  said: string;
}

/** suggested asks what one more job of a class costs beside the others; null is that nothing says it. */
export async function suggested(cluster: string, { class: c, figures }: Edited): Promise<Suggested | null> {
  const problem = await get("GET /v1/clusters/{cluster}/problem", { cluster });
  const known = problem.classes.findIndex((k) => k.name === c.name);
  const i = known < 0 ? problem.classes.length : known;
  const { penalty: _, ...rest } = problem.classes[i] ?? ({ name: c.name || "new", penalty: "" } as ProblemClass);
  const { deadline_s, jobs, slots_per_vm, vms_per_job, demand, speed } = c;
  const typed = Object.fromEntries(Object.entries({ deadline_s, jobs, slots_per_vm, vms_per_job, demand, speed }).filter(([, v]) => v !== undefined));
  const asked = { ...rest, ...typed, ...(figures ? { profile: neat(figures) } : {}) } as ProblemClass; // but for the price
  const body: Asked = { ...problem, classes: [...problem.classes.slice(0, i), asked, ...problem.classes.slice(i + 1)] };
  try {
    await ask("POST /v1/solve", { path: {}, body });
  } catch (e) {
    if (!(e instanceof Problem) || e.status !== 400) throw e;
    const hint = e.details?.errors?.find((f) => f.pointer === `/classes/${i}/penalty`)?.hint;
    if (typeof hint?.value === "string") return { value: hint.value, said: hint.detail };
  }
  return null;
}
