// History: the plans that were made, what each cost and why it came, and how any two of them differ.
import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { list, type Problem } from "../api/client.ts";
import type { PlanSummary } from "../api/contract.ts";
import { type Cursor, Figure } from "../charts/figure.tsx";
import { Dots, Line, Plot, type Point } from "../charts/plot.tsx";
import { moments, number } from "../charts/scale.ts";
import { eachAtRate, headline, type Period, perPeriod, short, text, type Units } from "../model/money.ts";
import type { Column } from "../model/table.ts";
import { count, percent } from "../model/words.ts";
import { Export } from "../parts/export.tsx";
import { Shown } from "../parts/fetched.tsx";
import { lazy } from "../parts/lazy.tsx";
import { DataTable } from "../parts/table.tsx";
import { now } from "../state/clock.ts";
import { cluster, current } from "../state/cluster.ts";
import { useFetched } from "../state/fetched.ts";
import { addressOf, chooseAll, query, route } from "../state/route.ts";
import { bill, each, made, moment, numbered, period, Periods, periodTexts, why } from "./history-words.tsx";
import { Chosen, PinLine } from "./history-plan.tsx";

const most = 1000;

const Differ = lazy(async () => (await import("./history-difference.tsx")).Differ);

export function History() {
  return route.value.rest[0] ? <Differ /> : <Plans />;
}

function Plans() {
  const name = route.value.cluster;
  const newest = current.value?.plan.number ?? 0;
  const plans = useFetched(() => list("GET /v1/clusters/{cluster}/plans", { cluster: name }, { limit: 500 }, most), name);
  useEffect(() => {
    if ((plans.value.value?.[0]?.number ?? newest) < newest) plans.again(); // what is here stays meanwhile
  }, [newest]);
  const base = `/v1/clusters/${encodeURIComponent(name)}/plans`;
  return (
    <>
      <div class="headed">
        <Lead plans={plans.value.value} wrong={plans.problem.value} />
        <span class="actions">
          <Periods />
          <Export
            kept={[
              { text: "CSV", href: `${base}?format=csv`, file: `${name}-plans.csv` },
              { text: "XLSX", href: `${base}?format=xlsx`, file: `${name}-plans.xlsx` },
              { text: "JSON", href: `${base}?limit=5000`, file: `${name}-plans.json` },
            ]}
          />
        </span>
      </div>
      <PinLine />
      <Shown of={plans} what="plans" height={500}>
        {(all) =>
          all.length > 0 && (
            <>
              <Costs plans={all} />
              <List plans={all} />
            </>
          )
        }
      </Shown>
    </>
  );
}

function Lead({ plans, wrong }: { plans: PlanSummary[] | null; wrong: Problem | null }) {
  if (!plans) return <h1 class="muted">{wrong ? "History" : "Reading plans …"}</h1>;
  const last = plans.find((p) => p.number === current.value?.plan.number) ?? plans[0];
  if (!last) return <h1>There is no plan yet. Plans are made whenever inputs change, and stand here then.</h1>;
  const first = plans.at(-1)!;
  const per = period();
  const is = bill(last, per);
  const lead = `Plan ${numbered(last.number)} rents VMs for ${headline(is, last.currency)} ${eachAtRate[per]}`;
  if (first.number === last.number || first.currency !== last.currency) return <h1>{lead}.</h1>;
  const was = bill(first, per);
  const change = is - was;
  const part = was === 0n ? "" : ` (${percent(Math.abs(Number(change)) / Number(was))})`;
  return (
    <h1>
      {lead}
      {change === 0n ? `, as plan ${numbered(first.number)} did` : `: ${headline(change < 0n ? -change : change, last.currency)}${part} ${change < 0n ? "less" : "more"} than plan ${numbered(first.number)}`}, {count(last.number - first.number, "plan", "plans")} ago.
    </h1>
  );
}

/** before is the plan that was made before each. */
function before(plans: PlanSummary[]): Map<number, PlanSummary> {
  return new Map(plans.slice(0, -1).map((p, i) => [p.number, plans[i + 1]!]));
}

function columns(plans: PlanSummary[], per: Period): Column<PlanSummary>[] {
  const previous = before(plans);
  const picked = query.value.getAll("pick");
  const pick = (n: number, on: boolean) => chooseAll("pick", on ? [...picked, String(n)].slice(-2) : picked.filter((x) => x !== String(n)));
  const change = (p: PlanSummary): Units | null => {
    const b = previous.get(p.number);
    return b && b.currency === p.currency ? bill(p, per) - bill(b, per) : null;
  };
  const exact = (u: Units | null, currency: string) => (u === null ? null : text(u, currency, 9).replace(/[^\d.−-]/g, "").replace("−", "-").replace(/\.?0+$/, "") || "0");
  return [
    {
      key: "number",
      title: "Plan",
      value: (p) => p.number,
      show: (p) => (
        <label class="pick">
          <input type="checkbox" checked={picked.includes(String(p.number))} onChange={(e) => pick(p.number, e.currentTarget.checked)} /> {numbered(p.number)}
          {p.number === current.value?.plan.number && <span class="small muted"> now</span>}
        </label>
      ),
    },
    { key: "created_at", title: "When", value: (p) => p.created_at, show: (p) => <time dateTime={p.created_at}>{made(p)}</time> },
    {
      key: "why",
      title: "Why it was computed",
      value: why,
      show: (p) => {
        const b = previous.get(p.number);
        const said = <bdi>{why(p)}</bdi>;
        return b ? <a class="even" href={addressOf(p.cluster, "history", `${b.number}..${p.number}`)}>{said}</a> : said;
      },
    },
    { key: "vm_bill", title: `VM bill, ${periodTexts[per].toLowerCase()}`, number: true, value: (p) => exact(bill(p, per), p.currency), show: (p) => text(bill(p, per), p.currency, 2) },
    { key: "currency", title: "Currency", value: (p) => p.currency, inFilesOnly: true },
    { key: "period", title: "Period", value: () => per, inFilesOnly: true },
    { key: "vms", title: "VMs", number: true, value: (p) => p.vms },
    { key: "refused", title: "Refused", number: true, value: (p) => p.refused },
    {
      key: "change",
      title: "Change",
      number: true,
      value: (p) => exact(change(p), p.currency),
      show: (p) => {
        const c = change(p);
        return c === null ? "–" : c === 0n ? "no change" : `${c > 0n ? "+" : ""}${text(c, p.currency, 2)}`;
      },
    },
    { key: "gap", title: "Gap", number: true, value: (p) => p.gap, inFilesOnly: true },
    { key: "inputs_version", title: "Inputs version", number: true, value: (p) => p.inputs_version, inFilesOnly: true },
    { key: "cluster", title: "Cluster", value: (p) => p.cluster, inFilesOnly: true },
  ];
}

function List({ plans }: { plans: PlanSummary[] }) {
  const per = period();
  const picked = query.value.getAll("pick").map(Number).filter((n) => plans.some((p) => p.number === n)).sort((a, b) => a - b);
  const one = picked.length === 1 ? plans.find((p) => p.number === picked[0]) : undefined;
  const name = route.value.cluster;
  return (
    <section class="card" aria-labelledby="plans">
      <h2 id="plans">Plans</h2>
      <p class="small muted">Tick a plan to pin or verify it, two to compare them. Why a plan was computed leads to what is different since the plan before.</p>
      <div class="picked" aria-live="polite">
        {picked.length === 2 && (
          <p>
            <a href={addressOf(name, "history", `${picked[0]}..${picked[1]}`)}>
              Compare plan {numbered(picked[0]!)} with plan {numbered(picked[1]!)}
            </a>
          </p>
        )}
        {one && <Chosen key={one.number} plan={one} />}
      </div>
      <DataTable caption="Plans" columns={columns(plans, per)} rows={plans} name={(p) => String(p.number)} file={[name, "plans"]} filter one="plan" many="plans" />
      {plans.length >= most && <p class="small muted">These are the newest {numbered(most)}. The file under Export has all.</p>}
    </section>
  );
}

/** Costs draws what each plan came to; a plan holds until the next one, so the line has steps. */
function Costs({ plans }: { plans: PlanSummary[] }) {
  const per = period();
  const big = useSignal(500);
  const held = useMemo(() => plans.slice(0, big.value).filter((p) => p.currency === plans[0]!.currency).reverse(), [plans, big.value]);
  const points = useMemo(
    () => held.map((p) => `Plan ${numbered(p.number)}, ${moment(p.created_at)}: ${headline(bill(p, per), p.currency)} ${each[per]} on ${count(p.vms, "VM", "VMs")}, ${headline(all(p, per), p.currency)} with the value of ${count(p.refused, "refused job", "refused jobs")}`),
    [held, per],
  );
  if (held.length === 0) return null;
  const low = held.reduce((a, b) => (bill(b, per) < bill(a, per) ? b : a));
  const high = held.reduce((a, b) => (bill(b, per) > bill(a, per) ? b : a));
  const said =
    bill(low, per) === bill(high, per)
      ? `The VM bill of ${count(held.length, "plan", "plans")} was ${headline(bill(low, per), low.currency)} ${each[per]} throughout.`
      : `The VM bill lay between ${headline(bill(low, per), low.currency)} (plan ${numbered(low.number)}) and ${headline(bill(high, per), high.currency)} ${each[per]} (plan ${numbered(high.number)}).`;
  const columnsOf = columns(plans, per);
  return (
    <section class="card">
      <Figure title="What each plan came to" said={said} columns={columnsOf} rows={[...held].reverse()} name={(p) => String(p.number)} points={[points]} file="costs" open={(at) => chooseAll("pick", [String(held[at.point]!.number)])}>
        {(cursor) => <Steps held={held} per={per} cursor={cursor} />}
      </Figure>
      <p class="legend">
        <span><span class="patch reserved" />VM bill</span>
        <span><span class="patch refused" />with the value refused, dashed</span>
      </p>
    </section>
  );
}

function all(p: PlanSummary, per: Period): Units {
  return perPeriod(p.total_cost, p.period_s, per);
}

function Steps({ held, per, cursor }: { held: PlanSummary[]; per: Period; cursor: Signal<Cursor> }) {
  const at = (p: PlanSummary) => Date.parse(p.created_at);
  // A chart shows shape; the exact figures stand in the table.
  const line = (of: (p: PlanSummary, per: Period) => Units) => held.map((p): Point => [at(p), Number(of(p, per)) / 1e9]);
  const [bills, alls] = [line(bill), line(all)];
  const end = held.at(-1)!;
  // Only the plan that holds goes on until now; one that was made while another is pinned does not.
  const last = Math.max(current.value?.plan.number === end.number ? now.value : 0, at(end));
  const still = (points: Point[]): Point[] => [...points, [last, points.at(-1)![1]]];
  const dots = held.length > 100 ? 1.5 : 3.5;
  const read = cursor.value && bills[cursor.value.point];
  return (
    <Plot
      x={moments(at(held[0]!), last, cluster.value?.time_zone ?? "UTC")}
      y={number([...bills, ...alls].map(([, y]) => y), short(held[0]!.currency), { about: 4 })}
      height={240}
      at={(x) => (cursor.value = x === null ? null : { series: 0, point: Math.max(0, held.findLastIndex((p) => at(p) <= x)) })}
    >
      {(a) => (
        <>
          <Line of={a} points={still(alls)} look="refused dashed" steps />
          <Dots of={a} points={alls} look="refused" size={dots} />
          <Line of={a} points={still(bills)} look="" steps />
          <Dots of={a} points={bills} look="" size={dots} />
          {read && <Dots of={a} points={[read]} look="read" size={7} />}
        </>
      )}
    </Plot>
  );
}
