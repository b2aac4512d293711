// The curve itself: the proved plans as points, the relaxed sum as a line, where decisions change, and where there is no plan.
import { useSignal } from "@preact/signals";
import { Fragment } from "preact";
import { useMemo } from "preact/hooks";
import type { Sweep, SweepPoint } from "../api/contract.ts";
import { type Cursor, Figure } from "../charts/figure.tsx";
import { Dots, Line as Path, Mark, Plot, type Point } from "../charts/plot.tsx";
import { number } from "../charts/scale.ts";
import { eachAtRate, headline, short } from "../model/money.ts";
import { cheapest, columnsOf, edit, height, impossible, type Metric, metrics, metricTexts, monthly, type Parameter, place, placeOf, possible, readPoint, shownOf } from "../model/sweep.ts";
import { lower } from "../model/words.ts";
import { keyOf } from "../model/scenario.ts";
import { Segments } from "../parts/segments.tsx";
import { between, draw, ranges } from "../state/curves.ts";
import { apply, edits } from "../state/edits.ts";
import { choose, chosen } from "../state/route.ts";

/** Relaxed is a point of the line that allows parts of VMs and jobs. */
interface Relaxed {
  x: number;
  y: number;
  said: string;
  breaks: boolean;
}

const words = [...metrics, "all"] as const;
const texts: Record<(typeof words)[number], string> = { ...metricTexts, worth: "Price of a VM", all: "All" };

export function Line({ sweep: s, of }: { sweep: Sweep; of: Parameter[] }) {
  const word = chosen("show", words);
  const shown = word === "all" ? metrics : [word];
  const cursor = useSignal<Cursor>(null);
  const p = of[0]!;
  const points = useMemo(() => [...s.points].sort((a, b) => a.parameters[0]! - b.parameters[0]!), [s]);
  const relaxed = useMemo(() => (shown[0] === "cost" ? relaxedOf(s, p) : []), [s, p, word]);
  const read = useMemo(() => [points.map((x) => readPoint(of, s, x)), ...(relaxed.length > 0 ? [relaxed.map((r) => r.said)] : [])], [points, relaxed]);
  const nearest = (x: number | null) => {
    if (x === null || Number.isNaN(x)) return (cursor.value = null);
    let best = 0;
    points.forEach((q, i) => {
      if (Math.abs(shownOf(p, q.parameters[0]!, s.period_s) - x) < Math.abs(shownOf(p, points[best]!.parameters[0]!, s.period_s) - x)) best = i;
    });
    if (cursor.value?.series !== 0 || cursor.value.point !== best) cursor.value = { series: 0, point: best };
  };
  const open = (c: NonNullable<Cursor>) => {
    const x = points[c.point];
    if (c.series === 0 && x) take(of, s, x);
  };
  const best = cheapest(points);
  const range = ranges.value[0];
  return (
    <>
      <Segments label="What is shown" name="show" words={words} texts={texts} value={word} choose={(w) => choose("show", w === "cost" ? null : w)} />
      <Figure
        title={`${texts[word]} by ${lower(p.label)}`}
        said={`${shown.map((m) => meaning[m]).join(" ")}${best ? ` Best at ${place(p, shownOf(p, best.parameters[0]!, s.period_s), s.currency)}.` : ""}`}
        columns={columnsOf(of, s)}
        rows={points}
        name={(x) => x.parameters.join()}
        points={read}
        file="curve"
        cursor={cursor}
        open={open}
        bare
      >
        {() =>
          shown.map((m) => (
            <Fragment key={m}>
              {shown.length > 1 && <p class="small strong">{metricTexts[m]}</p>}
              <Curve s={s} p={p} points={points} relaxed={m === "cost" ? relaxed : []} metric={m} read={cursor.value} at={nearest} press={() => cursor.value && open(cursor.value)} height={shown.length > 1 ? 160 : 300} />
            </Fragment>
          ))
        }
      </Figure>
      <p class="small muted">
        A click, or Enter, tries a point. Draw over a part to look closer.{" "}
        {range && (range.from !== p.from || range.to !== p.to) && <button class="quiet" onClick={() => draw(p.key)}>Show all</button>}
      </p>
      <ul class="legend">
        <li><span class="dot proved" />proved plan; the line between points is drawn, not computed</li>
        {points.some((x) => possible(x) && x.gap > 0) && <li><span class="dot open" />not proved to the end</li>}
        {relaxed.length > 0 && <li><span class="dash" />relaxed: parts of VMs and jobs allowed{s.curve?.exact ? ", exact" : ""}</li>}
        {relaxed.some((r) => r.breaks) && <li><span class="diamond" />a decision changes here</li>}
        {points.some((x) => !possible(x)) && <li><span class="patch none" />no plan</li>}
      </ul>
    </>
  );
}

const meaning: Record<Metric, string> = {
  cost: `What the plan keeps lowest in ${eachAtRate.month}: the VM bill and the value refused together.`,
  worth: "What one more VM would be worth for an hour if fractions of VMs could be rented.",
  vms: "VMs that the plan rents.",
  served: "Jobs that the plan serves at once.",
};

/** take makes a point of the curve the changes that are tried. */
export function take(of: Parameter[], s: Sweep, p: SweepPoint): void {
  apply(p.parameters.map((x, i) => edit(of[i]!, shownOf(of[i]!, x, s.period_s))));
}

function relaxedOf(s: Sweep, p: Parameter): Relaxed[] {
  const c = s.curve;
  if (!c) return [];
  return c.points.map((q, i) => {
    const x = shownOf(p, q.at, s.period_s);
    const breaks = c.exact && i > 0 && i < c.points.length - 1;
    const cost = monthly(q.cost, s.period_s);
    const changes = breaks && q.margin ? ` · from here on ${q.margin === "on_demand" ? "VMs on demand" : q.margin}` : "";
    return { x, y: Number(cost) / 1e9, breaks, said: `${place(p, x, s.currency)} · relaxed ${headline(cost, s.currency)} ${eachAtRate.month}${changes}` };
  });
}

const many = 150; // points that are too close for symbols

interface CurveProps {
  s: Sweep;
  p: Parameter;
  points: SweepPoint[];
  relaxed: Relaxed[];
  metric: Metric;
  read: Cursor;
  at: (x: number | null) => void;
  press: () => void;
  height: number;
}

const line = 14; // of words above the chart

function Curve({ s, p, points, relaxed, metric, read, at, press, height: high }: CurveProps) {
  const x = (q: SweepPoint) => shownOf(p, q.parameters[0]!, s.period_s);
  const best = cheapest(points);
  const v = s.vary[0]!;
  const ends = v.from != null && v.to != null ? [shownOf(p, Number(v.from), s.period_s), shownOf(p, Number(v.to), s.period_s)] : points.map(x);
  const money = short(s.currency);
  const along = number(ends, (n) => (p.unit === "%" ? `${n} %` : p.unit === "a month" ? money(n) : String(n)), { exact: true, about: 8 });
  const point = (q: SweepPoint): Point => [x(q), height(metric, q) ?? NaN];
  const proved = points.map(point);
  const open = points.filter((q) => q.gap > 0).map(point);
  const lines: Point[] = relaxed.map((r) => [r.x, r.y]);
  const up = number([...proved, ...lines].map(([, y]) => y), metric === "cost" || metric === "worth" ? money : String, { about: high < 200 ? 3 : 5 });
  const tried = edits.value.find((e) => keyOf(e) === keyOf(p));
  const marks = raised(
    [
      { at: p.now, word: "now", look: "muted" },
      { at: best && x(best), word: "best", look: "accent" },
      { at: tried ? placeOf(p, tried) : null, word: "what if", look: "" },
    ].flatMap((m) => (m.at !== null && m.at >= along.from && m.at <= along.to ? [{ ...m, at: m.at }] : [])),
    (along.to - along.from) / 5,
  );
  const chosenPoint = read && (read.series === 0 ? proved : lines)[read.point];
  const few = points.length <= many;
  return (
    <Plot x={along} y={up} height={high} top={24 + line * Math.max(0, ...marks.map((m) => m.up))} at={at} press={press} room={high < 200 ? 64 : 24} cross={chosenPoint ? chosenPoint[0] : null} brush={(from, to) => between([{ ...closer(p, from, to), n: ranges.value[0]?.n ?? 61 }])} reset={() => draw(p.key)}>
      {(a) => (
        <>
          {impossible(p, s).map((z) => (
            <rect key={z.from} class="none" fill={a.hatch} x={a.x(z.from) - 2} width={Math.max(a.x(z.to) - a.x(z.from), 0) + 4} y={a.top} height={a.bottom - a.top} />
          ))}
          <Path of={a} points={lines} look="muted dashed" />
          <Path of={a} points={proved} look={few ? "faint" : ""} steps={metric === "worth"} />
          {few && <Dots of={a} points={proved} look="" />}
          <Dots of={a} points={open} look="open" />
          {relaxed
            .filter((r) => r.breaks)
            .map((r) => (
              <path key={r.x} class="diamond" d={`M${a.x(r.x)} ${a.y(r.y) - 6}l5 6l-5 6l-5 -6z`} />
            ))}
          {marks.map((m) => (
            <Mark key={m.word} of={a} x={m.at} word={m.word} look={m.look} up={line * m.up} />
          ))}
          {chosenPoint && <Dots of={a} points={[chosenPoint]} look="read" size={7} />}
        </>
      )}
    </Plot>
  );
}

/** raised lifts words that would touch others. */
function raised<M extends { at: number }>(marks: M[], near: number): (M & { up: number })[] {
  const out: (M & { up: number })[] = [];
  for (const m of marks) out.push({ ...m, up: out.filter((o) => Math.abs(o.at - m.at) < near).length });
  return out;
}

/** closer is a part of an axis, in numbers that people would type. */
function closer(p: Parameter, from: number, to: number): { from: number; to: number } {
  const digits = p.unit === "%" ? 1 : 0;
  const a = Math.max(0, Number(from.toFixed(digits)));
  const b = Number(to.toFixed(digits));
  return { from: a, to: b > a ? b : a + 1 };
}
