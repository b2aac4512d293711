// Says which month the page takes as the dearest of horizons given as JSON. TestTheDearestMonthIsWhole builds it and runs it in node.
import type { Horizon } from "../src/api/contract.ts";
import { dearestSaid } from "../src/model/contracts.ts";

declare const process: { argv: string[] };
console.log(JSON.stringify((JSON.parse(process.argv[2]!) as Horizon[]).map(dearestSaid)));
