// What people find by typing: pages, clusters, classes, plans, and verbs such as "what if price 0.25".
import { parse } from "./fields.ts";
import { type Edit, valueText, type What, write } from "./scenario.ts";

/** Known is what can be found. */
export interface Known {
  /** The open cluster; "" is none. */
  cluster: string;
  clusters: string[];
  classes: string[];
  /** The number of the current plan; 0 is none. */
  plan: number;
  pages: { name: string; title: string; cluster: boolean; place: string | null }[];
  address: (cluster: string, page: string, ...rest: string[]) => string;
}

/** Found leads to an address, does something, or completes what is typed. */
export interface Found {
  title: string;
  kind: "Page" | "Cluster" | "Class" | "Plan" | "Question" | "Setting";
  to?: string;
  theme?: string;
  keys?: boolean;
  /** What stands in the field once it is chosen. */
  type?: string;
}

const most = 12;

/** find gives what fits a text best, the best first. */
export function find(text: string, k: Known): Found[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const first = [...asked(text, k), ...numbered(text, k)];
  const rest = [...all(k)].filter((f) => fits(f, words));
  const titles = new Set(first.map((f) => f.title));
  const rank = (f: Found) => (f.title.toLowerCase().startsWith(words[0] ?? "") ? 0 : 1);
  rest.sort((a, b) => rank(a) - rank(b)); // else in the order of their kinds
  return [...first, ...rest.filter((f) => !titles.has(f.title))].slice(0, most);
}

function fits(f: Found, words: string[]): boolean {
  const title = `${f.title} ${f.kind}`.toLowerCase();
  return words.every((w) => title.includes(w));
}

function* all(k: Known): Generator<Found> {
  if (k.cluster) yield* questions(k);
  for (const p of k.pages) if (p.place !== null && (k.cluster || !p.cluster)) yield { title: p.title === p.place ? p.title : `${p.place}: ${p.title}`, kind: "Page", to: p.cluster ? k.address(k.cluster, p.name) : `/${p.name}` };
  for (const name of k.clusters) if (name !== k.cluster || k.plan === 0) yield { title: name, kind: "Cluster", to: k.address(name, "plan") };
  for (const name of k.classes) yield { title: name, kind: "Class", to: `${k.address(k.cluster, "plan")}?${new URLSearchParams({ class: name })}` };
  if (k.plan > 0) yield { title: `plan ${k.plan}`, kind: "Plan", type: `plan ${k.plan}` };
  for (const [theme, title] of [["light", "Light colours"], ["dark", "Dark colours"], ["system", "System colours"]] as const) yield { title, kind: "Setting", theme };
  yield { title: "Keys: what the keyboard does", kind: "Setting", keys: true };
}

/** about names the cluster of a question where none is open. */
const about = (k: Known): string => (k.plan > 0 ? "" : ` (${k.cluster})`);

/** questions are what people ask of a cluster: of the open one, or of the one that was open last. */
function* questions(k: Known): Generator<Found> {
  const commitments = k.address(k.cluster, "contracts");
  const of = about(k);
  yield { title: `What changed since yesterday, and why?${of}`, kind: "Question", to: k.address(k.cluster, "history", "yesterday") };
  yield { title: `What will next week cost?${of}`, kind: "Question", to: `${commitments}?tab=months&horizon=week` };
  yield { title: `What will the months to come cost?${of}`, kind: "Question", to: `${commitments}?tab=months` };
  yield { title: `Which contracts to buy?${of}`, kind: "Question", to: `${commitments}?tab=buy` };
  yield { title: `Which jobs are refused?${of}`, kind: "Question", to: k.address(k.cluster, "plan") };
  if (k.clusters.length > 1) yield { title: "Which cluster first? Which costs most?", kind: "Question", to: "/overview" };
  for (const v of ["price 0.25", "jobs x1.2", "budget 5000", `deadline of ${k.classes[0] ?? "a class"} 30 min`]) yield { title: `what if ${v}${of}`, kind: "Question", type: `what if ${v}` };
}

const nouns: Record<string, What> = { price: "price", quota: "quota", budget: "budget", jobs: "demand", demand: "demand", deadline: "deadline", promised: "promised", value: "penalty" };

/** asked is a question as What if takes it: what if price 0.25, what if deadline of nightly-etl 30 min. */
function asked(text: string, k: Known): Found[] {
  const m = /^\s*what\s+if\s+(\w+)(?:\s+of\s+(\S+))?\s+(.+?)\s*$/i.exec(text);
  const what = m && nouns[m[1]!.toLowerCase()];
  if (!m || !what || !k.cluster) return [];
  const whole = { price: "on_demand", quota: "on_demand", budget: "vm_month", demand: "*" }[what as string];
  const name = m[2] ?? whole;
  if (!name || (m[2] && (whole === "on_demand" || whole === "vm_month" || (k.plan > 0 && !k.classes.includes(m[2]))))) return [];
  const change = valued(m[3]!, what);
  if (!change || (what === "demand" && name === "*" && change.op === "=")) return []; // all classes share a factor, not a number
  const keys = new URLSearchParams({ ch: write([{ what, name, ...change }])[0]!, ...(k.plan > 0 ? { base: String(k.plan) } : {}) });
  return [{ title: `what if ${m[1]!.toLowerCase()}${m[2] ? ` of ${m[2]}` : ""} ${m[3]}${about(k)}`, kind: "Question", to: `${k.address(k.cluster, "explore")}?${keys}` }];
}

/** valued reads a value, a factor (x1.2) or a change in per cent (+10 %). */
function valued(text: string, what: What): Pick<Edit, "op" | "value"> | null {
  const factor = /^[x×]\s*(\d+(?:\.\d+)?)$/.exec(text);
  if (factor) return { op: "x", value: valueText(Number(factor[1])) };
  const part = /^([+-])\s*(\d+(?:\.\d+)?)\s*%$/.exec(text.replace("−", "-"));
  if (part) return { op: "x", value: valueText(Math.max(0, 1 + (part[1] === "-" ? -1 : 1) * (Number(part[2]) / 100))) };
  const n = parse(what === "deadline" ? "duration" : "money", text, null);
  return n === null || n < 0 ? null : { op: "=", value: valueText(what === "demand" || what === "promised" || what === "quota" ? Math.round(n) : n) };
}

/** numbered is a plan by its number, or two that are compared: plan 12, compare 3 12. */
function numbered(text: string, k: Known): Found[] {
  const one = /^\s*plan\s+(\d+)\s*$/i.exec(text);
  const two = /^\s*compare\s+(\d+)\s+(\d+)\s*$/i.exec(text);
  const there = (n: number) => n >= 1 && n <= k.plan;
  if (one && there(Number(one[1])) && Number(one[1]) > 1) return [{ title: `plan ${Number(one[1])}: what is different since the plan before`, kind: "Plan", to: k.address(k.cluster, "history", `${Number(one[1]) - 1}..${Number(one[1])}`) }];
  if (two && there(Number(two[1])) && there(Number(two[2]))) return [{ title: `compare plan ${Number(two[1])} with plan ${Number(two[2])}`, kind: "Plan", to: k.address(k.cluster, "history", `${Number(two[1])}..${Number(two[2])}`) }];
  return [];
}
