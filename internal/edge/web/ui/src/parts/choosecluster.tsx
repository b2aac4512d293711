// The cluster of a page that is about no cluster: chosen in a field, kept in the address.
import { clusters, lastCluster } from "../state/cluster.ts";
import { choose, query } from "../state/route.ts";

/** useCluster is the cluster whose settings are seen, and the field with which it is chosen. */
export function useCluster() {
  const names = clusters.value?.map((c) => c.name) ?? [];
  const asked = query.value.get("cluster") ?? "";
  const name = names.includes(asked) ? asked : lastCluster();
  const field = (
    <label>
      Cluster{" "}
      <select value={name} onChange={(e) => choose("cluster", e.currentTarget.value)}>
        {names.map((n) => (
          <option key={n} value={n}>
            {n}
          </option>
        ))}
      </select>
    </label>
  );
  return { name, field };
}
