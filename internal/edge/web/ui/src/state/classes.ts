// The classes of the open cluster, and what is done with them.
import { ask, get, list } from "../api/client.ts";
import type { Class, Profile, SlotsOnVM } from "../api/contract.ts";
import { step } from "../model/pointer.ts";
import { duration } from "../model/time.ts";
import { addressOf } from "./route.ts";
import type { Entry } from "./editing.ts";

/** addressOfClass is a class's page; one called like the page for imports stands one step deeper. */
export function addressOfClass(cluster: string, name: string): string {
  return addressOf(cluster, "classes", name, ...(name === "import" ? ["class"] : []));
}

export const readClasses = (cluster: string) => list("GET /v1/clusters/{cluster}/classes", { cluster }, { limit: 1000 });

export const deleteClass = (cluster: string, c: Class) => ask("DELETE /v1/clusters/{cluster}/classes/{name}", { path: { cluster, name: c.name }, match: `"${c.version}"`, keepalive: true });

/** what says what a class's jobs are described by. */
export function what(c: Class): string {
  if (c.profile) return `${c.profile.name} ${c.profile.version}`;
  return c.demand ? "demand" : "VMs per job";
}

export const columnsToEdit: Entry[] = [
  { pointer: "/deadline_s", kind: "duration", label: "Deadline", required: true },
  { pointer: "/jobs/max", kind: "count", label: "Jobs at once, at most", required: true },
  { pointer: "/jobs/min", kind: "count", label: "Promised jobs", required: true },
  { pointer: "/jobs/all", kind: "flag", label: "Promised are", words: [{ word: "false", text: "so many jobs" }, { word: "true", text: "all jobs that arrive" }], hint: "Where all are, the number of promised jobs says nothing." },
  { pointer: "/penalty", kind: "money", label: "Value of a refused job", required: true },
];

const figures: [key: string, label: string, kind: "count" | "duration"][] = [
  ["map_tasks", "Map tasks", "count"],
  ["reduce_tasks", "Reduce tasks", "count"],
  ["map_avg_s", "Average map task", "duration"],
  ["map_max_s", "Longest map task", "duration"],
  ["first_shuffle_avg_s", "Average first shuffle", "duration"],
  ["first_shuffle_max_s", "Longest first shuffle", "duration"],
  ["shuffle_avg_s", "Average shuffle", "duration"],
  ["shuffle_max_s", "Longest shuffle", "duration"],
  ["reduce_avg_s", "Average reduce task", "duration"],
  ["reduce_max_s", "Longest reduce task", "duration"],
  ["overhead_s", "Start-up of a job", "duration"],
];

/** Edited is a class with the figures of its profile beside it. */
export interface Edited {
  class: Class;
  figures: Profile["profile"] | null;
}

/** entriesOf are a class's fields, by the groups that they stand in. */
export function entriesOf(e: Edited): { look: Entry[]; promise: Entry[]; money: Entry[] } {
  const c = e.class;
  const look: Entry[] = [];
  if (e.figures?.stages)
    e.figures.stages.forEach((s, i) => {
      const name = s.name || `Stage ${i + 1}`;
      look.push(
        { pointer: `/figures/stages/${i}/tasks`, kind: "count", label: `${name}: tasks`, required: true },
        { pointer: `/figures/stages/${i}/avg_s`, kind: "duration", label: `${name}: average`, required: true },
        { pointer: `/figures/stages/${i}/max_s`, kind: "duration", label: `${name}: longest`, required: true },
      );
    });
  else if (e.figures) for (const [key, label, kind] of figures) look.push({ pointer: `/figures/${key}`, kind, label });
  if (c.demand)
    look.push(
      { pointer: "/class/demand/map_work_s", kind: "duration", label: "Work in map slots", required: true },
      { pointer: "/class/demand/reduce_work_s", kind: "duration", label: "Work in reduce slots", required: true },
      { pointer: "/class/demand/fixed_s", kind: "duration", label: "Fastest possible time", required: true },
    );
  if (c.vms_per_job !== undefined) look.push({ pointer: "/class/vms_per_job", kind: "money", label: "VMs per job", required: true });
  for (const [type, slots] of slotsOf(c)) {
    const of = type ? ` on ${type}` : "";
    const at = type ? `/class/slots_per_vm/${step(type)}` : "/class/slots_per_vm";
    if (slots) look.push({ pointer: `${at}/map`, kind: "count", label: `Map slots of a VM${of}`, required: true }, { pointer: `${at}/reduce`, kind: "count", label: `Reduce slots of a VM${of}`, required: true });
  }
  for (const type of Object.keys(c.speed ?? {})) look.push({ pointer: `/class/speed/${step(type)}`, kind: "number", label: `Speed on ${type}`, hint: "2 is half the time, 0 not at all.", required: true });
  const promise = columnsToEdit.filter((f) => f.kind !== "money" && (f.pointer !== "/deadline_s" || c.vms_per_job === undefined)).map((f) => ({ ...f, pointer: `/class${f.pointer}` }));
  if (c.profile || e.figures) promise.push({ pointer: "/class/target", kind: "number", label: "Target", hint: "The part of the runs that is to end in time, such as 0.99. Empty: the deadline holds at the bound." });
  if (c.deadline_s) promise.push({ pointer: "/class/due_s", kind: "duration", label: "Ended after its arrival within", hint: "For runs that may wait: schedules and plans start them in the cheapest hours. Empty: a run starts as it arrives." }, { pointer: "/class/due", kind: "text", label: "Ended by a time of day", hint: "Instead of the time above, such as 06:00 on the cluster's clocks: the first one that leaves a run its deadline." });
  const money = columnsToEdit.filter((f) => f.kind === "money").map((f) => ({ ...f, pointer: `/class${f.pointer}` }));
  return { look, promise, money };
}

/** slotsOf are the slots of a VM, by type where they differ. */
export function slotsOf(c: Class): [type: string, slots: SlotsOnVM | undefined][] {
  const s = c.slots_per_vm;
  if (!s) return [];
  return typeof s["map"] === "number" ? [["", s as unknown as SlotsOnVM]] : Object.entries(s as Record<string, SlotsOnVM>);
}

/** readClass is a class with the figures of the version of its profile. */
export async function readClass(cluster: string, name: string) {
  const answer = (await ask("GET /v1/clusters/{cluster}/classes/{name}", { path: { cluster, name } }))!;
  const ref = answer.value.profile;
  const profile = ref ? await get("GET /v1/clusters/{cluster}/profiles/{name}/versions/{version}", { cluster, name: ref.name, version: ref.version! }) : null;
  return { value: { class: answer.value, figures: profile?.profile ?? null }, etag: answer.etag };
}

const empty = { first_shuffle_avg_s: 0, first_shuffle_max_s: 0, shuffle_avg_s: 0, shuffle_max_s: 0, reduce_avg_s: 0, reduce_max_s: 0 };

/** fresh is a class to begin with. */
export const fresh = (): Edited => ({
  class: { name: "", deadline_s: 900, jobs: { min: 0, max: 5 }, penalty: "1", slots_per_vm: { map: 2, reduce: 2 } },
  figures: { map_tasks: 200, reduce_tasks: 0, map_avg_s: 20, map_max_s: 45, overhead_s: 10, ...empty },
});

/** neat leaves out what a job without reduce tasks does not have. */
export function neat(p: Profile["profile"]): Profile["profile"] {
  if (p.stages || p.reduce_tasks) return p;
  const { map_tasks, map_avg_s, map_max_s, overhead_s } = p;
  return { map_tasks: map_tasks ?? 0, reduce_tasks: 0, map_avg_s: map_avg_s ?? 0, map_max_s: map_max_s ?? 0, overhead_s: overhead_s ?? 0 };
}

/** saveClass sends a class. Figures that differ become the next version of its profile first: versions never
 *  change, and one that nobody uses does no harm. */
export async function saveClass(cluster: string, e: Edited, before: Edited, etag: string, as: string) {
  const c = structuredClone(e.class);
  if (!c.target) {
    delete c.confidence;
    delete c.promise;
  }
  if (e.figures && (etag === "" || JSON.stringify(e.figures) !== JSON.stringify(before.figures))) {
    const body = { name: as, note: "typed in", profile: neat(e.figures) };
    const known = (await list("GET /v1/clusters/{cluster}/profiles", { cluster }, { limit: 1000 })).some((p) => p.name === as);
    const made = known
      ? await ask("POST /v1/clusters/{cluster}/profiles/{name}/versions", { path: { cluster, name: as }, body })
      : await ask("POST /v1/clusters/{cluster}/profiles", { path: { cluster }, body });
    c.profile = { name: as, version: made!.value.version! };
  }
  const path = { cluster, name: c.name };
  const answer = etag === "" ? await ask("POST /v1/clusters/{cluster}/classes", { path: { cluster }, body: c }) : await ask("PUT /v1/clusters/{cluster}/classes/{name}", { path, body: c, match: etag });
  return { value: { class: answer!.value, figures: e.figures }, etag: answer!.etag };
}

export const deadlineOf = (c: Class) => (c.deadline_s ? duration(c.deadline_s) : "–");
