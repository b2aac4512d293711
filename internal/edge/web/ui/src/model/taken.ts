// The changes that are tried, taken over: as the document of a cluster, as YAML, and as a command.
import type { Document, Problem } from "../api/contract.ts";
import { decimal, one, scaled, units } from "./money.ts";
import { change, type Edit, inOrder } from "./scenario.ts";

/** taken is a cluster's document with the changes, of the lists that they touch, and what it cannot hold of them. */
export function taken(document: Document, edits: Edit[], p: Problem, now: number): { body: Document; left: string[] } {
  const { cluster, classes = [], contracts = [], prices = [], vm_types: types = [], forecasts = [] } = structuredClone(document);
  const body: Document = { cluster };
  const left: string[] = [];
  const amount = (e: Edit, was: string) => decimal(e.op === "x" ? scaled(units(was), units(e.value), one) : units(e.value));
  const number = (e: Edit, was: number) => (e.op === "x" ? Number((was * Number(e.value)).toPrecision(12)) : Number(e.value));
  const foreseen = new Set(forecasts.filter((f) => Date.parse(f.hour) > now - 3_600_000).map((f) => f.class));
  const used = types.filter((t) => p.supply.vm_types === undefined && t.in_use);
  const sole = used.length === 1 ? used[0]! : undefined;
  for (const e of inOrder(edits)) {
    switch (e.what) {
      case "deadline":
      case "demand":
      case "promised":
      case "penalty":
        for (const c of classes.filter((c) => e.name === "*" || c.name === e.name)) {
          if (e.what === "deadline" && c.deadline_s !== undefined) c.deadline_s = number(e, c.deadline_s);
          if (e.what === "penalty") c.penalty = amount(e, c.penalty);
          if (e.what === "demand" && foreseen.has(c.name)) left.push(`the jobs of ${c.name}, which its forecast tells`);
          else if (e.what === "demand") c.jobs.max = Math.round(number(e, c.jobs.max));
          if (e.what === "promised" && c.jobs.all) left.push(`what is promised of ${c.name}: all jobs are`);
          else if (e.what === "promised") c.jobs.min = Math.min(Math.round(number(e, c.jobs.min ?? 0)), c.jobs.max);
        }
        body.classes = classes;
        break;
      case "contract":
      case "contract_price":
        for (const k of contracts.filter((k) => k.name === e.name)) e.what === "contract" ? (k.vms = Math.round(number(e, k.vms))) : (k.price = amount(e, k.price));
        body.contracts = contracts;
        break;
      case "price": {
        const of = prices.find((x) => x.vm_type === sole?.name && (x.purchase ?? "on_demand") === e.name && Date.parse(x.from) <= now && !(x.until && Date.parse(x.until) <= now));
        if (!of) left.push("the price: there is none of one VM type now");
        else {
          of.price = amount(e, of.price);
          body.prices = prices;
        }
        break;
      }
      case "quota":
        if (!sole) left.push("the VMs on demand: there are several VM types");
        else {
          sole.quota = e.value === "none" ? null : Math.round(number(e, sole.quota ?? 0));
          body.vm_types = types;
        }
        break;
      case "budget":
        cluster.budget = { ...cluster.budget, vm_cost: e.value === "none" ? null : e.op === "x" ? amount(e, cluster.budget?.vm_cost ?? "0") : change(e, p).value! };
        break;
      case "bound":
        cluster.options = { ...cluster.options, bound: change(e, p).bound! };
    }
  }
  return { body, left };
}

const quoted = (text: string) => (/^[\w=.-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/** command asks the same on a command line. How cautiously times are counted has no flag there: then it brings a scenario. */
export function command(cluster: string, edits: Edit[], p: Problem): string {
  const all = inOrder(edits);
  const ask = `headroom whatif --cluster ${quoted(cluster)}`;
  if (all.some((e) => e.what === "bound")) return `echo ${quoted(JSON.stringify({ changes: all.map((e) => change(e, p)) }))} | ${ask} --scenario -`;
  const flags = all.map((e) => {
    const value = e.what === "budget" && e.op === "=" && e.value !== "none" ? change(e, p).value! : (e.op === "x" ? "x" : "") + e.value;
    if (e.what === "quota" || e.what === "budget") return `--${e.what} ${value}`;
    return `--${e.what === "contract_price" ? "price" : e.what} ${quoted(`${e.name}=${value}`)}`;
  });
  return [ask, ...flags].join(" ");
}

const bare = /^[A-Za-z][\w-]*$/;
const reserved = /^(true|false|yes|no|on|off|null|y|n)$/i;

/** yaml is a value as YAML. */
export function yaml(value: unknown, indent = ""): string {
  if (typeof value === "string") return bare.test(value) && !reserved.test(value) ? value : JSON.stringify(value);
  if (value === null || typeof value !== "object") return String(value);
  const within = (v: unknown) => (v !== null && typeof v === "object" && Object.keys(v).length > 0 ? `\n${yaml(v, `${indent}  `)}` : ` ${v !== null && typeof v === "object" ? JSON.stringify(v) : yaml(v)}`);
  if (Array.isArray(value)) return value.map((v) => `${indent}-${within(v).replace(/^\n\s*/, " ")}`).join("\n");
  return Object.entries(value).filter(([, v]) => v !== undefined).map(([k, v]) => `${indent}${yaml(k)}:${within(v)}`).join("\n");
}
