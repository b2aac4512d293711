// Writes moments given as JSON as the page does, in Berlin; the first is now. TestMomentsTellTheYear builds it and runs it in node.
import { clock } from "../src/model/time.ts";

declare const process: { argv: string[] };
const [now, ...moments] = (JSON.parse(process.argv[2]!) as string[]).map((m) => new Date(m));
console.log(JSON.stringify(moments.map((m) => clock(m, "Europe/Berlin", now!))));
