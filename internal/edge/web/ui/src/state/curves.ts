// The sweep that is asked for in the address, and the points that there are of it.
import { computed, effect, signal, untracked } from "@preact/signals";
import type { ClusterSweepRequest, Problem as PlannedProblem, ScenarioChange, Sweep, Vary } from "../api/contract.ts";
import { change, read } from "../model/scenario.ts";
import { numbers, type Parameter, parameters, type Range, vary } from "../model/sweep.ts";
import { Asked, stopped } from "./asked.ts";
import { current } from "./cluster.ts";
import { query, route } from "./route.ts";

export const asked = new Asked<Sweep>("sweep");
/** earlier are the points of a sweep that was stopped, once it goes on. */
const earlier = signal<Sweep | null>(null);

export const edits = computed(() => read(query.value.getAll("ch")));
const problem = computed(() => current.value?.problem ?? null);
export const offered = computed(() => (problem.value ? parameters(problem.value) : []));

/** sweep is what is shown: the newest points, with those that were there before it went on. */
export const sweep = computed<Sweep | null>(() => {
  const before = earlier.value;
  const now = asked.value.value;
  if (!before || !now) return now ?? before;
  const had = new Set(now.points.map((p) => p.parameters.join()));
  const points = [...before.points.filter((p) => !had.has(p.parameters.join())), ...now.points].sort(byPlace);
  return { ...before, points, complete: points.length === before.total };
});
/** merged is whether the points are of several answers, so that no file of the service has them all. */
export const merged = computed(() => earlier.value !== null);

function byPlace(a: { parameters: number[] }, b: { parameters: number[] }): number {
  for (let i = 0; i < a.parameters.length; i++) if (a.parameters[i] !== b.parameters[i]) return a.parameters[i]! - b.parameters[i]!;
  return 0;
}

/** of are the parameters of the sweep that is shown. */
export const of = computed<Parameter[]>(() => sweep.value?.vary.map((v) => parameterOf(v)) ?? []);

function parameterOf(v: Vary): Parameter {
  const name = v.contract ?? v.class ?? "";
  const by = v.by ?? "factor";
  const found = offered.value.find((p) => p.what === v.what && p.name === name && p.by === by);
  if (found) return found;
  const what = v.what as Parameter["what"];
  return { key: name ? `${what}:${name}` : what, label: [what, name].filter(Boolean).join(" "), what, name, by, unit: by === "factor" ? "%" : what === "budget" ? "a month" : "VMs", now: null, from: 0, to: 0 };
}

/** ranges are what the address asks for. */
export const ranges = computed<Range[]>(() => {
  const q = query.value;
  const range = (key: string, from: string, to: string, n: string, points: number): Range | null => {
    const p = offered.value.find((o) => o.key === key);
    if (!p) return null;
    const number = (word: string, otherwise: number) => (/^\d{1,12}(\.\d{1,9})?$/.test(q.get(word) ?? "") ? Number(q.get(word)) : otherwise);
    return { of: p, from: number(from, p.from), to: number(to, p.to), n: Math.round(Math.min(Math.max(number(n, points), 2), 5000)) };
  };
  const grid = q.get("y");
  const x = range(q.get("x") ?? "deadline", "from", "to", "n", grid ? 9 : 61);
  const y = grid ? range(grid, "yfrom", "yto", "yn", 7) : null;
  return x ? (y ? [x, y] : [x]) : [];
});

// What the linear program's cost can be followed over.
const curved = ["contract", "price", "budget", "penalty", "deadline"];

function body(p: PlannedProblem, all: Vary[], curve: boolean): ClusterSweepRequest {
  const changes: ScenarioChange[] = edits.value.edits.map((e) => change(e, p));
  return { vary: all, curve, ...(changes.length > 0 ? { changes } : {}) };
}

function start(all: Vary[], curve: boolean): void {
  const p = problem.value;
  if (!p) return;
  const withCurve = curve && all.length === 1 && curved.includes(all[0]!.what);
  void asked.start("POST /v1/clusters/{cluster}/sweeps", { cluster: route.value.cluster }, body(p, all, withCurve), (refused) =>
    withCurve && refused.details?.errors?.some((f) => f.pointer?.startsWith("/curve")) ? body(p, all, false) : null,
  );
}

/** compute asks for what the address says. */
export function compute(): void {
  const period = problem.value?.period_s ?? 3600;
  earlier.value = null;
  start(ranges.value.map((r) => vary(r, period)), true);
}

/** goOn asks for the points that a sweep which was stopped has not come to. */
export function goOn(): void {
  const s = sweep.value;
  if (!s) return;
  const [x, y] = s.vary.map((v) => ({ v, texts: numbers(v) }));
  const count = new Map<number, number>();
  for (const p of s.points) count.set(p.parameters[0]!, (count.get(p.parameters[0]!) ?? 0) + 1);
  const rest = x!.texts.filter((t) => (count.get(Number(t)) ?? 0) < (y?.texts.length ?? 1));
  if (rest.length === 0) return;
  earlier.value = s;
  start([listed(x!.v, rest), ...(y ? [y.v] : [])], false);
}

function listed(v: Vary, values: string[]): Vary {
  const { from: _from, to: _to, steps: _steps, spacing: _spacing, ...rest } = v;
  return { ...rest, values };
}

/** discard leaves a sweep that was stopped. */
export function discard(): void {
  earlier.value = null;
  asked.forget();
}

/** why says why the sweep was stopped, where it was. */
export const why = computed(() => stopped(asked.run.value));

/** begin shows what the address asks for: the run that it names, or a new answer. */
export function begin(): () => void {
  let name = "";
  const stop = effect(() => {
    const p = current.value;
    if (!p || p.plan.cluster !== route.value.cluster || route.value.page !== "curves" || name === p.plan.cluster) return;
    name = p.plan.cluster;
    untracked(() => {
      const run = query.value.get("run");
      earlier.value = null;
      asked.forget();
      if (!run) compute();
      else void asked.show(run).then((there) => there || compute());
    });
  });
  return () => {
    stop();
    asked.leave();
  };
}
