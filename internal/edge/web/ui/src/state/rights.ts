// What a key may do here, and what to say when the service refuses.
import { isolating, lastChange, saidOf } from "../model/words.ts";
import type { Problem } from "../api/client.ts";
import { clock } from "../model/time.ts";
import { now } from "./clock.ts";
import { cluster, session } from "./cluster.ts";
import { route } from "./route.ts";

const rank = { agent: 0, viewer: 1, planner: 2, operator: 3, admin: 4 } as const;

/** may says whether the session's key has a role's rights, so that nothing is asked for in vain; it is the service
 *  that decides. */
export function may(role: keyof typeof rank): boolean {
  return session.value === null || rank[session.value.role] >= rank[role];
}

/** lacking says which role a key would need to change a cluster; an empty name is clusters in general. */
export function lacking(role: string, of = route.value.cluster): string {
  return isolating(`Your key may read ${of || "clusters"} but not change ${of ? "it" : "them"}. Ask an administrator for the role ${role}.`, [of]);
}

/** faster says who changed, or deleted, what is open here; an empty key is somebody. */
export function faster(by: string, at: string, name: string, what: "changed" | "deleted" = "changed"): string {
  const time = at ? ` at ${clock(new Date(at), cluster.value?.time_zone ?? "UTC", new Date(now.value))}` : "";
  return isolating(`${by ? `Key ${by}` : "Somebody else"} ${what} ${name}${time}, after you opened it.`, [by, name]);
}

/** refusal is why something was not done with the cluster that is open; of a right that is missing, whom to ask
 *  for which; of what somebody else has changed, who. */
export function refusal(p: Problem): string {
  const role = p.status === 403 && /the role (\w+)/.exec(p.message)?.[1];
  if (role) return lacking(role);
  const last = p.status === 412 && lastChange(p);
  if (last) return faster(last.by, last.at, last.name || "forecasts");
  return saidOf(p);
}
