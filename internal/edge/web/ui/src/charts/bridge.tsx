import { useEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { headline, type Units } from "../model/money.ts";

export interface Step {
  name: string;
  change: Units;
  kind: "reserved" | "demand" | "refused" | "values";
}

/** costLines are what the lines of the bill and the value refused are called, and how they are drawn. */
export const costLines: Record<string, { name: string; kind: Step["kind"] }> = {
  reserved: { name: "Reserved", kind: "reserved" },
  reserved_idle: { name: "Reserved but idle", kind: "reserved" },
  on_demand: { name: "On demand", kind: "demand" },
  spot: { name: "Spot", kind: "demand" },
  penalties: { name: "Value refused", kind: "refused" },
};

/** difference writes a change with its sign. */
export function difference(u: Units, currency: string): string {
  if (u === 0n) return "no change";
  return u > 0n ? `+${headline(u, currency)}` : headline(u, currency);
}

/** Bridge leads from one cost to another: two level lines, and the changes between them as blocks that float,
 *  so that a small change is not drawn as a large one. It is drawn at the width that it has. */
export function Bridge({ from, to, names, steps, currency, said }: { from: Units; to: Units; names: [string, string]; steps: Step[]; currency: string; said: string }) {
  const box = useRef<HTMLDivElement>(null);
  const width = useSignal(0);
  useEffect(() => {
    const watch = new ResizeObserver(([e]) => (width.value = Math.floor(e!.contentRect.width)));
    watch.observe(box.current!);
    return () => watch.disconnect();
  }, []);
  return (
    <div ref={box} class="bridge" role="img" aria-label={said}>
      {width.value > 0 && (width.value < 480 ? <Rows steps={steps} currency={currency} width={width.value} /> : <Blocks from={from} to={to} names={names} steps={steps} currency={currency} width={width.value} />)}
    </div>
  );
}

const height = 220;

function Blocks({ from, to, names, steps, currency, width }: { from: Units; to: Units; names: [string, string]; steps: Step[]; currency: string; width: number }) {
  const levels: number[] = [Number(from)];
  for (const s of steps) levels.push(levels.at(-1)! + Number(s.change));
  const top = Math.max(...levels);
  const low = Math.min(...levels);
  const spread = top - low || 1;
  const y = (level: number) => 36 + ((top - level) / spread) * (height - 92);
  const column = width / (steps.length + 2);
  const mid = (i: number) => column * (i + 0.5);
  const wide = Math.min(column * 0.7, 110);
  return (
    <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <Level x={mid(0)} y={y(levels[0]!)} wide={wide} name={names[0]} text={headline(from, currency)} />
      {steps.map((s, i) => {
        const a = y(levels[i]!);
        const b = y(levels[i + 1]!);
        return (
          <g key={s.name}>
            <line class="lead" x1={mid(i) + wide / 2} x2={mid(i + 1) - wide / 2} y1={a} y2={a} />
            <rect class={`block ${s.kind}`} x={mid(i + 1) - wide / 2} width={wide} y={Math.min(a, b)} height={Math.max(Math.abs(a - b), 2)} rx={3} />
            <text x={mid(i + 1)} y={Math.min(a, b) - 8}>
              {difference(s.change, currency)}
            </text>
            <text class="name" x={mid(i + 1)} y={height - 8}>
              {s.name}
            </text>
          </g>
        );
      })}
      <line class="lead" x1={mid(steps.length) + wide / 2} x2={mid(steps.length + 1) - wide / 2} y1={y(levels.at(-1)!)} y2={y(levels.at(-1)!)} />
      <Level x={mid(steps.length + 1)} y={y(Number(to))} wide={wide} name={names[1]} text={headline(to, currency)} />
    </svg>
  );
}

function Level({ x, y, wide, name, text }: { x: number; y: number; wide: number; name: string; text: string }) {
  return (
    <g>
      <line class="level" x1={x - wide / 2} x2={x + wide / 2} y1={y} y2={y} />
      <text x={x} y={y - 8}>
        {text}
      </text>
      <text class="name" x={x} y={height - 8}>
        {name}
      </text>
    </g>
  );
}

/** Rows is the bridge where there is no room for it: what falls to the left of the middle, what rises to the right. */
function Rows({ steps, currency, width }: { steps: Step[]; currency: string; width: number }) {
  const most = Math.max(...steps.map((s) => Math.abs(Number(s.change))), 1);
  const half = width / 2;
  return (
    <svg width={width} height={steps.length * 44} viewBox={`0 0 ${width} ${steps.length * 44}`} aria-hidden="true">
      <line class="lead" x1={half} x2={half} y1={0} y2={steps.length * 44} />
      {steps.map((s, i) => {
        const long = (Math.abs(Number(s.change)) / most) * (half - 8);
        return (
          <g key={s.name}>
            <text class="name left" x={0} y={i * 44 + 14}>
              {s.name}
            </text>
            <text class="right" x={width} y={i * 44 + 14}>
              {difference(s.change, currency)}
            </text>
            <rect class={`block ${s.kind}`} x={s.change < 0n ? half - long : half} width={Math.max(long, 1)} y={i * 44 + 20} height={14} rx={3} />
          </g>
        );
      })}
    </svg>
  );
}
