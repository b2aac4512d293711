import type { CurrentPlan } from "../api/contract.ts";

interface Part {
  name: string;
  vms: number;
  kind: "reserved" | "idle" | "demand";
}

/** parts are the VMs of a plan as they stand in the bar: contracts, what of them is idle, on demand. */
export function parts(p: CurrentPlan): Part[] {
  const out: Part[] = [];
  for (const c of p.plan.vms.contracts) {
    if (c.used > 0) out.push({ name: c.name, vms: c.used, kind: "reserved" });
    if (c.vms > c.used) out.push({ name: `${c.name}, idle`, vms: c.vms - c.used, kind: "idle" });
  }
  if (p.plan.vms.on_demand > 0) out.push({ name: "on demand", vms: p.plan.vms.on_demand, kind: "demand" });
  if (p.plan.vms.spot) out.push({ name: "spot", vms: p.plan.vms.spot, kind: "demand" });
  return out;
}

/** VMBar shows where the VMs come from, each part as wide as its number. */
export function VMBar({ plan }: { plan: CurrentPlan }) {
  const all = parts(plan);
  const total = all.reduce((n, p) => n + p.vms, 0);
  if (total === 0) return <p class="muted">No VMs are rented.</p>;
  const said = all.map((p) => `${p.vms} ${p.name}`).join(", ");
  return (
    <div class="vmbar" role="img" aria-label={`Where the VMs come from: ${said}.`}>
      {all.map((p) => (
        <div key={p.name} class={p.kind} style={{ flex: `${p.vms} 1 0` }}>
          {p.vms / total >= 0.12 && (
            <>
              <div class="count">{p.vms}</div>
              <div class="of">{p.name}</div>
            </>
          )}
        </div>
      ))}
    </div>
  );
}
