// What a key may do here, and what to say when the service refuses.
import { saidOf } from "../model/words.ts";
import type { Problem } from "../api/client.ts";
import { session } from "./cluster.ts";
import { route } from "./route.ts";

const rank = { agent: 0, viewer: 1, planner: 2, operator: 3, admin: 4 } as const;

/** may says whether the session's key has a role's rights, so that nothing is asked for in vain; it is the service
 *  that decides. */
export function may(role: keyof typeof rank): boolean {
  return session.value === null || rank[session.value.role] >= rank[role];
}

/** refusal is why something was not done with the cluster that is open; of a right that is missing, whom to ask
 *  for which. */
export function refusal(p: Problem): string {
  if (p.status === 403) return `Your key may read ${route.value.cluster} but not change it. Ask an administrator for the role ${/the role (\w+)/.exec(p.message)?.[1] ?? "planner"}.`;
  return saidOf(p);
}
