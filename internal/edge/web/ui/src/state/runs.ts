// Runs are work that the service does in the background. Those that are followed tell how far they are.
import { type Signal, signal } from "@preact/signals";
import { afresh, ask, get, Problem } from "../api/client.ts";
import type { Run } from "../api/contract.ts";
import { watch } from "../api/events.ts";

/** active are the runs that are followed and have not ended, for the head of the page. */
export const active: Signal<Run[]> = signal([]);

export function ended(r: Run): boolean {
  return r.state === "succeeded" || r.state === "failed" || r.state === "cancelled";
}

/** isRun tells a run from the answer itself, where an operation gives either. */
export function isRun(answer: unknown): answer is Run {
  return typeof answer === "object" && answer !== null && "result_url" in answer && "progress" in answer;
}

/** atOnce is an answer that came without a run. A run that nobody waits for is cancelled, and there is no answer. */
export function atOnce<T>(answer: T | Run): T | null {
  if (!isRun(answer)) return answer;
  void ask("DELETE /v1/runs/{id}", { path: { id: answer.id } }).catch(() => {}); // it may have ended
  return null;
}

/** followRun tells of a run now and whenever it has come further, until it has ended or the function that it
 *  gives back is called. */
export function followRun(first: Run, tell: (r: Run) => void): () => void {
  let over = false;
  let stop = () => {};
  const put = (r: Run) => {
    const rest = active.value.filter((x) => x.id !== r.id);
    active.value = ended(r) || over ? rest : [...rest, r];
  };
  const take = (r: Run) => {
    if (over) return;
    put(r);
    tell(r);
    if (ended(r)) stop();
  };
  const look = async () => {
    try {
      take(await get("GET /v1/runs/{id}", { id: first.id }));
    } catch (e) {
      if (!(e instanceof Problem)) throw e;
    }
  };
  take(first);
  if (!ended(first)) {
    const quiet = watch(`/v1/runs/${encodeURIComponent(first.id)}/events`, "run", () => {
      afresh();
      void look();
    });
    stop = () => {
      quiet();
      stop = () => {};
    };
    void look();
  }
  return () => {
    over = true;
    stop();
    put(first);
  };
}
