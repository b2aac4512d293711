// Documents of clusters to begin with: one class typed in, or a problem as headroom solve takes it.
import type { Class, Document, Price, Problem, Profile, VMTypeSupply } from "../api/contract.ts";

export const firstType = "vm";
export const firstPrice = "0.20";

/** hour is the beginning of the current one, from which prices hold. */
const hour = (now: number) => new Date(Math.floor(now / 3_600_000) * 3_600_000);

/** plain is a cluster with one VM type and its price, which plans need. */
export function plain(name: string, now: number): Document {
  return {
    cluster: { name },
    vm_types: [{ name: firstType, in_use: true }],
    prices: [{ vm_type: firstType, price: firstPrice, from: hour(now).toISOString(), until: null }],
  };
}

/** rentedBy is a cluster that rents a VM type, and plans its classes by what their runs took. */
export function rentedBy(name: string, type: string, price: string, now: number): Document {
  return {
    cluster: { name, options: { bound: "calibrated" } },
    vm_types: [{ name: type, in_use: true }],
    prices: [{ vm_type: type, price, from: hour(now).toISOString(), until: null }],
  };
}

/** documentOf is a cluster whose plan answers a problem. What the problem says of one moment holds from this hour
 *  on; its contracts run for a year. */
export function documentOf(p: Problem, name: string, now: number): Document {
  const from = hour(now);
  const until = new Date(from);
  until.setUTCFullYear(until.getUTCFullYear() + 1);
  const { on_demand, spot, contracts } = p.supply;
  const types: VMTypeSupply[] = p.supply.vm_types ?? [{ name: firstType, on_demand: on_demand ?? { price: "0", quota: 0 }, ...(spot ? { spot } : {}), ...(contracts ? { contracts } : {}) }];
  const prices = types.flatMap((t): Price[] => [
    { vm_type: t.name, price: String(t.on_demand.price), from: from.toISOString(), until: null },
    ...(t.spot ? [{ vm_type: t.name, purchase: "spot" as const, price: String(t.spot.price), from: from.toISOString(), until: null }] : []),
  ]);
  const classes: Class[] = [];
  const profiles: Profile[] = [];
  for (const { profile, ...c } of p.classes) {
    if (profile) profiles.push({ name: c.name, version: 1, note: "of a problem that was pasted", profile });
    classes.push(profile ? { ...c, profile: { name: c.name, version: 1 } } : c);
  }
  const { near: _, ...options } = p.options ?? {};
  return {
    cluster: { name, currency: p.currency, ...(p.period_s ? { period_s: p.period_s } : {}), options, ...(p.budget ? { budget: p.budget } : {}) },
    vm_types: types.map((t) => ({ name: t.name, in_use: true, quota: t.on_demand.quota ?? null, ...(t.spot ? { spot: { max_share: t.spot.max_share } } : {}) })),
    prices,
    contracts: types.flatMap((t) => (t.contracts ?? []).map((c) => ({ ...c, vm_type: t.name, from: from.toISOString(), until: until.toISOString() }))),
    profiles,
    classes,
  };
}

/** free is the first of some names that no cluster has. */
export function free(taken: string[], wish: string): string {
  for (let n = 1; ; n++) {
    const name = n === 1 ? wish : `${wish}-${n}`;
    if (!taken.includes(name)) return name;
  }
}
