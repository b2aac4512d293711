// The bill of the months ahead, and the hours that a month is made of.
import { useEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { list } from "../api/client.ts";
import type { Horizon, Scenario, SpanTotal } from "../api/contract.ts";
import { type Cursor, Figure } from "../charts/figure.tsx";
import { Bar, Dots, Line, Plot, type Point } from "../charts/plot.tsx";
import { names, number } from "../charts/scale.ts";
import { monthName, monthsSaid } from "../model/contracts.ts";
import { headline, short, text, units } from "../model/money.ts";
import { fileName, save } from "../model/files.ts";
import type { Column } from "../model/table.ts";
import { count, shortened } from "../model/words.ts";
import { Asking } from "../parts/asking.tsx";
import { Export, type Kept } from "../parts/export.tsx";
import { DataTable } from "../parts/table.tsx";
import { ahead, hours, lookUnder, scenario, time, under } from "../state/contracts.ts";
import { useFetched } from "../state/fetched.ts";
import { narrow } from "../state/narrow.ts";
import { choose, query, route } from "../state/route.ts";
import { fileOf, stopped } from "../state/asked.ts";
import { Ahead, hourColumns, warned } from "./contracts-parts.tsx";

export function Months() {
  useEffect(lookUnder, []);
  const cluster = route.value.cluster;
  const saved = useFetched(() => list("GET /v1/clusters/{cluster}/scenarios", { cluster }), cluster).value.value;
  const h = ahead.value.value;
  const reason = stopped(ahead.run.value);
  return (
    <>
      <div class="headed">
        <h1>{h ? monthsSaid(h) : "The bill of the months ahead"}</h1>
        <div class="actions">
          <Ahead />
          <Laid saved={saved ?? []} />
          <Export kept={h ? kept(h) : []} />
        </div>
      </div>
      <Asking of={ahead} />
      {reason && (
        <div class="banner" role="alert">
          Stopped: {reason}. {h ? "The months until then are shown." : ""}
          <button class="quiet" onClick={() => ahead.forget()}>Discard</button>
        </div>
      )}
      {h && (
        <>
          <section class="card" aria-label="Months">
            <Bars h={h} />
          </section>
          <Month h={h} />
          <section class="card" aria-labelledby="forecasts">
            <h2 id="forecasts">Forecasts</h2>
            <Forecasts h={h} />
          </section>
        </>
      )}
    </>
  );
}

/** Laid chooses the scenario that is laid over the time, where some are saved. */
function Laid({ saved }: { saved: Scenario[] }) {
  const now = scenario();
  const all = saved.map((s) => s.name);
  if (now && !all.includes(now)) all.push(now);
  if (all.length === 0) return null;
  return (
    <label class="small">
      Scenario:{" "}
      <select value={now} onChange={(e) => choose("scenario", e.currentTarget.value || null)}>
        <option value="">none, as it is</option>
        {all.map((name) => (
          <option key={name} value={name}>
            {shortened(name, 40)}
          </option>
        ))}
      </select>
    </label>
  );
}

function kept(h: Horizon): Kept[] {
  const words = [route.value.cluster, "months"];
  const path = { cluster: route.value.cluster };
  const asked = { ...time(), ...under() };
  const kept = (text: string, name: string[], detail: "summary" | "periods" | "classes", form: Parameters<typeof fileOf>[3]) => ({
    text,
    press: async () => save(fileName(form.format === "xlsx" ? "xlsx" : "csv", ...name), await fileOf("POST /v1/clusters/{cluster}/horizons", path, { ...asked, detail }, form)),
  });
  return [
    kept("CSV of months", words, "summary", { format: "csv", per: "month" }),
    kept("CSV of hours", [...words, "hours"], "periods", { format: "csv" }),
    kept("XLSX", words, "classes", { format: "xlsx" }),
    kept("FOCUS", [...words, "focus"], "classes", { format: "focus" }),
    { text: "JSON", press: () => save(fileName("json", ...words), new Blob([JSON.stringify(h, null, 2)], { type: "application/json" })) },
  ];
}

const parts: { key: "reserved" | "reserved_idle" | "on_demand" | "spot" | "upfront"; title: string; patch: string }[] = [
  { key: "reserved", title: "Reserved", patch: "reserved" },
  { key: "reserved_idle", title: "Reserved but idle", patch: "idle" },
  { key: "on_demand", title: "On demand", patch: "demand" },
  { key: "spot", title: "Spot", patch: "spot" },
  { key: "upfront", title: "Upfront", patch: "upfront" },
];

function Bars({ h }: { h: Horizon }) {
  const cursor = useSignal<Cursor>(null);
  const months = narrow.value ? h.months.slice(0, 6) : h.months;
  const money = (amount: string | undefined) => text(units(amount ?? "0"), h.currency, 2);
  const shown = parts.filter((p) => (p.key !== "spot" && p.key !== "upfront") || h.months.some((m) => units(m.cost[p.key] ?? "0") > 0n));
  const was = new Map(h.as_it_is?.months.map((m) => [m.start, m]) ?? []);
  const before = (m: SpanTotal) => {
    const of = was.get(m.start);
    return of && (of.infeasible_hours ?? 0) < of.hours ? of.cost : undefined; // the bill of hours without a plan is none
  };
  const beside = (key: string, title: string, of: (m: SpanTotal) => string | undefined): Column<SpanTotal>[] =>
    h.as_it_is ? [{ key, title, number: true, value: (m) => of(m) ?? null, show: (m) => (of(m) === undefined ? "–" : money(of(m))) }] : [];
  const columns: Column<SpanTotal>[] = [
    { key: "start", title: "Month", value: (m) => m.start, show: (m) => monthName(m.start) },
    { key: "hours", title: "Hours", number: true, value: (m) => m.hours },
    ...shown.map((p): Column<SpanTotal> => ({ key: p.key, title: p.title, number: true, value: (m) => m.cost[p.key] ?? "0.00", show: (m) => money(m.cost[p.key]) })),
    { key: "bill", title: "VM bill", number: true, value: (m) => m.cost.bill, show: (m) => money(m.cost.bill) },
    ...beside("bill_as_it_is", "VM bill as it is", (m) => before(m)?.bill),
    ...beside("bill_difference", "Difference of the bill", (m) => m.difference?.bill),
    ...(h.total.bill_without_forecast ? [{ key: "bill_without_forecast", title: "of it without a forecast", number: true, value: (m: SpanTotal) => m.bill_without_forecast ?? "0.00", show: (m: SpanTotal) => money(m.bill_without_forecast) }] : []),
    { key: "value_refused", title: "Value refused", number: true, value: (m) => m.cost.penalties, show: (m) => money(m.cost.penalties) },
    ...beside("value_refused_as_it_is", "Value refused as it is", (m) => before(m)?.penalties),
    ...beside("value_refused_difference", "Difference of the value", (m) => m.difference?.value_refused),
    { key: "vm_hours", title: "VM-hours", number: true, value: (m) => m.vm_hours, inFilesOnly: true },
    { key: "refused_job_hours", title: "Refused job-hours", number: true, value: (m) => m.refused_job_hours, inFilesOnly: true },
    { key: "infeasible_hours", title: "Hours without a plan", number: true, value: (m) => m.infeasible_hours ?? 0 },
    ...(h.as_it_is?.total.infeasible_hours ? [{ key: "infeasible_hours_as_it_is", title: "Hours without a plan as it is", number: true, value: (m: SpanTotal) => was.get(m.start)?.infeasible_hours ?? 0 }] : []),
  ];
  const compared = (m: SpanTotal) => (before(m) ? ` · as it is ${money(before(m)!.bill)}${m.difference ? ` · difference ${money(m.difference.bill)}` : ""}` : "");
  const read = months.map((m) => `${monthName(m.start)} · VM bill ${money(m.cost.bill)}${compared(m)} · ${shown.map((p) => `${p.title.toLowerCase()} ${money(m.cost[p.key])}`).join(" · ")} · value refused ${money(m.cost.penalties)}${m.infeasible_hours ? ` · ${m.infeasible_hours} hours without a plan` : ""}`);
  const at = cursor.value?.point ?? -1;
  // A chart shows shape; the exact figures stand in the table.
  const stacks = months.map((m) => {
    let top = 0;
    return shown.map((p) => ({ patch: p.patch, from: top, to: (top += Number(m.cost[p.key] ?? 0)) }));
  });
  const refused = months.map((m, i): Point => [i, Number(m.cost.penalties)]);
  const bills = months.flatMap((m, i): Point[] => (before(m) ? [[i, Number(before(m)!.bill)]] : []));
  const open = (c: NonNullable<Cursor>) => months[c.point] && choose("month", months[c.point]!.start.slice(0, 7));
  const point = (x: number | null) => {
    const i = x === null ? -1 : Math.round(x);
    cursor.value = months[i] ? { series: 0, point: i } : null;
  };
  return (
    <>
      <Figure top title="VM bill of each month" said={`The VM bill by how VMs are paid, and beside it what refused jobs are valued at, which stands on no bill.${h.as_it_is ? " A ring is the VM bill as it is, without the scenario." : ""} A click, or Enter, shows the hours of a month.${narrow.value && h.months.length > 6 ? " The first six months; the table has all." : ""}`} columns={columns} rows={h.months} name={(m) => m.start} points={[read]} file="months" cursor={cursor} open={open}>
        {() => (
          <Plot
            x={names(months.map((m) => monthName(m.start, true)))}
            y={number([...stacks.map((s) => s.at(-1)?.to ?? 0), ...refused.map(([, y]) => y), ...bills.map(([, y]) => y)], short(h.currency), { zero: true })}
            height={narrow.value ? 220 : 320}
            at={point}
            press={(x) => open({ series: 0, point: Math.round(x) })}
          >
            {(a) => (
              <>
                {stacks.map((s, i) => s.map((b) => <Bar key={`${i} ${b.patch}`} of={a} x={i} from={b.from} to={b.to} look={i === at ? `${b.patch} read` : b.patch} />))}
                <Line of={a} points={refused} look="refused" />
                <Dots of={a} points={refused} look="refused" size={3.5} />
                <Dots of={a} points={bills} look="open" size={5} />
              </>
            )}
          </Plot>
        )}
      </Figure>
      <p class="legend">
        {shown.map((p) => (
          <span key={p.key}>
            <span class={`patch ${p.patch}`} />
            {p.title}
          </span>
        ))}
        <span><span class="patch refused" />Value refused, as a line</span>
        {h.as_it_is && <span><span class="dot open" />VM bill as it is</span>}
      </p>
    </>
  );
}

/** Month is the hours of the month that was chosen. */
function Month({ h }: { h: Horizon }) {
  const month = query.value.get("month");
  const i = h.months.findIndex((m) => m.start.slice(0, 7) === month);
  const m = h.months[i];
  useEffect(() => {
    hours.forget();
    if (!m) return;
    const end = Date.parse(h.total.start) + h.total.hours * 3_600_000;
    const next = new Date(m.start);
    next.setUTCMonth(next.getUTCMonth() + 1);
    const from = new Date(Math.max(Date.parse(h.total.start), Date.parse(m.start)));
    const until = new Date(Math.min(end, next.getTime()));
    void hours.start("POST /v1/clusters/{cluster}/horizons", { cluster: route.value.cluster }, { from: from.toISOString(), until: until.toISOString(), ...under(), detail: "periods" });
    return () => hours.leave();
  }, [m?.start, h]);
  if (!m) return null;
  const of = hours.value.value;
  return (
    <section class="card" aria-labelledby="month">
      <header>
        <h2 id="month">{monthName(m.start)}</h2>
        <button class="quiet" onClick={() => choose("month", null)}>Close</button>
      </header>
      <p>
        {headline(units(m.cost.bill), h.currency)} is the VM bill, and refused jobs valued at {headline(units(m.cost.penalties), h.currency)}, in {count(Math.round(m.hours), "hour", "hours")}. Hours that follow each other and are alike are one row.
      </p>
      <Asking of={hours} />
      {of && <div class="hours"><DataTable caption={`Hours of ${monthName(m.start)}`} columns={hourColumns(h.currency, of.periods)} rows={of.periods} name={(p) => p.start} file={[route.value.cluster, m.start.slice(0, 7)]} /></div>}
    </section>
  );
}

function Forecasts({ h }: { h: Horizon }) {
  const none = h.warnings.find((w) => w.code === "no_forecast");
  const rest = h.warnings.filter((w) => w !== none);
  return (
    <>
      {none && h.warnings.length > 0 && <p>There is no forecast for some of the classes. {none.detail}</p>}
      {!none && <p>Every class has a forecast in this time.</p>}
      {rest.map((w) => (
        <p key={w.code + w.detail} class="small muted">
          {warned(w, h.total)}
        </p>
      ))}
      <p class="links">
        <a href={`/v1/clusters/${encodeURIComponent(route.value.cluster)}/forecasts?format=csv`} download={`${route.value.cluster}-forecasts.csv`}>Forecasts as CSV</a>
      </p>
    </>
  );
}
