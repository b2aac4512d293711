// Now: what the plan is, what it costs, and why.
import { useComputed, useSignal } from "@preact/signals";
import type { ClassPlan, CurrentPlan, Problem, ProblemClass } from "../api/contract.ts";
import { type Spread, TimeBar } from "../charts/timebar.tsx";
import { parts, VMBar } from "../charts/vmbar.tsx";
import { cent, headline, type Period, perPeriod, price, shares, text, units, type Units } from "../model/money.ts";
import { duration } from "../model/time.ts";
import { attention, count, lead, proved, verdict } from "../model/words.ts";
import { Chip } from "../parts/chip.tsx";
import { Segments } from "../parts/segments.tsx";
import { current, trouble } from "../state/cluster.ts";
import { choose, chosen } from "../state/route.ts";

const periods = ["month", "hour", "day"] as const;
const shown: readonly Period[] = ["hour", "day", "month"];
const periodTexts: Record<Period, string> = { hour: "Hour", day: "Day", month: "Month" };
const each: Record<Period, string> = { hour: "an hour", day: "a day", month: "a month" };

export function Now() {
  const seen = current.value;
  if (!seen) return trouble.value?.status === 404 ? <NoPlan /> : <Reading />;
  const { plan, problem } = seen;
  return (
    <>
      <h1>{lead(plan)}</h1>
      <div class="cards">
        <Money plan={plan} />
        <VMs plan={plan} problem={problem} />
        <Facts plan={plan} />
        <Classes plan={plan} problem={problem} />
        <section class="card span-12" aria-labelledby="proof">
          <h2 id="proof">Proof</h2>
          <p>
            {proved(plan)} <a href={`/v1/clusters/${encodeURIComponent(plan.cluster)}/plans/${plan.number}/problem`} download={`${plan.cluster}-plan-${plan.number}.json`}>Check it yourself</a>
          </p>
        </section>
      </div>
    </>
  );
}

function Reading() {
  return (
    <>
      <h1 class="muted">Reading plan …</h1>
      <div class="cards" aria-hidden="true">
        <div class="waiting span-5" style={{ height: "306px" }} />
        <div class="waiting span-7" style={{ height: "306px" }} />
        <div class="waiting span-12" style={{ height: "400px" }} />
      </div>
    </>
  );
}

function NoPlan() {
  return <h1>{trouble.value?.message}</h1>;
}

function Money({ plan }: { plan: CurrentPlan }) {
  const period = chosen<Period>("per", periods);
  const { cost, vms } = plan.plan;
  const per = (amount: string) => perPeriod(amount, cost.period_s, period);
  const used = (plan.plan.vms.contracts ?? []).reduce((n, c) => n + c.used, 0);
  const idle = vms.reserved - used;
  const bill: { patch: string; name: string; amount: Units }[] = [
    { patch: "reserved", name: `Reserved, ${count(used, "VM", "VMs")}`, amount: per(cost.reserved) - per(cost.reserved_idle) },
  ];
  if (idle > 0 || units(cost.reserved_idle) > 0n) bill.push({ patch: "idle", name: `Reserved but idle, ${count(idle, "VM", "VMs")}`, amount: per(cost.reserved_idle) });
  bill.push({ patch: "demand", name: `On demand, ${count(vms.on_demand, "VM", "VMs")}`, amount: per(cost.on_demand) });
  if (cost.spot && units(cost.spot) > 0n) bill.push({ patch: "demand", name: `Spot, ${count(vms.spot ?? 0, "VM", "VMs")}`, amount: per(cost.spot) });
  const parts = shares([...bill.map((b) => b.amount), per(cost.penalties)], cent);
  const refused = parts[parts.length - 1]!;
  const sum = parts.slice(0, -1).reduce((a, b) => a + b, 0n);
  const money = (u: Units) => text(u, cost.currency, 2);
  return (
    <section class="card span-5" aria-labelledby="money">
      <header>
        <h2 id="money">Money</h2>
        <Segments label="Costs for each" name="per" words={shown} texts={periodTexts} value={period} choose={(w) => choose("per", w === "month" ? null : w)} />
      </header>
      <p>
        <span class="big">{headline(sum, cost.currency)}</span> <span class="unit">{each[period]} on VMs</span>
      </p>
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
          <dt>VM bill</dt>
          <dd>{money(sum)}</dd>
        </div>
        <div>
          <dt>
            <span class="patch refused" />
            Cost of refused jobs (on no bill)
          </dt>
          <dd>{money(refused)}</dd>
        </div>
        <div class="total">
          <dt>What the plan keeps lowest</dt>
          <dd>{money(sum + refused)}</dd>
        </div>
      </dl>
      <p class="small muted">{period === "month" ? "A month is 730 hours at this hour's rate." : period === "day" ? "A day is 24 hours at this hour's rate." : "At the prices and contracts of this hour."}</p>
    </section>
  );
}

function VMs({ plan, problem }: { plan: CurrentPlan; problem: Problem }) {
  const table = useSignal(false);
  const { vms } = plan.plan;
  const used = vms.contracts.reduce((n, c) => n + c.used, 0);
  const quota = problem.supply.on_demand?.quota;
  return (
    <section class="card span-7" aria-labelledby="vms">
      <h2 id="vms">VMs</h2>
      <p>
        <span class="big">{vms.total}</span> <span class="unit">of which {vms.reserved} reserved, {vms.on_demand} on demand{vms.spot ? `, ${vms.spot} spot` : ""}</span>
      </p>
      <VMBar plan={plan} />
      <p class="legend">
        <span>
          <span class="patch reserved" />
          Reserved, {used} of {vms.reserved} used
        </span>
        <span>
          <span class="patch demand" />
          On demand, {vms.on_demand}{quota == null ? ", no quota" : ` of a quota of ${quota}`}
        </span>
        <span>
          <span class="patch idle" />
          Reserved but idle: {vms.reserved > used ? vms.reserved - used : "none"}
        </span>
      </p>
      <p>
        <button class="quiet" aria-expanded={table.value} onClick={() => (table.value = !table.value)}>
          {table.value ? "Hide the table" : "Show as table"}
        </button>
      </p>
      {table.value && (
        <table>
          <thead>
            <tr>
              <th scope="col">From</th>
              <th scope="col" class="number">
                VMs
              </th>
            </tr>
          </thead>
          <tbody>
            {parts(plan).map((p) => (
              <tr key={p.name}>
                <td>
                  <bdi>{p.name}</bdi>
                </td>
                <td class="number">{p.vms}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

/** nearest is the class whose decision changes with the smallest change of its cost of refusing. */
function nearest(plan: CurrentPlan, classes: Map<string, ProblemClass>): { name: string; at: string; up: boolean } | null {
  let best: { name: string; at: string; up: boolean } | null = null;
  let least = Infinity;
  for (const c of plan.plan.classes) {
    const now = Number(classes.get(c.name)?.penalty ?? 0);
    const at = c.flips.penalty;
    if (at == null || now <= 0) continue;
    const far = Math.abs(Number(at) / now - 1);
    if (far < least) {
      least = far;
      best = { name: c.name, at, up: Number(at) > now };
    }
  }
  return best;
}

function byName(problem: Problem): Map<string, ProblemClass> {
  return new Map(problem.classes.map((c) => [c.name, c]));
}

function Facts({ plan }: { plan: CurrentPlan }) {
  const { prices, cost } = plan.plan;
  const change = nearest(plan, byName(current.value!.problem));
  const worth = [...(prices?.contracts ?? [])].sort((a, b) => Number(b.worth) - Number(a.worth))[0];
  if (!prices && !change) return null;
  return (
    <section class="card span-12" aria-label="What would change it">
      <div class="facts">
        {prices?.capacity?.high != null && (
          <div>
            <p class="small muted">Price of one more VM</p>
            <p>
              <span class="value">{price(perPeriod(prices.capacity.high, cost.period_s, "hour"), cost.currency)}</span> <span class="muted small">an hour</span>
            </p>
            <p class="small muted">{plan.plan.vms.on_demand > 0 ? "Every further VM is on demand." : "What room for one more is worth."}</p>
          </div>
        )}
        {worth && units(worth.worth) > 0n && (
          <div>
            <p class="small muted">
              One more VM in contract <bdi>{worth.name}</bdi> saves
            </p>
            <p>
              <span class="value">{text(perPeriod(worth.worth, cost.period_s, "month"), cost.currency, 2)}</span> <span class="muted small">a month</span>
            </p>
          </div>
        )}
        {change && (
          <div>
            <p class="small muted">Closest change of mind</p>
            <p>
              <bdi class="value">{change.name}</bdi>{" "}
              <span class="muted small">
                {change.up ? "above" : "below"} {price(perPeriod(change.at, cost.period_s, "hour"), cost.currency)}
              </span>
            </p>
            <p class="small muted">At that cost of refusing, the plan decides otherwise.</p>
          </div>
        )}
      </div>
    </section>
  );
}

const sorts = ["attention", "name", "vms"] as const;
const sortTexts: Record<(typeof sorts)[number], string> = { attention: "needs attention", name: "name", vms: "VMs" };
const most = 100;

function Classes({ plan, problem }: { plan: CurrentPlan; problem: Problem }) {
  const filter = useSignal("");
  const sort = chosen("sort", sorts);
  const rows = useComputed(() => {
    const p = current.value?.plan ?? plan;
    const of = byName(current.value?.problem ?? problem);
    const lost = (c: ClassPlan) => c.refused * Number(of.get(c.name)?.penalty ?? 0);
    const word = filter.value.trim().toLowerCase();
    const by = chosen("sort", sorts);
    return p.plan.classes
      .filter((c) => c.name.toLowerCase().includes(word))
      .map((c) => ({ c, of: of.get(c.name) }))
      .sort((a, b) => {
        if (by === "vms" && a.c.vms !== b.c.vms) return b.c.vms - a.c.vms;
        if (by === "attention" && a.c.verdict !== b.c.verdict) return attention[a.c.verdict] - attention[b.c.verdict];
        if (by === "attention" && lost(a.c) !== lost(b.c)) return lost(b.c) - lost(a.c);
        return a.c.name < b.c.name ? -1 : 1;
      });
  });
  const all = rows.value;
  const first = all.slice(0, most);
  const rounding = plan.plan.vms.total - plan.plan.classes.reduce((n, c) => n + c.vms, 0);
  return (
    <section class="card span-12" aria-labelledby="classes">
      <header>
        <h2 id="classes">Classes</h2>
        <span class="small">
          <label>
            <span class="hidden">Filter by name</span>
            <input type="search" placeholder="Filter" value={filter.value} onInput={(e) => (filter.value = e.currentTarget.value)} />
          </label>{" "}
          <label>
            Sort:{" "}
            <select value={sort} onChange={(e) => choose("sort", e.currentTarget.value === "attention" ? null : e.currentTarget.value)}>
              {sorts.map((s) => (
                <option key={s} value={s}>
                  {sortTexts[s]}
                </option>
              ))}
            </select>
          </label>
        </span>
      </header>
      {all.length > most && (
        <p class="small muted">
          Showing {most} of {count(all.length, "class", "classes")}. Filter to see others.
        </p>
      )}
      <table class="classes" role="table">
        <thead>
          <tr role="row">
            <th scope="col">Class and reason</th>
            <th scope="col">Verdict</th>
            <th scope="col" class="number">
              Jobs
            </th>
            <th scope="col" class="number">
              VMs
            </th>
            <th scope="col" class="number">
              Slots map / reduce
            </th>
            <th scope="col">Time against its deadline</th>
          </tr>
        </thead>
        <tbody>
          {first.map(({ c, of }) => (
            <Row key={c.name} c={c} of={of} />
          ))}
          {rounding >= 0.05 && (
            <tr role="row">
              <td role="cell" class="muted">
                Rounding up to whole VMs
              </td>
              <td role="cell" />
              <td role="cell" />
              <td role="cell" class="number">
                {rounding.toFixed(1)}
              </td>
              <td role="cell" />
              <td role="cell" />
            </tr>
          )}
        </tbody>
      </table>
    </section>
  );
}

/** spread is a class's times, where there are any. */
function spread(c: ClassPlan): Spread | null {
  const t = c.time_s;
  return t && t.lower != null && t.average != null && t.upper != null ? { lower: t.lower, average: t.average, upper: t.upper } : null;
}

function Row({ c, of }: { c: ClassPlan; of: ProblemClass | undefined }) {
  const times = spread(c);
  return (
    <tr role="row">
      <td role="cell" class="who">
        <bdi class="strong">{c.name}</bdi>
        <p class="small muted">{c.reason}</p>
      </td>
      <td role="cell" class="verdict">
        <Chip {...verdict(c, of)} />
      </td>
      <td role="cell" class="number jobs">
        {c.admitted} of {c.admitted + c.refused}<span class="narrow"> jobs</span>
        {c.refused > 0 && <p class="small muted">{c.refused} refused</p>}
      </td>
      <td role="cell" class="number vms">
        {c.vms.toFixed(1)}<span class="narrow"> VMs</span>
      </td>
      <td role="cell" class="number slots">
        {c.admitted > 0 && c.slots ? `${c.slots.map} / ${c.slots.reduce}` : "–"}
      </td>
      <td role="cell" class="time">
        {of?.deadline_s && times ? (
          <>
            <TimeBar times={times} deadline={of.deadline_s} />
            <p class="small muted">
              expected {duration(times.average)} · deadline {duration(of.deadline_s)}
            </p>
          </>
        ) : (
          "–"
        )}
      </td>
    </tr>
  );
}
