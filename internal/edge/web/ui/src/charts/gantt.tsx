// The phases of a packing over time. It is SVG of our own: one straight axis needs no library, names stand inside
// the bars and are cut where they do not fit, and colours and hatches come from the style sheet, so that neither a
// change of theme nor print draws anything anew.
import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Packing } from "../api/contract.ts";
import { at, deadlinesOf, type Kind, nameOf, standing } from "../model/batch.ts";
import type { Cursor } from "./figure.tsx";

const lane = 24;
const gap = 10;
const head = 28;
const right = 12;
/** More rows than this are not drawn; the table behind has all. */
export const mostRows = 200;

const steps = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800];

interface Props {
  packing: Packing;
  kinds: Map<string, Kind>;
  by: "phase" | "machine";
  /** When it begins, in seconds of a day. */
  begin: number;
  cursor: Signal<Cursor>;
}

interface Box {
  x: number;
  wide: number;
  y: number;
  high: number;
  kind: Kind;
  extra: boolean;
  late: boolean;
  name: string;
  phase: number;
  job: number;
}

export function Gantt({ packing, kinds, by, begin, cursor }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const width = useSignal(0);
  useEffect(() => {
    const watch = new ResizeObserver(([e]) => (width.value = Math.floor(e!.contentRect.width)));
    watch.observe(box.current!);
    return () => watch.disconnect();
  }, []);
  const wide = width.value;
  return (
    <div ref={box} class="gantt" onPointerLeave={() => (cursor.value = null)}>
      {wide > 0 && <Drawing packing={packing} kinds={kinds} by={by} begin={begin} cursor={cursor} width={wide} />}
    </div>
  );
}

function Drawing({ packing, kinds, by, begin, cursor, width }: Props & { width: number }) {
  const left = width < 480 ? 64 : 92;
  const due = deadlinesOf(packing);
  const latest = Math.max(0, ...due.values());
  const until = Math.max(packing.end_s, Math.min(latest, 1.5 * packing.end_s)) || 1;
  const x = (s: number) => left + (s / until) * (width - left - right);
  const { boxes, labels, ticks, height } = by === "phase" ? byPhase(packing, kinds, due, x) : byMachine(packing, kinds, due, x, until, width < 480);
  const step = steps.find((s) => (s / until) * (width - left - right) >= 64) ?? until;
  const marks: number[] = [];
  for (let s = 0; s <= until && marks.length < 100; s += step) marks.push(s);
  const read = cursor.value;
  return (
    <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <defs>
        <pattern id="gantt-hatch" patternUnits="userSpaceOnUse" width="6" height="6" patternTransform="rotate(45)">
          <rect class="stripe" width="2.5" height="6" />
        </pattern>
      </defs>
      {marks.map((s) => (
        <g key={s}>
          <line class="grid" x1={x(s)} x2={x(s)} y1={head - 6} y2={height} />
          <text class="time" x={x(s)} y={14}>
            {at(begin, s, step < 60)}
          </text>
        </g>
      ))}
      {labels.map((l) => (
        <text key={l.text} class="row" x={0} y={l.y}>
          {l.text}
        </text>
      ))}
      {boxes.map((b, i) => (
        <g key={i} class={read && read.series === b.phase && read.point === b.job ? "read" : ""} onPointerEnter={() => (cursor.value = { series: b.phase, point: b.job })}>
          <rect class={`job ${b.kind}${b.late ? " late" : ""}`} x={b.x} y={b.y} width={b.wide} height={b.high} rx={3} />
          {b.extra && <rect class="extra" x={b.x} y={b.y} width={b.wide} height={b.high} rx={3} fill="url(#gantt-hatch)" />}
          {b.high >= 18 && fits(b.name, b.wide) && (
            <text class={`inside ${b.kind}${b.extra ? " plate" : ""}`} x={b.x + 6} y={b.y + b.high / 2 + 4.5}>
              {b.name}
            </text>
          )}
        </g>
      ))}
      {ticks.map((t, i) => (
        <path key={i} class={t.late ? "due late" : "due"} d={`M${t.x - 4} ${t.y}h8l-4 6zM${t.x} ${t.y}V${t.y + t.high}`} />
      ))}
    </svg>
  );
}

/** fits says whether a name has room; the widest of the system's fonts needs 8 pixels a letter. */
function fits(name: string, wide: number): boolean {
  return [...name].length * 8 + 12 <= wide;
}

interface Tick {
  x: number;
  y: number;
  high: number;
  late: boolean;
}

/** byPhase gives each job of each phase a lane of its own. */
function byPhase(p: Packing, kinds: Map<string, Kind>, due: Map<string, number>, x: (s: number) => number) {
  const boxes: Box[] = [];
  const labels: { text: string; y: number }[] = [];
  const ticks: Tick[] = [];
  let y = head;
  p.phases.forEach((f, i) => {
    if (boxes.length >= mostRows) return;
    labels.push({ text: `Phase ${i + 1}`, y: y + 16 });
    f.jobs.slice(0, mostRows - boxes.length).forEach((j, k) => {
      boxes.push({ x: x(f.start_s), wide: Math.max(x(j.end_s) - x(f.start_s), 2), y, high: lane - 2, kind: kinds.get(j.job) ?? "neither", extra: j.role === "guest", late: j.late ?? false, name: nameOf(p, j), phase: i, job: k });
      const at = due.get(j.job);
      if (at !== undefined && x(at) <= x(p.end_s * 1.5)) ticks.push({ x: x(at), y, high: lane - 2, late: j.late ?? false });
      y += lane;
    });
    y += gap;
  });
  return { boxes, labels, ticks, height: y };
}

/** byMachine gives each machine a row; how high a job stands in it is its share of the machine's VMs. */
function byMachine(p: Packing, kinds: Map<string, Kind>, due: Map<string, number>, x: (s: number) => number, until: number, narrow: boolean) {
  const boxes: Box[] = [];
  const labels: { text: string; y: number }[] = [];
  const machines = Math.min(Math.max(0, ...p.phases.map((f) => f.placement?.length ?? 0)), mostRows);
  const rows = Math.max(1, ...p.phases.flatMap((f) => (f.placement ?? []).map((m) => m.disks.length + (m.extras?.length ?? 0))));
  const high = Math.max(lane, Math.min(rows * 7, 56));
  for (let m = 0; m < machines; m++) {
    const y = head + m * (high + 6);
    labels.push({ text: `Machine ${m + 1}`.slice(narrow ? 8 : 0), y: y + high / 2 + 5 });
    p.phases.forEach((f, i) => {
      let top = y;
      for (const s of standing(f, m)) {
        const j = f.jobs[s.job];
        if (!j) continue;
        for (const [n, extra] of [
          [s.disks, false],
          [s.extras, true],
        ] as const) {
          if (n === 0) continue;
          const tall = (n / rows) * high;
          boxes.push({ x: x(f.start_s), wide: Math.max(x(j.end_s) - x(f.start_s), 2), y: top, high: Math.max(tall - 1, 2), kind: kinds.get(j.job) ?? "neither", extra, late: j.late ?? false, name: nameOf(p, j), phase: i, job: s.job });
          top += tall;
        }
      }
    });
  }
  const height = head + machines * (high + 6);
  const ticks: Tick[] = [...new Set(due.values())].filter((s) => s <= until).map((s) => ({ x: x(s), y: head - 8, high: height - head + 8, late: false }));
  return { boxes, labels, ticks, height };
}
