// How one plan differs from another: the same bridge and the same decisions as in What if.
import { get } from "../api/client.ts";
import type { Difference, PlanRecord } from "../api/contract.ts";
import { Bridge, costLines, difference, type Step } from "../charts/bridge.tsx";
import { cent, headline, perPeriod, rounded, shares, text, type Units } from "../model/money.ts";
import { count, percent } from "../model/words.ts";
import { Decisions, decisionsOf } from "../parts/decisions.tsx";
import { Export } from "../parts/export.tsx";
import { Shown } from "../parts/fetched.tsx";
import { DataTable } from "../parts/table.tsx";
import { heldAt } from "../model/days.ts";
import { fileName, save } from "../model/files.ts";
import { memberSaid, valueSaid } from "../model/members.ts";
import { day } from "../model/time.ts";
import { now } from "../state/clock.ts";
import { current } from "../state/cluster.ts";
import { inForce } from "../state/days.ts";
import { useFetched } from "../state/fetched.ts";
import { addressOf, route } from "../state/route.ts";
import { each, moment, numbered, period, Periods } from "./history-words.tsx";

interface Two {
  from: PlanRecord;
  to: PlanRecord;
  difference: Difference;
}

export function Differ() {
  if (route.value.rest[0] === yesterday) return <Since />;
  const between = /^(\d+)\.\.(\d+)$/.exec(route.value.rest[0] ?? "");
  if (!between) return <h1>There is no page at this address.</h1>;
  return <Between from={Number(between[1])} to={Number(between[2])} />;
}

const yesterday = "yesterday"; // as addresses have it

/** Since compares the current plan with the one that was in force a day ago, or with the oldest one since. */
function Since() {
  const name = route.value.cluster;
  const then = useFetched(async () => heldAt(await inForce(name, Date.now() - day), now.peek() - day) ?? null, name);
  const was = then.value.value?.plan.number;
  const is = current.value?.plan.number;
  if (was !== undefined && was !== is && is !== undefined)
    return (
      <>
        {then.value.value!.since > now.peek() - day && <p class="small">No plan is a day old: plan {numbered(was)} is the first, from {moment(new Date(then.value.value!.since).toISOString())}.</p>}
        <Between from={was} to={is} />
      </>
    );
  return (
    <>
      <h1 class={then.value.value ? undefined : "muted"}>{then.value.value ? `Nothing changed since yesterday: plan ${numbered(was!)} was in force all the time.` : "Reading plans …"}</h1>
      <p class="small muted">
        <a href={addressOf(name, "history")}>All plans</a>
      </p>
      <Shown of={then} what="plans" height={500}>{() => null}</Shown>
    </>
  );
}

function Between({ from, to }: { from: number; to: number }) {
  const name = route.value.cluster;
  const two = useFetched<Two>(
    async () => {
      const [a, b, d] = await Promise.all([
        get("GET /v1/clusters/{cluster}/plans/{plan}", { cluster: name, plan: String(from) }),
        get("GET /v1/clusters/{cluster}/plans/{plan}", { cluster: name, plan: String(to) }),
        get("GET /v1/clusters/{cluster}/plans/diff", { cluster: name }, { from: String(from), to: String(to) }),
      ]);
      return { from: a, to: b, difference: d };
    },
    name,
    from,
    to,
  );
  const seen = two.value.value;
  return (
    <>
      <div class="headed">
        {seen ? <h1>{sentence(seen)}</h1> : <h1 class="muted">{two.problem.value ? `Plans ${numbered(from)} and ${numbered(to)}` : "Reading plans …"}</h1>}
        <span class="actions">
          <Periods />
          <Export
            kept={[
              { text: "JSON", press: () => seen && save(fileName("json", name, "plans", from, to), new Blob([JSON.stringify(seen.difference, null, 2)], { type: "application/json" })) },
              { text: `Plan ${from} as XLSX`, href: `/v1/clusters/${encodeURIComponent(name)}/plans/${from}?format=xlsx`, file: `${name}-plan-${from}.xlsx` },
              { text: `Plan ${to} as XLSX`, href: `/v1/clusters/${encodeURIComponent(name)}/plans/${to}?format=xlsx`, file: `${name}-plan-${to}.xlsx` },
            ]}
          />
        </span>
      </div>
      <p class="small muted">
        {seen && `Plan ${numbered(from)} of ${moment(seen.from.created_at)}, plan ${numbered(to)} of ${moment(seen.to.created_at)}. `}
        <a href={addressOf(name, "history")}>All plans</a>
      </p>
      <Shown of={two} what="plans" height={500}>
        {(seen) => (
          <>
            <Costs two={seen} />
            <Decisions of={decisionsOf(seen.from.plan.classes, seen.to.plan.classes)} was={`Plan ${numbered(from)}`} is={`Plan ${numbered(to)}`} currency={seen.to.plan.cost.currency} />
            <Inputs of={seen.difference} cost={seen.to.plan.cost} />
          </>
        )}
      </Shown>
    </>
  );
}

interface Line {
  name: string;
  kind: Step["kind"];
  from: Units;
  to: Units;
}

/** linesOf are the lines of both plans' bills and of the value refused, for the period that is shown: whole cents, so that all figures of the
 *  page agree. */
function linesOf({ from, to }: Two): Line[] {
  const per = period();
  const a = from.plan.cost;
  const b = to.plan.cost;
  const bill = ["reserved", "reserved_idle", "on_demand", "spot"] as const;
  const amounts = (of: typeof a) => [...shares(bill.map((key) => perPeriod(of[key] ?? "0", of.period_s, per)), cent), rounded(perPeriod(of.penalties, of.period_s, per), cent)];
  const froms = amounts(a);
  const tos = amounts(b);
  return [...bill, "penalties" as const]
    .map((key, i) => ({
      ...costLines[key]!,
      from: froms[i]!,
      to: tos[i]!,
    }))
    .filter((l) => l.from !== 0n || l.to !== 0n);
}

const sum = (all: Units[]) => all.reduce((a, b) => a + b, 0n);

function sentence(two: Two): string {
  const { from, to } = two;
  const head = `From plan ${numbered(from.number)} to plan ${numbered(to.number)}`;
  if (from.currency !== to.currency) return `${head} the currency changed from ${from.currency} to ${to.currency}.`;
  const lines = linesOf(two);
  const paid = lines.filter((l) => l.kind !== "refused");
  const was = sum(paid.map((l) => l.from));
  const change = sum(paid.map((l) => l.to)) - was;
  const value = sum(lines.filter((l) => l.kind === "refused").map((l) => l.to - l.from));
  const jobs = to.refused - from.refused;
  const refused = jobs === 0 ? "" : jobs < 0 ? `, and ${count(-jobs, "job fewer is refused", "jobs fewer are refused")}` : `, and ${count(jobs, "job more is refused", "jobs more are refused")}`;
  const vms = to.vms - from.vms;
  const rented = vms === 0 ? `${count(to.vms, "VM is", "VMs are")} rented as before` : `${count(to.vms, "VM is", "VMs are")} rented, ${Math.abs(vms)} ${vms < 0 ? "fewer" : "more"}`;
  const bill = change === 0n ? "the VM bill stays the same" : `the VM bill ${change < 0n ? "falls" : "rises"} by ${headline(change < 0n ? -change : change, to.currency)} ${each[period()]}${was === 0n ? "" : ` (${percent(Math.abs(Number(change)) / Number(was))})`}`;
  const valued = value === 0n ? "" : ` The value refused ${value < 0n ? "falls" : "rises"} by ${headline(value < 0n ? -value : value, to.currency)}.`;
  return `${head} ${bill}: ${rented}${refused}.${valued}`;
}

function Costs({ two }: { two: Two }) {
  const { from, to } = two;
  const currency = to.currency;
  if (from.currency !== currency) return null;
  const lines = linesOf(two);
  const was = sum(lines.map((l) => l.from));
  const is = sum(lines.map((l) => l.to));
  const paid = lines.filter((l) => l.kind !== "refused");
  const steps = lines.filter((l) => l.from !== l.to).map((l) => ({ name: l.name, kind: l.kind, change: l.to - l.from }));
  const names: [string, string] = [`Plan ${numbered(from.number)}`, `Plan ${numbered(to.number)}`];
  const money = (u: Units) => text(u, currency, 2);
  return (
    <section class="card" aria-labelledby="cost">
      <h2 id="cost">Bill and value refused {each[period()]}</h2>
      {steps.length > 0 ? (
        <Bridge from={was} to={is} names={names} steps={steps} currency={currency} said={`From ${headline(was, currency)} to ${headline(is, currency)}: ${steps.map((s) => `${s.name} ${difference(s.change, currency)}`).join(", ")}.`} />
      ) : (
        <p>No line changes.</p>
      )}
      <div class="wide" role="group" aria-labelledby="cost" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Line, {currency}</th>
              <th scope="col" class="number">{names[0]}</th>
              <th scope="col" class="number">{names[1]}</th>
              <th scope="col" class="number">Change</th>
            </tr>
          </thead>
          <tbody>
            {[...paid, { name: "VM bill", from: sum(paid.map((l) => l.from)), to: sum(paid.map((l) => l.to)) }, ...lines.filter((l) => l.kind === "refused"), { name: "Bill and value refused", from: was, to: is }].map((l) => (
              <tr key={l.name}>
                <td>{l.name}</td>
                <td class="number">{money(l.from)}</td>
                <td class="number">{money(l.to)}</td>
                <td class="number">{l.to === l.from ? "no change" : `${l.to > l.from ? "+" : ""}${money(l.to - l.from)}`}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** named is a pointer as people read it, each name by itself. */
const named = (pointer: string) =>
  memberSaid(pointer).map((p, i) => (
    <span key={i}>
      {i > 0 && " › "}
      <bdi>{p}</bdi>
    </span>
  ));

function Inputs({ of, cost }: { of: Difference; cost: { currency: string; period_s: number } }) {
  const file = (v: unknown) => (v === null || v === undefined ? null : typeof v === "string" ? v : JSON.stringify(v));
  return (
    <section class="card" aria-labelledby="inputs">
      <h2 id="inputs">Inputs that changed</h2>
      {of.inputs.length === 0 ? (
        <p>None.</p>
      ) : (
        <DataTable
          caption="Inputs that changed"
          columns={[
            { key: "input", title: "Input", value: (i) => i.pointer, show: (i) => named(i.pointer) },
            { key: "before", title: "Before", value: (i) => file(i.before), show: (i) => valueSaid(i.pointer, i.before, cost) },
            { key: "after", title: "After", value: (i) => file(i.after), show: (i) => valueSaid(i.pointer, i.after, cost) },
          ]}
          rows={of.inputs}
          name={(i) => i.pointer}
          file={[route.value.cluster, "inputs"]}
          filter={of.inputs.length > 20}
        />
      )}
    </section>
  );
}
