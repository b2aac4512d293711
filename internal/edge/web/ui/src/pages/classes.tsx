// Classes: the list, with a column changed in many of them at once.
import { useSignal } from "@preact/signals";
import { ask } from "../api/client.ts";
import type { Class, ClassPlan } from "../api/contract.ts";
import { at, place } from "../model/pointer.ts";
import { text, units } from "../model/money.ts";
import type { Column } from "../model/table.ts";
import { read, written } from "../model/typed.ts";
import { count, jobless, verdict } from "../model/words.ts";
import { Chip } from "../parts/chip.tsx";
import { Refused, Unless } from "../parts/editor.tsx";
import { ClassExample } from "../parts/examples.tsx";
import { Export } from "../parts/export.tsx";
import { Shown } from "../parts/fetched.tsx";
import { lazy } from "../parts/lazy.tsx";
import { Name } from "../parts/name.tsx";
import { DataTable } from "../parts/table.tsx";
import { addressOfClass, columnsToEdit, deadlineOf, deleteClass, readClasses, what } from "../state/classes.ts";
import { cluster, current } from "../state/cluster.ts";
import { deleting, keep, remove } from "../state/deleting.ts";
import { draftKey, readDraft, useDraft } from "../state/drafts.ts";
import { Editing } from "../state/editing.ts";
import { type Fetched, useFetched } from "../state/fetched.ts";
import { may } from "../state/rights.ts";
import { addressOf, choose, query, route } from "../state/route.ts";

const OneClass = lazy(async () => (await import("./class.tsx")).OneClass);
const Imports = lazy(async () => (await import("./import.tsx")).ImportPage);

export function Classes() {
  const { rest, cluster: of } = route.value;
  if (rest[0] === "import" && rest.length === 1) return <Imports />;
  if (rest[0] || query.value.has("new")) return <OneClass key={`${of}/${rest[0] ?? ""}`} />;
  return <List of={of} />;
}

function List({ of }: { of: string }) {
  const classes = useFetched(() => readClasses(of), of);
  const file = [of, "classes"];
  return (
    <>
      <header class="headed">
        <h1>{lead(classes.value.value)}</h1>
        <span class="actions">
          <Export
            kept={[
              { text: "CSV", href: `/v1/clusters/${encodeURIComponent(of)}/classes?format=csv`, file: `headroom-${of}-classes.csv` },
              { text: "XLSX", href: `/v1/clusters/${encodeURIComponent(of)}/classes?format=xlsx`, file: `headroom-${of}-classes.xlsx` },
              { text: "JSON", href: `/v1/clusters/${encodeURIComponent(of)}/document`, file: `headroom-${of}.json` },
            ]}
          />
        </span>
      </header>
      <Unless of={of} />
      <section class="card" aria-label="Classes">
        <Shown of={classes} what="classes" height={400}>
          {(all) => (all.length === 0 ? <Nothing of={of} classes={classes} /> : <Table of={of} all={all} file={file} classes={classes} />)}
        </Shown>
      </section>
    </>
  );
}

/** lead says what there is and what of it needs attention. */
function lead(all: Class[] | null): string {
  if (!all) return "Classes";
  if (all.length === 0) return "Nothing to plan yet. Add a class and the first plan follows by itself.";
  const plan = current.value?.plan;
  const some = plan?.plan.classes.filter((c) => c.verdict !== "full").length ?? 0;
  const due = new Set(all.filter((c) => c.due_s != null || c.due != null).map((c) => c.name));
  const later = plan?.plan.classes.filter((c) => due.has(c.name) && jobless(c)).length ?? 0;
  const drift = all.filter((c) => c.drift && c.drift.state !== "unchanged").length;
  const is = count(all.length, "class is planned", "classes are planned");
  const refused = !plan ? "" : some === 0 ? ", and all of their jobs are served" : `; of ${count(some, "class", "classes")} not all jobs are served`;
  return `${is}${refused}.${later > 0 ? ` ${count(later, "starts", "start")} later.` : ""}${drift > 0 ? ` ${count(drift, "class takes", "classes take")} another time than it was calibrated with.` : ""}`;
}

function Nothing({ of, classes }: { of: string; classes: Fetched<Class[]> }) {
  return (
    <div class="stack">
      <p class="links">
        <a href={`${addressOf(of, "classes")}?new=1`}>Add a class</a>
        <a href={addressOf(of, "classes", "import")}>Import</a>
      </p>
      <ClassExample of={of} done={() => classes.again()} />
    </div>
  );
}

function Table({ of, all, file, classes }: { of: string; all: Class[]; file: string[]; classes: Fetched<Class[]> }) {
  const picked = useDraft<string[]>("classes to change", []);
  const changing = useSignal(readDraft(draftKey("value of a column")) !== null);
  const failed = useSignal("");
  const planned = new Map<string, ClassPlan>(current.value?.plan.cluster === of ? current.value.plan.plan.classes.map((c) => [c.name, c]) : []);
  const sought = query.value.get("filter") ?? "";
  const word = sought.trim().toLowerCase();
  const rows = word ? all.filter((c) => `${c.name} ${what(c)}`.toLowerCase().includes(word)) : all;
  const currency = cluster.value?.currency ?? "USD";
  const id = (c: Class) => `class ${of}/${c.name}`;
  const drop = (c: Class) => {
    failed.value = "";
    remove(id(c), async () => {
      try {
        await deleteClass(of, c);
      } catch (e) {
        failed.value = `${c.name} was not deleted: ${e instanceof Error ? e.message : String(e)}`;
      }
      classes.again();
    });
  };
  const pick = (names: string[], on: boolean) => {
    const next = new Set(picked.value);
    for (const n of names) on ? next.add(n) : next.delete(n);
    picked.value = [...next];
  };
  const write = may("operator");
  const columns: Column<Class>[] = [
    {
      key: "name",
      title: "Class",
      value: (c) => c.name,
      show: (c) =>
        deleting.value.has(id(c)) ? (
          <span>
            <s>
              <Name of={c.name} />
            </s>{" "}
            Deleted. <button class="quiet" onClick={() => keep(id(c))}>Undo</button>
          </span>
        ) : (
          <a href={addressOfClass(of, c.name)}>
            <Name of={c.name} />
          </a>
        ),
    },
    { key: "what", title: "Described by", value: what },
    { key: "deadline_s", title: "Deadline", number: true, value: (c) => c.deadline_s ?? null, show: deadlineOf },
    { key: "jobs_min", title: "Promised", number: true, inFilesOnly: true, value: (c) => c.jobs.min ?? 0 },
    { key: "jobs_all", title: "All promised", inFilesOnly: true, value: (c) => String(c.jobs.all === true) },
    { key: "jobs_max", title: "Jobs", number: true, value: (c) => c.jobs.max, show: (c) => (c.jobs.all ? `all ${c.jobs.max}` : `${c.jobs.min ?? 0}–${c.jobs.max}`) },
    { key: "penalty", title: "Value refused", number: true, value: (c) => c.penalty, show: (c) => text(units(c.penalty), currency, 2) },
    { key: "vms_per_job", title: "VMs per job", number: true, value: (c) => planned.get(c.name)?.vms_per_job ?? (c.vms_per_job ? Number(c.vms_per_job) : null), show: (c) => planned.get(c.name)?.vms_per_job.toFixed(2) ?? c.vms_per_job ?? "–" },
    {
      key: "verdict",
      title: "Verdict",
      value: (c) => planned.get(c.name)?.verdict ?? null,
      show: (c) => {
        const p = planned.get(c.name);
        return p ? <Chip {...verdict(p, current.value!.problem.classes.find((x) => x.name === c.name), c.due_s != null || c.due != null)} /> : "not planned yet";
      },
    },
  ];
  if (write) {
    if (changing.value)
      columns.unshift({
        key: "pick",
        title: "Pick",
        onScreenOnly: true,
        value: (c) => (picked.value.includes(c.name) ? 1 : 0),
        show: (c) => <input type="checkbox" aria-label={`Pick ${c.name}`} checked={picked.value.includes(c.name)} onChange={(e) => pick([c.name], e.currentTarget.checked)} />,
      });
    columns.push({
      key: "delete",
      title: "",
      onScreenOnly: true,
      value: () => null,
      show: (c) => !deleting.value.has(id(c)) && <button class="quiet" aria-label={`Delete ${c.name}`} onClick={() => drop(c)}>Delete</button>,
    });
  }
  return (
    <div class="stack">
      {failed.value && <p class="banner error" role="alert">{failed.value}</p>}
      {changing.value && write && (
        <Bulk
          of={of}
          all={all}
          names={picked.value}
          pickAll={() => pick(rows.map((c) => c.name), true)}
          pickNone={() => (picked.value = [])}
          done={() => {
            picked.value = [];
            classes.again();
          }}
        />
      )}
      <DataTable caption="Classes" columns={columns} rows={rows} name={(c) => c.name} file={file} sort="name" one="class" many="classes">
        <label>
          <span class="hidden">Filter classes</span>
          <input type="search" placeholder="Filter" value={sought} onInput={(e) => choose("filter", e.currentTarget.value)} />
        </label>
        {write && (
          <>
            <a href={`${addressOf(of, "classes")}?new=1`}>Add a class</a>
            <a href={addressOf(of, "classes", "import")}>Import</a>
            <button aria-expanded={changing.value} onClick={() => (changing.value = !changing.value)}>Change a column</button>
          </>
        )}
        {word && <span class="small muted">Showing {rows.length} of {count(all.length, "class", "classes")}.</span>}
      </DataTable>
    </div>
  );
}

/** Bulk changes one column of the classes that are picked: one PUT of the cluster's document, so that all of
 *  it is done or nothing. */
function Bulk({ of, all, names, pickAll, pickNone, done }: { of: string; all: Class[]; names: string[]; pickAll: () => void; pickNone: () => void; done: () => void }) {
  const column = useDraft("column to change", columnsToEdit[0]!.pointer);
  const typed = useDraft("value of a column", "");
  const editing = useSignal<Editing<{ classes: Class[] }> | null>(null);
  const said = useSignal("");
  const entry = columnsToEdit.find((e) => e.pointer === column.value)!;
  const changed = (c: Class): Class | null | undefined => {
    const v = read(entry.kind, typed.value, at(c, entry.pointer));
    if (v === undefined || v === null) return undefined;
    if (v === at(c, entry.pointer)) return null;
    const copy = structuredClone(c);
    place(copy, entry.pointer, v);
    if (entry.pointer === "/jobs/min") delete copy.jobs.all;
    return copy;
  };
  const picked = all.filter((c) => names.includes(c.name) && (entry.pointer !== "/deadline_s" || c.deadline_s !== undefined));
  const first = picked[0] && changed(picked[0]);
  const unread = typed.value !== "" && picked.length > 0 && first === undefined;
  const save = async () => {
    said.value = "";
    // The document that is written back is the one that was read now; the version that was seen is that of the list.
    const path = { cluster: of };
    const document = (await ask("GET /v1/clusters/{cluster}/document", { path }))!;
    const seen = new Map(picked.map((c) => [c.name, c]));
    const put = async (value: { classes: Class[] }, etag: string) => {
      const answer = await ask("PUT /v1/clusters/{cluster}/document", { path, body: { cluster: document.value.cluster, classes: value.classes }, match: etag });
      return { value, etag: answer!.etag };
    };
    let n = 0;
    const classes = (document.value.classes ?? []).map((c) => {
      const new_ = seen.has(c.name) ? changed(c) : null;
      if (new_) n++;
      return new_ ?? c;
    });
    editing.value = new Editing({ value: { classes }, etag: document.etag }, () => [], put, null);
    if (n === 0) said.value = "Nothing is different.";
    else if (await editing.value.save()) {
      said.value = `${count(n, "class", "classes")} changed.`;
      typed.value = "";
      done();
    }
  };
  return (
    <form
      class="stack sunken"
      aria-label="Change a column"
      onSubmit={(e) => {
        e.preventDefault();
        if (!unread && picked.length > 0) void save();
      }}
    >
      {editing.value && <Refused of={editing.value} name={of} />}
      <p class="tools">
        <label>
          Column{" "}
          <select value={column.value} onChange={(e) => (column.value = e.currentTarget.value)}>
            {columnsToEdit.map((e) => (
              <option key={e.pointer} value={e.pointer}>
                {e.label}
              </option>
            ))}
          </select>
        </label>
        <label>
          New value <input value={typed.value} aria-invalid={unread} placeholder="+10 %, x1.2 or a value" onInput={(e) => (typed.value = e.currentTarget.value)} />
        </label>
        <button type="button" class="quiet" onClick={pickAll}>Pick all shown</button>
        <button type="button" class="quiet" onClick={pickNone}>Pick none</button>
      </p>
      <p class="small muted" role="status">
        {unread
          ? "This cannot be read."
          : picked.length === 0
            ? "Pick the classes to change."
            : `${count(picked.length, "class", "classes")} picked.${first ? ` ${picked[0]!.name}: ${written(entry.kind, at(picked[0], entry.pointer))} becomes ${written(entry.kind, at(first, entry.pointer))}.` : ""}`}{" "}
        {said.value}
      </p>
      <p>
        <button class="main" disabled={unread || picked.length === 0 || typed.value === ""}>
          Change {count(picked.length, "class", "classes")}
        </button>
      </p>
    </form>
  );
}
