// Says what is left of the month at moments given as JSON, and what the rest then rests on. TestMonthsHaveALastHour builds it and runs it in
// node.
import { basis, inLastHour, leftOf } from "../src/model/month.ts";

declare const process: { argv: string[] };
const said = (at: string) => {
  const { begins, ends } = leftOf(Date.parse(at));
  const ahead = begins >= ends ? inLastHour(5n) : { ...inLastHour(5n), unforeseen: "all" as const };
  return `${(ends - begins) / 3_600_000} hours: ${basis(ahead, String)}`;
};
console.log(JSON.stringify((JSON.parse(process.argv[2]!) as string[]).map(said)));
