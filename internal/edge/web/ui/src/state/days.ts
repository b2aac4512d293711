// The days behind and ahead of the open cluster: the plans that were in force, and what its forecasts come to.
import { useEffect, useRef } from "preact/hooks";
import { ask, list } from "../api/client.ts";
import type { Contract, Horizon, Price } from "../api/contract.ts";
import { type Held, heldOf } from "../model/days.ts";
import { day } from "../model/time.ts";
import { current, session } from "./cluster.ts";
import { type Fetched, useFetched } from "./fetched.ts";
import { atOnce } from "./runs.ts";

export interface Days {
  /** The newest first. */
  held: Held[];
  prices: Price[];
  contracts: Contract[];
  /** Null where this key may not ask for it, or it takes too long. */
  ahead: Horizon | null;
  /** Whether it took too long. */
  late: boolean;
}

/** span is how many days are seen each way. */
export const span = 7;
const most = 1000; // prices and contracts that a picture can show
/** mostHeld is how many plans in force are read. */
export const mostHeld = 1000;
const mostTries = 3; // for the days ahead, where they took too long
const hour = 3_600_000;

/** inForce reads the plans that were in force, the newest first; from a moment on, or the newest of all. */
export async function inForce(cluster: string, from?: number): Promise<Held[]> {
  return heldOf(await list("GET /v1/clusters/{cluster}/plans", { cluster }, { in_force: true, limit: 500, ...(from ? { from: new Date(from).toISOString() } : {}) }, mostHeld));
}

/** useDays reads them anew whenever there is another plan. */
export function useDays(cluster: string): Fetched<Days> {
  const newest = current.value?.plan.number ?? 0;
  const days = useFetched(
    async () => {
      const path = { cluster };
      const from = new Date(Math.ceil((Date.now() + 1) / hour) * hour);
      const until = new Date(from.getTime() + span * day);
      const asks = session.value !== null && session.value.role !== "viewer";
      const look = async () => (asks ? atOnce((await ask("POST /v1/clusters/{cluster}/horizons", { path, body: { from: from.toISOString(), until: until.toISOString(), detail: "periods" } }))!.value) : null);
      const [held, prices, contracts, ahead] = await Promise.all([
        inForce(cluster, Date.now() - span * day),
        list("GET /v1/clusters/{cluster}/prices", path, { limit: most }, most),
        list("GET /v1/clusters/{cluster}/contracts", path, { limit: most }, most),
        look().catch(() => null), // what is behind is seen even so
      ]);
      return { held, prices, contracts, ahead, late: asks && ahead === null };
    },
    cluster,
  );
  useEffect(() => {
    if ((days.value.value?.held[0]?.plan.number ?? newest) !== newest) days.again(); // what is here stays meanwhile
  }, [newest]);
  const late = useRef(0);
  useEffect(() => {
    if (!days.value.value?.late || late.current >= mostTries) return;
    const timer = setTimeout(() => {
      late.current++;
      days.again();
    }, 20_000);
    return () => clearTimeout(timer);
  }, [days.value.value]);
  return days;
}
