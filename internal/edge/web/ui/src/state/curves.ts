// The curve over one knob, or the grid over two, that the address asks for: with the other changes in force, from the
// inputs of the plan that they are compared with.
import { computed, effect, signal, untracked } from "@preact/signals";
import type { ClusterSweepRequest, Sweep, Vary } from "../api/contract.ts";
import { change, inOrder, keyOf, write } from "../model/scenario.ts";
import { axisOfVary, coarse, numbers, type Parameter, parameterOf, type Range, vary } from "../model/sweep.ts";
import { Asked, fileOf, stopped } from "./asked.ts";
import { base, offered, settled } from "./edits.ts";
import { query, rewrite, route } from "./route.ts";

export const asked = new Asked<Sweep>("sweep");
/** earlier are the points of a sweep that was stopped, once it goes on. */
const earlier = signal<Sweep | null>(null);

const axes = computed(() => new Map(offered.value.flatMap((k) => parameterOf(k) ?? []).map((p) => [p.key, p])));

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

/** of are the parameters of the sweep that is shown; none where the plan has no such thing any more. */
export const of = computed<Parameter[]>(() => {
  const all = sweep.value?.vary.map((v) => axes.value.get(axisOfVary(v))) ?? [];
  return all.every((p) => p !== undefined) ? all : [];
});

/** drawn are the knobs that the address names as axes, in their order; unknown is what it names besides. */
export const drawn = computed<string[]>(() => axesOf().filter((k) => axes.value.has(k)));
export const unknown = computed<string[]>(() => (axes.value.size === 0 ? [] : axesOf().filter((k) => !axes.value.has(k))));

const axesOf = () => ["x", "y"].flatMap((a) => query.value.get(a) ?? []);

/** ranges are what the address asks for. */
export const ranges = computed<Range[]>(() => {
  const q = query.value;
  const grid = drawn.value.length > 1;
  return drawn.value.map((key) => {
    const p = axes.value.get(key)!;
    const own = key === q.get("x") ? "" : "y";
    const number = (word: string, otherwise: number) => (/^\d{1,12}(\.\d{1,9})?$/.test(q.get(own + word) ?? "") ? Number(q.get(own + word)) : otherwise);
    return { of: p, from: number("from", p.from), to: number("to", p.to), n: Math.round(Math.min(Math.max(number("n", grid ? coarse(p) : 61), 2), 5000)) };
  });
});

/** turn makes a knob an axis: the first of a curve, the second of a grid, in the place of another second one. A knob
 *  that is one already is taken away. */
export function turn(key: string): void {
  const [x, y] = drawn.value;
  const next = key === x ? [y] : key === y ? [x] : [x ?? key, x ? key : undefined];
  draw(...next.filter((k) => k !== undefined));
}

/** draw takes other axes, with their usual ranges; none takes the picture away. */
export function draw(...keys: string[]): void {
  const none = Object.fromEntries(["from", "to", "n", "yfrom", "yto", "yn", "run"].map((k) => [k, []]));
  rewrite({ ...none, x: keys.slice(0, 1), y: keys.slice(1) }, true);
}

/** between takes other ranges of the axes that there are. */
export function between(all: Pick<Range, "from" | "to" | "n">[]): void {
  rewrite(Object.fromEntries(all.flatMap((r, i) => (["from", "to", "n"] as const).map((k) => [(i ? "y" : "") + k, [String(r[k])]]))), true);
}

// What the linear program's cost can be followed over.
const curved = ["contract", "price", "budget", "penalty", "deadline"];

/** others are the changes in force but those of the axes. */
const others = computed(() => {
  const own = new Set(drawn.value.map((k) => keyOf(axes.value.get(k)!)));
  return inOrder(settled.value.filter((e) => !own.has(keyOf(e))));
});

function body(all: Vary[], curve: boolean): ClusterSweepRequest {
  const { number, problem } = base.value!;
  const changes = others.value.map((e) => change(e, problem));
  return { plan: number, vary: all, curve, ...(changes.length > 0 ? { changes } : {}) };
}

function start(all: Vary[], curve: boolean): void {
  const withCurve = curve && all.length === 1 && curved.includes(all[0]!.what);
  void asked.start("POST /v1/clusters/{cluster}/sweeps", { cluster: route.value.cluster }, body(all, withCurve), (refused) =>
    withCurve && refused.details?.errors?.some((f) => f.pointer?.startsWith("/curve")) ? body(all, false) : null,
  );
}

let answers = { of: "", over: "" }; // what was asked about last

/** compute asks for what the address says. */
export function compute(): void {
  const period = base.value?.problem.period_s ?? 3600;
  answers = { of: changesText(), over: rangesText() };
  outdated.value = false;
  earlier.value = null;
  start(ranges.value.map((r) => vary(r, period)), true);
}

/** outdated says that what is drawn lacks the newest changes, and would take long to draw. */
export const outdated = signal(false);

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

/** sheet asks for the same points once more, as a spreadsheet. */
export function sheet(s: Sweep): Promise<Blob> {
  return fileOf("POST /v1/clusters/{cluster}/sweeps", { cluster: route.value.cluster }, body(s.vary, s.curve !== null), { format: "xlsx" });
}

const rangesText = () => ranges.value.map((r) => [r.of.key, r.from, r.to, r.n].join()).join(";");
const changesText = () => `${base.value?.number} ${write(others.value).join()}`;

/** begin shows what the address asks for: the run that it names, or a new answer whenever something is changed. What
 *  took a run is drawn anew when somebody says so. */
export function begin(): () => void {
  const stop = effect(() => {
    const [over, changes] = [rangesText(), changesText()];
    untracked(() => {
      if (over === "") {
        answers = { of: "", over };
        outdated.value = false;
        return discard();
      }
      if (over === answers.over && changes === answers.of) return;
      const run = query.value.get("run");
      if (over !== answers.over && run) {
        answers = { of: changes, over };
        earlier.value = null;
        void asked.show(run).then((there) => there || compute());
      } else if (over === answers.over && asked.run.value) outdated.value = true;
      else compute();
    });
  });
  return () => {
    stop();
    answers = { of: "", over: "" };
    outdated.value = false;
    discard();
  };
}
