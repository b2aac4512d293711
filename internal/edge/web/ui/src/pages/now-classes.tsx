// The classes of a plan: what is decided about each, why, and how its time stands against its deadline.
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { ClassPlan, CurrentPlan, Problem, ProblemClass } from "../api/contract.ts";
import { type Spread, TimeBar } from "../charts/timebar.tsx";
import { one, shares, units } from "../model/money.ts";
import { type Edit, write } from "../model/scenario.ts";
import { duration } from "../model/time.ts";
import { attention, count, verdict } from "../model/words.ts";
import { Chip } from "../parts/chip.tsx";
import { Name } from "../parts/name.tsx";
import { Time } from "../parts/words.tsx";
import { printing } from "../state/printing.ts";
import { addressOf, choose, chosen, query } from "../state/route.ts";

const sorts = ["attention", "name", "vms"] as const;
const sortTexts: Record<(typeof sorts)[number], string> = { attention: "needs attention", name: "name", vms: "VMs" };
const onPage = 100;

export function Classes({ plan, problem }: { plan: CurrentPlan; problem: Problem }) {
  const page = useSignal(0);
  const sort = chosen("sort", sorts);
  const word = (query.value.get("filter") ?? "").trim().toLowerCase();
  const all = useMemo(() => {
    const of = byName(problem);
    const lost = (c: ClassPlan) => c.refused * Number(of.get(c.name)?.penalty ?? 0);
    return plan.plan.classes
      .filter((c) => c.name.toLowerCase().includes(word))
      .map((c) => ({ c, of: of.get(c.name) }))
      .sort((a, b) => {
        if (sort === "vms" && a.c.vms !== b.c.vms) return b.c.vms - a.c.vms;
        if (sort === "attention" && a.c.verdict !== b.c.verdict) return attention[a.c.verdict] - attention[b.c.verdict];
        if (sort === "attention" && lost(a.c) !== lost(b.c)) return lost(b.c) - lost(a.c);
        return a.c.name < b.c.name ? -1 : 1;
      });
  }, [plan, problem, word, sort]);
  const most = printing.value ? all.length : onPage;
  const pages = Math.max(1, Math.ceil(all.length / Math.max(most, 1)));
  const at = Math.min(page.value, pages - 1);
  const first = all.slice(at * most, (at + 1) * most);
  const vms = useMemo(() => tenths(plan), [plan]);
  return (
    <section class="card span-12" aria-labelledby="classes">
      <header>
        <h2 id="classes">Classes</h2>
        <span class="tools small">
          <label>
            <span class="hidden">Filter by name</span>
            <input type="search" placeholder="Filter" value={query.value.get("filter") ?? ""} onInput={(e) => choose("filter", e.currentTarget.value)} />
          </label>
          <label>
            Sort:{" "}
            <select value={sort} onChange={(e) => choose("sort", e.currentTarget.value === "attention" ? null : e.currentTarget.value)}>
              {sorts.map((s) => (
                <option key={s} value={s}>
                  {sortTexts[s]}
                </option>
              ))}
            </select>
          </label>
        </span>
      </header>
      {(all.length > most || word !== "") && (
        <p class="small muted">
          {all.length === 0 ? "No class has this in its name." : `Showing ${pages > 1 ? `${at * most + 1} to ` : ""}${at * most + first.length} of ${count(plan.plan.classes.length, "class", "classes")}.`}{" "}
          {at > 0 && <button class="quiet" onClick={() => (page.value = at - 1)}>Before</button>} {at < pages - 1 && <button class="quiet" onClick={() => (page.value = at + 1)}>Next</button>}
        </p>
      )}
      <table class="classes" role="table">
        <thead role="rowgroup">
          <tr role="row">
            <th role="columnheader" scope="col">Class and reason, amounts in {plan.plan.cost.currency}</th>
            <th role="columnheader" scope="col">Verdict</th>
            <th role="columnheader" scope="col" class="number">
              Jobs
            </th>
            <th role="columnheader" scope="col" class="number">
              VMs
            </th>
            <th role="columnheader" scope="col" class="number wrap">
              Slots map / reduce
            </th>
            <th role="columnheader" scope="col">Time against its deadline, the upright line</th>
          </tr>
        </thead>
        <tbody role="rowgroup">
          {first.map(({ c, of }) => (
            <Row key={c.name} c={c} of={of} plan={plan} problem={problem} vms={vms.of.get(c.name)!} />
          ))}
          {vms.rounding !== "0.0" && word === "" && at === pages - 1 && (
            <tr role="row">
              <td role="cell" class="muted">
                Rounding up to whole VMs
              </td>
              <td role="cell" />
              <td role="cell" />
              <td role="cell" class="number">
                {vms.rounding}
              </td>
              <td role="cell" />
              <td role="cell" />
            </tr>
          )}
        </tbody>
      </table>
    </section>
  );
}

/** tenths are the classes' VMs as the column shows them, so that it adds up to the plan's. */
function tenths({ plan }: CurrentPlan): { of: Map<string, string>; rounding: string } {
  const parts = [...plan.classes.map((c) => c.vms), plan.vms.rounding].map((n) => units(n.toFixed(9)));
  const shown = shares(parts, one / 10n).map((u) => `${u / one}.${(u % one) / (one / 10n)}`);
  return { of: new Map(plan.classes.map((c, i) => [c.name, shown[i]!])), rounding: shown[shown.length - 1]! };
}

/** spread is a class's times, where there are any. */
function spread(c: ClassPlan): Spread | null {
  const t = c.time_s;
  return t && t.lower != null && t.average != null && t.upper != null ? { lower: t.lower, average: t.average, upper: t.upper } : null;
}

/** countedOn is the time that a plan counts on, where a run may take longer: not the cautious one. */
function countedOn(c: ClassPlan, problem: Problem): { name: string; s: number } | null {
  const t = c.time_s;
  const bound = problem.options?.bound ?? "average";
  if (!t || bound === "upper") return null;
  if (bound === "calibrated" && t.calibrated != null) return { name: "calibrated", s: t.calibrated };
  const s = bound === "lower" ? t.lower : t.average;
  return s == null ? null : { name: bound === "lower" ? "optimistic" : "expected", s };
}

export function byName(problem: Problem): Map<string, ProblemClass> {
  return new Map(problem.classes.map((c) => [c.name, c]));
}

/** tried opens What if with one change. */
export function tried(plan: CurrentPlan, edit: Edit): string {
  const keys = new URLSearchParams({ ch: write([edit])[0]!, base: String(plan.number) });
  return `${addressOf(plan.cluster, "what-if")}?${keys}`;
}

function Row({ c, of, plan, problem, vms }: { c: ClassPlan; of: ProblemClass | undefined; plan: CurrentPlan; problem: Problem; vms: string }) {
  const times = spread(c);
  const cure = c.verdict === "impossible" && c.flips.deadline_s ? Math.ceil(c.flips.deadline_s) : null;
  const counted = countedOn(c, problem);
  const late = of?.deadline_s && times && counted && c.admitted > 0 && times.upper > of.deadline_s;
  return (
    <tr role="row">
      <td role="cell" class="who">
        <a href={addressOf(plan.cluster, "classes", c.name)} title={c.name}>
          <Name of={c.name} strong />
        </a>
        <p class="small muted">
          {c.reason}
          {cure !== null && (
            <>
              {" "}
              <a class="button" href={tried(plan, { what: "deadline", name: c.name, op: "=", value: String(cure) })}>Use {duration(cure)}</a>
            </>
          )}
        </p>
      </td>
      <td role="cell" class="verdict">
        <Chip {...verdict(c, of)} />
      </td>
      <td role="cell" class="number jobs">
        {c.admitted} of {c.admitted + c.refused}
        <span class="narrow"> jobs</span>
        {c.refused > 0 && <p class="small muted">{c.refused} refused</p>}
      </td>
      <td role="cell" class="number vms">
        {vms}
        <span class="narrow"> VMs</span>
      </td>
      <td role="cell" class="number per-job">{c.admitted > 0 && c.slots ? `${c.slots.map} / ${c.slots.reduce}` : "–"}</td>
      <td role="cell" class="time">
        {of?.deadline_s && times ? (
          <>
            <TimeBar times={times} deadline={of.deadline_s} />
            <p class="small muted">
              expected <Time s={times.average} /> · deadline <Time s={of.deadline_s} />
            </p>
            {late && (
              <p class="small muted">
                The plan counts on the {counted.name} time{counted.name === "expected" ? "" : <>, <Time s={counted.s} /></>}; a bad run may take <Time s={times.upper} />. <a href={tried(plan, { what: "bound", name: "*", op: "=", value: "upper" })}>Plan for it</a>
              </p>
            )}
          </>
        ) : of?.deadline_s && cure !== null ? (
          <p class="small muted">
            expected at least <Time s={cure} /> · deadline <Time s={of.deadline_s} />
          </p>
        ) : (
          "–"
        )}
      </td>
    </tr>
  );
}
