// A pool of different machines: which run now, what is to be rented and given back, and what each round costs.
import { useEffect } from "preact/hooks";
import { get } from "../api/client.ts";
import type { CurrentPoolPlan, PoolMix, PoolStep, PoolTarget, ScheduledRound } from "../api/contract.ts";
import { headline, text, units } from "../model/money.ts";
import type { Column } from "../model/table.ts";
import { clock } from "../model/time.ts";
import { count, saidOf } from "../model/words.ts";
import { Shown } from "../parts/fetched.tsx";
import { DataTable } from "../parts/table.tsx";
import { now } from "../state/clock.ts";
import { cluster } from "../state/cluster.ts";
import { useFetched } from "../state/fetched.ts";
import { route } from "../state/route.ts";

const said = (at: string) => clock(new Date(at), cluster.value?.time_zone ?? "UTC", new Date(now.value));
const minute = 60_000;

export function Pool() {
  const name = route.value.cluster;
  const of = useFetched(() => get("GET /v1/clusters/{cluster}/pool/plans/current", { cluster: name }), name);
  useEffect(() => {
    const timer = setInterval(() => of.again(), minute); // what is shown stays meanwhile
    return () => clearInterval(timer);
  }, [of]);
  const none = of.problem.value?.status === 404;
  return (
    <>
      <h1>{none ? "No pool is planned" : of.value.value ? lead(of.value.value) : "Pool"}</h1>
      {none ? <None why={saidOf(of.problem.value!)} /> : <Shown of={of} what="the pool's plan">{(p) => <Plan p={p} />}</Shown>}
    </>
  );
}

/** lead says which machines should run now, and what the plan's rounds cost, those decided before among them. */
function lead(p: CurrentPoolPlan): string {
  const run = running(p, now.value);
  const machines = run.length > 0 ? run.map((t) => `${t.count} ${t.type}`).join(", ") : "no machine";
  const cost = p.plan.rounds.reduce((sum, r) => sum + units(r.plan.cost), 0n);
  return `Now ${machines}; ${count(p.plan.rounds.length, "round", "rounds")} until ${said(p.plan.until)} cost ${headline(cost, p.plan.currency)}`;
}

/** running lists the machines that should run at a moment. */
function running(p: CurrentPoolPlan, at: number): PoolTarget[] {
  const last = new Map<string, PoolTarget>();
  for (const t of [...p.plan.targets].sort((x, y) => x.at.localeCompare(y.at))) {
    if (Date.parse(t.at) <= at) last.set(`${t.type} ${t.as}`, t);
  }
  return [...last.values()].filter((t) => t.count > 0);
}

function None({ why }: { why: string }) {
  return (
    <>
      {!why.includes("has no pool") && <p>{why}</p>}
      <p>
        A pool is planned round by round from the machines that may be rented, the jobs that are submitted and the data that must be kept. <a href="/docs/how-to/pools">How to set one up</a>
      </p>
    </>
  );
}

const machinesOf = (m: PoolMix) =>
  [...(m.core ?? []).map((c) => `${c.count} ${c.type} for the round`), ...(m.accelerators ?? []).map((a) => `${a.count} ${a.type} for ${count(a.hours ?? 0, "hour", "hours")}`)].join(", ") || "none";

function Plan({ p }: { p: CurrentPoolPlan }) {
  const { currency } = p.plan;
  const steps = p.plan.steps.filter((s) => Date.parse(s.at) > now.value);
  const rounds: Column<ScheduledRound>[] = [
    { key: "from", title: "From", value: (r) => r.from, show: (r) => said(r.from) },
    { key: "machines", title: "Machines", value: (r) => machinesOf(r.plan.mix) },
    { key: "core_cost", title: "Core", number: true, value: (r) => r.plan.core_cost, show: (r) => text(units(r.plan.core_cost), currency, 2) },
    { key: "accelerator_cost", title: "Accelerators", number: true, value: (r) => r.plan.accelerator_cost, show: (r) => text(units(r.plan.accelerator_cost), currency, 2) },
    { key: "cost", title: "Cost", number: true, value: (r) => r.plan.cost, show: (r) => text(units(r.plan.cost), currency, 2) },
    { key: "data_gb", title: "Data at its end, GB", number: true, value: (r) => Math.round(r.data_gb) },
    { key: "late", title: "Jobs late", number: true, value: (r) => r.plan.jobs.filter((j) => j.late).length },
  ];
  return (
    <>
      {p.freshness.stale && <p>Take this plan with care: a newer one is due, or the database is away.</p>}
      {p.plan.warnings.map((w) => (
        <p key={w.code + w.detail} class="small muted">
          {w.detail}
        </p>
      ))}
      <section class="card" aria-labelledby="steps">
        <h2 id="steps">What to rent and to give back</h2>
        {steps.length > 0 ? <DataTable caption="What to rent and to give back" columns={stepColumns} rows={steps} name={(s) => `${s.at} ${s.type} ${s.as}`} file={[route.value.cluster, "pool-steps"]} onPage={20} /> : <p>Nothing changes until the plan ends.</p>}
      </section>
      <section class="card" aria-labelledby="rounds">
        <h2 id="rounds">Rounds</h2>
        <DataTable caption="Rounds" columns={rounds} rows={p.plan.rounds} name={(r) => r.from} file={[route.value.cluster, "pool-rounds"]} />
      </section>
    </>
  );
}

const stepColumns: Column<PoolStep>[] = [
  { key: "at", title: "At", value: (s) => s.at, show: (s) => said(s.at) },
  { key: "machines", title: "Machines", number: true, value: (s) => s.count, show: (s) => (s.count > 0 ? `+${s.count}` : `−${-s.count}`) },
  { key: "type", title: "Type", value: (s) => s.type },
  { key: "as", title: "As", value: (s) => s.as },
  { key: "why", title: "Why", value: (s) => s.why },
];
