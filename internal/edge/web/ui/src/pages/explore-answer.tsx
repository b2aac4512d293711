// What came of the changes: a sentence, the money line by line, and the decisions that change.
import type { ClassPlan, MoneySplit, WhatIf } from "../api/contract.ts";
import { Bridge, costLines, difference, type Step } from "../charts/bridge.tsx";
import { Figure } from "../charts/figure.tsx";
import { decimal, eachAtRate, headline, type Period, periods, periodTexts, perPeriod, shownPeriods, text, type Units } from "../model/money.ts";
import type { Column } from "../model/table.ts";
import { conflictOf, leadOf } from "../model/tried.ts";
import { count, percent, percentAtMost } from "../model/words.ts";
import { Banner } from "../parts/banner.tsx";
import { Chip } from "../parts/chip.tsx";
import { Decisions } from "../parts/decisions.tsx";
import { lazy } from "../parts/lazy.tsx";
import { Segments } from "../parts/segments.tsx";
import { cluster } from "../state/cluster.ts";
import { drawn } from "../state/curves.ts";
import { apply, base, edits } from "../state/edits.ts";
import { choose, chosen } from "../state/route.ts";
import { type Answered, shown, stopped, wrong } from "../state/whatif.ts";

const Curve = lazy(async () => (await import("./explore-curve.tsx")).Curve, 640);

interface Figures {
  total: MoneySplit; // bill and value refused together
  bill: MoneySplit;
  rest: MoneySplit[];
  per: (amount: string) => Units;
  change: Units;
  period: Period;
  currency: string;
}

/** figuresOf is an answer for the chosen period; null where there is no plan. */
function figuresOf(a: Answered | null): Figures | null {
  const { difference: d, cost, status } = a?.scenario ?? { difference: null, cost: null, status: null };
  if (!d || !cost || status === "infeasible") return null;
  const period = chosen<Period>("per", periods);
  const per = (amount: string) => perPeriod(amount, cost.period_s, period);
  const total = d.cost.find((c) => c.name === "total")!;
  const bill = d.cost.find((c) => c.name === "bill")!;
  return { total, bill, rest: d.cost.filter((c) => costLines[c.name]), per, change: per(bill.to) - per(bill.from), period, currency: cost.currency };
}

const tone = (gap: number) => ({ tone: gap === 0 ? ("good" as const) : ("warning" as const), text: gap === 0 ? "Proved optimal" : `Within ${percentAtMost(gap)}` });

/** Strip is the answer in a line that stays in sight where there is one column alone. */
export function Strip() {
  const a = shown.value;
  const f = figuresOf(a);
  if (!a) return null;
  return (
    <div class="strip" aria-hidden="true">
      {f ? (
        <>
          <span class="strong">
            {difference(f.change, f.currency)} {f.change === 0n ? "" : eachAtRate[f.period]}
          </span>
          <Chip {...tone(a.scenario.gap)} />
          <span class="small muted">
            VM bill {headline(f.per(f.bill.from), f.currency)} now, {headline(f.per(f.bill.to), f.currency)} what if · {count(a.scenario.vms.total, "VM", "VMs")}
          </span>
        </>
      ) : (
        <Chip tone="bad" text="No plan possible" />
      )}
    </div>
  );
}

/** Outcome is everything that came of the changes. */
export function Outcome() {
  const draws = drawn.value.length > 0;
  const f = edits.value.length > 0 ? figuresOf(shown.value) : null;
  const { classes, cost } = shown.value?.scenario ?? {};
  const rows = classes?.map(({ name, admitted, vms, reason }) => ({ name, from: { admitted: admitted.from, vms: vms.from }, to: { admitted: admitted.to, vms: vms.to, reason } }));
  return (
    <>
      <Answer />
      {draws && <Curve />}
      {draws && f && (
        <section class="card" aria-label="What the difference is made of">
          <Parts f={f} />
        </section>
      )}
      {rows && <Decisions of={rows} was="Jobs now" is="What if" currency={cost!.currency} />}
    </>
  );
}

function Answer() {
  const a = shown.value;
  const b = base.value;
  const trouble = wrong.value;
  const period = chosen<Period>("per", periods);
  const said = trouble && <Banner error said={trouble.message} />;
  if (!a || !b)
    return (
      <section class={trouble ? "card" : `card answer coming${edits.value.length > 0 ? " changed" : ""}`}>
        <h1>{trouble ? "There is no answer yet." : <span class="late">Reading plan …</span>}</h1>
        {said}
      </section>
    );
  const { base: was, scenario } = a;
  const f = figuresOf(a);
  return (
    <section class="card" aria-labelledby="answer">
      <h1>
        <bdi>{leadOf(a.edits, b.problem, was, scenario, period)}</bdi>
      </h1>
      <header>
        <h2 id="answer">Answer</h2>
        <span>
          <Chip {...(f ? tone(scenario.gap) : { tone: "bad" as const, text: "No plan possible" })} /> <span class="small muted">{Math.round(a.milliseconds)} ms</span>
        </span>
        <Segments label="Amounts for each" name="per" words={shownPeriods} texts={periodTexts} value={period} choose={(w) => choose("per", w === "month" ? null : w)} />
      </header>
      {said}
      {stopped.value && <Banner said="Stopped. These are the figures of before; move something to ask again." />}
      {f ? <Headline a={a} f={f} /> : <Impossible a={a} />}
      {f && edits.value.length > 0 && drawn.value.length === 0 && <Parts f={f} />}
    </section>
  );
}

/** Headline is by how much the bill changes, and the value refused beside it. */
function Headline({ a, f }: { a: Answered; f: Figures }) {
  const { bill, rest, per, change, currency, period } = f;
  const was = Number(per(bill.from));
  const more = change < 0n ? "less" : "more";
  const part = was === 0 ? more : `${percent(Math.abs(Number(change) / was))} ${more}`;
  const value = rest.filter((c) => c.name === "penalties").reduce((sum, c) => sum + per(c.to) - per(c.from), 0n);
  return (
    <>
      <p>
        <span class="big">{difference(change, currency)}</span> <span class="unit">{change === 0n ? "" : `${eachAtRate[period]}${was === 0 ? "" : ","} ${part}`} on the VM bill{value === 0n ? "" : `; value refused ${difference(value, currency)}`}</span>
      </p>
      <p class="small muted">
        {count(a.base.vms.total, "VM", "VMs")} now, {count(a.scenario.vms.total, "VM", "VMs")} what if.
      </p>
    </>
  );
}

/** Parts are what the difference is made of. */
function Parts({ f }: { f: Figures }) {
  const { total, bill, rest, per, currency } = f;
  const values = rest.reduce((sum, c) => sum + per(c.values), 0n);
  const steps: Step[] = [];
  if (values !== 0n) steps.push({ name: "Same decisions", change: values, kind: "values" });
  for (const c of rest) {
    const by = per(c.decisions);
    if (by !== 0n || (c.name !== "spot" && c.name !== "reserved_idle")) steps.push({ ...costLines[c.name]!, change: by });
  }
  const money = (amount: string) => text(per(amount), currency, 2);
  const column = (key: string, title: string, of: (c: MoneySplit) => Units, signed: boolean): Column<MoneySplit> => ({
    key,
    title,
    number: true,
    value: (c) => decimal(of(c)),
    show: (c) => (signed ? difference(of(c), currency) : money(key === "from" ? c.from : c.to)),
  });
  const said = `From ${headline(per(total.from), currency)} to ${headline(per(total.to), currency)}: ${steps.map((s) => `${s.name} ${difference(s.change, currency)}`).join(", ")}.`;
  return (
      <Figure
        title="What the difference is made of"
        said={values === 0n ? "From now to what if, line by line of bill and value refused." : "First what the same decisions come to at the new figures, then how the plan adapts, line by line of bill and value refused."}
        columns={[
          { key: "cost", title: "Line", value: (c) => costLines[c.name]?.name ?? (c.name === "bill" ? "VM bill" : "Bill and value refused") },
          column("from", "Now", (c) => per(c.from), false),
          column("values", "Same decisions", (c) => per(c.values), true),
          column("decisions", "The plan adapts", (c) => per(c.decisions), true),
          column("to", "What if", (c) => per(c.to), false),
        ]}
        rows={[...rest, bill, total]}
        name={(c) => c.name}
        points={[[`Now · ${headline(per(total.from), currency)}`, ...steps.map((s) => `${s.name} · ${difference(s.change, currency)}`), `What if · ${headline(per(total.to), currency)}`]]}
        file="what-if"
      >
        {() => <Bridge from={per(total.from)} to={per(total.to)} names={["Now", "What if"]} steps={steps} currency={currency} said={said} />}
      </Figure>
  );
}

/** Impossible says what contradicts what; each cure is a change of the scenario. */
function Impossible({ a }: { a: Answered }) {
  const p = base.value!.problem;
  const all = a.scenario.conflicts.map((c) => conflictOf(c, p, a.edits));
  const limit = a.scenario.conflicts.some((c) => c.pointer === "/budget/vm_cost");
  return (
    <>
      {!limit && <p class="strong">No plan can keep every promise.</p>}
      <ul class="conflicts">
        {all.map((c, i) => (
          <li key={i}>
            <bdi>{c.said}</bdi>{" "}
            {c.cures.map((cure) => (
              <button key={cure.text} onClick={() => apply([cure.edit])}>
                {cure.text}
              </button>
            ))}
          </li>
        ))}
      </ul>
    </>
  );
}

/** changesTable is a full answer as a file has it: a row for each class, with what it is compared with. */
export function changesTable({ base, scenarios }: WhatIf, plan: number): { columns: Column<ClassPlan>[]; rows: ClassPlan[] } {
  const scenario = scenarios[0]!;
  const was = new Map(base.plan?.classes.map((c) => [c.name, c]) ?? []);
  const money = new Map(scenario.difference?.classes?.map((c) => [c.name, c]) ?? []);
  const column = (key: string, value: (c: ClassPlan) => string | number | null, number = true): Column<ClassPlan> => ({ key, title: key, value, number });
  return {
    columns: [
      column("cluster", () => cluster.value?.name ?? "", false),
      column("plan", () => plan),
      column("class", (c) => c.name, false),
      column("jobs_now", (c) => was.get(c.name)?.admitted ?? null),
      column("jobs_what_if", (c) => c.admitted),
      column("vms_now", (c) => was.get(c.name)?.vms ?? null),
      column("vms_what_if", (c) => c.vms),
      column("bill_now", (c) => money.get(c.name)?.bill.from ?? null),
      column("bill_what_if", (c) => money.get(c.name)?.bill.to ?? null),
      column("bill_and_value_refused_now", (c) => money.get(c.name)?.from ?? null),
      column("bill_and_value_refused_what_if", (c) => money.get(c.name)?.to ?? null),
      column("currency", () => scenario.cost.currency, false),
      column("period_s", () => scenario.cost.period_s),
      column("why", (c) => c.reason, false),
    ],
    rows: scenario.plan?.classes ?? [],
  };
}
