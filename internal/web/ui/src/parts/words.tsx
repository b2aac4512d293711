import { duration, iso } from "../model/time.ts";

/** Time is a duration for people and machines. */
export function Time({ s }: { s: number }) {
  return <time dateTime={iso(s)}>{duration(s)}</time>;
}

const long = 40;

/** Name is what somebody called something: it may be in any script, and long names are cut in the middle for
 *  the eye alone. */
export function Name({ of }: { of: string }) {
  const letters = [...of];
  if (letters.length <= long) return <bdi class="strong">{of}</bdi>;
  return (
    <bdi class="strong">
      <span aria-hidden="true">{`${letters.slice(0, 24).join("")}…${letters.slice(-14).join("")}`}</span>
      <span class="hidden">{of}</span>
    </bdi>
  );
}
