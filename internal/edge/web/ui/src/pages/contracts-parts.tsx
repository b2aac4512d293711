// What the tabs of Contracts share.
import type { PeriodAnswer, SpanTotal, Warning } from "../api/contract.ts";
import { type Assumption, assumptions, assumptionTexts } from "../model/contracts.ts";
import { headline, units } from "../model/money.ts";
import type { Column } from "../model/table.ts";
import { clock } from "../model/time.ts";
import { now } from "../state/clock.ts";
import { cluster } from "../state/cluster.ts";
import { dates, type Span, spans } from "../state/contracts.ts";
import { choose, chosen } from "../state/route.ts";

const texts: Record<Span, string> = { "": "as forecast, up to a year", week: "the next seven days", "6": "6 months", "12": "12 months", "24": "2 years", "36": "3 years", dates: "between two dates" };

/** warned is a warning of the service in the page's words: what to change stands here under another name. */
export function warned(w: Warning, looked: SpanTotal, forecastUntil?: string): string {
  if (w.code === "forecasts_end") return "The forecasts end before this time does: longer ones would tell more of it.";
  if (w.code !== "ends_with_forecasts") return w.detail;
  const end = forecastUntil ? new Date(forecastUntil) : new Date(Date.parse(looked.start) + looked.hours * 3_600_000);
  return `The forecasts end on ${clock(end, cluster.value?.time_zone ?? "UTC", new Date(now.value))}, and this looks no further. Choose a longer time under Ahead to look further.`;
}

/** Ahead chooses how far one looks. */
export function Ahead() {
  const span = chosen<Span>("horizon", spans);
  const put = (end: "from" | "until") => (
    <label class="small">
      {end === "from" ? "From" : "until"}: <input type="date" value={dates()[end]} onChange={(e) => choose(end, e.currentTarget.value || null)} />
    </label>
  );
  return (
    <>
      <label class="small">
        Ahead:{" "}
        <select value={span} onChange={(e) => choose("horizon", e.currentTarget.value || null)}>
          {spans.map((s) => (
            <option key={s} value={s}>
              {texts[s]}
            </option>
          ))}
        </select>
      </label>
      {span === "dates" && (
        <>
          {" "}
          {put("from")} {put("until")}
        </>
      )}
    </>
  );
}

/** Assumed chooses what follows the forecasts. */
export function Assumed() {
  return (
    <label class="small">
      After the forecasts:{" "}
      <select value={chosen<Assumption>("assume", assumptions)} onChange={(e) => choose("assume", e.currentTarget.value || null)}>
        {assumptions.map((a) => (
          <option key={a} value={a}>
            {assumptionTexts[a]}
          </option>
        ))}
      </select>
    </label>
  );
}

export const decimal = (x: number) => new Intl.NumberFormat("en-GB", { maximumFractionDigits: 2 }).format(x);

/** hourColumns are those of hours, alike ones that follow each other being one row. */
export function hourColumns(currency: string, rows: PeriodAnswer[]): Column<PeriodAnswer>[] {
  const ok = <T,>(p: PeriodAnswer, x: T) => (p.status === "infeasible" ? null : x);
  const money = (key: string, title: string, of: (p: PeriodAnswer) => string): Column<PeriodAnswer> => ({ key, title, number: true, value: (p) => ok(p, of(p)), show: (p) => (p.status === "infeasible" ? "–" : headline(units(of(p)), currency)) });
  const number = (key: string, title: string, of: (p: PeriodAnswer) => number): Column<PeriodAnswer> => ({ key, title, number: true, value: (p) => ok(p, of(p)), show: (p) => (p.status === "infeasible" ? "–" : decimal(of(p))) });
  return [
    { key: "start", title: "From", value: (p) => p.start, show: (p) => clock(new Date(p.start), cluster.value?.time_zone ?? "UTC", new Date(now.value)) },
    { key: "hours", title: "Hours", number: true, value: (p) => p.hours, show: (p) => decimal(p.hours) },
    number("vms", "VMs", (p) => p.vms.total),
    number("reserved_vms", "Reserved", (p) => p.vms.reserved),
    number("on_demand_vms", "On demand", (p) => p.vms.on_demand),
    ...(rows.some((p) => p.vms.spot > 0) ? [number("spot_vms", "Spot", (p) => p.vms.spot)] : []),
    number("admitted_jobs", "Jobs served", (p) => p.admitted),
    number("refused_jobs", "Refused", (p) => p.refused),
    money("bill", "VM bill", (p) => p.cost.bill),
    money("value_refused", "Value refused", (p) => p.cost.penalties),
    { key: "conflict", title: "Why there is no plan", value: (p) => p.conflict || null, show: (p) => p.conflict, inFilesOnly: !rows.some((p) => p.conflict) },
  ];
}
