// A curve: the proved plans as points, the relaxed sum as a line, where decisions change, and where there is no plan.
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { Sweep, SweepPoint } from "../api/contract.ts";
import { type Cursor, Figure } from "../charts/figure.tsx";
import { Dots, Line, Mark, Plot, type Point } from "../charts/plot.tsx";
import { number } from "../charts/scale.ts";
import { eachAtRate, headline, short } from "../model/money.ts";
import { cheapest, columnsOf, edit, height, impossible, type Metric, metrics, metricTexts, monthly, type Parameter, place, possible, readPoint, shownOf, withEdits } from "../model/sweep.ts";
import { lower } from "../model/words.ts";
import { write } from "../model/scenario.ts";
import { Segments } from "../parts/segments.tsx";
import { edits } from "../state/curves.ts";
import { addressOf, choose, chosen, go, route } from "../state/route.ts";

/** Relaxed is a point of the line that allows parts of VMs and jobs. */
interface Relaxed {
  x: number;
  y: number;
  said: string;
  breaks: boolean;
}

export function CurveFigure({ sweep: s, of }: { sweep: Sweep; of: Parameter[] }) {
  const metric = chosen<Metric>("show", metrics);
  const cursor = useSignal<Cursor>(null);
  const p = of[0]!;
  const points = useMemo(() => [...s.points].sort((a, b) => a.parameters[0]! - b.parameters[0]!), [s]);
  const relaxed = useMemo(() => (metric === "cost" ? relaxedOf(s, p) : []), [s, p, metric]);
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
    if (c.series === 0 && x) openPoint(of, s, x);
  };
  const best = cheapest(points);
  return (
    <>
      <Segments label="What is shown" name="show" words={metrics} texts={metricTexts} value={metric} choose={(w) => choose("show", w === "cost" ? null : w)} />
      <Figure
        title={`${metricTexts[metric]} by ${lower(p.label)}`}
        said={`${metric === "cost" ? `What the plan keeps lowest in ${eachAtRate.month}: the VM bill and the value refused together.` : metric === "worth" ? "What one more VM would be worth for an hour if fractions of VMs could be rented." : metric === "vms" ? "VMs that the plan rents." : "Jobs that the plan serves at once."}${best ? ` Best at ${place(p, shownOf(p, best.parameters[0]!, s.period_s), s.currency)}.` : ""}`}
        columns={columnsOf(of, s)}
        rows={points}
        name={(x) => x.parameters.join()}
        points={read}
        file="curve"
        cursor={cursor}
        open={open}
      >
        {() => <Curve s={s} p={p} points={points} relaxed={relaxed} metric={metric} read={cursor.value} at={nearest} press={() => cursor.value && open(cursor.value)} />}
      </Figure>
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

/** openPoint tries a point in What if. */
export function openPoint(of: Parameter[], s: Sweep, p: SweepPoint): void {
  const more = p.parameters.map((x, i) => edit(of[i]!, shownOf(of[i]!, x, s.period_s))).filter((e) => !(e.op === "x" && e.value === "1"));
  const all = new URLSearchParams(write(withEdits(edits.value.edits, more)).map((c) => ["ch", c]));
  go(`${addressOf(route.value.cluster, "what-if")}?${all.toString()}`);
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
}

function Curve({ s, p, points, relaxed, metric, read, at, press }: CurveProps) {
  const x = (q: SweepPoint) => shownOf(p, q.parameters[0]!, s.period_s);
  const best = cheapest(points);
  const v = s.vary[0]!;
  const ends = v.from != null && v.to != null ? [shownOf(p, Number(v.from), s.period_s), shownOf(p, Number(v.to), s.period_s)] : points.map(x);
  const money = short(s.currency);
  const along = number(ends, (n) => (p.unit === "%" ? `${n} %` : p.unit === "VMs" ? String(n) : money(n)), { exact: true, about: 8 });
  const point = (q: SweepPoint): Point => [x(q), height(metric, q) ?? NaN];
  const proved = points.map(point);
  const open = points.filter((q) => q.gap > 0).map(point);
  const lines: Point[] = relaxed.map((r) => [r.x, r.y]);
  const up = number([...proved, ...lines].map(([, y]) => y), metric === "cost" || metric === "worth" ? money : String);
  const near = best !== null && p.now !== null && Math.abs(x(best) - p.now) < (along.to - along.from) / 5; // their words would touch
  const chosenPoint = read && (read.series === 0 ? proved : lines)[read.point];
  const few = points.length <= many;
  return (
    <Plot x={along} y={up} top={40} at={at} press={press}>
      {(a) => (
        <>
          {impossible(p, s).map((z) => (
            <rect key={z.from} class="none" fill={a.hatch} x={a.x(z.from) - 2} width={Math.max(a.x(z.to) - a.x(z.from), 0) + 4} y={a.top} height={a.bottom - a.top} />
          ))}
          <Line of={a} points={lines} look="muted dashed" />
          <Line of={a} points={proved} look={few ? "faint" : ""} steps={metric === "worth"} />
          {few && <Dots of={a} points={proved} look="" />}
          <Dots of={a} points={open} look="open" />
          {relaxed
            .filter((r) => r.breaks)
            .map((r) => (
              <path key={r.x} class="diamond" d={`M${a.x(r.x)} ${a.y(r.y) - 6}l5 6l-5 6l-5 -6z`} />
            ))}
          {p.now !== null && p.now >= along.from && p.now <= along.to && <Mark of={a} x={p.now} word="now" look="muted" />}
          {best && <Mark of={a} x={x(best)} word="best" look="accent" up={near ? 14 : 0} />}
          {chosenPoint && <Dots of={a} points={[chosenPoint]} look="read" size={7} />}
        </>
      )}
    </Plot>
  );
}
