// Overview: all clusters, a line each, so that one sees which to look at first.
import { useEffect } from "preact/hooks";
import { list } from "../api/client.ts";
import type { Overview as Line } from "../api/contract.ts";
import { Spark } from "../charts/spark.tsx";
import { decimal, eachAtRate, headline, perPeriod, type Period, periodTexts, shownPeriods, type Units, units } from "../model/money.ts";
import type { Column } from "../model/table.ts";
import { clock, day, monthOf, sinceInMonth } from "../model/time.ts";
import { brief, count, inText, percentAtMost, type Tone } from "../model/words.ts";
import { Export } from "../parts/export.tsx";
import { Shown } from "../parts/fetched.tsx";
import { Mark } from "../parts/mark.tsx";
import { Name } from "../parts/name.tsx";
import { Segments } from "../parts/segments.tsx";
import { DataTable } from "../parts/table.tsx";
import { now } from "../state/clock.ts";
import { useFetched } from "../state/fetched.ts";
import { addressOf, choose, chosen } from "../state/route.ts";

const every = 15_000;
const most = 1000; // clusters that the table shows at once

export function Overview() {
  const lines = useFetched(() => list("GET /v1/overview", {}, { limit: most }));
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && lines.again(), every);
    return () => clearInterval(timer);
  }, []);
  const period = chosen<Period>("per", shownPeriods);
  const all = lines.value.value;
  return (
    <>
      <div class="headed">
        <h1 class={all ? undefined : "muted"}>{all ? lead(all, period) : lines.problem.value ? "Overview" : "Reading clusters …"}</h1>
        <span class="actions">
          <Segments label="Amounts for each" name="per" words={shownPeriods} texts={periodTexts} value={period} choose={(w) => choose("per", w === "hour" ? null : w)} />
          <Export
            kept={[
              { text: "CSV", href: "/v1/overview?format=csv", file: "headroom-overview.csv" },
              { text: "XLSX", href: "/v1/overview?format=xlsx", file: "headroom-overview.xlsx" },
              { text: "JSON", href: "/v1/overview?limit=1000", file: "headroom-overview.json" },
            ]}
          />
        </span>
      </div>
      <Shown of={lines} what="clusters" height={400}>
        {(all) => (all.length > 0 ? <Table lines={all} period={period} /> : <Empty />)}
      </Shown>
    </>
  );
}

/** Empty is what stands here before there is anything: where to begin, and what will be seen. */
function Empty() {
  return (
    <section class="card empty" aria-label="Where to begin">
      <svg width="240" height="96" viewBox="0 0 240 96" aria-hidden="true">
        <path class="reserved" d="M8 88V56H72V40H136V56H232V88Z" />
        <path class="demand" d="M72 40V28H104V16H136V40ZM168 56V44H200V56Z" />
        <path class="line" d="M8 88H232" />
      </svg>
      <p>A cluster's line says what its VMs cost, how that changed in 14 days, and what needs somebody's attention.</p>
      <p>
        <a class="button main" href="/welcome">Make a first plan</a>
      </p>
    </section>
  );
}

/** bill is a cluster's VM bill for a period that people see; null without a plan. */
function bill(l: Line, per: Period): Units | null {
  return l.plan && perPeriod(l.plan.bill, l.plan.period_s, per);
}

/** change is by how much the bill differs from that of a day ago; null where there was none. */
function change(l: Line, per: Period): Units | null {
  const before = l.days.at(-2);
  return l.plan && before != null ? bill(l, per)! - perPeriod(before, l.plan.period_s, per) : null;
}

/** soFar is the bill of this month until now; null without a plan. */
function soFar(l: Line): Units | null {
  return l.plan && units(l.month?.bill ?? "0");
}

/** lead says what all clusters cost together, currency by currency, how that changed of those that had a bill a day ago, and
 *  how many need attention. */
function lead(all: Line[], per: Period): string {
  if (all.length === 0) return "There is no cluster yet.";
  const sums = new Map<string, { bill: Units; change: Units; month: Units }>();
  for (const l of all) {
    if (!l.plan) continue;
    const sum = sums.get(l.plan.currency) ?? { bill: 0n, change: 0n, month: 0n };
    sums.set(l.plan.currency, { bill: sum.bill + bill(l, per)!, change: sum.change + (change(l, per) ?? 0n), month: sum.month + soFar(l)! });
  }
  const planned = all.filter((l) => l.plan);
  const since = planned.filter((l) => change(l, per) !== null).length;
  const costs = [...sums].map(([currency, s]) => headline(s.bill, currency)).join(" and ");
  const differs = [...sums].filter(([, s]) => s.change !== 0n).map(([currency, s]) => `${headline(s.change < 0n ? -s.change : s.change, currency)} ${s.change < 0n ? "less" : "more"}`);
  const calls = all.filter((l) => state(l).tone === "bad");
  const some = planned.length < all.length ? `${planned.length} of ${count(all.length, "cluster", "clusters")} ${planned.length === 1 ? "rents" : "rent"}` : count(all.length, "cluster rents", "clusters rent");
  const rented = planned.length > 0 ? `${some} VMs for ${costs} ${eachAtRate[per]}` : `${count(all.length, "cluster has", "clusters have")} no plan yet`;
  const changed = differs.length > 0 ? `${differs.join(" and ")} than a day ago` : "as much as a day ago";
  const said =
    since === planned.length || since === 0
      ? `${rented}${since > 0 && differs.length > 0 ? `, ${changed}` : ""}`
      : `${rented}. ${count(planned.length - since, "has", "have")} no bill of a day ago; ${since === 1 ? "the other one costs" : "the others cost"} ${changed}`;
  const months = [...sums].map(([currency, s]) => headline(s.month, currency)).join(" and ");
  const who = (of: Line[], one: string, many: string, what: string) => (of.length === 0 ? [] : [`${of.length === 1 ? `${inText(of[0]!.cluster)} ${one}` : count(of.length, one, many)} ${what}`]);
  const first = [...who(calls, "needs", "need", "attention"), ...who(all.filter(refuses), "refuses", "refuse", "jobs")];
  return `${said}. ${months ? `${monthOf(now.value)} so far: ${months}. ` : ""}${first.length > 0 ? `${first.join(", ")}.` : planned.length > 0 ? "No job is refused." : ""}`.trim();
}

/** refuses says whether a cluster's plan refuses jobs. */
const refuses = (l: Line): boolean => (l.plan?.refused ?? 0) > 0;

/** state is how far a cluster's plan can be trusted; what is bad needs somebody. */
function state(l: Line): { tone: Tone; text: string; order: number } {
  if (l.failure !== null) return { tone: "bad", text: l.plan ? "Change not planned" : "No plan possible", order: l.plan ? 1 : 0 };
  if (!l.plan) return { tone: "warning", text: "No plan yet", order: 2 };
  if (l.stale) return { tone: "warning", text: "Old", order: 3 };
  if (l.plan.gap > 0) return { tone: "warning", text: `Within ${percentAtMost(l.plan.gap)}`, order: 4 };
  return { tone: "good", text: "Proved optimal", order: 5 };
}

/** exact is an amount as files have it. */
const exact = (u: Units | null) => (u === null ? null : decimal(u));

function columns(per: Period, month: string): Column<Line>[] {
  const money = (u: Units | null, l: Line, sign = "") => (u === null ? "–" : `${u > 0n ? sign : ""}${headline(u, l.plan!.currency)}`);
  return [
    {
      key: "cluster",
      title: "Cluster",
      value: (l) => l.cluster,
      show: (l) => (
        <>
          <a href={addressOf(l.cluster, "plan")} title={l.cluster}>
            <Name of={l.cluster} strong />
          </a>
          {l.failure !== null && <p class="small muted">{brief(l.failure)}</p>}
        </>
      ),
    },
    { key: "month_bill", title: `${month} so far`, number: true, value: (l) => exact(soFar(l)), show: (l) => <Month of={l} /> },
    { key: "bill", title: `Bill ${eachAtRate[per]}`, number: true, value: (l) => exact(bill(l, per)), show: (l) => <>{money(bill(l, per), l)}</> },
    {
      key: "change",
      title: "Since a day ago",
      number: true,
      value: (l) => exact(change(l, per)),
      show: (l) => {
        const c = change(l, per);
        return c === 0n ? <span class="muted">no change</span> : money(c, l, "+");
      },
    },
    { key: "days", title: "14 days", number: true, value: grown, show: (l) => <Days of={l} per={per} /> },
    { key: "refused", title: "Value refused", number: true, value: (l) => exact(l.plan && perPeriod(l.plan.penalties, l.plan.period_s, per)), show: (l) => <span class={refuses(l) ? "strong" : undefined}>{money(l.plan && perPeriod(l.plan.penalties, l.plan.period_s, per), l)}</span> },
    { key: "state", title: "Proof", value: (l) => `${state(l).order} ${state(l).text}`, show: (l) => <Mark {...state(l)} /> },
    { key: "contract_ends", title: "Next contract end", value: (l) => l.contract_end?.ends ?? null, show: (l) => <End of={l} /> },
  ];
}

/** grown is by which part the bill grew in the days that are shown; null where it was not there. */
function grown(l: Line): number | null {
  const first = l.days.find((d) => d != null);
  if (!l.plan || first == null || Number(first) === 0) return null;
  return Number(l.plan.bill) / Number(first) - 1;
}

function Days({ of: l, per }: { of: Line; per: Period }) {
  if (!l.plan) return <>–</>;
  const { currency, period_s } = l.plan;
  const bills = l.days;
  const known = bills.filter((b) => b != null).map((b) => perPeriod(b, period_s, per));
  if (known.length === 0) return <>–</>;
  const low = known.reduce((a, b) => (b < a ? b : a));
  const high = known.reduce((a, b) => (b > a ? b : a));
  const said = low === high ? headline(low, currency) : `between ${headline(low, currency)} and ${headline(high, currency)}`;
  const when = known.length === 1 ? "now, without one on the days before" : `at this time of ${known.length} days`;
  return <Spark values={bills.map((b) => (b == null ? null : Number(units(b)) / 1e9))} said={`The bill ${eachAtRate[per]} ${when}: ${said}`} />;
}

/** Month is the bill of the month until now, and since when where that is not its beginning. */
function Month({ of: l }: { of: Line }) {
  if (!l.plan || !l.month) return <>–</>;
  return <span class="strong" title={sinceInMonth(Date.parse(l.month.from), now.value).trim()}>{headline(units(l.month.bill), l.plan.currency)}</span>;
}

function End({ of: l }: { of: Line }) {
  if (!l.contract_end) return <span class="muted">none</span>;
  const { ends, name, vms } = l.contract_end;
  const soon = Date.parse(ends) - now.value < 30 * day;
  return (
    <span title={`${name}, ${count(vms, "VM", "VMs")}`}>
      <time dateTime={ends} class={soon ? "strong" : undefined}>{clock(new Date(ends), "UTC", new Date(now.value)).replace(/, .*$/, "")}</time>, {count(Math.max(0, Math.floor((Date.parse(ends) - now.value) / day)), "day", "days")}
    </span>
  );
}

/** attention puts first what needs somebody, then what refuses jobs, then what costs most. */
function attention(a: Line, b: Line): number {
  const [x, y] = [state(a), state(b)];
  if (x.tone !== y.tone && (x.tone === "bad" || y.tone === "bad")) return x.tone === "bad" ? -1 : 1;
  if (refuses(a) !== refuses(b)) return refuses(a) ? -1 : 1;
  const [p, q] = [Number(bill(a, "month") ?? 0n), Number(bill(b, "month") ?? 0n)];
  return p !== q ? q - p : a.cluster < b.cluster ? -1 : 1;
}

function Table({ lines, period }: { lines: Line[]; period: Period }) {
  return (
    <div class="card overview">
      <DataTable caption="Clusters" columns={columns(period, monthOf(now.value))} rows={[...lines].sort(attention)} name={(l) => l.cluster} filter={lines.length > 7} one="cluster" many="clusters" onPage={most} />
    </div>
  );
}
