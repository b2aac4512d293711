// Says what the page says of purchases given as JSON. TestPurchasesLeadWithTheBill builds it and runs it in node.
import type { Purchase } from "../src/api/contract.ts";
import { buy } from "../src/model/contracts.ts";

declare const process: { argv: string[] };
console.log(JSON.stringify((JSON.parse(process.argv[2]!) as Purchase[]).map(buy)));
