// Property test of the scenarios that addresses hold: what is written is read again, and no address, however broken,
// makes the page throw. TestScenarioAddresses builds it and runs it in node, with a seed and a number of rounds.
import { letters, longestName, type Pin, readPins, writePins } from "../src/model/pins.ts";
import { axisOf, change, type Edit, editOf, inOrder, isThere, keyOf, knobs, longestText, read, valueText, type What, write } from "../src/model/scenario.ts";
import { axisOfVary, edit, numbers, parameterOf, placeOf, vary } from "../src/model/sweep.ts";
import { subject } from "../src/model/tried.ts";
import type { Problem } from "../src/api/contract.ts";

declare const process: { argv: string[] };
const [seed, rounds] = process.argv.slice(2).map(Number) as [number, number];

// mulberry32: the same seed gives the same addresses.
let state = seed >>> 0;
function random(): number {
  state = (state + 0x6d2b79f5) >>> 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}
const below = (n: number): number => Math.floor(random() * n);
const pick = <T>(of: readonly T[]): T => of[below(of.length)]!;

function same(what: string, got: unknown, want: unknown): void {
  const [a, b] = [JSON.stringify(got), JSON.stringify(want)];
  if (a !== b) throw new Error(`${what}\n got ${a}\nwant ${b}`);
}

const signs = [..."aZ09 :;=x%&?#+,./\\*\"'<>\u202e\u05d0\u0301\n\t\u{1f319}\u{10ffff}é"];
const name = (most: number): string => Array.from({ length: 1 + below(most) }, () => pick(signs)).join("");

function value(what: What): { op: "=" | "x"; value: string } {
  if (what === "bound") return { op: "=", value: pick(["lower", "average", "upper", "calibrated"]) };
  if ((what === "quota" || what === "budget") && below(4) === 0) return { op: "=", value: "none" };
  return { op: pick(["=", "x"] as const), value: valueText(pick([0, random(), below(1e6), 10 ** (below(24) - 9) * random()])) };
}

const whats: What[] = ["deadline", "demand", "promised", "penalty", "price", "contract_price", "quota", "contract", "budget", "bound"];
function someEdits(): Edit[] {
  const all = new Map<string, Edit>();
  for (let n = below(8); n > 0; n--) {
    const what = pick(whats);
    const e = { what, name: name(20), ...value(what) };
    all.set(keyOf(e), e);
  }
  return [...all.values()];
}

function somePins(): Pin[] {
  return letters.filter(() => below(2) === 0).map((letter) => ({ letter, name: [...name(longestName)].slice(0, longestName).join(""), edits: someEdits() }));
}

const problem = (edits: Edit[]): Problem => ({
  period_s: pick([1, 3600, 86400]),
  supply: { on_demand: { price: "0.1", quota: null }, contracts: edits.filter((e) => e.what.startsWith("contract")).map((e) => ({ name: e.name, vms: 1, price: "0.1" })) },
  classes: edits.map((e) => ({ name: e.name, vms_per_job: "1", jobs: { min: 0, max: 1 }, penalty: "1" })),
}) as unknown as Problem;

function broken(text: string): string {
  const all = [...text];
  for (let n = 1 + below(6); n > 0; n--) {
    const at = below(all.length + 1);
    switch (below(4)) {
      case 0: all.splice(at, 1 + below(4)); break;
      case 1: all.splice(at, 0, pick([...signs, "%", "%E0%A4%A", "%00", "ch=", "pin=A:", "1e9", "-1", "NaN", "__proto__", "constructor"])); break;
      case 2: all.splice(at, 0, ...all.slice(below(all.length), below(all.length))); break;
      default: all.length = at;
    }
  }
  return all.join("");
}

// What the page does with an address: whatever it is, it reads what it can, keeps the rest for a sentence, and asks
// the service for numbers alone.
function understood(search: string): { edits: Edit[]; pins: Pin[]; unread: number } {
  const keys = new URLSearchParams(search);
  const { edits, unread } = read(keys.getAll("ch"));
  const { pins, unread: others } = readPins(keys.getAll("pin"));
  const p = problem(edits);
  for (const e of [edits, ...pins.map((x) => x.edits)].flat()) {
    isThere(e, p);
    const asked = change(e, p);
    if (asked.factor !== undefined && !Number.isFinite(asked.factor)) throw new Error(`${JSON.stringify(e)} asks for the factor ${asked.factor}`);
    editOf(asked, p);
    subject([e], p);
  }
  same("what was read is written and read as something else", read(write(edits)), { edits, unread: [] });
  same("pins that were read are written and read as something else", readPins(writePins(pins)), { pins, unread: [] });
  return { edits, pins, unread: unread.length + others.length };
}

// What a curve asks for, and what of a point of it is tried, is read as well.
const unplanned = { flips: new Map(), vms: 1, onDemand: 1, bill: 1 };
const axes = (p: Problem) => knobs(p, unplanned).flatMap((k) => parameterOf(k) ?? []);
for (let n = 0; n < rounds / 10; n++) {
  const p = problem([{ what: "contract", name: "c", op: "=", value: "1" }]);
  const [of, from, to] = [pick(axes(p)), 10 ** (below(16) - 8) * random(), 10 ** (below(16) - 8)];
  numbers(vary({ of, from, to, n: 2 + below(9) }, p.period_s!));
  same(`a point at ${from} of ${of.key}`, read(write([edit(of, from)])).unread, []);
  const at = Number(from.toPrecision(6));
  if (Math.abs(placeOf(of, edit(of, at))! / at - 1) > 1e-3 && at > 1e-3) throw new Error(`${of.key} at ${at} is found at ${placeOf(of, edit(of, at))}`);
}

// Every knob but those that are on or off can be an axis, of a name of its own, which what is asked for leads back to.
{
  const p = problem([{ what: "contract", name: "c", op: "=", value: "1" }, { what: "deadline", name: "d:x", op: "=", value: "1" }, { what: "deadline", name: "on_demand", op: "=", value: "1" }]);
  for (const c of p.classes) c.deadline_s = 60;
  p.supply.spot = { price: "0.05" } as NonNullable<Problem["supply"]["spot"]>;
  const all = knobs(p, unplanned).filter((k) => k.kind !== "switch").map(axisOf);
  if (all.length < 20 || new Set(all).size !== all.length || all.includes(null)) throw new Error(`the axes of all knobs are ${all.join()}`);
  for (const of of axes(p)) same(`the axis of what ${of.key} asks for`, axisOfVary(vary({ of, from: 1, to: 2, n: 2 }, 3600)), of.key);
}

// Knobs stand in the order of how soon the plan changes its mind.
{
  const p = problem([{ what: "contract", name: "c", op: "=", value: "1" }]);
  const order = knobs(p, { ...unplanned, flips: new Map([["price:on_demand", 0.12], ["penalty:c", 0.95]]) }).map(keyOf);
  same("the first knobs", order.slice(0, 2), ["penalty:c", "price:on_demand"]);
}

let refused = 0;
for (let n = 0; n < rounds; n++) {
  const edits = someEdits();
  const pins = somePins();
  const keys = new URLSearchParams();
  for (const text of write(edits)) keys.append("ch", text);
  for (const text of writePins(pins)) keys.append("pin", text);
  const search = keys.toString();
  same(`round ${n} of ?${search}`, understood(search), { edits, pins, unread: 0 });
  same("the order of changes adds or drops some", new Set(write(inOrder(edits))).size, edits.length);
  try {
    refused += understood(broken(pick([search, decodeURIComponent(search)]))).unread > 0 ? 1 : 0;
  } catch (e) {
    throw new Error(`round ${n}, mutated: ${String(e)}`);
  }
}
if (refused < rounds / 20) throw new Error(`of ${rounds} broken addresses only ${refused} were partly unread: they are hardly broken`);

// One change of five thousand characters is told as unread, be it rubbish or a name that long.
for (const text of ["x".repeat(5000), `deadline:${"n".repeat(5000)}:=1`, `deadline:a:=${"1".repeat(5000)}`, "%".repeat(5000), `${":".repeat(5000)}`]) same(`${text.slice(0, 20)}…`, read([text]), { edits: [], unread: [text] });
same("a change as long as may be", read([`deadline:${"n".repeat(longestText - 12)}:=1`]).unread, []);
console.log(`${rounds} addresses, ${refused} of them broken so that a part was unread`);
