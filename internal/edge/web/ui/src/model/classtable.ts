// A table of classes, with the columns in which Headroom writes them.
import type { Class, Fault } from "../api/contract.ts";
import { at, place } from "./pointer.ts";
import type { Row } from "./rows.ts";
import { unguard } from "./table.ts";
import { how, type Kind, read } from "./typed.ts";

const columns: Record<string, { pointer: string; kind: Kind | "json" }> = {
  name: { pointer: "/name", kind: "text" },
  profile: { pointer: "/profile/name", kind: "text" },
  profile_version: { pointer: "/profile/version", kind: "count" },
  map_work_s: { pointer: "/demand/map_work_s", kind: "duration" },
  reduce_work_s: { pointer: "/demand/reduce_work_s", kind: "duration" },
  fixed_s: { pointer: "/demand/fixed_s", kind: "duration" },
  vms_per_job: { pointer: "/vms_per_job", kind: "money" },
  deadline_s: { pointer: "/deadline_s", kind: "duration" },
  slots_map: { pointer: "/slots_per_vm/map", kind: "count" },
  slots_reduce: { pointer: "/slots_per_vm/reduce", kind: "count" },
  jobs_min: { pointer: "/jobs/min", kind: "count" },
  jobs_max: { pointer: "/jobs/max", kind: "count" },
  penalty: { pointer: "/penalty", kind: "money" },
  slots_by_type: { pointer: "/slots_per_vm", kind: "json" },
  speed: { pointer: "/speed", kind: "json" },
  calibration_bound: { pointer: "/calibration/bound", kind: "text" },
  calibration_factor: { pointer: "/calibration/factor", kind: "number" },
  due_s: { pointer: "/due_s", kind: "duration" },
  due: { pointer: "/due", kind: "text" },
  target: { pointer: "/target", kind: "number" },
  jobs_all: { pointer: "/jobs/all", kind: "flag" },
  confidence: { pointer: "/confidence", kind: "number" },
};
const ignored = ["promise_factor", "version", "created_at", "updated_at", "verdict", "what"];

/** Wrong is a mistake in a file: where, what, and what to change. */
export interface Wrong {
  row: string;
  field: string;
  detail: string;
  change: string;
}

export interface Classes {
  classes: Class[];
  /** The line of each. */
  lines: number[];
  wrong: Wrong[];
}

/** classesOf reads a table. A cell that is left out keeps what the class of that name has. */
export function classesOf([head, ...rows]: Row[], before: Class[]): Classes {
  const out: Classes = { classes: [], lines: [], wrong: [] };
  const keys = (head?.cells ?? []).map((c) => c.trim().toLowerCase());
  for (const k of keys) if (!columns[k] && !ignored.includes(k)) out.wrong.push({ row: "1", field: k, detail: "There is no such column.", change: `Leave it out, or name it as one of ${Object.keys(columns).join(", ")}.` });
  const old = new Map(before.map((c) => [c.name, c]));
  const seen = new Map<string, number>();
  for (const { line, cells } of rows) {
    const name = unguard(cells[keys.indexOf("name")] ?? "").trim();
    const was = old.get(name);
    const c = (was ? structuredClone(was) : { name, jobs: { min: 0, max: 1 }, penalty: "0" }) as Class;
    const tell = (field: string, detail: string, change: string) => out.wrong.push({ row: String(line), field, detail, change });
    if (cells.length > keys.length) tell("", `The row has ${cells.length} cells, its head ${keys.length}.`, "Put cells with commas into quotes.");
    const twice = seen.get(name);
    if (!name) tell("name", "The class has no name.", "Type one.");
    else if (twice) tell("name", `${name} stands in line ${twice} already.`, "Leave one of them out.");
    seen.set(name, line);
    keys.forEach((k, i) => {
      const column = columns[k];
      const text = unguard(cells[i] ?? "").trim();
      if (!column || text === "") return;
      if (column.kind === "json") {
        try {
          place(c, column.pointer, JSON.parse(text));
        } catch {
          tell(k, `"${text.slice(0, 60)}" is no JSON.`, 'Write it like {"m5.xlarge": 2}.');
        }
        return;
      }
      const v = read(column.kind, text, at(was, column.pointer));
      if (v === undefined) tell(k, `"${text.slice(0, 60)}" cannot be read.`, how[column.kind]);
      else place(c, column.pointer, v);
    });
    out.classes.push(c);
    out.lines.push(line);
  }
  if (rows.length === 0) out.wrong.push({ row: "2", field: "", detail: "There are no rows below the head.", change: "Add one row for each class." });
  return out;
}

/** wrongOf are the service's mistakes by the lines and columns of the file. */
export function wrongOf(faults: Fault[], lines: number[]): Wrong[] {
  const names = new Map(Object.entries(columns).map(([k, c]) => [c.pointer, k]));
  return faults.map((f) => {
    const m = /^\/classes\/(\d+)(\/.*)?$/.exec(f.pointer ?? "");
    const line = m && lines[Number(m[1])];
    const rest = m?.[2] ?? "";
    return { row: line ? String(line) : "–", field: names.get(rest) ?? (rest || (f.pointer ?? "")).slice(1), detail: f.detail, change: f.hint?.detail ?? "See what the others in this column have." };
  });
}
