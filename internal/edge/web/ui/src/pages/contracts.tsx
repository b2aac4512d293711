// Contracts: which there are and what becomes of them, what to buy, and what the bill of the months ahead is.
import { useEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { ask, list } from "../api/client.ts";
import type { Contract, Horizon, SpanTotal } from "../api/contract.ts";
import { type Cursor, Figure } from "../charts/figure.tsx";
import { Bar, Mark, Plot } from "../charts/plot.tsx";
import { moments, names, number } from "../charts/scale.ts";
import { date, type Held, held, lead, monthName, nextEnd, share } from "../model/contracts.ts";
import { decimal, price, text, units } from "../model/money.ts";
import type { Column } from "../model/table.ts";
import { count } from "../model/words.ts";
import { Asking } from "../parts/asking.tsx";
import { Export, type Kept } from "../parts/export.tsx";
import { Shown } from "../parts/fetched.tsx";
import { lazy } from "../parts/lazy.tsx";
import { DataTable } from "../parts/table.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { now } from "../state/clock.ts";
import { cluster, current, session } from "../state/cluster.ts";
import { ahead, lookAhead } from "../state/contracts.ts";
import { useFetched } from "../state/fetched.ts";
import { narrow } from "../state/narrow.ts";
import { route } from "../state/route.ts";

const tabs = ["have", "buy", "months", "wait"] as const;
const texts = { have: "Have", buy: "Buy", months: "Months", wait: "Wait" };

const Buy = lazy(async () => (await import("./contracts-buy.tsx")).Buy);
const Months = lazy(async () => (await import("./contracts-months.tsx")).Months);
const Wait = lazy(async () => (await import("./contracts-wait.tsx")).Wait);

export function Contracts() {
  return <Tabs label="Contracts" words={tabs} texts={texts} show={(tab) => (tab === "have" ? <Have /> : tab === "buy" ? <Buy /> : tab === "months" ? <Months /> : <Wait />)} />;
}

function Have() {
  useEffect(lookAhead, []);
  const cluster = route.value.cluster;
  const contracts = useFetched(() => list("GET /v1/clusters/{cluster}/contracts", { cluster }), cluster);
  const next = contracts.value.value && nextEnd(contracts.value.value, now.value);
  const asks = session.value !== null && session.value.role !== "viewer";
  const gone = useFetched(async () => (next && asks ? await end(cluster, next) : null), cluster, next?.name, asks);
  const all = contracts.value.value;
  const file = (format: "csv" | "xlsx"): Kept => ({ text: format.toUpperCase(), href: `/v1/clusters/${encodeURIComponent(cluster)}/contracts?format=${format}`, file: `${cluster}-contracts.${format}` });
  return (
    <>
      <div class="headed">
        <h1>{all ? lead(all, gone.value.value, now.value) : "Reading contracts …"}</h1>
        <div class="actions">
          <Export kept={all?.length ? [file("csv"), file("xlsx")] : []} />
        </div>
      </div>
      <Asking of={ahead} />
      <Shown of={contracts} what="contracts">
        {(found) => (found.length === 0 ? <p>The tab Buy says which offers are worth their money.</p> : <HeldNow rows={held(found, ahead.value.value, current.value?.plan ?? null)} ahead={ahead.value.value} />)}
      </Shown>
      {gone.value.value && <p class="small muted">What becomes of the bill is said at this hour's demand and prices; a month is 730 hours.</p>}
    </>
  );
}

/** end asks what becomes of the plan of now without a contract. */
async function end(cluster: string, c: Contract) {
  return (await ask("POST /v1/clusters/{cluster}/what-if", { path: { cluster }, body: { scenarios: [{ name: "without", changes: [{ what: "drop_contract", contract: c.name }] }], detail: "summary" } }))!.value;
}

function HeldNow({ rows, ahead: h }: { rows: Held[]; ahead: Horizon | null }) {
  const currency = current.value?.plan.plan.cost.currency ?? h?.currency ?? "USD";
  const zone = cluster.value?.time_zone ?? "UTC";
  const columns: Column<Held>[] = [
    { key: "name", title: "Contract", value: (r) => r.contract.name, show: (r) => <bdi class="strong">{r.contract.name}</bdi> },
    { key: "vms", title: "VMs", number: true, value: (r) => r.contract.vms },
    { key: "price", title: "Price of a VM-hour", number: true, value: (r) => r.contract.price, show: (r) => price(units(r.contract.price), currency) },
    { key: "billing", title: "Paid", value: (r) => r.contract.billing ?? "used", show: (r) => (r.contract.billing === "always" ? "all hours" : "used hours") },
    { key: "from", title: "From", value: (r) => r.contract.from, show: (r) => date(r.contract.from, zone) },
    { key: "until", title: "Until", value: (r) => r.contract.until, show: (r) => date(r.contract.until, zone) },
    { key: "used_share", title: "Used ahead", number: true, value: (r) => r.used, show: (r) => share(r.used) },
    { key: "idle_month", title: "Idle, a month", number: true, value: (r) => (r.idle === null ? null : decimal(r.idle)), show: (r) => (r.idle === null ? "–" : text(r.idle, currency, 2)) },
    { key: "worth_month", title: "One more VM in the relaxation, a month", number: true, value: (r) => (r.worth === null ? null : decimal(r.worth)), show: (r) => (r.worth === null ? "–" : text(r.worth, currency, 2)) },
  ];
  return (
    <>
      <section class="card" aria-labelledby="held">
        <h2 id="held">Contracts</h2>
        <DataTable caption="Contracts" columns={columns} rows={rows} name={(r) => r.contract.name} file={[route.value.cluster, "contracts"]} />
        {h && (
          <p class="small muted">
            Used and idle are those of the {count(Math.round(h.total.hours), "hour", "hours")} ahead, from {date(h.total.start)}; what one more VM would be worth, if fractions of VMs could be rented, is that of this hour. A month is 730 hours.
          </p>
        )}
      </section>
      <section class="card" aria-label="Time line">
        <TimeLine rows={rows} columns={columns} />
      </section>
      {h && h.months.length > 0 && (
        <section class="card" aria-label="Use">
          <Use h={h} />
        </section>
      )}
    </>
  );
}

/** TimeLine has a row for each contract, from its first day to its last. */
function TimeLine({ rows, columns }: { rows: Held[]; columns: Column<Held>[] }) {
  const zone = cluster.value?.time_zone ?? "UTC";
  const points = rows.map((r) => `${r.contract.name} · ${count(r.contract.vms, "VM", "VMs")} · ${date(r.contract.from, zone)} to ${date(r.contract.until, zone)}`);
  const times = rows.flatMap((r) => [Date.parse(r.contract.from), Date.parse(r.contract.until)]);
  const x = moments(Math.min(now.value, ...times), Math.max(now.value, ...times), cluster.value?.time_zone ?? "UTC");
  const all = names(rows.map((r) => r.contract.name));
  return (
    <Figure title="From when until when" said={`${rows.length === 1 ? "One contract" : `${rows.length} contracts`} over time.`} columns={columns} rows={rows} name={(r) => r.contract.name} points={[points]} file="contracts">
      {(cursor) => (
        <Plot x={x} y={{ ...all, from: all.to, to: all.from }} height={72 + 40 * rows.length} top={24} at={(x, y) => (cursor.value = x === null || !rows[Math.round(y)] ? null : { series: 0, point: Math.round(y) })}>
          {(a) => (
            <>
              {rows.map((r, i) => {
                const [from, to] = [a.x(Date.parse(r.contract.from)), a.x(Date.parse(r.contract.until))];
                return <rect key={r.contract.name} class="bar reserved" x={from} width={Math.max(to - from, 2)} y={a.y(i) - 10} height={20} rx={3} />;
              })}
              <Mark of={a} x={now.value} word="today" look="" />
            </>
          )}
        </Plot>
      )}
    </Figure>
  );
}

const hoursText = (x: number) => new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 }).format(x);

/** Use is how much of the contracts is used in each month ahead. */
function Use({ h }: { h: Horizon }) {
  const cursor = useSignal<Cursor>(null);
  const months = narrow.value ? h.months.slice(0, 6) : h.months;
  const columns: Column<SpanTotal>[] = [
    { key: "month", title: "Month", value: (m) => m.start, show: (m) => monthName(m.start) },
    { key: "reserved_vm_hours", title: "Used VM-hours", number: true, value: (m) => m.reserved_vm_hours, show: (m) => hoursText(m.reserved_vm_hours) },
    { key: "reserved_idle_vm_hours", title: "Idle VM-hours", number: true, value: (m) => m.reserved_idle_vm_hours, show: (m) => hoursText(m.reserved_idle_vm_hours) },
    { key: "reserved_idle", title: "Cost of idle VMs", number: true, value: (m) => m.cost.reserved_idle, show: (m) => text(units(m.cost.reserved_idle), h.currency, 2) },
  ];
  const points = months.map((m) => {
    const all = m.reserved_vm_hours + m.reserved_idle_vm_hours;
    return `${monthName(m.start)} · ${hoursText(m.reserved_vm_hours)} VM-hours used · ${hoursText(m.reserved_idle_vm_hours)} idle${all > 0 ? ` · ${share(m.reserved_vm_hours / all)} used` : ""} · idle VMs cost ${text(units(m.cost.reserved_idle), h.currency, 2)}`;
  });
  const at = cursor.value?.point ?? -1;
  const total = h.total.reserved_vm_hours + h.total.reserved_idle_vm_hours;
  return (
    <>
      <Figure title="Use of all contracts in each month" said={`${total > 0 ? `${share(h.total.reserved_vm_hours / total)} of the VM-hours in contracts are used.` : "No contract is in force in this time."}${narrow.value && h.months.length > 6 ? " The first six months; the table has all." : ""}`} columns={columns} rows={h.months} name={(m) => m.start} points={[points]} file="contracts-use" cursor={cursor}>
        {() => (
          <Plot
            x={names(months.map((m) => monthName(m.start, true)))}
            y={number(months.map((m) => m.reserved_vm_hours + m.reserved_idle_vm_hours), (n) => new Intl.NumberFormat("en-US", { notation: "compact" }).format(n), { zero: true })}
            height={narrow.value ? 220 : 280}
            at={(x) => (cursor.value = x === null || !months[Math.round(x)] ? null : { series: 0, point: Math.round(x) })}
          >
            {(a) =>
              months.map((m, i) => (
                <>
                  <Bar of={a} x={i} from={0} to={m.reserved_vm_hours} look={i === at ? "reserved read" : "reserved"} />
                  <Bar of={a} x={i} from={m.reserved_vm_hours} to={m.reserved_vm_hours + m.reserved_idle_vm_hours} look="idle" />
                </>
              ))
            }
          </Plot>
        )}
      </Figure>
      <p class="legend">
        <span><span class="patch reserved" />Used</span>
        <span><span class="patch idle" />Idle</span>
      </p>
    </>
  );
}
