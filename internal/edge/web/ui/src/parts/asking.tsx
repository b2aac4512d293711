import { now } from "../state/clock.ts";
import type { Asked } from "../state/asked.ts";
import { refusal } from "../state/rights.ts";
import { ended } from "../state/runs.ts";

/** Asking says how far a long question is, with a way to end it, and what went wrong. */
export function Asking<T>({ of }: { of: Asked<T> }) {
  const problem = of.problem.value;
  const run = of.run.value;
  void now.value; // drawn again each second
  const waits = of.since.value > 0 ? (Date.now() - of.since.value) / 1000 : 0;
  if (problem)
    return (
      <div class="banner error" role="alert">
        {refusal(problem)}
      </div>
    );
  if (run && !ended(run)) {
    const { done, total } = run.progress;
    return (
      <p class="asking small" role="status">
        {run.cancelling ? "Ending" : run.state === "queued" ? "Waiting for its turn" : total > 0 ? `Running, ${done} of ${total}` : "Running"}
        {run.eta_s !== null && !run.cancelling && `, ${Math.max(1, Math.ceil(run.eta_s))} s left`}
        {total > 0 && <progress max={total} value={done} aria-label="How far it is" />}
        <button disabled={run.cancelling} onClick={() => of.cancel()}>Cancel</button>
      </p>
    );
  }
  if (waits >= 0.3)
    return (
      <p class="asking small" role="status">
        Computing, {waits.toFixed(1)} s <button onClick={() => of.cancel()}>Cancel</button>
      </p>
    );
  return null;
}
