// How the inputs of a cluster differ from the problem that a plan answered, and the inputs as they were.
import type { Document, Problem } from "../api/contract.ts";

/** Changed is one figure that differs; null is what is not there. */
export interface Changed {
  of: "class" | "contract" | "on demand" | "budget" | "cluster";
  name: string;
  field: string;
  was: string | null;
  is: string | null;
}

type Figures = Record<string, unknown>;

/** flat is a value's figures by the path to them. */
function flat(value: unknown, path = "", into: Figures = {}): Figures {
  if (value !== null && typeof value === "object") for (const [k, v] of Object.entries(value)) flat(v, path ? `${path}.${k}` : k, into);
  else if (value !== undefined && path !== "name") into[path] = value;
  return into;
}

function differing(of: Changed["of"], name: string, was: unknown, is: unknown, whole: boolean): Changed[] {
  if (whole) return [{ of, name, field: "", was: was ? "there" : null, is: is ? "there" : null }];
  const a = flat(was);
  const b = flat(is);
  const text = (v: unknown) => (v === undefined || v === null ? null : String(v));
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((k) => text(a[k]) !== text(b[k])).map((field) => ({ of, name, field, was: text(a[field]), is: text(b[field]) }));
}

/** changesOf lists them; what came or went is one line. */
export function changesOf(was: Problem, is: Problem): Changed[] {
  const named = <T extends { name: string }>(of: Changed["of"], a: T[] = [], b: T[] = []) => {
    const x = new Map(a.map((v) => [v.name, v]));
    const y = new Map(b.map((v) => [v.name, v]));
    return [...new Set([...x.keys(), ...y.keys()])].flatMap((n) => differing(of, n, x.get(n), y.get(n), !x.has(n) || !y.has(n)));
  };
  return [
    ...named("class", was.classes, is.classes),
    ...named("contract", was.supply.contracts, is.supply.contracts),
    ...differing("on demand", "", was.supply.on_demand, is.supply.on_demand, false),
    ...differing("budget", "", was.budget, is.budget, false),
    ...differing("cluster", "", { ...was.options, near: undefined }, { ...is.options, near: undefined }, false),
  ];
}

const ofClass = ["deadline_s", "penalty", "jobs.min", "jobs.max", "jobs.all", "vms_per_job"];
const ofContract = ["price", "vms", "billing"];

/** undone is a cluster's document with the figures as they were, and the changes that it cannot hold. */
export function undone(document: Document, changes: Changed[]): { body: Document; left: Changed[] } {
  const body = structuredClone(document);
  const left: Changed[] = [];
  const put = (into: Figures, path: string, text: string | null) => {
    const steps = path.split(".");
    const last = steps.pop()!;
    let at = into;
    for (const s of steps) at = (at[s] ??= {}) as Figures;
    if (text === null) delete at[last];
    else if (path === "jobs.all") at[last] = text === "true";
    else at[last] = typeof at[last] === "number" || last.endsWith("_s") || last === "vms" || steps[0] === "jobs" ? Number(text) : text;
  };
  for (const c of changes) {
    const rows = (c.of === "class" ? body.classes : c.of === "contract" ? body.contracts : undefined) as (Figures & { name: string })[] | undefined;
    const row = rows?.find((r) => r.name === c.name);
    if (row && rows && c.field === "" && c.was === null) rows.splice(rows.indexOf(row), 1);
    else if (row && (c.of === "class" ? ofClass : ofContract).includes(c.field)) put(row, c.field, c.was);
    else if (c.of === "budget") put((body.cluster.budget ??= {}) as Figures, c.field, c.was);
    else left.push(c);
  }
  return { body, left };
}
