// A chart with axes: drawn as SVG at the width that it has, with the style sheet's colours.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import type { Scale } from "./scale.ts";
import { shortened } from "../model/words.ts";

/** Area is where values are drawn: functions from values to pixels, and its edges. */
export interface Area {
  x: (value: number) => number;
  y: (value: number) => number;
  left: number;
  right: number;
  top: number;
  bottom: number;
  /** How idle and impossible parts are filled. */
  hatch: string;
}

interface Props {
  x: Scale;
  y: Scale;
  height?: number;
  /** Room above for what is written there. */
  top?: number;
  /** What the axis along the bottom is of, where its marks do not say so. */
  along?: string;
  /** Tells where on the axes the pointer is, or that it has left. */
  at?: (x: number | null, y: number) => void;
  press?: (x: number, y: number) => void;
  /** Takes the part of the axis that was drawn over; double click resets. */
  brush?: (from: number, to: number) => void;
  reset?: () => void;
  /** Room for the words at the left, where charts above each other have one axis. */
  room?: number;
  /** Where a line across says what is read, in every chart of the same axis. */
  cross?: number | null;
  children: (a: Area) => ComponentChildren;
}

const letter = 7.5; // how wide one is, about
const least = 6; // pixels that make a stroke of the pointer more than a click
const half = (text: string) => (text.length * letter) / 2;

export function Plot({ x, y, height = 320, top = 16, along, at, press, brush, reset, cross, room = 24, children }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const width = useSignal(0);
  const drawn = useSignal<{ from: number; to: number } | null>(null); // pixels from the left
  const id = useId().replace(/[^a-zA-Z0-9]/g, "");
  useEffect(() => {
    const watch = new ResizeObserver(([e]) => (width.value = Math.floor(e!.contentRect.width)));
    watch.observe(box.current!);
    return () => watch.disconnect();
  }, []);

  const left = Math.min(Math.max(room, ...y.ticks.map((t) => y.text(t).length * letter + 12)), width.value * 0.4);
  const right = Math.max(left + 1, width.value - 24);
  const bottom = height - 26 - (along ? 20 : 0);
  const a: Area = {
    x: (v) => left + ((v - x.from) / (x.to - x.from)) * (right - left),
    y: (v) => bottom - ((v - y.from) / (y.to - y.from)) * (bottom - top),
    left,
    right,
    top,
    bottom,
    hatch: `url(#hatch-${id})`,
  };
  const place = (e: MouseEvent): [number, number] => {
    const r = box.current!.getBoundingClientRect();
    return [x.from + ((e.clientX - r.left - left) / (right - left)) * (x.to - x.from), y.from + ((bottom - (e.clientY - r.top)) / (bottom - top)) * (y.to - y.from)];
  };
  const pixel = (e: MouseEvent) => Math.min(Math.max(e.clientX - box.current!.getBoundingClientRect().left, left), right);
  const value = (p: number) => x.from + ((p - left) / (right - left)) * (x.to - x.from);
  const wide = () => (drawn.value ? Math.abs(drawn.value.to - drawn.value.from) : 0);
  const letGo = () => {
    const d = drawn.value;
    if (d && brush && wide() > least) brush(value(Math.min(d.from, d.to)), value(Math.max(d.from, d.to)));
    // A click follows, which asks how far was drawn.
    setTimeout(() => (drawn.value = null));
  };
  return (
    <div
      ref={box}
      class={press ? "axes pressed" : "axes"}
      style={{ height: `${height}px` }}
      onPointerDown={brush && ((e) => e.button === 0 && e.pointerType !== "touch" && (drawn.value = { from: pixel(e), to: pixel(e) }))}
      onPointerMove={(e) => {
        if (drawn.value) drawn.value = { from: drawn.value.from, to: pixel(e) };
        at?.(...place(e));
      }}
      onPointerUp={brush && letGo}
      onPointerLeave={() => {
        drawn.value = null;
        at?.(null, 0);
      }}
      onDblClick={reset}
      onClick={press && ((e) => wide() <= least && press(...place(e)))}
    >
      {width.value > 0 && (
        <svg width={width.value} height={height} viewBox={`0 0 ${width.value} ${height}`} aria-hidden="true">
          <defs>
            <pattern id={`hatch-${id}`} width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
              <rect class="under-hatch" width="6" height="6" />
              <rect class="hatch" width="3" height="6" />
            </pattern>
          </defs>
          {y.ticks.map((t) => (
            <g key={t}>
              {!y.bare && <line class="grid" x1={left} x2={right} y1={a.y(t)} y2={a.y(t)} />}
              <text class="tick end" x={left - 8} y={a.y(t) + 4}>
                {cut(y.text(t), left - 12)}
              </text>
            </g>
          ))}
          {apart(x, a).map((t) => (
            <g key={t}>
              {!x.bare && <line class="grid" x1={a.x(t)} x2={a.x(t)} y1={top} y2={bottom} />}
              <text class="tick middle" x={Math.min(a.x(t), width.value - half(x.text(t)))} y={bottom + 18}>
                {x.text(t)}
              </text>
            </g>
          ))}
          {cross != null && cross >= x.from && cross <= x.to && <line class="cross" x1={px(a.x(cross))} x2={px(a.x(cross))} y1={top} y2={bottom} />}
          {children(a)}
          {drawn.value && wide() > least && <rect class="drawn" x={Math.min(drawn.value.from, drawn.value.to)} width={wide()} y={top} height={bottom - top} />}
          <line class="axis" x1={left} x2={right} y1={bottom} y2={bottom} />
          {along && (
            <text class="tick middle" x={(left + right) / 2} y={height - 6}>
              {along}
            </text>
          )}
        </svg>
      )}
    </div>
  );
}

/** apart leaves marks out whose words would touch those before. */
function apart(x: Scale, a: Area): number[] {
  let end = -Infinity;
  return x.ticks.filter((t) => {
    const wide = half(x.text(t));
    if (a.x(t) - wide < end + 8) return false;
    end = a.x(t) + wide;
    return true;
  });
}

const cut = (text: string, room: number): string => shortened(text, Math.max(3, Math.floor(room / letter)));

export type Point = [x: number, y: number];

/** Line joins points, or goes on level until the next one; where there is no value it is broken. */
export function Line({ of, points, look, steps }: { of: Area; points: Point[]; look: string; steps?: boolean }) {
  let path = "";
  let begins = true;
  for (const [x, y] of points) {
    const [h, v] = [px(of.x(x)), px(of.y(y))];
    if (!Number.isNaN(y)) path += begins ? `M${h} ${v}` : steps ? `H${h}V${v}` : `L${h} ${v}`;
    begins = Number.isNaN(y);
  }
  return <path class={`line ${look}`} d={path} />;
}

/** Dots stand at points. */
export function Dots({ of, points, look, size = 3 }: { of: Area; points: Point[]; look: string; size?: number }) {
  return (
    <>
      {points.filter(([, y]) => !Number.isNaN(y)).map(([x, y], i) => (
        <circle key={i} class={`dot ${look}`} cx={px(of.x(x))} cy={px(of.y(y))} r={size} />
      ))}
    </>
  );
}

/** Band lies between two lines. */
export function Band({ of, upper, lower, look }: { of: Area; upper: Point[]; lower: Point[]; look: string }) {
  if (upper.length === 0) return null;
  const corners = [...upper, ...[...lower].reverse()].map(([x, y]) => `${px(of.x(x))} ${px(of.y(y))}`);
  return <path class={`band ${look}`} d={`M${corners.join("L")}Z`} />;
}

/** Blocks stand side by side, each from one value to another for its part of the axis. */
export function Blocks({ of, parts, look }: { of: Area; parts: { from: number; until: number; low: number; high: number }[]; look: string }) {
  const path = parts.filter((p) => p.high > p.low).map((p) => `M${px(of.x(p.from))} ${px(of.y(p.low))}V${px(of.y(p.high))}H${px(of.x(p.until))}V${px(of.y(p.low))}Z`);
  return <path class={`blocks ${look}`} d={path.join("")} {...(look === "unknown" ? { fill: of.hatch } : {})} />;
}

/** Bar reaches from one value to another, so wide around its place. */
export function Bar({ of, x, from, to, part = 0.6, look }: { of: Area; x: number; from: number; to: number; part?: number; look: string }) {
  const wide = Math.min((of.x(1) - of.x(0)) * part, 48);
  const [a, b] = [of.y(from), of.y(to)];
  return <rect class={`bar ${look}`} x={px(of.x(x) - wide / 2)} width={px(wide)} y={px(Math.min(a, b))} height={px(Math.abs(a - b))} {...(look.includes("idle") ? { fill: of.hatch } : {})} />;
}

/** Mark is a line across, with a word above it. */
export function Mark({ of, x, word, look, up = 0 }: { of: Area; x: number; word: string; look: string; up?: number }) {
  return (
    <>
      <line class={`mark ${look}`} x1={px(of.x(x))} x2={px(of.x(x))} y1={of.top - up} y2={of.bottom} />
      <text class="word middle" x={px(Math.min(Math.max(of.x(x), of.left + half(word)), of.right - half(word)))} y={of.top - 4 - up}>
        {word}
      </text>
    </>
  );
}

/** Level is a line at a height, with a word at its end. */
export function Level({ of, y, word, look }: { of: Area; y: number; word: string; look: string }) {
  return (
    <>
      <line class={`mark ${look}`} x1={of.left} x2={of.right} y1={px(of.y(y))} y2={px(of.y(y))} />
      <text class="word end" x={of.right} y={px(of.y(y)) - 4}>
        {word}
      </text>
    </>
  );
}

const px = (n: number) => Math.round(n * 10) / 10;
