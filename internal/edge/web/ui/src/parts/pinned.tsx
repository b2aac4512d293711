// The plan that is held, wherever it is seen.
import { useSignal } from "@preact/signals";
import { ask, Problem } from "../api/client.ts";
import { clock } from "../model/time.ts";
import { now } from "../state/clock.ts";
import { cluster, current, refresh } from "../state/cluster.ts";
import { refusal } from "../state/rights.ts";
import { route } from "../state/route.ts";

const number = (n: number) => new Intl.NumberFormat("en-US").format(n);

/** PinLine says which plan is held and which waits, and lets it go. */
export function PinLine() {
  const wrong = useSignal("");
  const { pin, waiting } = current.value?.plan.freshness ?? {};
  const name = route.value.cluster;
  if (!pin) return null;
  const unpin = async () => {
    try {
      await ask("DELETE /v1/clusters/{cluster}/plans/pin", { path: { cluster: name } });
      await refresh(name);
    } catch (e) {
      if (!(e instanceof Problem)) throw e;
      wrong.value = refusal(e);
    }
  };
  return (
    <div class="banner" role="status">
      <span>
        Plan {number(pin.number)} is pinned until {clock(new Date(pin.until), cluster.value?.time_zone ?? "UTC", new Date(now.value))} by <bdi>{pin.by}</bdi>.{" "}
        {waiting ? `Plan ${number(waiting)} waits until then.` : "Plans go on being made; none of them becomes current until then."}
      </span>
      <button class="quiet" onClick={() => void unpin()}>End the pin</button>
      {wrong.value && <span role="alert">{wrong.value}</span>}
    </div>
  );
}
