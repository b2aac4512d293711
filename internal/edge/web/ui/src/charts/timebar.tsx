import { duration } from "../model/time.ts";

export interface Spread {
  lower: number;
  average: number;
  upper: number;
}

/** TimeBar shows between what times executions of a class lie against their deadline, which stands at two
 *  thirds of every bar; an arrow says that they go on beyond it. */
export function TimeBar({ times, deadline }: { times: Spread; deadline: number }) {
  const wide = deadline * 1.5;
  const at = (s: number) => Math.min(Math.max(s / wide, 0), 1) * 100;
  const from = at(times.lower);
  const to = at(times.upper);
  const late = times.average > deadline;
  const said = `Between ${duration(times.lower)} and ${duration(times.upper)}, expected ${duration(times.average)}; deadline ${duration(deadline)}.`;
  return (
    <svg class={late ? "timebar late" : "timebar"} role="img" aria-label={said}>
      <line class="track" x1="0" x2="100%" y1="10" y2="10" />
      <rect class="range" x={`${Math.min(from, 99)}%`} width={`${Math.max(to - from, 1)}%`} y="5" height="10" rx="5" />
      <line class="deadline" x1={`${200 / 3}%`} x2={`${200 / 3}%`} y1="1" y2="19" />
      {times.average <= wide && <circle class="dot" cx={`${at(times.average)}%`} cy="10" r="5" />}
      {times.upper > wide && (
        <svg x="100%" y="10" overflow="visible">
          <path class="beyond" d="M-7 -8 L1 0 L-7 8z" />
        </svg>
      )}
    </svg>
  );
}
