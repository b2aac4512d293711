// Curves: what the plan comes to over one parameter, or two.
import { useEffect } from "preact/hooks";
import { fileName, save } from "../model/files.ts";
import { monthly, type Parameter, said } from "../model/sweep.ts";
import { change } from "../model/scenario.ts";
import { count } from "../model/words.ts";
import { Asking } from "../parts/asking.tsx";
import { Export, type Kept } from "../parts/export.tsx";
import { csv } from "../model/table.ts";
import { columnsOf } from "../model/sweep.ts";
import { current, trouble } from "../state/cluster.ts";
import { useDraft } from "../state/drafts.ts";
import { addressOf, choose, chooseAll, query, route } from "../state/route.ts";
import { fileOf } from "../state/asked.ts";
import { asked, begin, compute, discard, edits, goOn, merged, of, offered, ranges, sweep, why } from "../state/curves.ts";
import { CurveFigure } from "./curves-figure.tsx";
import { lazy } from "../parts/lazy.tsx";

const Grid = lazy(async () => (await import("./curves-grid.tsx")).Grid);

export function Curves() {
  useEffect(begin, []);
  const s = sweep.value;
  const seen = current.value;
  const today = seen ? monthly(seen.plan.plan.cost.total, seen.plan.plan.cost.period_s) : null;
  const reason = why.value;
  return (
    <>
      <div class="headed">
        <h1>{s && s.points.length > 0 ? said(of.value, s, today) : asked.problem.value || trouble.value || (current.value && asked.since.value === 0) ? "There is no curve yet." : "Reading plan …"}</h1>
        <div class="actions">
          <Export kept={s && s.points.length > 0 ? kept() : []} />
        </div>
      </div>
      <Scenario />
      <section class="card" aria-label="What the curve is over">
        <Question />
        <Asking of={asked} />
      </section>
      {reason !== null && asked.since.value === 0 && (
        <div class="banner" role="alert">
          Stopped at {s?.points.length ?? 0} of {s?.total ?? asked.run.value!.progress.total}: {reason}. {s && s.points.length > 0 ? `The ${s.points.length} points are shown.` : "There are no points."}
          {s && s.points.length > 0 && <button class="quiet" onClick={goOn}>Go on</button>}
          <button class="quiet" onClick={discard}>Discard</button>
        </div>
      )}
      {s && s.points.length > 0 && (
        <section class="card" aria-label="The curve">
          {s.vary.length > 1 ? <Grid /> : <CurveFigure sweep={s} of={of.value} />}
          {s.points.some((p) => p.conflict) && <p class="small muted">Where there is no plan: {s.points.find((p) => p.conflict)!.conflict}</p>}
        </section>
      )}
    </>
  );
}

/** kept are the files of what is shown. */
function kept(): Kept[] {
  const s = sweep.value!;
  const words = [route.value.cluster, ...(current.value ? ["plan", current.value.plan.number] : []), "curve"];
  const all: Kept[] = [
    { text: "CSV", press: () => save(fileName("csv", ...words), new Blob([csv(columnsOf(of.value, s), s.points)], { type: "text/csv" })) },
    { text: "JSON", press: () => save(fileName("json", ...words), new Blob([JSON.stringify(s, null, 2)], { type: "application/json" })) },
  ];
  const run = merged.value ? null : asked.run.value;
  if (run?.result_url) return [...all, { text: "XLSX", href: `${run.result_url}?format=xlsx`, file: fileName("xlsx", ...words) }];
  return [...all, { text: "XLSX", press: () => void sheet().then((b) => save(fileName("xlsx", ...words), b)) }];
}

/** sheet asks for the same points once more, as a spreadsheet. */
function sheet(): Promise<Blob> {
  const s = sweep.value!;
  const problem = current.value!.problem;
  const changes = edits.value.edits.map((e) => change(e, problem));
  return fileOf("POST /v1/clusters/{cluster}/sweeps", { cluster: route.value.cluster }, { vary: s.vary, curve: s.curve !== null, ...(changes.length ? { changes } : {}) }, { format: "xlsx" });
}

function Scenario() {
  const { edits: all, unread } = edits.value;
  const without = () => {
    chooseAll("ch", []);
    compute();
  };
  return (
    <>
      {unread.length > 0 && (
        <div class="banner" role="alert">
          Part of this link could not be read: <bdi>{unread.map((u) => `ch=${u.slice(0, 60)}`).join(", ")}</bdi>. The rest was applied.
          <button class="quiet" onClick={without}>Start over</button>
        </div>
      )}
      {all.length > 0 && (
        <div class="banner">
          {count(all.length, "change", "changes")} of a scenario {all.length === 1 ? "applies" : "apply"} to every point.
          <a href={`${addressOf(route.value.cluster, "what-if")}?${new URLSearchParams(query.value.getAll("ch").map((c) => ["ch", c])).toString()}`}>Show in What if</a>
          <button class="quiet" onClick={without}>Without</button>
        </div>
      )}
    </>
  );
}

/** Typed is a range as it stands in its fields, not asked for yet. */
interface Typed {
  key: string;
  from: string;
  to: string;
  n: string;
}

function Question() {
  const typed = useDraft<{ x: Typed; y: Typed } | null>("range", null);
  const all = offered.value;
  if (all.length === 0) return null;
  const [x, y] = ranges.value;
  const shown = (r: (typeof ranges.value)[number] | undefined, n: number): Typed => (r ? { key: r.of.key, from: String(r.from), to: String(r.to), n: String(r.n) } : { key: "", from: "", to: "", n: String(n) });
  const at = typed.value ?? { x: shown(x, 61), y: shown(y, 7) };
  const put = (axis: "x" | "y", more: Partial<Typed>) => (typed.value = { ...at, [axis]: { ...at[axis], ...more } });
  const choice = (axis: "x" | "y", key: string) => {
    const p = all.find((o) => o.key === key);
    const next = { ...at, [axis]: { key, from: String(p?.from ?? ""), to: String(p?.to ?? ""), n: axis === "x" ? at.x.n : "7" } };
    // A grid has a number in each cell, a curve a point where there is a pixel.
    if (axis === "y" && !at.y.key !== !key) next.x = { ...next.x, n: key ? "9" : "61" };
    typed.value = next;
  };
  const send = (e: Event) => {
    e.preventDefault();
    const words: Record<string, string | null> = { x: at.x.key, from: at.x.from, to: at.x.to, n: at.x.n, y: at.y.key || null, yfrom: at.y.key ? at.y.from : null, yto: at.y.key ? at.y.to : null, yn: at.y.key ? at.y.n : null };
    for (const [k, v] of Object.entries(words)) choose(k, v);
    typed.value = null;
    compute();
  };
  const unit = (key: string) => all.find((o) => o.key === key)?.unit ?? "%";
  return (
    <form class="inline" onSubmit={send}>
      <Pick label="What" value={at.x.key} put={(k) => choice("x", k)} all={all.filter((o) => o.key !== at.y.key)} />
      <Span of={at.x} unit={unit(at.x.key)} put={(more) => put("x", more)} />
      <Pick label="and over" value={at.y.key} put={(k) => choice("y", k)} all={all.filter((o) => o.key !== at.x.key)} none />
      {at.y.key && <Span of={at.y} unit={unit(at.y.key)} put={(more) => put("y", more)} />}
      <button class="main" type="submit">Compute</button>
    </form>
  );
}

function Pick({ label, value, put, all, none }: { label: string; value: string; put: (key: string) => void; all: Parameter[]; none?: boolean }) {
  return (
    <div class="field">
      <label>
        {label}{" "}
        <select value={value} onChange={(e) => put(e.currentTarget.value)}>
          {none && <option value="">nothing</option>}
          {all.map((p) => (
            <option key={p.key} value={p.key}>
              {p.label}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

function Span({ of: t, unit, put }: { of: Typed; unit: string; put: (more: Partial<Typed>) => void }) {
  const one = (label: string, key: "from" | "to" | "n", after: string) => (
    <div class="field">
      <label>
        {label}{" "}
        <span>
          <input type="text" inputMode="decimal" required pattern="\d{1,12}(\.\d{1,9})?" value={t[key]} onInput={(e) => put({ [key]: e.currentTarget.value.trim() })} /> {after}
        </span>
      </label>
    </div>
  );
  return (
    <>
      {one("from", "from", unit)}
      {one("to", "to", unit)}
      {one("points", "n", "")}
    </>
  );
}
