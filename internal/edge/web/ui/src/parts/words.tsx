import { duration, iso } from "../model/time.ts";

/** Time is a duration for people and machines. */
export function Time({ s }: { s: number }) {
  return <time dateTime={iso(s)}>{duration(s)}</time>;
}
