// A curve: the proved plans as points, the relaxed cost as a line, where decisions change, and where there is no plan.
import type { EChartsCoreOption } from "echarts/core";
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { Sweep, SweepPoint } from "../api/contract.ts";
import { axis, short } from "../charts/axes.ts";
import { Chart, type Colours, hatch } from "../charts/chart.tsx";
import { type Cursor, Figure } from "../charts/figure.tsx";
import { headline } from "../model/money.ts";
import { cheapest, columnsOf, edit, height, impossible, type Metric, metrics, metricTexts, monthly, type Parameter, place, possible, readPoint, shownOf, withEdits } from "../model/sweep.ts";
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
  const at = cursor.value;
  const option = useMemo(() => (c: Colours) => draw(c, s, p, points, relaxed, metric, at), [s, p, points, relaxed, metric, at]);
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
        title={`${metricTexts[metric]} over ${p.label}`}
        said={`${metric === "cost" ? "What the plan keeps lowest in a month: the VM bill and the cost of refused jobs." : metric === "worth" ? "What one more VM is worth for an hour." : metric === "vms" ? "VMs that the plan rents." : "Jobs that the plan serves at once."}${best ? ` Cheapest at ${place(p, shownOf(p, best.parameters[0]!, s.period_s), s.currency)}.` : ""}`}
        columns={columnsOf(of, s)}
        rows={points}
        name={(x) => x.parameters.join()}
        points={read}
        file="curve"
        cursor={cursor}
        open={open}
      >
        {() => <Chart option={option} at={nearest} press={() => cursor.value && open(cursor.value)} />}
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
    return { x, y: Number(cost) / 1e9, breaks, said: `${place(p, x, s.currency)} · relaxed ${headline(cost, s.currency)} a month${changes}` };
  });
}

const many = 150; // points that are too close for symbols

function draw(c: Colours, s: Sweep, p: Parameter, points: SweepPoint[], relaxed: Relaxed[], metric: Metric, at: Cursor): EChartsCoreOption {
  const x = (q: SweepPoint) => shownOf(p, q.parameters[0]!, s.period_s);
  const best = cheapest(points);
  const zones = impossible(p, s);
  const v = s.vary[0]!;
  const ends = v.from != null && v.to != null ? [shownOf(p, Number(v.from), s.period_s), shownOf(p, Number(v.to), s.period_s)].sort((a, b) => a - b) : [x(points[0]!), x(points[points.length - 1]!)];
  const label = (x: number) => (p.unit === "%" ? `${x} %` : p.unit === "VMs" ? String(x) : short(s.currency)(x));
  const marks = [];
  const near = best !== null && p.now !== null && Math.abs(x(best) - p.now) < (ends[1]! - ends[0]!) / 5; // their words would touch
  if (p.now !== null && p.now >= ends[0]! && p.now <= ends[1]!) marks.push({ xAxis: p.now, label: { formatter: "now", position: "end" }, lineStyle: { color: c.muted, type: "solid" } });
  if (best) marks.push({ xAxis: x(best), label: { formatter: "cheapest", position: "end", offset: [0, near ? -14 : 0] }, lineStyle: { color: c.accent, type: "dotted" } });
  const chosenPoint = at && (at.series === 0 ? points[at.point] && [x(points[at.point]!), height(metric, points[at.point]!)] : relaxed[at.point] && [relaxed[at.point]!.x, relaxed[at.point]!.y]);
  return {
    grid: { left: 8, right: 24, top: 44, bottom: 8, containLabel: true },
    xAxis: { type: "value", min: ends[0], max: ends[1], ...axis(c, label) },
    yAxis: { type: "value", scale: true, ...axis(c, metric === "cost" || metric === "worth" ? short(s.currency) : undefined) },
    series: [
      {
        type: "custom",
        silent: true,
        data: zones.map((z) => [z.from, z.to]),
        renderItem: ({ coordSys }: { coordSys: { y: number; height: number } }, api: { value: (i: number) => number; coord: (at: number[]) => number[] }) => {
          const from = api.coord([api.value(0), 0])[0]!;
          const to = api.coord([api.value(1), 0])[0]!;
          return { type: "rect", shape: { x: from - 2, y: coordSys.y, width: to - from + 4, height: coordSys.height }, style: { fill: c.sunken, decal: hatch(c.muted) } };
        },
      },
      ...(relaxed.length > 0
        ? [
            { type: "line", data: relaxed.map((r) => [r.x, r.y]), showSymbol: false, silent: true, lineStyle: { type: "dashed", width: 1.5, color: c.muted } },
            { type: "line", data: relaxed.filter((r) => r.breaks).map((r) => [r.x, r.y]), symbol: "diamond", symbolSize: 10, showAllSymbol: true, silent: true, lineStyle: { opacity: 0 }, itemStyle: { color: c.demand } },
          ]
        : []),
      {
        type: "line",
        silent: true,
        step: metric === "worth" ? "end" : false,
        data: points.map((q) => ({ value: [x(q), height(metric, q)], ...(q.gap > 0 ? { itemStyle: { color: c.surface, borderColor: c.reserved, borderWidth: 2 } } : {}) })),
        symbol: "circle",
        symbolSize: 6,
        showSymbol: points.length <= many || points.some((q) => q.gap > 0),
        showAllSymbol: true,
        lineStyle: { color: c.reserved, opacity: points.length <= many ? 0.4 : 1, width: 2 },
        itemStyle: { color: c.reserved },
        markLine: { silent: true, symbol: "none", label: { color: c.text, fontSize: 13 }, data: marks },
      },
      ...(chosenPoint && chosenPoint[1] != null ? [{ type: "line", silent: true, data: [chosenPoint], symbol: "circle", symbolSize: 14, showAllSymbol: true, itemStyle: { color: c.surface, borderColor: c.accent, borderWidth: 3 } }] : []),
    ],
  };
}
