// What came of changes, and what stands in their way, in sentences for people.
import type { Finding, Problem, ScenarioAnswer, ScenarioOutcome } from "../api/contract.ts";
import { eachAtRate, headline, type Period, perPeriod, plain, text, units } from "./money.ts";
import { type Edit, keyOf, monthly } from "./scenario.ts";
import { duration } from "./time.ts";
import { count, inText } from "./words.ts";

/** subject is what is changed, as a sentence begins. */
export function subject(edits: Edit[], p: Problem): string {
  const e = edits[0];
  if (!e || edits.length > 1) return `Making these ${edits.length} changes`;
  const c = p.classes.find((x) => x.name === e.name);
  const more = (now: number) => (e.op === "x" ? now * Number(e.value) : Number(e.value));
  const percent = Math.abs(Math.round(Number(e.value) * 1000) / 10 - 100);
  const direction = Number(e.value) >= 1 ? "more" : "fewer";
  const name = inText(e.name);
  switch (e.what) {
    case "deadline":
      return c?.deadline_s ? `Giving ${name} ${duration(more(c.deadline_s))} instead of ${duration(c.deadline_s)}` : "Changing all deadlines";
    case "demand":
      return c ? `Asking for ${count(Math.round(more(c.jobs.max)), "job", "jobs")} of ${name} instead of ${c.jobs.max}` : e.op === "x" ? `Having ${percent} % ${direction} jobs of all classes` : "Changing the jobs of all classes";
    case "promised":
      return c ? `Promising ${count(Math.round(more(c.jobs.min ?? 0)), "job", "jobs")} of ${name} instead of ${c.jobs.min ?? 0}` : "Changing all promises";
    case "penalty":
      return c ? `Raising or lowering the value of a refused job of ${name} to ${money(String(more(Number(c.penalty))), p)}`.replace("Raising or lowering", more(Number(c.penalty)) >= Number(c.penalty) ? "Raising" : "Lowering") : "Changing the values of all refused jobs";
    case "price":
      return `Paying ${e.op === "=" ? money(e.value, p) : `${e.value} times as much`} an hour for a VM ${e.name === "spot" ? "on spot" : "on demand"}`;
    case "contract_price":
      return `Paying ${e.op === "=" ? money(e.value, p) : `${e.value} times as much`} an hour for a VM in ${name}`;
    case "contract":
      return `Having ${count(Math.round(more(p.supply.contracts?.find((k) => k.name === e.name)?.vms ?? 0)), "VM", "VMs")} in ${name}`;
    case "quota":
      return e.value === "none" ? "Having no limit on demand" : `Having at most ${count(Math.round(more(p.supply.on_demand?.quota ?? 0)), "VM", "VMs")} on demand`;
    case "budget":
      return e.value === "none" ? "Having no limit of the VM bill" : `Limiting the VM bill to ${e.op === "=" ? headline(units(e.value), p.currency) : `${e.value} times the limit`} a month`;
    case "bound":
      return e.value === "upper" ? "Planning for bad runs" : `Planning with ${e.value === "lower" ? "optimistic" : e.value === "average" ? "expected" : "calibrated"} times`;
  }
}

function money(amount: string, p: Problem): string {
  return text(units(plain(Number(amount))), p.currency, Number(amount) < 1 ? 3 : 2);
}

/** leadOf is what came of the changes, in a sentence that can be passed on. */
export function leadOf(edits: Edit[], p: Problem, was: ScenarioOutcome, is: ScenarioAnswer, period: Period): string {
  if (edits.length === 0) return "Nothing is changed yet. Move something, and what the plan would do stands here.";
  const what = subject(edits, p);
  if (is.status === "infeasible") return `${what} leaves no plan that keeps every promise.`;
  const per = (amount: string) => perPeriod(amount, is.cost.period_s, period);
  const by = per(is.cost.bill) - per(was.cost.bill);
  const value = per(is.cost.penalties) - per(was.cost.penalties);
  const vms = is.vms.total - was.vms.total;
  const served = is.admitted - was.admitted;
  const effects = [
    vms !== 0 && `${count(Math.abs(vms), "VM", "VMs")} ${vms > 0 ? "more" : "fewer"}`,
    served !== 0 && `${count(Math.abs(served), "job", "jobs")} ${served > 0 ? "more" : "fewer"} served`,
  ].filter(Boolean);
  const besides = effects.length > 0 ? `, with ${effects.join(" and ")}` : "";
  const valued = value === 0n ? "" : ` Refused jobs are valued at ${headline(value < 0n ? -value : value, is.cost.currency)} ${value < 0n ? "less" : "more"}.`;
  if (by === 0n) return effects.length === 0 && value === 0n ? `${what} changes nothing.` : `${what} leaves the VM bill as it is${besides}.${valued}`;
  return `${what} ${by < 0n ? "cuts" : "raises"} the VM bill by ${headline(by < 0n ? -by : by, is.cost.currency)} ${eachAtRate[period]}${besides}.${valued}`;
}

/** Cure is what to type so that a conflict goes away. */
interface Cure {
  text: string;
  edit: Edit;
}

/** changed is a problem's class as the changes have it. */
function changed(p: Problem, edits: Edit[], name: string) {
  const c = p.classes.find((x) => x.name === name);
  const of = (what: Edit["what"], now: number) => {
    for (const e of edits) if (e.what === what && (e.name === name || e.name === "*")) now = e.op === "x" ? now * Number(e.value) : Number(e.value);
    return now;
  };
  const demand = of("demand", c?.jobs.max ?? 0);
  const every = c?.jobs.all && !edits.some((e) => e.what === "promised" && (e.name === name || e.name === "*"));
  return { deadline: of("deadline", c?.deadline_s ?? 0), promised: every ? demand : Math.min(of("promised", c?.jobs.min ?? 0), demand) };
}

/** conflictOf is a conflict in the page's words, with the cures that it names. */
export function conflictOf(f: Finding, p: Problem, edits: Edit[]): { said: string; cures: Cure[] } {
  const cures: Cure[] = [];
  const value = f.hint?.value == null ? null : String(f.hint.value);
  const [, kind, at, ...rest] = f.pointer.split("/");
  const name = kind === "classes" ? (p.classes[Number(at)]?.name ?? "") : "";
  if (value !== null && kind === "classes") {
    if (rest.join("/") === "deadline_s") cures.push({ text: `Use ${duration(Number(value))}`, edit: { what: "deadline", name, op: "=", value } });
    if (rest.join("/") === "jobs/max") cures.push({ text: `Ask for ${count(Number(value), "job", "jobs")}`, edit: { what: "demand", name, op: "=", value } });
    if (rest.join("/") === "jobs/min") cures.push({ text: `Promise ${count(Number(value), "job", "jobs")}`, edit: { what: "promised", name, op: "=", value } });
  }
  if (value !== null && f.pointer === "/supply/on_demand/quota") cures.push({ text: `Use ${count(Number(value), "VM", "VMs")}`, edit: { what: "quota", name: "on_demand", op: "=", value } });
  if (f.pointer === "/budget/vm_cost") {
    const limit = edits.find((e) => keyOf(e) === "budget:vm_month");
    const now = limit?.op === "=" && limit.value !== "none" ? limit.value : p.budget?.vm_cost ? monthly(p.budget.vm_cost, p) : null;
    const least = value === null ? null : monthly(value, p);
    if (least !== null) cures.push({ text: `Use ${headline(units(least), p.currency)}`, edit: { what: "budget", name: "vm_month", op: "=", value: least } });
    if (now !== null)
      return { said: `${headline(units(now), p.currency)} a month is not enough for the jobs promised.${least === null ? "" : ` The smallest bill that is: ${headline(units(least), p.currency)}.`}`, cures };
  }
  if (f.code === "impossible_deadline" && name) {
    const c = changed(p, edits, name);
    const least = /takes ([\d.]+) s/.exec(f.detail)?.[1];
    cures.push({ text: "Promise 0 jobs", edit: { what: "promised", name, op: "=", value: "0" } });
    if (least) return { said: `${inText(name)} promises ${count(c.promised, "job", "jobs")} in ${duration(c.deadline)}, but one job takes at least ${duration(Number(least))}.`, cures };
  }
  return { said: f.detail, cures };
}
