// What would change a plan: single values beyond which it decides otherwise.
import type { Plan, Problem } from "../api/contract.ts";

/** Change is a value beyond which the plan decides otherwise, if all others stay; exact where plans were made anew for it. */
export interface Change {
  what: "penalty" | "deadline" | "price";
  name: string;
  now: string;
  at: string;
  exact: boolean;
}

const far = (c: Change) => Math.abs(Number(c.at) / Number(c.now) - 1);

/** flipsOf are the closest changes of mind, by how far each value is from what it is now. */
export function flipsOf(plan: Plan, problem: Problem): Change[] {
  const all: Change[] = [];
  const add = (what: Change["what"], name: string, now: string | number | undefined, at: string | number | null, exact: boolean) => {
    if (at !== null && Number(now) > 0) all.push({ what, name, now: String(now), at: String(at), exact });
  };
  const classes = new Map(problem.classes.map((c) => [c.name, c]));
  const { on_demand: onDemand, vm_types: types } = problem.supply;
  for (const { name, flips, stays } of plan.classes) {
    const of = classes.get(name);
    add("penalty", name, of?.penalty, flips.penalty, stays?.penalty != null);
    // With another deadline another number of the jobs that arrive runs at once, which no plan was made for.
    if (!of?.arrivals_per_hour) add("deadline", name, of?.deadline_s, flips.deadline_s, stays?.deadline_s != null);
    if (!types?.length) add("price", "on_demand", onDemand?.price, flips.on_demand_price, plan.stays?.on_demand_price != null);
  }
  all.sort((a, b) => far(a) - far(b));
  const price = all.find((c) => c.what === "price"); // one for all classes
  return all.filter((c) => c.what !== "price" || c === price);
}
