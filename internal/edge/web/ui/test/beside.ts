// Says how the page leads with months under a scenario, given as JSON. TestMonthsUnderAScenarioLeadWithBothBills builds it and runs it in node.
import type { Horizon } from "../src/api/contract.ts";
import { monthsSaid } from "../src/model/contracts.ts";

declare const process: { argv: string[] };
console.log(JSON.stringify((JSON.parse(process.argv[2]!) as Horizon[]).map(monthsSaid)));
