import type { Signal } from "@preact/signals";
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { CurrentPlan, Problem } from "../api/contract.ts";
import { units } from "../model/money.ts";
import { contractsOf } from "../model/supply.ts";
import type { Cursor } from "./figure.tsx";

export interface Part {
  name: string;
  vms: number;
  kind: "reserved" | "idle" | "demand";
}

/** parts are the VMs of a plan as they stand in the bar: contracts by price, what of them is idle, on demand. */
export function parts(p: CurrentPlan, problem: Problem): Part[] {
  const price = new Map(contractsOf(problem).map((c) => [c.name, units(c.price)]));
  const free = new Set(contractsOf(problem).filter((c) => c.billing !== "always").map((c) => c.name));
  const dear = (name: string) => price.get(name) ?? 0n;
  const out: Part[] = [];
  for (const c of [...p.plan.vms.contracts].sort((a, b) => (dear(a.name) < dear(b.name) ? -1 : dear(a.name) > dear(b.name) ? 1 : a.name < b.name ? -1 : 1))) {
    if (c.used > 0) out.push({ name: c.name, vms: c.used, kind: "reserved" });
    if (c.vms > c.used) out.push({ name: `${c.name}, idle${free.has(c.name) ? " and free of charge" : ""}`, vms: c.vms - c.used, kind: "idle" });
  }
  if (p.plan.vms.on_demand > 0) out.push({ name: "on demand", vms: p.plan.vms.on_demand, kind: "demand" });
  if (p.plan.vms.spot) out.push({ name: "spot", vms: p.plan.vms.spot, kind: "demand" });
  return out;
}

const height = 64;
const gap = 3;
const roomy = 72; // a part with its number and name inside
const letter = 8.5; // as wide as a letter of a name is at most

/** VMBar shows where the VMs come from, each part as wide as its number; where a part is too narrow for its
 *  name it stands below. The line is the most VMs that there may be. */
export function VMBar({ all, most, limit, cursor }: { all: Part[]; most: number | null; limit: string; cursor: Signal<Cursor> }) {
  const box = useRef<HTMLDivElement>(null);
  const width = useSignal(0);
  useEffect(() => {
    const watch = new ResizeObserver(([e]) => (width.value = Math.floor(e!.contentRect.width)));
    watch.observe(box.current!);
    return () => watch.disconnect();
  }, []);
  const total = all.reduce((n, p) => n + p.vms, 0);
  const quota = most !== null && most <= 1.5 * total ? most : null; // farther away it would leave no room for the parts
  const room = width.value - gap * (all.length - 1);
  const scale = room / Math.max(total, quota ?? 0, 1);
  let x = 0;
  const placed = all.map((p) => {
    const at = { ...p, x, wide: Math.max(p.vms * scale, 2) };
    x += at.wide + gap;
    return at;
  });
  const tall = quota === null ? height : height + 20;
  const fits = (p: (typeof placed)[number]) => p.wide >= Math.max(roomy, p.name.length * letter + 20);
  const below = placed.filter((p) => !fits(p));
  return (
    <div ref={box}>
      {width.value > 0 && (
        <svg class="vmbar" width={width.value} height={tall} viewBox={`0 0 ${width.value} ${tall}`} aria-hidden="true">
          <defs>
            <pattern id="idle" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
              <rect class="stripe" width="3" height="6" />
            </pattern>
          </defs>
          {placed.map((p, i) => (
            <g key={p.name} onPointerEnter={() => (cursor.value = { series: 0, point: i })}>
              <rect class={cursor.value?.point === i ? `${p.kind} read` : p.kind} x={p.x} y={0} width={p.wide} height={height} rx={3} fill={p.kind === "idle" ? "url(#idle)" : undefined} />
              {fits(p) && (
                <>
                  <text class={`count ${p.kind}`} x={p.x + 10} y={30}>
                    {p.vms}
                  </text>
                  <text class={`of ${p.kind}`} x={p.x + 10} y={51}>
                    {p.name}
                  </text>
                </>
              )}
            </g>
          ))}
          {quota !== null && (
            <>
              <line class="quota" x1={Math.min(quota * scale + gap * (all.length - 1), width.value - 1)} x2={Math.min(quota * scale + gap * (all.length - 1), width.value - 1)} y1={0} y2={height + 4} />
              <text class="of" x={width.value} y={height + 17} text-anchor="end">
                {limit}
              </text>
            </>
          )}
        </svg>
      )}
      {below.length > 0 && width.value > 0 && (
        <p class="legend small">
          {below.map((p) => (
            <span key={p.name}>
              <span class={`patch ${p.kind}`} />
              {p.vms} <bdi>{p.name}</bdi>
            </span>
          ))}
        </p>
      )}
    </div>
  );
}
