// The bill of this month of the open cluster: until now by the plans in force, and to come as its forecasts have it.
import { useEffect } from "preact/hooks";
import { ask, get } from "../api/client.ts";
import { scaled, type Units, units } from "../model/money.ts";
import { type Ahead, inLastHour, leftOf } from "../model/month.ts";
import { now } from "./clock.ts";
import { current, mayAsk } from "./cluster.ts";
import { type Fetched, useFetched } from "./fetched.ts";
import { atOnce } from "./runs.ts";

export interface Month {
  /** The beginning of the month in UTC, or the first plan. */
  from: number;
  until: number;
  soFar: Units;
  currency: string;
  /** Null where this key may not ask for it, it takes too long, or hours without a plan are among it. */
  ahead: Ahead | null;
}

const hour = 3_600_000;

/** useMonth reads it anew with each plan, each change of inputs and each hour. */
export function useMonth(cluster: string): Fetched<Month> {
  const month = useFetched(() => readMonth(cluster), cluster);
  const plan = current.value?.plan;
  useEffect(() => {
    if (month.value.value) month.again(); // what is here stays meanwhile
  }, [plan?.number, plan?.freshness.inputs_version, Math.floor(now.value / hour)]);
  return month;
}

async function readMonth(cluster: string): Promise<Month | null> {
  const line = (await get("GET /v1/overview", {}, { cluster })).items[0];
  if (!line?.month || !line.plan) return null;
  const { plan } = line;
  const until = Date.parse(line.month.until);
  const { begins, ends } = leftOf(until); // what is left of this hour is as this hour
  const rest = scaled(units(plan.bill), BigInt(begins - until), BigInt(plan.period_s * 1000));
  let ahead: Ahead | null = null;
  if (begins >= ends) ahead = inLastHour(rest);
  else if (await mayAsk()) {
    const body = { from: new Date(begins).toISOString(), until: new Date(ends).toISOString(), detail: "summary" } as const;
    const h = await ask("POST /v1/clusters/{cluster}/horizons", { path: { cluster }, body }).then((a) => atOnce(a!.value), () => null); // what is behind is seen even so
    if (h?.complete && !h.total.infeasible_hours && !h.total.in_whole_jobs?.infeasible_hours) {
      const bill = h.total.in_whole_jobs?.bill ?? h.total.cost.bill;
      const upfront = units(h.total.cost.upfront ?? "0"); // which no plan counts
      const unforeseen = h.total.hours_without_forecast === h.total.hours ? "all" : units(h.total.bill_without_forecast ?? "0");
      ahead = { bill: rest + units(bill) - upfront, unforeseen, whole: bill !== h.total.cost.bill, waits: h.warnings.some((w) => w.code === "windows_left_out"), upfront: upfront !== 0n };
    }
  }
  return { from: Date.parse(line.month.from), until, soFar: units(line.month.bill), currency: plan.currency, ahead };
}
