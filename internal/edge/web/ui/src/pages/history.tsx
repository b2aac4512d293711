// History: the plans that were in force and what each cost, those that were made and why, and how any two of them differ.
import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { list, type Problem } from "../api/client.ts";
import type { PlanSummary } from "../api/contract.ts";
import { type Cursor, Figure } from "../charts/figure.tsx";
import { Dots, Line, Plot, type Point } from "../charts/plot.tsx";
import { moments, number } from "../charts/scale.ts";
import type { Held } from "../model/days.ts";
import { decimal, eachAtRate, headline, type Period, periodTexts, perPeriod, short, text, type Units } from "../model/money.ts";
import type { Column } from "../model/table.ts";
import { age } from "../model/time.ts";
import { count, percent } from "../model/words.ts";
import { Export } from "../parts/export.tsx";
import { Shown } from "../parts/fetched.tsx";
import { lazy } from "../parts/lazy.tsx";
import { PinLine } from "../parts/pinned.tsx";
import { DataTable } from "../parts/table.tsx";
import { now } from "../state/clock.ts";
import { cluster, current } from "../state/cluster.ts";
import { inForce } from "../state/days.ts";
import { useFetched } from "../state/fetched.ts";
import { addressOf, chooseAll, query, route } from "../state/route.ts";
import { whole, zoom, zoomed } from "../state/zoom.ts";
import { bill, each, made, moment, numbered, period, Periods, why } from "./history-words.tsx";
import { Chosen } from "./history-plan.tsx";

const most = 1000;

const Differ = lazy(async () => (await import("./history-difference.tsx")).Differ);

export function History() {
  return route.value.rest[0] ? <Differ /> : <Plans />;
}

function Plans() {
  const name = route.value.cluster;
  const newest = current.value?.plan.number ?? 0;
  const plans = useFetched(async () => {
    const [made, held] = await Promise.all([list("GET /v1/clusters/{cluster}/plans", { cluster: name }, { limit: 500 }, most), inForce(name)]);
    return { made, held };
  }, name);
  useEffect(() => {
    if ((plans.value.value?.held[0]?.plan.number ?? newest) !== newest) plans.again(); // what is here stays meanwhile
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
              { text: "In force, CSV", href: `${base}?in_force=true&format=csv`, file: `${name}-plans-in-force.csv` },
              { text: "JSON", href: `${base}?limit=5000`, file: `${name}-plans.json` },
            ]}
          />
        </span>
      </div>
      <PinLine />
      <Shown of={plans} what="plans" height={500}>
        {(all) =>
          all.made.length > 0 && (
            <>
              <Costs all={all.held} />
              <List {...all} />
            </>
          )
        }
      </Shown>
    </>
  );
}

/** Read are the plans that were made, and those that were in force, each the newest first. */
interface Read {
  made: PlanSummary[];
  held: Held[];
}

function Lead({ plans, wrong }: { plans: Read | null; wrong: Problem | null }) {
  if (!plans) return <h1 class="muted">{wrong ? "History" : "Reading plans …"}</h1>;
  const last = plans.held.find((h) => h.plan.number === current.value?.plan.number)?.plan ?? plans.held[0]?.plan;
  if (!last) return <h1>There is no plan yet. Plans are made whenever inputs change, and stand here then.</h1>;
  const first = plans.held.at(-1)!;
  const per = period();
  const is = bill(last, per);
  const lead = `Plan ${numbered(last.number)} rents VMs for ${headline(is, last.currency)} ${eachAtRate[per]}`;
  if (first.plan.number === last.number || first.plan.currency !== last.currency) return <h1>{lead}.</h1>;
  const was = bill(first.plan, per);
  const change = is - was;
  const part = was === 0n ? "" : ` (${percent(Math.abs(Number(change)) / Number(was))})`;
  return (
    <h1>
      {lead}
      {change === 0n ? `, as plan ${numbered(first.plan.number)} did` : `: ${headline(change < 0n ? -change : change, last.currency)}${part} ${change < 0n ? "less" : "more"} than plan ${numbered(first.plan.number)}`}, which came into force {age(now.value - first.since)}.
    </h1>
  );
}

/** Times are when a plan was last in force, and the plan before; a plan that never was comes after the one of when it was made. */
interface Times {
  held: Held | null;
  before: PlanSummary | null;
}

function timesOf({ made, held }: Read): Map<number, Times> {
  const place = new Map(held.map((h, i) => [h.plan.number, i] as const).reverse()); // of several times the last one counts
  return new Map(
    made.map((p): [number, Times] => {
      const at = place.get(p.number);
      if (at !== undefined) return [p.number, { held: held[at]!, before: held[at + 1]?.plan ?? null }];
      return [p.number, { held: null, before: held.find((h) => h.since <= Date.parse(p.created_at))?.plan ?? null }];
    }),
  );
}

const at = (milliseconds: number) => moment(new Date(milliseconds).toISOString());

const inFile = (h: Held | null) => h && new Date(h.since).toISOString();

/** Span is when a plan was in force. */
function Span({ of: h }: { of: Held | null }) {
  if (!h) return <span class="muted">never</span>;
  const [since, until] = [at(h.since), h.until === null ? "now" : at(h.until)];
  return <time dateTime={new Date(h.since).toISOString()} title={`${since} to ${until}`}>{h.until === null ? `since ${since}` : `until ${until}`}</time>;
}

function columns(plans: Read, per: Period): Column<PlanSummary>[] {
  const times = timesOf(plans);
  const picked = query.value.getAll("pick");
  const pick = (n: number, on: boolean) => chooseAll("pick", on ? [...picked, String(n)].slice(-2) : picked.filter((x) => x !== String(n)));
  const change = (p: PlanSummary): Units | null => {
    const { held, before: b } = times.get(p.number)!;
    return held && b && b.currency === p.currency ? bill(p, per) - bill(b, per) : null;
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
    { key: "created_at", title: "Made", value: (p) => p.created_at, show: (p) => <time dateTime={p.created_at}>{made(p)}</time> },
    { key: "in_force", title: "In force", value: (p) => inFile(times.get(p.number)!.held), show: (p) => <Span of={times.get(p.number)!.held} /> },
    {
      key: "why",
      title: "Why it was computed",
      value: why,
      show: (p) => {
        const b = times.get(p.number)!.before;
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

function List(read: Read) {
  const { made: plans } = read;
  const per = period();
  const picked = query.value.getAll("pick").map(Number).filter((n) => plans.some((p) => p.number === n)).sort((a, b) => a - b);
  const one = picked.length === 1 ? plans.find((p) => p.number === picked[0]) : undefined;
  const name = route.value.cluster;
  return (
    <section class="card" aria-labelledby="plans">
      <h2 id="plans">Plans</h2>
      <p>
        <a href={addressOf(route.value.cluster, "history", "yesterday")}>What changed since yesterday</a>
      </p>
      <p class="small muted">Tick a plan to pin or verify it, two to compare them. Why a plan was computed leads to what is different since the plan that was in force before.</p>
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
      <DataTable caption="Plans" columns={columns(read, per)} rows={plans} name={(p) => String(p.number)} file={[name, "plans"]} filter one="plan" many="plans" />
      {plans.length >= most && <p class="small muted">These are the newest {numbered(most)}. The file under Export has all.</p>}
    </section>
  );
}

/** Costs draws the bill of the plans that were in force. */
function Costs({ all: times }: { all: Held[] }) {
  const per = period();
  const big = useSignal(500);
  const part = zoomed();
  const held = useMemo(
    () =>
      times
        .slice(0, big.value)
        .filter((h) => h.plan.currency === times[0]!.plan.currency && (!part || ((h.until ?? now.value) > part[0] && h.since < part[1])))
        .map((h) => (part && h.since < part[0] ? { ...h, since: part[0] } : h))
        .reverse(),
    [times, big.value, part?.join()],
  );
  const points = useMemo(
    () => held.map(({ plan: p, since }) => `Plan ${numbered(p.number)}, from ${at(since)}: ${headline(bill(p, per), p.currency)} ${each[per]} on ${count(p.vms, "VM", "VMs")}, ${headline(all(p, per), p.currency)} with the value of ${count(p.refused, "refused job", "refused jobs")}`),
    [held, per],
  );
  const back = part && <button class="quiet" onClick={whole}>Show all</button>;
  if (held.length === 0) return part && <section class="card"><p>No plan was in force then. {back}</p></section>;
  const [from, until] = part ?? [held[0]!.since, held.at(-1)!.until ?? now.value];
  const quarter = (until - from) / 4;
  const plans = held.map((h) => h.plan);
  const low = plans.reduce((a, b) => (bill(b, per) < bill(a, per) ? b : a));
  const high = plans.reduce((a, b) => (bill(b, per) > bill(a, per) ? b : a));
  const said =
    bill(low, per) === bill(high, per)
      ? `The VM bill was ${headline(bill(low, per), low.currency)} ${each[per]} throughout.`
      : `The VM bill lay between ${headline(bill(low, per), low.currency)} (plan ${numbered(low.number)}) and ${headline(bill(high, per), high.currency)} ${each[per]} (plan ${numbered(high.number)}).`;
  return (
    <section class="card">
      <Figure top title="What was in force" said={said} columns={heldColumns(per)} rows={[...held].reverse()} name={(h) => String(h.since)} points={[points]} file="costs" open={(at) => chooseAll("pick", [String(held[at.point]!.plan.number)])}>
        {(cursor) => <Steps held={held} per={per} cursor={cursor} until={part?.[1] ?? Infinity} />}
      </Figure>
      <p class="links small">
        <button class="quiet" onClick={() => zoom(from + quarter, until - quarter)}>Zoom in</button> {back}
      </p>
      <p class="legend">
        <span><span class="patch reserved" />VM bill</span>
        <span><span class="patch refused" />with the value refused, dashed</span>
      </p>
    </section>
  );
}

function heldColumns(per: Period): Column<Held>[] {
  return [
    { key: "since", title: "From", value: (h) => new Date(h.since).toISOString(), show: (h) => at(h.since) },
    { key: "until", title: "Until", value: (h) => (h.until === null ? null : new Date(h.until).toISOString()), show: (h) => (h.until === null ? "now" : at(h.until)) },
    { key: "number", title: "Plan", number: true, value: (h) => h.plan.number },
    { key: "vm_bill", title: `VM bill, ${periodTexts[per].toLowerCase()}`, number: true, value: (h) => decimal(bill(h.plan, per)), show: (h) => text(bill(h.plan, per), h.plan.currency, 2) },
    { key: "with_value_refused", title: "With the value refused", number: true, value: (h) => decimal(all(h.plan, per)), show: (h) => text(all(h.plan, per), h.plan.currency, 2) },
    { key: "currency", title: "Currency", value: (h) => h.plan.currency, inFilesOnly: true },
    { key: "vms", title: "VMs", number: true, value: (h) => h.plan.vms },
    { key: "refused", title: "Refused", number: true, value: (h) => h.plan.refused },
  ];
}

function all(p: PlanSummary, per: Period): Units {
  return perPeriod(p.total_cost, p.period_s, per);
}

function Steps({ held, per, cursor, until }: { held: Held[]; per: Period; cursor: Signal<Cursor>; until: number }) {
  // A chart shows shape; the exact figures stand in the table.
  const line = (of: (p: PlanSummary, per: Period) => Units) => held.map(({ plan, since }): Point => [since, Number(of(plan, per)) / 1e9]);
  const [bills, alls] = [line(bill), line(all)];
  const end = held.at(-1)!;
  const last = Math.max(Math.min(end.until ?? now.value, until), end.since);
  const still = (points: Point[]): Point[] => [...points, [last, points.at(-1)![1]]];
  const dots = held.length > 100 ? 1.5 : 3.5;
  const read = cursor.value && bills[cursor.value.point];
  return (
    <Plot
      x={moments(held[0]!.since, last, cluster.value?.time_zone ?? "UTC")}
      y={number([...bills, ...alls].map(([, y]) => y), short(end.plan.currency), { about: 4 })}
      height={240}
      at={(x) => (cursor.value = x === null ? null : { series: 0, point: Math.max(0, held.findLastIndex((h) => h.since <= x)) })}
      cross={read ? read[0] : null}
      brush={zoom}
      reset={whole}
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
