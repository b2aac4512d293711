// Members of problems and of a cluster's document as people call them, and their values as people write them.
import { headline, perPeriod, price, units } from "./money.ts";
import { written } from "./typed.ts";

const said: Record<string, string> = {
  classes: "Class", penalty: "value of a refused job", deadline_s: "deadline", jobs: "jobs at once", min: "promised", max: "at most", vms_per_job: "VMs per job", supply: "VMs",
  on_demand: "on demand", contracts: "contract", vm_types: "VM type", spot: "spot", max_share: "largest share", price: "price of a VM-hour", quota: "quota", vms: "VMs", budget: "limit of the VM bill", vm_cost: "of VMs", profile: "profile",
  slots_per_vm: "slots of a VM", map: "map", reduce: "reduce", options: "settings", bound: "which time is counted on", demand: "work",
};

const word = (member: string) => said[member] ?? member;

/** memberSaid is a pointer in words, step by step. Names of things stand at the second place of lists. */
export function memberSaid(pointer: string): string[] {
  const steps = pointer.slice(1).split("/");
  return steps.map((p, i) => (i > 0 && ["classes", "contracts", "vm_types"].includes(steps[i - 1]!) ? p : word(p)).replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** valueSaid is the value at a pointer; amounts of a budget are of a period. */
export function valueSaid(pointer: string, v: unknown, { currency, period_s }: { currency: string; period_s: number }): string {
  const member = pointer.slice(pointer.lastIndexOf("/") + 1);
  if (member === "budget" || member === "vm_cost") {
    const limit = typeof v === "object" ? (v as { vm_cost?: string | null } | null)?.vm_cost : v;
    return limit == null ? "no limit" : `${headline(perPeriod(String(limit), period_s, "month"), currency)} a month`;
  }
  if (v === null || v === undefined) return member === "quota" ? "no limit" : "–";
  if (typeof v === "object") return Object.entries(v).map(([k, x]) => `${word(k)} ${typeof x === "object" ? JSON.stringify(x) : x}`).join(", ");
  if (member.endsWith("_s")) return written("duration", v);
  return member === "penalty" || member === "price" ? price(units(String(v)), currency) : String(v);
}
