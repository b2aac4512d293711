// The classes of a plan: what is decided about each, why, and how its time stands against its deadline.
import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { ClassPlan, CurrentPlan, Problem, ProblemClass } from "../api/contract.ts";
import { type Spread, TimeBar } from "../charts/timebar.tsx";
import { one, shares, units } from "../model/money.ts";
import { type Edit, write } from "../model/scenario.ts";
import { standing, waitingFor } from "../model/schedule.ts";
import { duration, hourly } from "../model/time.ts";
import { attention, count, jobless, verdict } from "../model/words.ts";
import { Chip } from "../parts/chip.tsx";
import { Mark } from "../parts/mark.tsx";
import { Name } from "../parts/name.tsx";
import { Time } from "../parts/words.tsx";
import { now } from "../state/clock.ts";
import { cluster } from "../state/cluster.ts";
import { useFollowed } from "../state/followed.ts";
import { printing } from "../state/printing.ts";
import { addressOf, choose, chosen, query } from "../state/route.ts";

const sorts = ["attention", "name", "vms"] as const;
const sortTexts: Record<(typeof sorts)[number], string> = { attention: "needs attention", name: "name", vms: "VMs" };
const onPage = 100;
const few = 30; // classes whose schedule is short

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
  const open = query.value.get("class");
  const shown = all.find((r) => r.c.name === open);
  const waits = useWaits(plan, shown?.c.name);
  useEffect(() => {
    const onKey = (e: KeyboardEvent) => {
      if (e.ctrlKey || e.metaKey || e.altKey || (e.target as Element).closest("input, select, textarea, dialog")) return;
      const by = { j: 1, k: -1 }[e.key.toLowerCase()];
      if (by) move(first.map((r) => r.c.name), by);
      else if (e.key === "Escape" && open) close(open);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  });
  return (
    <section class={shown ? "card span-12 lines open" : "card span-12 lines"} aria-labelledby="classes">
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
      <div class="card-body">
        <table class="classes" role="table">
          <thead role="rowgroup">
            <tr role="row">
              <th role="columnheader" scope="col" class="who">Class</th>
              <th role="columnheader" scope="col" class="sure">Verdict</th>
              <th role="columnheader" scope="col" class="number jobs">Jobs</th>
              <th role="columnheader" scope="col" class="number vms">VMs</th>
              <th role="columnheader" scope="col" class="number per-job">Slots</th>
              <th role="columnheader" scope="col" class="bar">Against deadline</th>
              <th role="columnheader" scope="col" class="times">Expected · deadline</th>
            </tr>
          </thead>
          <tbody role="rowgroup">
            {first.map(({ c, of }) => (
              <Line key={c.name} c={c} of={of} vms={vms.of.get(c.name)!} waits={waits.get(c.name)} open={c.name === open} />
            ))}
            {vms.rounding !== "0.0" && word === "" && at === pages - 1 && (
              <tr role="row">
                <td role="cell" class="who muted">Rounding up to whole VMs</td>
                <td role="cell" class="sure" />
                <td role="cell" class="jobs" />
                <td role="cell" class="number vms">
                  {vms.rounding}
                  <span class="narrow"> VMs</span>
                </td>
                <td role="cell" class="per-job" />
                <td role="cell" class="bar" />
                <td role="cell" class="times" />
              </tr>
            )}
          </tbody>
        </table>
        {shown && <Panel key={shown.c.name} c={shown.c} of={shown.of} plan={plan} problem={problem} vms={vms.of.get(shown.c.name)!} waits={waits.get(shown.c.name)} step={(by) => move(first.map((r) => r.c.name), by)} />}
      </div>
    </section>
  );
}

/** useWaits says of the classes of which nothing runs because they wait, when the next start. A plan does not tell which may
 *  wait, so that it asks where there are classes without jobs, and nowhere else; of many classes, once one of those is open. */
function useWaits(plan: CurrentPlan, open: string | undefined): Map<string, string> {
  const still = new Set(plan.plan.classes.filter(jobless).map((c) => c.name));
  const wanted = useRef(false);
  wanted.current ||= plan.plan.classes.length <= few || (open !== undefined && still.has(open));
  const followed = useFollowed(plan.cluster, wanted.current && still.size > 0).value.value;
  const said = (at: string) => hourly(new Date(at), cluster.value?.time_zone ?? "UTC", new Date(now.peek()));
  return new Map((followed ? standing(followed) : []).filter((s) => still.has(s.class)).map((s) => [s.class, waitingFor(s, said)]));
}

/** move opens the class that stands so many lines below the open one, or the first. */
function move(names: string[], by: number): void {
  const at = names.indexOf(query.peek().get("class") ?? "");
  const next = names[at < 0 ? 0 : Math.min(Math.max(at + by, 0), names.length - 1)];
  if (!next) return;
  choose("class", next);
  requestAnimationFrame(() => document.querySelector("table.classes tr.chosen")?.scrollIntoView({ block: "nearest" }));
}

/** tenths are the classes' VMs as the column shows them, so that it adds up to the plan's. */
function tenths({ plan }: CurrentPlan): { of: Map<string, string>; rounding: string } {
  const parts = [...plan.classes.map((c) => c.vms), plan.vms.rounding].map((n) => units(n.toFixed(9)));
  const shown = shares(parts, one / 10n).map((u) => `${u / one}.${(u % one) / (one / 10n)}`);
  return { of: new Map(plan.classes.map((c, i) => [c.name, shown[i]!])), rounding: shown[shown.length - 1]! };
}

/** countedOn is the time that a plan counts on, where a run may take longer: not the cautious one. */
function countedOn(c: ClassPlan, problem: Problem): { name: string; s: number } | null {
  const t = c.time_s;
  const bound = problem.options?.bound ?? "average";
  if (!t || bound === "upper" || t.promised != null) return null;
  if (bound === "calibrated" && t.calibrated != null) return { name: "calibrated", s: t.calibrated };
  const s = bound === "lower" ? t.lower : t.average;
  return s == null ? null : { name: bound === "lower" ? "optimistic" : "expected", s };
}

/** spread is a class's times, where there are any. */
function spread(c: ClassPlan): Spread | null {
  const t = c.time_s;
  return t && t.lower != null && t.average != null && t.upper != null ? { lower: t.lower, average: t.average, upper: t.upper } : null;
}

export function byName(problem: Problem): Map<string, ProblemClass> {
  return new Map(problem.classes.map((c) => [c.name, c]));
}

/** tried opens What if with one change. */
export function tried(plan: CurrentPlan, edit: Edit): string {
  const keys = new URLSearchParams({ ch: write([edit])[0]!, base: String(plan.number) });
  return `${addressOf(plan.cluster, "explore")}?${keys}`;
}

/** close takes the panel away and leads back to the line that opened it. */
function close(name: string): void {
  choose("class", null);
  requestAnimationFrame(() => document.getElementById(lineOf(name))?.focus());
}

const lineOf = (name: string) => `line-${name}`;

/** cureOf is the deadline that could be met, where the one that is asked for cannot. */
const cureOf = (c: ClassPlan) => (c.verdict === "impossible" && c.flips.deadline_s ? Math.ceil(c.flips.deadline_s) : null);

/** Line is what is decided about a class in one line; pressing it opens why. */
function Line({ c, of, vms, waits, open }: { c: ClassPlan; of: ProblemClass | undefined; vms: string; waits: string | undefined; open: boolean }) {
  const times = spread(c);
  const cure = cureOf(c);
  const press = () => (open ? close(c.name) : choose("class", c.name));
  return (
    <tr role="row" class={open ? "chosen" : undefined} onClick={press}>
      <td role="cell" class="who">
        <a
          id={lineOf(c.name)}
          class="pick-class"
          href={`?class=${encodeURIComponent(c.name)}`}
          title={c.name}
          aria-expanded={open}
          onClick={(e) => {
            if (e.ctrlKey || e.metaKey || e.shiftKey) return; // another tab
            e.preventDefault();
            e.stopPropagation();
            press();
          }}
        >
          <Name of={c.name} strong />
        </a>
      </td>
      <td role="cell" class="sure">
        <Mark {...verdict(c, of, waits !== undefined)} />
      </td>
      <td role="cell" class="number jobs">
        {served(c)}
        <span class="narrow"> jobs</span>
      </td>
      <td role="cell" class="number vms">
        {vms}
        <span class="narrow"> VMs</span>
      </td>
      <td role="cell" class="number per-job">{slotsOf(c)}</td>
      <td role="cell" class={waits ? "bar waits" : "bar"}>{waits ?? (of?.deadline_s && times ? <TimeBar times={times} deadline={of.deadline_s} /> : "–")}</td>
      <td role="cell" class="times muted">
        {of?.deadline_s && (times || cure !== null) ? (
          <>
            {cure !== null && !times ? "at least " : ""}
            <Time s={times ? times.average : cure!} /> · <Time s={of.deadline_s} />
          </>
        ) : (
          "–"
        )}
      </td>
    </tr>
  );
}

const served = (c: ClassPlan) => (jobless(c) ? "0" : `${c.admitted} of ${c.admitted + c.refused}`);

/** later stands in place of the verdict on a class of which nothing runs yet. */
const slotsOf = (c: ClassPlan) => (c.admitted > 0 && c.slots ? `${c.slots.map} / ${c.slots.reduce}` : "–");

/** Panel says why a class is treated so, and what would change it. */
function Panel({ c, of, plan, problem, vms, waits, step }: { c: ClassPlan; of: ProblemClass | undefined; plan: CurrentPlan; problem: Problem; vms: string; waits: string | undefined; step: (by: number) => void }) {
  const times = spread(c);
  const cure = cureOf(c);
  const counted = countedOn(c, problem);
  const late = of?.deadline_s && times && counted && c.admitted > 0 && times.upper > of.deadline_s;
  return (
    <aside class="panel" aria-label={`Class ${c.name}`}>
      <header>
        <h3>
          <Name of={c.name} />
        </h3>
        <button class="quiet" onClick={() => close(c.name)}>Close</button>
      </header>
      <p>
        <Chip {...verdict(c, of, waits !== undefined)} />
      </p>
      <p class="reason">
        {waits ? (
          <>
            None runs in this hour: {waits}. <a href={`${addressOf(plan.cluster, "contracts")}?tab=wait`}>The schedule that plans follow</a>
          </>
        ) : (
          c.reason
        )}
      </p>
      {cure !== null && (
        <p>
          <a class="button" href={tried(plan, { what: "deadline", name: c.name, op: "=", value: String(cure) })}>Use {duration(cure)}</a>
        </p>
      )}
      <dl class="sums small">
        <div>
          <dt>Jobs at once</dt>
          <dd>
            {served(c)}
            {c.refused > 0 ? `, ${c.refused} refused` : ""}
          </dd>
        </div>
        <div>
          <dt>VMs</dt>
          <dd>{vms}</dd>
        </div>
        <div>
          <dt>Slots for map / reduce tasks</dt>
          <dd>{slotsOf(c)}</dd>
        </div>
      </dl>
      {of?.deadline_s && (times || cure !== null) && (
        <div class="against">
          {times && <TimeBar times={times} deadline={of.deadline_s} />}
          <p class="small muted">
            expected {times ? "" : "at least "}
            <Time s={times ? times.average : cure!} /> · deadline <Time s={of.deadline_s} />
          </p>
        </div>
      )}
      {late && (
        <p class="small late-runs">
          The plan counts on the {counted.name} time{counted.name === "expected" ? "" : <>, <Time s={counted.s} /></>}; a bad run may take <Time s={times.upper} />. <a href={tried(plan, { what: "bound", name: "*", op: "=", value: "upper" })}>Plan for it</a>
        </p>
      )}
      {of?.target !== undefined && <Target c={c} of={of} cluster={plan.cluster} />}
      <p class="links small">
        <a href={addressOf(plan.cluster, "classes", c.name)}>Open the class</a>
        {of?.deadline_s && <a href={tried(plan, { what: "deadline", name: c.name, op: "x", value: "1.25" })}>What if its deadline were a quarter longer</a>}
      </p>
      <p class="links small">
        <button class="quiet" onClick={() => step(-1)}>Class above</button>
        <button class="quiet" onClick={() => step(1)}>Class below</button>
        <span class="muted">Keys: J and K</span>
      </p>
    </aside>
  );
}

/** Target says which part of the runs is to end in time, which part is to be expected, and on what that rests. */
function Target({ c, of, cluster }: { c: ClassPlan; of: ProblemClass; cluster: string }) {
  const percent = (part: number) => {
    const by = part > 0.999 ? 1000 : 10;
    return `${Math.floor(100 * by * part + 1e-6) / by} %`;
  };
  const p = c.promise;
  if (!p)
    return (
      <p class="small target">
        Target: {percent(of.target!)} in time. Nothing shows yet which slots that takes, so the class is planned at its bound. Find it with <code>headroom whatif target --cluster {cluster}</code>.
      </p>
    );
  return (
    <p class="small target">
      Target: {percent(of.target!)} in time. Expected: {percent(p.expected)}, and at least {percent(p.low)} with confidence {p.confidence}, by {p.executions} simulated runs of {p.jobs_from} to {p.jobs_until} jobs at once
      {p.lending === "all" ? " that may use idle slots of others" : ""}. Planned with <Time s={c.time_s?.promised ?? 0} />, {Number(p.factor.toPrecision(3))} times the bound.
    </p>
  );
}
