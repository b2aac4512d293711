// What to buy: the offers, the answer with what it rests on, and the hours it was computed from.
import { useEffect, useMemo } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { ask, faultsOf, list, Problem } from "../api/client.ts";
import type { PeriodAnswer, Purchase, RegretPoint, SavingCurve, StandingOffer } from "../api/contract.ts";
import { type Cursor, Figure } from "../charts/figure.tsx";
import { difference } from "../charts/bridge.tsx";
import { Dots, Level, Line, Mark, Plot, type Point } from "../charts/plot.tsx";
import { number } from "../charts/scale.ts";
import { apartSaid, type Assumption, assumptionTexts, bills, buy, date, monthName, paysBack, perMonth, share } from "../model/contracts.ts";
import { headline, price, short, units } from "../model/money.ts";
import { fileName, save } from "../model/files.ts";
import type { Column } from "../model/table.ts";
import { count } from "../model/words.ts";
import { Asking } from "../parts/asking.tsx";
import { Export, type Kept } from "../parts/export.tsx";
import { Shown } from "../parts/fetched.tsx";
import { Choice, Field, Mistakes } from "../parts/form.tsx";
import { DataTable } from "../parts/table.tsx";
import { current } from "../state/cluster.ts";
import { purchase, question, weigh, weighOnce } from "../state/contracts.ts";
import { deleting, keep, remove } from "../state/deleting.ts";
import { useDraft } from "../state/drafts.ts";
import { type Fetched, useFetched } from "../state/fetched.ts";
import { narrow } from "../state/narrow.ts";
import { choose, chooseAll, query, route } from "../state/route.ts";
import { fileOf, stopped } from "../state/asked.ts";
import { firstPrice } from "../model/beginnings.ts";
import { ForecastExample, OfferExample } from "../parts/examples.tsx";
import { Ahead, Assumed, hourColumns, warned } from "./contracts-parts.tsx";

export function Buy() {
  const cluster = route.value.cluster;
  const offers = useFetched(() => list("GET /v1/clusters/{cluster}/offers", { cluster }), cluster);
  useEffect(() => weighOnce(() => offers.value.value ?? []), []);
  const p = purchase.value.value;
  const all = offers.value.value;
  const reason = stopped(purchase.run.value);
  const unforeseen = purchase.problem.value?.details?.errors?.some((f) => f.code === "no_forecast");
  const assumeFlat = () => {
    choose("assume", "flat"); // of what follows the forecast
    weigh(all ?? []);
  };
  return (
    <>
      <div class="headed">
        <h1>{p ? buy(p) : all?.length === 0 ? "There is nothing to weigh yet. Add an offer and the answer follows by itself." : "What to buy"}</h1>
        <div class="actions">
          <Export kept={p ? kept(p, all ?? []) : []} />
        </div>
      </div>
      {unforeseen ? <ForecastExample classes={current.value?.problem.classes ?? []} done={assumeFlat} /> : <Asking of={purchase} />}
      {reason && (
        <div class="banner" role="alert">
          Stopped: {reason}.<button class="quiet" onClick={() => weigh(all ?? [])}>Go on</button>
          <button class="quiet" onClick={() => purchase.forget()}>Discard</button>
        </div>
      )}
      {p && <Answer p={p} />}
      <section class="card" aria-labelledby="offers">
        <header>
          <h2 id="offers">Offers</h2>
          <span>
            <Ahead /> <Assumed />
          </span>
        </header>
        <Shown of={offers} what="offers">{(found) => <Offers all={found} of={offers} />}</Shown>
      </section>
    </>
  );
}

function kept(p: Purchase, offers: StandingOffer[]): Kept[] {
  const words = [route.value.cluster, "purchase"];
  const body = question(offers);
  const kept = (text: string, name: string[], format: "csv" | "xlsx" | "focus") => ({
    text,
    press: async () => save(fileName(format === "xlsx" ? "xlsx" : "csv", ...name), await fileOf("POST /v1/clusters/{cluster}/purchases", { cluster: route.value.cluster }, { ...body!, detail: "classes" }, { format })),
  });
  return [
    ...(body ? [kept("CSV", words, "csv"), kept("XLSX", words, "xlsx"), kept("FOCUS", [...words, "focus"], "focus")] : []),
    { text: "JSON", press: () => save(fileName("json", ...words), new Blob([JSON.stringify(p, null, 2)], { type: "application/json" })) },
  ];
}

function Offers({ all, of }: { all: StandingOffer[]; of: Fetched<StandingOffer[]> }) {
  const adding = useSignal(false);
  const cluster = route.value.cluster;
  const currency = current.value?.plan.plan.cost.currency ?? "USD";
  const names = query.value.getAll("offer");
  const weighed = (o: StandingOffer) => names.length === 0 || names.includes(o.name);
  const put = (o: StandingOffer, on: boolean) => {
    const next = all.filter((x) => (x === o ? on : weighed(x))).map((x) => x.name);
    chooseAll("offer", next.length === all.length ? [] : next);
  };
  const id = (o: StandingOffer) => `offer ${cluster} ${o.name}`;
  const drop = (o: StandingOffer) =>
    remove(id(o), async () => {
      await ask("DELETE /v1/clusters/{cluster}/offers/{name}", { path: { cluster, name: o.name }, match: `"${o.version}"`, keepalive: true });
      of.again();
    });
  const columns: Column<StandingOffer>[] = [
    { key: "weigh", title: "Weigh", value: (o) => (weighed(o) ? "yes" : "no"), show: (o) => <label class="tick"><input type="checkbox" checked={weighed(o)} onChange={(e) => put(o, e.currentTarget.checked)} /><span class="hidden">Weigh {o.name}</span></label> },
    { key: "name", title: "Offer", value: (o) => o.name, show: (o) => <bdi class="strong">{o.name}</bdi> },
    { key: "vm_type", title: "VM type", value: (o) => o.vm_type },
    { key: "term", title: "Term", value: (o) => (o.term_years ? count(o.term_years, "year", "years") : count(o.term_hours ?? 0, "hour", "hours")), show: (o) => (o.term_years ? count(o.term_years, "year", "years") : `${o.term_hours} h`) },
    { key: "upfront", title: "Upfront", number: true, value: (o) => o.upfront ?? "0", show: (o) => headline(units(o.upfront ?? "0"), currency) },
    { key: "price", title: "A VM-hour", number: true, value: (o) => o.price, show: (o) => price(units(o.price), currency) },
    { key: "max", title: "At most", number: true, value: (o) => o.max ?? null },
    {
      key: "delete",
      title: "",
      value: () => "",
      show: (o) =>
        deleting.value.has(id(o)) ? (
          <>Deleted. <button class="quiet" onClick={() => keep(id(o))}>Undo</button></>
        ) : (
          <button class="quiet" onClick={() => drop(o)}>Delete<span class="hidden"> {o.name}</span></button>
        ),
    },
  ];
  return (
    <>
      {all.length > 0 && <DataTable caption="Offers" columns={columns} rows={all} name={(o) => o.name} />}
      {all.length > 0 && !adding.value && (
        <p class="tools">
          <button class="main" onClick={() => weigh(all)}>Compute</button>
          <button onClick={() => (adding.value = true)}>Add an offer</button>
        </p>
      )}
      {(all.length === 0 || adding.value) && <Add of={of} done={() => (adding.value = false)} first={all.length === 0} />}
    </>
  );
}

const noOffer = { name: "", vm_type: "", price: "", upfront: "0", term_years: "1", max: "200" };

function Add({ of, done, first }: { of: Fetched<StandingOffer[]>; done: () => void; first: boolean }) {
  const cluster = route.value.cluster;
  const types = useFetched(() => list("GET /v1/clusters/{cluster}/vm-types", { cluster }), cluster);
  const typed = useDraft("offer", noOffer);
  const wrong = useSignal<Problem | null>(null);
  const faults = faultsOf(wrong.value);
  const found = types.value.value ?? [];
  const type = typed.value.vm_type || (found.find((t) => t.in_use) ?? found[0])?.name || "";
  const supply = current.value?.problem.supply;
  const price = supply?.vm_types?.find((t) => t.name === type)?.on_demand.price ?? supply?.on_demand?.price;
  const field = (key: keyof typeof typed.value, label: string, unit?: string, kind: "text" | "number" = "number") => (
    <Field pointer={`/${key}`} label={label} kind={kind} required value={typed.value[key]} put={(t) => (typed.value = { ...typed.value, [key]: t })} faults={faults} {...(unit ? { unit } : {})} />
  );
  const send = async (e: Event) => {
    e.preventDefault();
    const t = typed.value;
    try {
      await ask("POST /v1/clusters/{cluster}/offers", { path: { cluster }, body: { name: t.name, vm_type: type, price: t.price, upfront: t.upfront, billing: "always", term_years: Number(t.term_years), max: Number(t.max) } });
      wrong.value = null;
      typed.value = noOffer;
      of.again();
      done();
    } catch (x) {
      if (!(x instanceof Problem)) throw x;
      wrong.value = x;
    }
  };
  return (
    <form class="stack" onSubmit={(e) => void send(e)}>
      {first && types.value.value && <OfferExample known={type} price={String(price ?? firstPrice)} done={() => of.again()} />}
      <Mistakes faults={faults} />
      <div class="fields">
        {field("name", "Name", undefined, "text")}
        <Choice pointer="/vm_type" label="VM type" value={type} put={(t) => (typed.value = { ...typed.value, vm_type: t })} words={found.map((t) => ({ word: t.name, text: t.name }))} />
        {field("term_years", "Term", "years")}
        {field("upfront", "Upfront for a VM")}
        {field("price", "Price of a VM-hour")}
        {field("max", "At most", "VMs")}
      </div>
      <p class="tools">
        <button class="main" type="submit" disabled={type === ""}>Add an offer</button>
        {!first && <button type="button" onClick={done}>Cancel</button>}
      </p>
    </form>
  );
}

function Answer({ p }: { p: Purchase }) {
  const at = useSignal("");
  const hours = useSignal(false);
  const month = paysBack(p);
  const bought = p.offers.some((o) => o.vms > 0);
  const hoursAhead = p.horizon.total.hours;
  const bill = bills(p);
  const size = (amount: bigint) => (amount < 0n ? -amount : amount);
  const upfront = p.offers.some((o) => units(o.paid) > 0n);
  const curve = p.curves.find((c) => c.offer === at.value) ?? [...p.curves].sort((a, b) => b.bought - a.bought)[0];
  return (
    <>
      <section class="card" aria-label="Answer">
        <div class="figures">
          <Fact name={bill && bill.fall < 0n ? "The VM bill rises by" : "The VM bill falls by"} value={bill ? headline(perMonth(size(bill.fall), hoursAhead), p.currency) : "–"} more={bill ? `a month, ${share(Math.abs(bill.share))}; ${headline(size(bill.fall), p.currency)} in all, from ${headline(bill.today, p.currency)} to ${headline(bill.bought, p.currency)}` : "today has no plan"} />
          <Fact name="Commits to" value={bought ? headline(units(p.obligation), p.currency) : "–"} more={bought && units(p.obligation) === 0n ? "VMs of it are paid for while they are used" : "over the whole terms, used or not"} />
          <Fact name="Value refused" value={headline(perMonth(units(p.recommended.cost.penalties), hoursAhead), p.currency)} more={`a month, on no bill${p.penalties_avoided ? `; without the purchase ${headline(perMonth(units(p.today.cost.penalties), hoursAhead), p.currency)}` : ""}`} />
          {bought && units(p.obligation) > 0n && <Fact name="Demand must last until" value={p.demand_needed_until ? monthName(p.demand_needed_until) : "–"} more={p.demand_needed_until ? "its end, for the bills to fall by all that is owed" : "the bills do not fall by all that is owed"} />}
          {bought && upfront && <Fact name="Upfront comes back" value={month === null ? "not in this time" : `month ${month}`} more={p.bill_break_even_month ? monthName(p.bill_break_even_month) : "by the bill alone"} />}
          <Fact name="Coverage" value={share(p.coverage)} more="of all VM-hours are on contracts" />
          <Fact name="Utilisation" value={share(p.utilisation)} more="of the VM-hours bought are used" />
        </div>
        {(p.assumptions.length > 0 || p.demand_ends.length > 0) && (
          <>
            <Otherwise p={p} />
            <Apart p={p} />
          </>
        )}
        <details>
          <summary>The answer with what it rests on</summary>
          <p>{p.explanation}</p>
        </details>
        {p.warnings.map((w) => (
          <p key={w.code + w.detail} class="small muted">
            {warned(w, p.horizon.total, p.forecast_until)}
          </p>
        ))}
      </section>
      {curve && (
        <section class="card" aria-label="Other numbers">
          {p.curves.length > 1 && (
            <label class="small">
              Offer{" "}
              <select value={curve.offer} onChange={(e) => (at.value = e.currentTarget.value)}>
                {p.curves.map((c) => (
                  <option key={c.offer} value={c.offer}>
                    {c.offer}
                  </option>
                ))}
              </select>
            </label>
          )}
          <Others curve={curve} currency={p.currency} />
          <Apart p={p} />
        </section>
      )}
      {p.regret.length > 0 && (
        <section class="card" aria-labelledby="regret">
          <h2 id="regret">If demand is otherwise</h2>
          <Regret p={p} />
          <Apart p={p} />
        </section>
      )}
      <section class="card" aria-labelledby="hours">
        <h2 id="hours">The hours it was computed from</h2>
        <p>
          {count(Math.round(p.horizon.total.hours), "hour", "hours")}; {p.horizon.solved === 1 ? "all are alike" : `they are of ${count(p.horizon.solved, "kind", "kinds")}`}.{" "}
          <button class="quiet" aria-expanded={hours.value} onClick={() => (hours.value = !hours.value)}>
            {hours.value ? "Hide them" : "Show them"}
          </button>
        </p>
        {hours.value && <div class="hours"><DataTable caption="Hours" columns={hourColumns(p.currency, p.horizon.periods)} rows={p.horizon.periods} name={(h: PeriodAnswer) => h.start} file={[route.value.cluster, "purchase", "hours"]} /></div>}
      </section>
    </>
  );
}

function Apart({ p }: { p: Purchase }) {
  return p.found && <p class="small muted">{apartSaid(p)}</p>;
}

/** Otherwise is what would be bought, and what the bill would be, if demand goes on or ends otherwise. */
function Otherwise({ p }: { p: Purchase }) {
  const money = (amount: string | null) => (amount === null ? "no plan" : headline(units(amount), p.currency));
  const numbers = (best: number[] | null) => (best === null ? "nothing fits" : best.map((n, i) => ({ n, offer: p.offers[i]?.name ?? "" })).filter((x) => x.n > 0).map((x) => `${x.n} of ${x.offer}`).join(", ") || "nothing");
  const rows = [
    ...p.assumptions.map((a) => ({ what: `After ${date(p.forecast_until)} ${assumptionTexts[a.assume as Assumption]}`, bill: a.recommended_bill, best: a.best, bestBill: a.best_bill, obligation: a.obligation as string | null })),
    ...p.demand_ends.map((e) => ({ what: `Demand ends on ${date(e.ends)}`, bill: e.bill, best: e.best, bestBill: e.best_bill, obligation: e.obligation as string | null })),
  ];
  return (
    <div class="wide" role="group" aria-label="If demand goes on or ends otherwise" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Demand</th>
            <th scope="col" class="number">VM bill with this purchase</th>
            <th scope="col">The best purchase then</th>
            <th scope="col" class="number">Its VM bill</th>
            <th scope="col" class="number">Its obligation</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((r) => (
            <tr key={r.what}>
              <th scope="row">{r.what}</th>
              <td class="number">{money(r.bill)}</td>
              <td>{numbers(r.best)}</td>
              <td class="number">{money(r.bestBill)}</td>
              <td class="number">{r.obligation === null ? "–" : money(r.obligation)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Fact({ name, value, more }: { name: string; value: string; more: string }) {
  return (
    <div>
      <p class="small muted">{name}</p>
      <p class="value">{value}</p>
      <p class="small muted">{more}</p>
    </div>
  );
}

/** Others is what other numbers of an offer come to: the bill by itself, and with refused jobs, which decides. */
function Others({ curve, currency }: { curve: SavingCurve; currency: string }) {
  const cursor = useSignal<Cursor>(null);
  const known = useMemo(() => curve.points.filter((p) => p.saving !== null), [curve]);
  const money = (amount: string | null) => (amount === null ? "no plan" : headline(units(amount), currency));
  const at = cursor.value ? known[cursor.value.point] : undefined;
  const line = known.map((p): Point => [p.vms, Number(p.saving)]);
  const nearest = (x: number | null) => {
    if (x === null || Number.isNaN(x)) return (cursor.value = null);
    let best = 0;
    for (const [i, p] of known.entries()) if (Math.abs(p.vms - x) < Math.abs(known[best]!.vms - x)) best = i;
    if (cursor.value?.point !== best) cursor.value = { series: 0, point: best };
  };
  const columns: Column<SavingCurve["points"][number]>[] = [
    { key: "vms", title: "VMs bought", number: true, value: (p) => p.vms },
    ...(curve.exact
      ? ([
          { key: "bill", title: "VM bill", number: true, value: (p) => p.bill, show: (p) => money(p.bill) },
          { key: "bill_saving", title: "The bill falls by", number: true, value: (p) => p.bill_saving, show: (p) => (p.bill_saving === null ? "–" : money(p.bill_saving)) },
        ] satisfies Column<SavingCurve["points"][number]>[])
      : []),
    { key: "cost", title: "Bill and value refused", number: true, value: (p) => p.cost, show: (p) => money(p.cost) },
    { key: "less", title: "Together less than today", number: true, value: (p) => p.saving, show: (p) => money(p.saving) },
  ];
  const said = (p: SavingCurve["points"][number]) => `${p.vms} bought${p.bill === null ? "" : ` · the VM bill is ${money(p.bill)}`} · bill and value refused together ${money(p.saving!.replace("-", ""))} ${units(p.saving!) < 0n ? "more" : "less"} than today`;
  return (
    <Figure top title={`How much less bill and value refused come to with more or fewer of ${curve.offer}`} said={`A point is a number that was weighed; the line between is drawn, not computed.${curve.exact ? "" : " Parts of VMs and jobs are allowed here, so that the figures only come near those of whole ones."}`} columns={columns} rows={curve.points} name={(p) => String(p.vms)} points={[known.map(said)]} file="numbers" cursor={cursor}>
      {() => (
        <Plot x={number(line.map(([x]) => x), String, { exact: true, whole: true })} y={number([0, ...line.map(([, y]) => y)], short(currency))} height={narrow.value ? 220 : 300} top={28} at={nearest}>
          {(a) => (
            <>
              <Level of={a} y={0} word="" look="" />
              <Line of={a} points={line} look={curve.exact ? "faint" : "dashed"} />
              <Dots of={a} points={line} look="" />
              <Mark of={a} x={curve.bought} word={`buy ${curve.bought}`} look="accent" />
              {at && <Dots of={a} points={[[at.vms, Number(at.saving)]]} look="read" size={7} />}
            </>
          )}
        </Plot>
      )}
    </Figure>
  );
}

/** Regret is what the recommendation comes to where demand is not as expected. */
function Regret({ p }: { p: Purchase }) {
  const shown = [0.7, 1, 1.3].map((f) => p.regret.find((r) => Math.abs(r.factor - f) < 1e-9)).filter((r): r is RegretPoint => r !== undefined);
  const points = shown.length > 0 ? shown : p.regret.slice(0, 3);
  const name = (f: number) => (f === 1 ? "As forecast" : `Demand ${f < 1 ? "−" : "+"}${Math.round(Math.abs(f - 1) * 100)} %`);
  const money = (amount: string | null) => (amount === null ? "no plan" : headline(units(amount), p.currency));
  const change = (was: string | null, is: string | null) => (is === null ? "no plan" : was === null ? "today has no plan" : difference(units(is) - units(was), p.currency));
  const best = (r: RegretPoint) => (r.best === null ? "nothing fits" : r.best.map((n, i) => ({ n, offer: p.offers[i]?.name ?? "" })).filter((x) => x.n > 0).map((x) => `${x.n} ${x.offer}`).join(", ") || "nothing");
  const row = (title: string, cell: (r: RegretPoint) => string) => (
    <tr>
      <th scope="row">{title}</th>
      {points.map((r) => (
        <td key={r.factor} class="number wrap">
          {cell(r)}
        </td>
      ))}
    </tr>
  );
  return (
    <div class="wide" role="group" aria-label="If demand is otherwise" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <td />
            {points.map((r) => (
              <th key={r.factor} scope="col" class="number wrap">
                {name(r.factor)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {row("The VM bill changes by", (r) => change(r.today_bill, r.bill))}
          {row("The VM bill with the best choice there changes by", (r) => change(r.today_bill, r.best_bill))}
          {row("The best choice there", best)}
          {row("Bill and value refused together change by", (r) => change(r.today_cost, r.cost))}
          {row("Together with the best choice there", (r) => change(r.today_cost, r.best_cost))}
          {row("Together more than with the best choice there", (r) => money(r.regret))}
        </tbody>
      </table>
    </div>
  );
}
