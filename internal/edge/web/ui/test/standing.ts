// Says where each class of a followed schedule given as JSON stands, as the page does in Berlin; the second argument is now.
// TestStandingOfWaitingClasses builds it and runs it in node.
import { standing, waitingFor } from "../src/model/schedule.ts";
import { hourly } from "../src/model/time.ts";

declare const process: { argv: string[] };
const said = (at: string) => hourly(new Date(at), "Europe/Berlin", new Date(process.argv[3]!));
console.log(JSON.stringify(standing(JSON.parse(process.argv[2]!)).map((s) => `${s.class} ${s.running} ${s.waiting}: ${waitingFor(s, said)}`)));
