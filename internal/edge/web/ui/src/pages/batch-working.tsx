import type { Signal } from "@preact/signals";
import type { Run } from "../api/contract.ts";
import { duration } from "../model/time.ts";
import { now } from "../state/clock.ts";
import { cancelRun } from "../state/batch.ts";

/** Working is how far a run is, and ends it. */
export function Working({ told }: { told: Signal<Run | null> }) {
  const r = told.value;
  if (!r) return null;
  const { done, total, unit } = r.progress;
  const far = total > 0 ? `, ${done} of ${total} ${unit}` : done > 0 ? `, ${done} ${unit} so far` : "";
  return (
    <span class="computing small" role="status">
      Computing, {duration(Math.max(0, Math.round((now.value - Date.parse(r.created_at)) / 1000)))}
      {far}{" "}
      <button class="quiet" disabled={r.cancelling} onClick={() => cancelRun(told)}>Cancel</button>
    </span>
  );
}
