// The part of a time axis that is seen. The address holds it, so that Back leads out again.
import { query, rewrite } from "./route.ts";

/** zoomed is the part that is chosen: two moments. */
export function zoomed(): [number, number] | null {
  const [from, until] = (query.value.get("days") ?? "").split("..").map((t) => Date.parse(t));
  return from && until && from < until ? [from, until] : null;
}

/** zoom takes a part, to the minute; one at least. */
export const zoom = (from: number, until: number) => rewrite({ days: [`${minute(from)}..${minute(Math.max(until, from + 60_000))}`] }, true);
export const whole = () => rewrite({ days: [] }, true);

const minute = (at: number) => new Date(at).toISOString().slice(0, 16) + "Z";
