// Plan: what it costs and by how much that changed, the days behind and ahead, and what is decided about each class.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ask, Problem as Trouble } from "../api/client.ts";
import type { CurrentPlan, Problem } from "../api/contract.ts";
import { Figure } from "../charts/figure.tsx";
import { parts, VMBar } from "../charts/vmbar.tsx";
import { difference, type Held, heldAt } from "../model/days.ts";
import { fileName } from "../model/files.ts";
import { cent, eachAtRate, headline, type Period, periodTexts, perPeriod, price, rounded, shares, shownPeriods, text, units, type Units } from "../model/money.ts";
import { basis } from "../model/month.ts";
import { contractsOf, typesOf } from "../model/supply.ts";
import { day, monthOf, sinceInMonth } from "../model/time.ts";
import { count, inText, judgedBy, lead, percent, percentAtMost, proved } from "../model/words.ts";
import { Export } from "../parts/export.tsx";
import { Waiting } from "../parts/fetched.tsx";
import { lazy } from "../parts/lazy.tsx";
import { Unplanned } from "../parts/noplan.tsx";
import { PinLine } from "../parts/pinned.tsx";
import { Segments } from "../parts/segments.tsx";
import { now } from "../state/clock.ts";
import { current, refresh } from "../state/cluster.ts";
import { useDays } from "../state/days.ts";
import { useMonth } from "../state/month.ts";
import { addressOf, choose, chosen } from "../state/route.ts";
import { flipsOf } from "../model/flips.ts";
import { Changes } from "./plan-changes.tsx";
import { Classes } from "./plan-classes.tsx";
import { refusal } from "../state/rights.ts";

const picture = 230; // pixels
const Picture = lazy(async () => (await import("./plan-days.tsx")).Picture, picture);

export function Plan() {
  const seen = current.value;
  if (!seen) return <Unplanned />;
  return <Planned key={seen.plan.cluster} plan={seen.plan} problem={seen.problem} />;
}

const many = 100; // classes, which take long enough to draw that what leads them is shown first

/** usePainted says that the page was painted once; where that need not be waited for, it says so at once. */
function usePainted(wait: boolean): boolean {
  const painted = useSignal(!wait);
  useEffect(() => {
    let timer = 0;
    const frame = requestAnimationFrame(() => (timer = window.setTimeout(() => (painted.value = true))));
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }, []);
  return painted.value;
}

function Planned({ plan, problem }: { plan: CurrentPlan; problem: Problem }) {
  const days = useDays(plan.cluster);
  const period = chosen<Period>("per", shownPeriods);
  const painted = usePainted(plan.plan.classes.length > many);
  return (
    <>
      <div class="headed">
        <h1 class="lead">{lead(plan)}</h1>
        <span class="actions">
          <Segments label="Amounts for each" name="per" words={shownPeriods} texts={periodTexts} value={period} choose={(w) => choose("per", w === "hour" ? null : w)} />
          <Export kept={files(plan)} />
        </span>
      </div>
      <PinLine />
      <div class="cards">
        <Money plan={plan} problem={problem} held={days.value.value?.held ?? null} />
        <section class="card span-7 days" aria-labelledby="days">
          {days.value.value ? (
            <Picture plan={plan} days={days.value.value} />
          ) : (
            <Waiting what="days" height={picture} />
          )}
        </section>
        {painted ? (
          <>
            <Classes plan={plan} problem={problem} />
            <VMs plan={plan} problem={problem} />
            <Facts plan={plan} problem={problem} />
            <Proof plan={plan} />
          </>
        ) : (
          <div class="waiting span-12" style={{ height: "4000px" }} aria-hidden="true" />
        )}
      </div>
    </>
  );
}

/** Changed says by how much the bill differs from that of a day ago, or of the plan before where there was none then, and why
 *  there is another plan. */
function Changed({ plan, held, period }: { plan: CurrentPlan; held: Held[] | null; period: Period }) {
  const old = held && heldAt(held, now.value - day);
  const then = old && old.since > now.value - day ? (held[1] ?? old) : old; // where none is a day old, the one before
  const was = then?.plan;
  const change = was && difference(plan, was, period);
  const than = then && then.since > now.value - day ? `plan ${then.plan.number} before it` : "a day ago";
  return (
    <p class={held ? "small changed" : "small changed coming"}>
      {was && change != null && was.number !== plan.number && (
        <>
          <span class="strong">{change === 0n ? "No change" : `${headline(change < 0n ? -change : change, plan.currency)} ${eachAtRate[period]} ${change < 0n ? "less" : "more"}`}</span> {change === 0n ? "since" : "than"} {than}.{" "}
          <a href={addressOf(plan.cluster, "history", `${was.number}..${plan.number}`)}>What is different</a>{" "}
        </>
      )}
      {was?.number === plan.number && "No other plan in a day. "}
      {plan.why && (
        <span class="muted why" title={plan.why}>
          Why this plan was computed: <bdi>{plan.why}</bdi>
        </span>
      )}
    </p>
  );
}

function files(plan: CurrentPlan) {
  const at = `/v1/clusters/${encodeURIComponent(plan.cluster)}/plans/${plan.number}`;
  const kept = (text: string, kind: string) => ({ text, href: `${at}?format=${kind}`, file: fileName(kind, plan.cluster, "plan", plan.number, "classes") });
  return [kept("CSV", "csv"), kept("XLSX", "xlsx"), kept("JSON", "json")];
}

/** Proof says how sure the figures are, and how anybody can see for themselves. */
function Proof({ plan }: { plan: CurrentPlan }) {
  const details = useSignal(false);
  const said = useSignal("");
  const by = plan.plan.proof;
  const judge = judgedBy(plan);
  const { cost } = plan.plan;
  // The bound is one of the objective, which leaves out what all jobs are valued at.
  const worse = by ? perPeriod(plan.plan.objective, cost.period_s, "month") - perPeriod(by.bound, cost.period_s, "month") : 0n;
  const longer = async () => {
    said.value = "";
    const path = { cluster: plan.cluster };
    try {
      const c = (await ask("GET /v1/clusters/{cluster}", { path }))!;
      const ms = Math.min(60_000, 4 * (c.value.options?.max_solve_ms ?? 2000));
      await ask("PUT /v1/clusters/{cluster}", { path, body: { ...c.value, options: { ...c.value.options, max_solve_ms: ms } }, match: c.etag });
      said.value = `Plans of this cluster may take ${ms / 1000} s from now on.`;
      await refresh(plan.cluster);
    } catch (e) {
      if (!(e instanceof Trouble)) throw e;
      said.value = refusal(e);
    }
  };
  return (
    <section class="card span-12" aria-labelledby="proof">
      <h2 id="proof" tabIndex={-1}>Proof</h2>
      {by && by.gap > 0 && (
        <p>
          No plan's bill and value refused together are lower by more than {headline(worse, cost.currency)} a month, a gap of {percentAtMost(by.gap)}. <button class="quiet" onClick={() => void longer()}>Search longer</button>
        </p>
      )}
      {judge?.agreed === false && (
        <p>
          {judge.engine.toUpperCase()} found another cost; ours is shown and was checked.{" "}
          <button class="quiet" aria-expanded={details.value} onClick={() => (details.value = !details.value)}>Details</button>
        </p>
      )}
      {details.value && by && (
        <p class="small muted">
          No plan brings bill and value refused together below {text(perPeriod(cost.total, cost.period_s, "month") - worse, cost.currency, 2)} a month: that bound was proved by {by.method}, which needs no other solver. {by.checked ? "Every limit of the plan was checked again in exact decimals." : ""}
        </p>
      )}
      <p>
        {proved(plan)} <a href={`/v1/clusters/${encodeURIComponent(plan.cluster)}/plans/${plan.number}/problem`} download={fileName("json", plan.cluster, "plan", plan.number, "problem")}>Check it yourself</a>
      </p>
      {said.value && <p class="small" role="alert">{said.value}</p>}
    </section>
  );
}

/** rate is what the lines of the addition are of. */
const rate: Record<Period, string> = { hour: "of this hour", day: eachAtRate.day, month: eachAtRate.month };

/** idleOf counts VMs that are paid and idle: of contracts that are billed always. */
function idleOf(contracts: CurrentPlan["plan"]["vms"]["contracts"], problem: Problem): number {
  const paid = new Set(contractsOf(problem).filter((c) => c.billing === "always").map((c) => c.name));
  return contracts.reduce((n, c) => n + (paid.has(c.name) ? c.vms - c.used : 0), 0);
}

function Money({ plan, problem, held }: { plan: CurrentPlan; problem: Problem; held: Held[] | null }) {
  const period = chosen<Period>("per", shownPeriods);
  const { cost, vms } = plan.plan;
  const per = (amount: string) => perPeriod(amount, cost.period_s, period);
  const idle = idleOf(vms.contracts, problem);
  const bill: { patch: string; name: string; amount: Units }[] = [{ patch: "reserved", name: `Reserved, ${count(vms.reserved, "VM", "VMs")}`, amount: per(cost.reserved) }];
  if (units(cost.reserved_idle) > 0n) bill.push({ patch: "idle", name: `Reserved but idle, ${count(idle, "VM", "VMs")}`, amount: per(cost.reserved_idle) });
  bill.push({ patch: "demand", name: `On demand, ${count(vms.on_demand, "VM", "VMs")}`, amount: per(cost.on_demand) });
  if (cost.spot && units(cost.spot) > 0n) bill.push({ patch: "demand", name: `Spot, ${count(vms.spot ?? 0, "VM", "VMs")}`, amount: per(cost.spot) });
  const parts = shares(bill.map((b) => b.amount), cent); // their sum is the bill to a cent, whatever is refused
  const refused = rounded(per(cost.penalties), cent);
  const sum = parts.reduce((a, b) => a + b, 0n);
  const money = (u: Units) => text(u, cost.currency, 2);
  return (
    <section class="card span-5 money" aria-labelledby="money">
      <h2 class="hidden" id="money">Money</h2>
      <ThisMonth cluster={plan.cluster} />
      <Changed plan={plan} held={held} period={period} />
      <dl class="sums">
        {bill.map((b, i) => (
          <div key={b.name}>
            <dt>
              <span class={`patch ${b.patch}`} />
              {b.name}
            </dt>
            <dd>{money(parts[i]!)}</dd>
          </div>
        ))}
        <div class="total">
          <dt>VM bill {rate[period]}</dt>
          <dd>{money(sum)}</dd>
        </div>
        <div>
          <dt>
            <span class="patch refused" />
            Value refused (on no bill)
          </dt>
          <dd>{money(refused)}</dd>
        </div>
        <div class="total">
          <dt>Bill and value refused</dt>
          <dd>{money(sum + refused)}</dd>
        </div>
      </dl>
    </section>
  );
}

/** ThisMonth is the month's own bill: what it has come to, and what is to come. */
function ThisMonth({ cluster }: { cluster: string }) {
  const month = useMonth(cluster);
  const m = month.value.value;
  if (!m) return month.asking.value ? <p class="month coming" /> : null;
  const name = monthOf(m.until);
  const money = (u: Units) => headline(u, m.currency);
  const since = sinceInMonth(m.from, m.until);
  return (
    <p class="month">
      <span class="big">{money(m.soFar + (m.ahead?.bill ?? 0n))}</span> <span class="unit">
        {m.ahead ? `VM bill of ${name}${since}` : `VM bill of ${name} so far`}
        <span class="small muted">{m.ahead ? `${money(m.soFar)} so far` : `by the plans in force${since}`}</span>
      </span>
      <span class="small muted rest">
        <a href={`${addressOf(cluster, "contracts")}?tab=months`}>{m.ahead ? `${money(m.ahead.bill)} to come` : "The months to come"}</a> {m.ahead ? basis(m.ahead, money) : "are not known here."}
        {m.ahead?.waits && " Jobs that may wait count there as they arrive."}
        {m.ahead?.upfront && " Upfront payments are not in it."}
      </span>
    </p>
  );
}

function VMs({ plan, problem }: { plan: CurrentPlan; problem: Problem }) {
  const { vms } = plan.plan;
  const bought = vms.contracts.reduce((n, c) => n + c.vms, 0);
  const idle = idleOf(vms.contracts, problem);
  const free = bought - vms.reserved - idle; // billed by use
  const quota = problem.supply.on_demand?.quota ?? null;
  const unlimited = typesOf(problem).every((t) => t.on_demand?.quota == null);
  const all = parts(plan, problem);
  const share = (n: number) => percent(n / all.reduce((sum, p) => sum + p.vms, 0));
  const legend = (
    <p class="legend">
      <span>
        <span class="patch reserved" />
        Reserved, {vms.reserved} of {bought} used
      </span>
      <span>
        <span class="patch demand" />
        On demand, {vms.on_demand}
        {quota !== null ? ` of a quota of ${quota}` : unlimited ? ", no quota" : ""}
      </span>
      <span>
        <span class="patch idle" />
        Reserved but idle: {idle > 0 ? idle : "none"}
      </span>
      {free > 0 && (
        <span>
          <span class="patch none" />
          Reserved and free of charge while idle: {free}
        </span>
      )}
    </p>
  );
  return (
    <section class="card span-12" aria-labelledby="vms">
      <h2 id="vms">VMs</h2>
      <p>
        <span class="big">{vms.total}</span> <span class="unit">of which {vms.reserved} reserved, {vms.on_demand} on demand{vms.spot ? `, ${vms.spot} spot` : ""}</span>
      </p>
      {all.length > 0 && (
        <Figure
          title="Where the VMs come from"
          said={`${all.map((p) => `${p.vms} ${inText(p.name)}`).join(", ")}.`}
          columns={[
            { key: "from", title: "From", value: (p) => p.name },
            { key: "vms", title: "VMs", value: (p) => p.vms, number: true },
          ]}
          rows={all}
          name={(p) => p.name}
          points={[all.map((p) => `${inText(p.name)} · ${count(p.vms, "VM", "VMs")} · ${share(p.vms)}`)]}
          file="vms"
          bare
          legend={legend}
        >
          {(cursor) => <VMBar all={all} most={quota === null ? null : bought + quota} limit={`quota ${quota} on demand`} cursor={cursor} />}
        </Figure>
      )}
    </section>
  );
}

function Facts({ plan, problem }: { plan: CurrentPlan; problem: Problem }) {
  const { prices, cost } = plan.plan;
  const changes = flipsOf(plan.plan, problem);
  const fractions = problem.options?.integrality === "relaxed"; // prices of the relaxation can be far off in whole VMs
  const worth = fractions ? [...(prices?.contracts ?? [])].sort((a, b) => Number(b.worth) - Number(a.worth))[0] : undefined;
  if (!(fractions && prices) && !changes.length) return null;
  const onDemand = problem.supply.on_demand ? price(units(problem.supply.on_demand.price), cost.currency) : null;
  const room = fractions && prices?.capacity?.high != null ? price(perPeriod(prices.capacity.low, cost.period_s, "hour"), cost.currency) : null;
  return (
    <section class="card span-12" aria-labelledby="changes">
      <h2 id="changes">What would change it</h2>
      <div class="facts">
        {room !== null && (
          <div>
            <p class="small muted">One more VM is worth</p>
            <p>
              <span class="value">{room}</span> <span class="muted small">an hour</span>
            </p>
            <p class="small muted">{room === onDemand && prices!.capacity.high === prices!.capacity.low ? "Every further VM is on demand." : `What room for one more is worth${onDemand !== null ? `; on demand it costs ${onDemand}` : ""}.`}</p>
          </div>
        )}
        {worth && units(worth.worth) > 0n && (
          <div>
            <p class="small muted">
              One more VM in contract <bdi>{worth.name}</bdi> is worth
            </p>
            <p>
              <span class="value">{text(perPeriod(worth.worth, cost.period_s, "month"), cost.currency, 2)}</span> <span class="muted small">a month</span>
            </p>
            <p class="small muted">
              See what to buy in <a href={`${addressOf(plan.cluster, "contracts")}?tab=buy`}>Commitments</a>.
            </p>
          </div>
        )}
        {changes.length > 0 && <Changes plan={plan} problem={problem} all={changes} />}
      </div>
    </section>
  );
}
