// What contracts come to over the months ahead, and what is worth buying.
import { computed, effect, untracked } from "@preact/signals";
import type { ClusterPurchaseRequest, Horizon, Purchase, StandingOffer } from "../api/contract.ts";
import { Asked } from "./asked.ts";
import { current } from "./cluster.ts";
import { type Assumption, assumptions } from "../model/contracts.ts";
import { chosen as inAddress, query, route } from "./route.ts";

export const ahead = new Asked<Horizon>("horizon");
export const purchase = new Asked<Purchase>("purchase");
/** hours are those of one month. */
export const hours = new Asked<Horizon>("horizon", false);

export const spans = ["", "week", "6", "12", "24", "36", "dates"] as const;
export type Span = (typeof spans)[number];

const span = () => inAddress<Span>("horizon", spans);

/** dates are the first day and the one after the last, where the address has them. */
export const dates = () => ({ from: query.value.get("from") ?? "", until: query.value.get("until") ?? "" });

/** time is from the next hour for so many months, between two dates, or as far as the service looks by itself. */
export function time(): { from?: string; until?: string } {
  const months = span();
  if (!months) return {};
  if (months === "dates") return Object.fromEntries(Object.entries(dates()).flatMap(([end, day]) => (day ? [[end, `${day}T00:00:00Z`]] : [])));
  const from = new Date(Math.ceil((Date.now() + 1) / 3_600_000) * 3_600_000);
  const until = new Date(from);
  if (months === "week") until.setUTCDate(until.getUTCDate() + 7);
  else until.setUTCMonth(until.getUTCMonth() + Number(months));
  return { from: from.toISOString(), until: until.toISOString() };
}

/** scenario is the saved scenario under which the months are; empty is as it is. */
export const scenario = () => query.value.get("scenario") ?? "";

/** under is the part of a question that lays the scenario over it. */
export const under = (): { scenario?: { saved: string } } => (scenario() ? { scenario: { saved: scenario() } } : {});

/** about names the time that is asked about. */
const about = () => (span() === "dates" ? `${dates().from}..${dates().until}` : span());

/** askOnce asks when a tab comes, unless there is an answer about the same already, and when what it is about
 *  changes; the run of the address comes first. What another cluster had is forgotten. */
function askOnce<T>(of: Asked<T>, what: () => string, start: () => void): () => void {
  let first = true;
  const key = computed(() => (current.value?.plan.cluster === route.value.cluster ? what() : ""));
  const stop = effect(() => {
    const now = key.value;
    if (!now) return;
    untracked(() => {
      const same = of.about === now;
      const run = first ? query.value.get("run") : null;
      first = false;
      if (same && (of.value.value !== null || of.since.value > 0)) return;
      if (!of.about.startsWith(`${route.value.cluster} `)) of.forget();
      const ask = () => {
        start();
        of.about = now;
      };
      if (!run) return ask();
      void of.show(run).then((there) => there || ask());
      of.about = now;
    });
  });
  return () => {
    stop();
    of.leave();
  };
}

/** look keeps the months ahead as the current plan's inputs have them, with what is laid over them. */
const look = (laid: () => ReturnType<typeof under>): (() => void) =>
  askOnce(ahead, () => `${route.value.cluster} ${about()} ${current.value?.plan.number} ${laid().scenario?.saved ?? ""}`, () => void ahead.start("POST /v1/clusters/{cluster}/horizons", { cluster: route.value.cluster }, { ...time(), ...laid(), detail: "summary" }));

/** lookAhead keeps them as they are. */
export const lookAhead = (): (() => void) => look(() => ({}));

/** lookUnder keeps them under the scenario of the address. */
export const lookUnder = (): (() => void) => look(under);

/** question is which of these offers to buy, of one VM type and those alone that were chosen; null is none. */
export function question(offers: StandingOffer[]): ClusterPurchaseRequest | null {
  const names = query.value.getAll("offer");
  const chosen = offers.filter((o) => names.length === 0 || names.includes(o.name));
  const p = current.value?.problem;
  if (chosen.length === 0 || !p) return null;
  const type = chosen[0]!.vm_type;
  const leave: NonNullable<ClusterPurchaseRequest["leave_out"]> = [];
  if (p.supply.spot || p.supply.vm_types?.some((t) => t.spot)) leave.push("spot");
  if (p.budget) leave.push("budget");
  const body: ClusterPurchaseRequest = { ...time(), named: chosen.filter((o) => o.vm_type === type).slice(0, 8).map((o) => o.name), detail: "periods" };
  const assume = inAddress<Assumption>("assume", assumptions);
  if (assume) body.assume = assume;
  if (p.supply.vm_types) body.vm_type = type;
  if (leave.length > 0) body.leave_out = leave;
  return body;
}

/** weigh asks it. */
export function weigh(offers: StandingOffer[]): void {
  const body = question(offers);
  if (body) void purchase.start("POST /v1/clusters/{cluster}/purchases", { cluster: route.value.cluster }, body);
}

/** weighOnce answers which to buy once the offers are known. */
export const weighOnce = (offers: () => StandingOffer[]): (() => void) => askOnce(purchase, () => (offers().length > 0 ? `${route.value.cluster} ${about()} ${query.value.get("assume") ?? ""}` : ""), () => weigh(offers()));
