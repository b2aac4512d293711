// Sentences for people. The page says what the plan does; the paper's words stay in the reference.
import type { Problem } from "../api/client.ts";
import type { ClassPlan, CurrentPlan, LastChange, ProblemClass } from "../api/contract.ts";
import { duration } from "./time.ts";

export type Tone = "good" | "warning" | "bad";

export const glyph: Record<Tone, string> = { good: "✓", warning: "▲", bad: "✕" };

/** count writes a number with its word. */
export function count(n: number, one: string, many: string): string {
  return `${new Intl.NumberFormat("en-US").format(n)} ${n === 1 ? one : many}`;
}

/** lead is the sentence that a page on a plan begins with. */
export function lead(p: CurrentPlan): string {
  if (p.status === "infeasible") {
    const why = p.plan.conflicts[0]?.detail ?? "";
    return `No plan can keep every promise. ${why}`.trim();
  }
  const runs = `${count(p.admitted, "job runs", "jobs run")} at once on ${count(p.vms, "VM", "VMs")}.`;
  if (p.refused === 0) return `${runs} No job is refused.`;
  const impossible = p.plan.classes.filter((c) => c.verdict === "impossible").reduce((n, c) => n + c.refused, 0);
  const refused = count(p.refused, "job is refused", "jobs are refused");
  const one = p.refused === 1;
  const why = [dearness(p.plan.classes.filter((c) => c.refused > 0 && c.verdict !== "impossible"), one), impossible > 0 && `${one ? "it" : "they"} cannot be done in time`];
  return `${runs} ${refused} because ${why.filter(Boolean).join(", or because ")}.`;
}

/** dearness is why jobs are refused that could be done in time: one more does not fit, or costs no less than it is valued at. */
function dearness(refused: ClassPlan[], one: boolean): string | false {
  if (refused.length === 0) return false;
  const barred = refused.filter((c) => c.one_more?.fits === false).length;
  const limits = `${one ? "it does" : "they do"} not fit within the limits`;
  const price = `serving ${one ? "it costs no less than it is" : "them costs no less than they are"} valued at`;
  return barred === 0 ? price : barred === refused.length ? limits : `${limits}, or ${price}`;
}

/** proof is what the chip beside every cost says. */
export function proof(p: CurrentPlan): { tone: Tone; text: string } {
  if (p.status === "infeasible") return { tone: "bad", text: "No plan possible" };
  if (p.freshness.stale) return { tone: "warning", text: "Old" };
  if (p.freshness.last_attempt?.failed) return { tone: "warning", text: "Of older inputs" };
  if (p.gap === 0) return { tone: "good", text: "Proved optimal" };
  return { tone: "warning", text: `Within ${percentAtMost(p.gap)}` };
}

/** lower is a label within a sentence. */
export function lower(label: string): string {
  return /^[A-Z][a-z]/.test(label) ? label[0]!.toLowerCase() + label.slice(1) : label;
}

/** percent is a share for people; one that is not all is never 100 %, and one that is something never 0 %. */
export function percent(part: number): string {
  const hair = 1e-9; // of floating point
  const p = part * 100;
  if (p < 100 - hair && p >= 99.5) return `${p < 99.95 ? p.toFixed(1) : "more than 99.9"} %`;
  return `${p >= 10 ? Math.round(p) : p >= 0.05 ? p.toFixed(1) : p > hair ? "less than 0.1" : "0"} %`;
}

/** percentAtMost is a share that nothing exceeds: rounded up. */
export function percentAtMost(part: number): string {
  const p = part * 100;
  const hair = 1e-9; // of floating point
  return `${p >= 10 ? Math.ceil(p - hair) : p >= 0.1 ? (Math.ceil(p * 10 - hair) / 10).toFixed(1) : "0.1"} %`;
}

/** proved is how the plan was proved, in a sentence. */
export function proved(p: CurrentPlan): string {
  const by = p.plan.proof;
  if (!by) return "This plan was not proved.";
  const how = by.gap === 0 ? `No plan is better: proved in ${milliseconds(by.solve_ms)} by our own exact method` : `No plan is better by ${percentAtMost(by.gap)}: that much was proved in ${milliseconds(by.solve_ms)}`;
  const voter = judgedBy(p);
  const other = voter?.agreed === true ? `, and ${voter.engine.toUpperCase()} found the same.` : ".";
  const missing = p.vote?.state === "waiting" ? " CBC has not voted on it yet." : p.vote?.state === "none" ? ` CBC did not vote on it. ${p.vote.detail}` : "";
  return how + other + missing + (by.checked ? " Every limit was checked again in exact decimals." : "");
}

/** judgedBy is the other solver that answered, and whether it found the same: with the plan, or after it was out. */
export function judgedBy(p: CurrentPlan): { engine: string; agreed: boolean | null } | null {
  const v = p.vote;
  return v && (v.state === "same" || v.state === "other") ? { engine: v.engine, agreed: v.state === "same" } : p.plan.proof ?? null;
}

function milliseconds(ms: number): string {
  return ms < 1000 ? `${Math.max(1, Math.round(ms))} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** jobless says that a class has no jobs in this hour. */
export const jobless = (c: ClassPlan): boolean => c.admitted + c.refused === 0;

/** verdict is a class's chip; waits says that its jobs may start in a later hour. */
export function verdict(c: ClassPlan, of: ProblemClass | undefined, waits: boolean): { tone: Tone; text: string } {
  if (jobless(c) && c.verdict === "full") return { tone: "good", text: waits ? "Starts later" : "No jobs now" };
  switch (c.verdict) {
    case "impossible":
      return { tone: "bad", text: of?.deadline_s ? `Cannot meet ${duration(of.deadline_s)}` : "Cannot be done" };
    case "full":
      return { tone: "good", text: "All served" };
    case "minimum":
      return { tone: "warning", text: `Promised ${c.admitted} only` };
    case "partial":
      return { tone: "warning", text: `${c.admitted} of ${c.admitted + c.refused} served` };
    case "none":
      return { tone: "warning", text: "None served" };
  }
}

/** attention orders classes: the worst first. */
export const attention: Record<ClassPlan["verdict"], number> = { impossible: 0, none: 1, minimum: 2, partial: 3, full: 4 };

/** isolated keeps a name's direction of writing to itself, where it stands in a text that is no markup. */
export function isolated(name: string): string {
  return `\u2068${name}\u2069`;
}

/** isolating does so for every name of these that a sentence of the service has in it. */
export function isolating(text: string, names: Iterable<string>): string {
  let out = text;
  for (const n of names) if (/[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(n)) out = out.replaceAll(n, isolated(n));
  return out;
}

/** shortened leaves out the middle of a long name: names often differ at their end. */
export function shortened(name: string, most: number): string {
  const all = [...name];
  if (all.length <= most) return name;
  const end = Math.floor((most - 1) / 3);
  return `${all.slice(0, most - 1 - end).join("")}…${end > 0 ? all.slice(-end).join("") : ""}`;
}

/** brief is a reason where it is short, else its first sentence: what failed may bring a whole stack trace with it. */
export function brief(reason: string): string {
  const most = 200;
  const all = [...reason.trim()];
  if (all.length <= most && !/[\r\n]/.test(reason.trim())) return reason.trim();
  const line = reason.trim().split("\n", 1)[0]!;
  const end = line.indexOf(". ");
  const sentence = [...(end < 0 ? line : line.slice(0, end + 1)).trim()];
  return sentence.length <= most ? sentence.join("") : `${sentence.slice(0, most - 1).join("").trim()}…`;
}

/** about is the word before a price of the relaxation: a plan of whole VMs or slots only comes near it. */
export const about = (p: { options?: { integrality?: string } } | undefined): string => (p?.options?.integrality === "relaxed" ? "" : "about ");

/** inText is a name as it stands within a sentence of ours, where it must not turn the words after it around. */
export function inText(name: string): string {
  return isolating(name, [name]);
}

/** inPageWords is a sentence of the service about past executions, which the page calls runs. */
export function inPageWords(text: string): string {
  return text.replace(/\b([Aa])n execution\b/g, "$1 run").replace(/\bexecution(s?)\b/g, "run$1");
}

/** lastChange is who deleted, or changed meanwhile, what was asked for. */
export function lastChange(p: Problem): LastChange | null {
  return p.details?.last_change ?? null;
}

/** noCluster says that there never was a cluster of that name, or none that this key may see. */
export function noCluster(p: Problem): boolean {
  return p.status === 404 && p.message.startsWith("There is no cluster");
}

/** noPlanYet says that the cluster is there, and has no plan. */
export function noPlanYet(p: Problem): boolean {
  return p.status === 404 && !lastChange(p) && !noCluster(p);
}

/** saidOf is what went wrong with reading. */
export function saidOf(p: Problem): string {
  return p.status === 500 ? `Headroom made a mistake. Quote ${p.details?.instance ?? "the time"} to the operator.` : p.message;
}
