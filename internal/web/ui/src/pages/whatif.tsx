// What if: one moves things and sees at once what the plan would do.
import { useEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { ClassPlan, MoneySplit } from "../api/contract.ts";
import { Bridge, costLines, difference, type Step } from "../charts/bridge.tsx";
import { headline, type Period, perPeriod, text, type Units } from "../model/money.ts";
import { type Edit, type Knob, keyOf, knobs } from "../model/scenario.ts";
import { count, percent } from "../model/words.ts";
import { Chip } from "../parts/chip.tsx";
import { Decisions } from "../parts/decisions.tsx";
import { KnobControl } from "../parts/knob.tsx";
import { current } from "../state/cluster.ts";
import { chosen } from "../state/route.ts";
import { answered, base, begin, canRedo, canUndo, edits, redo, startOver, undo, unread, wrong } from "../state/whatif.ts";

const periods = ["month", "hour", "day"] as const;
const each: Record<Period, string> = { hour: "an hour", day: "a day", month: "a month" };

export function WhatIf() {
  useEffect(begin, []);
  useEffect(() => {
    const onKey = (e: KeyboardEvent) => {
      if (!(e.ctrlKey || e.metaKey) || e.key.toLowerCase() !== "z" || (e.target as Element).matches("input[type=text], input[type=search]")) return;
      e.preventDefault();
      if (e.shiftKey) redo();
      else undo();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  const from = base.value;
  const moved = current.value && from && current.value.plan.number !== from.number;
  return (
    <>
      <div class="headed">
        <h1>What if</h1>
        {from && <p class="small muted">Compared with plan {from.number}</p>}
        <Actions />
      </div>
      {unread.value.length > 0 && (
        <div class="banner" role="alert">
          Part of this link could not be read: <bdi>{unread.value.map((u) => `ch=${u.slice(0, 60)}`).join(", ")}</bdi>. The rest was applied.
          <button class="quiet" onClick={startOver}>Start over</button>
        </div>
      )}
      {moved && (
        <div class="banner">
          This compares with plan {from.number}. The cluster is now at {current.value!.plan.number}.
        </div>
      )}
      <div class="split">
        <section class="card" aria-labelledby="change">
          <h2 id="change">Change</h2>
          <p class="small muted" id="hint">Move a slider, or type a value. Arrow keys move one step, Page keys ten.</p>
          <Knobs />
        </section>
        <div class="stack">
          <Answer />
          <Adapted />
        </div>
      </div>
    </>
  );
}

function Actions() {
  const copied = useSignal(false);
  const copy = async () => {
    await navigator.clipboard.writeText(location.href);
    copied.value = true;
    setTimeout(() => (copied.value = false), 2000);
  };
  return (
    <div class="actions">
      <button disabled={!canUndo.value} onClick={undo}>Undo</button>
      <button disabled={!canRedo.value} onClick={redo}>Redo</button>
      <button disabled={edits.value.length === 0} onClick={startOver}>Start over</button>
      <button onClick={() => void copy()}>{copied.value ? "Copied" : "Copy link"}</button>
    </div>
  );
}

/** stakes orders classes by the money that hangs on them. */
function stakes(classes: ClassPlan[], penalty: (name: string) => number): string[] {
  return [...classes].sort((a, b) => (b.admitted + b.refused) * penalty(b.name) - (a.admitted + a.refused) * penalty(a.name)).map((c) => c.name);
}

function Knobs() {
  const shown = useSignal<string[]>([]);
  const adding = useSignal("");
  const from = base.value;
  if (!from) return <p class="muted">Reading plan …</p>;
  const plan = current.value?.plan.number === from.number ? current.value.plan.plan : null;
  const flips = new Map(plan?.classes.map((c) => [c.name, { deadline: c.flips.deadline_s, penalty: c.flips.penalty === null ? null : Number(c.flips.penalty) }]) ?? []);
  const all = knobs(from.problem, flips);
  const penalty = new Map(from.problem.classes.map((c) => [c.name, Number(c.penalty)]));
  const top = plan ? stakes(plan.classes, (n) => penalty.get(n) ?? 0).slice(0, 3) : from.problem.classes.slice(0, 3).map((c) => c.name);
  const largest = [...(from.problem.supply.contracts ?? [])].sort((a, b) => b.vms - a.vms)[0]?.name;
  const first = (k: Knob) =>
    (k.what === "deadline" && top.includes(k.name)) || (k.what === "penalty" && k.name === top[0]) || (k.what === "demand" && k.name === "*") || k.what === "price" || (k.what === "contract" && k.name === largest);
  const of = new Map(edits.value.map((e) => [keyOf(e), e]));
  const visible = all.filter((k) => first(k) || of.has(keyOf(k)) || shown.value.includes(keyOf(k)));
  const hidden = all.filter((k) => !visible.includes(k));
  return (
    <>
      {visible.map((k) => (
        <KnobControl key={keyOf(k)} knob={k} edit={of.get(keyOf(k))} />
      ))}
      {hidden.length > 0 && (
        <label class="small">
          Add a change{" "}
          <input
            list="more"
            value={adding.value}
            onInput={(e) => {
              const found = hidden.find((k) => k.label === e.currentTarget.value);
              adding.value = found ? "" : e.currentTarget.value;
              if (found) shown.value = [...shown.value, keyOf(found)];
            }}
          />
          <datalist id="more">
            {hidden.slice(0, 500).map((k) => (
              <option key={keyOf(k)} value={k.label} />
            ))}
          </datalist>
        </label>
      )}
    </>
  );
}

function Answer() {
  const a = answered.value;
  const period = chosen<Period>("per", periods);
  const trouble = wrong.value;
  if (trouble && !a) return <section class="card"><p role="alert">{trouble.message}</p></section>;
  if (!a) return <section class="card"><p class="muted">Reading plan …</p></section>;
  const { base: was, scenario } = a;
  if (scenario.status === "infeasible" || !scenario.difference) return <Impossible edits={edits.value} />;
  const cost = scenario.cost;
  const per = (amount: string): Units => perPeriod(amount, cost.period_s, period);
  const total = scenario.difference.cost.find((c) => c.name === "total")!;
  const rest = scenario.difference.cost.filter((c) => c.name !== "total");
  const change = per(total.to) - per(total.from);
  const values = rest.reduce((sum, c) => sum + per(c.values), 0n);
  const steps: Step[] = [];
  if (values !== 0n) steps.push({ name: "Same decisions", change: values, kind: "values" });
  for (const c of rest) {
    const line = costLines[c.name];
    const by = per(c.decisions);
    if (line && (by !== 0n || c.name !== "spot")) steps.push({ ...line, change: by });
  }
  const part = Number(per(total.from)) === 0 ? 0 : Number(change) / Number(per(total.from));
  return (
    <section class="card" aria-labelledby="answer">
      <header>
        <h2 id="answer">Answer</h2>
        <span>
          <Chip tone={scenario.gap === 0 ? "good" : "warning"} text={scenario.gap === 0 ? "Proved optimal" : `Within ${percent(scenario.gap)}`} /> <span class="small muted">{Math.round(a.milliseconds)} ms</span>
        </span>
      </header>
      {trouble && <p role="alert" class="small">{trouble.message}</p>}
      <p>
        <span class="big">{difference(change, cost.currency)}</span> <span class="unit">{change === 0n ? "" : `${each[period]}, ${percent(Math.abs(part))} ${change < 0n ? "less" : "more"}`}</span>
      </p>
      <p>{scenario.sentence}</p>
      <Bridge from={per(total.from)} to={per(total.to)} names={["Now", "What if"]} steps={steps} currency={cost.currency} said={`From ${headline(per(total.from), cost.currency)} to ${headline(per(total.to), cost.currency)}: ${steps.map((s) => `${s.name} ${difference(s.change, cost.currency)}`).join(", ")}.`} />
      <Lines rest={rest} total={total} per={per} currency={cost.currency} />
      <p class="small muted">
        {count(was.vms.total, "VM", "VMs")} now, {count(scenario.vms.total, "VM", "VMs")} what if.
      </p>
    </section>
  );
}

function Lines({ rest, total, per, currency }: { rest: MoneySplit[]; total: MoneySplit; per: (amount: string) => Units; currency: string }) {
  const open = useSignal(false);
  const money = (amount: string) => text(per(amount), currency, 2);
  return (
    <>
      <p>
        <button class="quiet" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>
          {open.value ? "Hide the table" : "Show as table"}
        </button>
      </p>
      {open.value && (
        <table>
          <thead>
            <tr>
              <th scope="col">Cost</th>
              <th scope="col" class="number">Now</th>
              <th scope="col" class="number">Same decisions</th>
              <th scope="col" class="number">The plan adapts</th>
              <th scope="col" class="number">What if</th>
            </tr>
          </thead>
          <tbody>
            {[...rest, total].map((c) => (
              <tr key={c.name}>
                <td>{costLines[c.name]?.name ?? "In all"}</td>
                <td class="number">{money(c.from)}</td>
                <td class="number">{difference(per(c.values), currency)}</td>
                <td class="number">{difference(per(c.decisions), currency)}</td>
                <td class="number">{money(c.to)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

function Impossible({ edits: _ }: { edits: Edit[] }) {
  const conflicts = answered.value?.scenario.conflicts ?? [];
  return (
    <section class="card" aria-labelledby="answer">
      <header>
        <h2 id="answer">Answer</h2>
        <Chip tone="bad" text="No plan possible" />
      </header>
      <p class="strong">No plan can keep every promise.</p>
      <ul>
        {conflicts.map((c, i) => (
          <li key={i}>{c.detail}</li>
        ))}
      </ul>
    </section>
  );
}

function Adapted() {
  const a = answered.value;
  const before = a?.base.plan?.classes;
  const after = a?.scenario.plan?.classes;
  if (!before || !after || a.scenario.status === "infeasible") return null;
  return <Decisions before={before} after={after} was="Jobs now" is="What if" />;
}
