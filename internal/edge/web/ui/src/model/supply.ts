// What a problem's VMs come from, whether they are of one type or of several.
import type { OnDemand, Problem, SupplyContract } from "../api/contract.ts";

/** typesOf are the VM types of a problem; the only one has no name. */
export function typesOf({ supply }: Problem): { on_demand?: OnDemand; contracts?: SupplyContract[] }[] {
  return supply.vm_types?.length ? supply.vm_types : [supply];
}

/** contractsOf are the contracts of all types. */
export const contractsOf = (p: Problem): SupplyContract[] => typesOf(p).flatMap((t) => t.contracts ?? []);
