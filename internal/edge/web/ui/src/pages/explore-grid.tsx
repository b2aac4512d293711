// A grid over two parameters, as a table of its numbers.
import { useSignal } from "@preact/signals";
import type { SweepPoint } from "../api/contract.ts";
import { cheapest, columnsOf, figure, heading, height, type Metric, metrics, metricTexts, type Parameter, readPoint, shownOf } from "../model/sweep.ts";
import { inText, lower } from "../model/words.ts";
import { type Cell, HeatTable } from "../parts/heat.tsx";
import { Segments } from "../parts/segments.tsx";
import { DataTable } from "../parts/table.tsx";
import { current } from "../state/cluster.ts";
import { choose, chosen, route } from "../state/route.ts";
import { of as parametersShown, sweep } from "../state/curves.ts";
import { take } from "./explore-line.tsx";

export function Grid() {
  const s = sweep.value!;
  const of = parametersShown.value;
  const metric = chosen<Metric>("show", metrics);
  const read = useSignal<string | null>(null);
  const table = useSignal(false);
  const [x, y] = of as [Parameter, Parameter];
  const places = (i: number) => [...new Set(s.points.map((p) => p.parameters[i]!))].sort((a, b) => a - b);
  const columns = places(0);
  const rows = places(1);
  const at = new Map(s.points.map((p) => [p.parameters.join(), p]));
  const heights = s.points.map((p) => height(metric, p)).filter((h) => h !== null);
  const low = Math.min(...heights);
  const high = Math.max(...heights);
  const best = cheapest(s.points);
  const cell = (p: SweepPoint | undefined): Cell => {
    if (!p) return { text: "…", level: undefined, said: "This point is not planned yet.", best: false };
    const h = height(metric, p);
    return { text: figure(metric, p), level: h === null ? null : high > low ? (h - low) / (high - low) : 0, said: readPoint(of, s, p), best: p === best, open: () => take(of, s, p) };
  };
  const head = (p: Parameter) => (v: number) => {
    const at = shownOf(p, v, s.period_s);
    return { text: heading(p, at, s.currency), now: p.now !== null && Math.abs(at - p.now) < 1e-6 };
  };
  const title = `${metricTexts[metric]} by ${inText(lower(x.label))} and ${inText(lower(y.label))}`;
  return (
    <>
      <Segments label="What is shown" name="show" words={metrics} texts={metricTexts} value={metric} choose={(w) => choose("show", w === "cost" ? null : w)} />
      <h2>{title}</h2>
      {table.value ? (
        <DataTable caption={title} columns={columnsOf(of, s)} rows={s.points} name={(p) => p.parameters.join()} file={[route.value.cluster, ...(current.value ? ["plan", current.value.plan.number] : []), "grid"]} />
      ) : (
        <>
          <HeatTable caption={title} across={inText(x.label)} down={inText(y.label)} columns={columns.map(head(x))} rows={rows.map(head(y))} cells={rows.map((b) => columns.map((a) => cell(at.get([a, b].join()))))} read={(c) => (read.value = c?.said ?? null)} />
          <p class="readout small" aria-live="polite">
            {read.value ?? "A click, or Enter, tries a point. The arrow keys go from one to the next."}
          </p>
        </>
      )}
      <p class="links">
        <button class="quiet" aria-expanded={table.value} onClick={() => (table.value = !table.value)}>
          {table.value ? "Show the grid" : "Show as table"}
        </button>
      </p>
      <p class="small muted">The stronger the colour, the higher. The best point has a ring; where no plan keeps every promise the cell says no.</p>
    </>
  );
}
