// The days behind and ahead of the open cluster: the plans that were in force, and what its forecasts come to.
import { useEffect, useRef } from "preact/hooks";
import { ask, get, list } from "../api/client.ts";
import type { Contract, Horizon, Price } from "../api/contract.ts";
import { type Held, heldOf } from "../model/days.ts";
import { day } from "../model/time.ts";
import { current, mayAsk } from "./cluster.ts";
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
const mostTries = 3; // for what was not planned yet
const hour = 3_600_000;

/** inForce reads the plans that were in force, the newest first; from a moment on, or the newest of all. */
export async function inForce(cluster: string, from?: number): Promise<Held[]> {
  return heldOf(await list("GET /v1/clusters/{cluster}/plans", { cluster }, { in_force: true, limit: 500, ...(from ? { from: new Date(from).toISOString() } : {}) }, mostHeld));
}

/** mayWait says whether jobs may wait that count there as they arrive. */
export const mayWait = (h: Horizon): boolean => h.warnings.some((w) => w.code === "windows_left_out");

async function plansToCome(cluster: string): Promise<{ steps: [number, number][]; complete: boolean }> {
  const s = await get("GET /v1/clusters/{cluster}/plans/current/scaling", { cluster }, { lead: 1 });
  const next = s.next ?? [];
  const end = s.next_until ? Date.parse(s.next_until) : 0;
  const steps = next.map((n): [number, number] => [Date.parse(n.at), n.vms]).filter(([at]) => at < end);
  return { steps: steps.length > 0 ? [...steps, [end, steps.at(-1)![1]]] : [], complete: s.next_complete ?? false };
}

/** useDays reads them anew whenever there is another plan. */
export function useDays(cluster: string): Fetched<Days> {
  const newest = current.value?.plan.number ?? 0;
  const days = useFetched(
    async () => {
      const path = { cluster };
      const from = new Date(Math.ceil((Date.now() + 1) / hour) * hour);
      const until = new Date(from.getTime() + span * day);
      const asked = mayAsk();
      const look = async () => ((await asked) ? atOnce((await ask("POST /v1/clusters/{cluster}/horizons", { path, body: { from: from.toISOString(), until: until.toISOString(), detail: "periods" } }))!.value) : null);
      const [held, prices, contracts, ahead] = await Promise.all([
        inForce(cluster, Date.now() - span * day),
        list("GET /v1/clusters/{cluster}/prices", path, { limit: most }, most),
        list("GET /v1/clusters/{cluster}/contracts", path, { limit: most }, most),
        look().catch(() => null), // what is behind is seen even so
      ]);
      return { held, prices, contracts, ahead, late: (await asked) && ahead === null };
    },
    cluster,
  );
  useEffect(() => {
    if ((days.value.value?.held[0]?.plan.number ?? newest) !== newest) days.again(); // what is here stays meanwhile
  }, [newest]);
  useMore(days, (d) => d.late);
  return days;
}

/** useMore asks a few times more for what was not planned yet. */
function useMore<T>(of: Fetched<T>, lacks: (value: T) => boolean): void {
  const tries = useRef(0);
  const value = of.value.value;
  useEffect(() => {
    if (value === null || !lacks(value) || tries.current >= mostTries) return;
    const timer = setTimeout(() => {
      tries.current++;
      of.again();
    }, 20_000);
    return () => clearTimeout(timer);
  }, [value]);
}

/** useToCome are the VMs of the plans to come where jobs wait, which those ahead count as they arrive: from each moment on, the
 *  last one until then. Empty where none may wait. */
export function useToCome(cluster: string, ahead: Horizon | null): [number, number][] {
  const waits = ahead !== null && mayWait(ahead);
  const come = useFetched(() => (waits ? plansToCome(cluster) : Promise.resolve(null)), cluster, waits, current.value?.plan.number);
  useMore(come, (c) => !c.complete);
  return come.value.value?.steps ?? [];
}
