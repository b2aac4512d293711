// The schedule that the plans of a cluster follow.
import { get } from "../api/client.ts";
import type { FollowedSchedule } from "../api/contract.ts";
import { current } from "./cluster.ts";
import { type Fetched, useFetched } from "./fetched.ts";

/** useFollowed asks for it once the current plan is known, and anew when there is another plan or the same one was found right
 *  for another hour. Where asks says no, it is not asked for. */
export function useFollowed(cluster: string, asks: boolean): Fetched<FollowedSchedule> {
  const seen = asks && current.value?.plan.cluster === cluster ? current.value.plan : null;
  const of = seen && `${seen.number} ${seen.freshness.confirmed_at}`;
  return useFetched(async () => (of === null ? null : await get("GET /v1/clusters/{cluster}/schedules/current", { cluster })), cluster, of);
}
