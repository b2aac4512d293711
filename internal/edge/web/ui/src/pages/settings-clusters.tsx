// Clusters: what there is, the settings of one, making one, and deleting one by typing its name.
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { ask, faultsOf, Problem } from "../api/client.ts";
import type { Cluster, Fault } from "../api/contract.ts";
import { duration } from "../model/time.ts";
import { count } from "../model/words.ts";
import { Fields, Refused, Save, Unless } from "../parts/editor.tsx";
import { Export } from "../parts/export.tsx";
import { Shown } from "../parts/fetched.tsx";
import { Mistakes } from "../parts/form.tsx";
import { DataTable } from "../parts/table.tsx";
import { begin, clusters } from "../state/cluster.ts";
import { Editing, type Entry } from "../state/editing.ts";
import { useFetched } from "../state/fetched.ts";
import { may } from "../state/rights.ts";
import { addressOf, choose, query } from "../state/route.ts";

const start: Entry[] = [
  { pointer: "/name", kind: "text", label: "Name", required: true, hint: "Small letters, digits and hyphens; it never changes." },
  { pointer: "/currency", kind: "text", label: "Currency", hint: "Three letters, such as USD." },
  { pointer: "/time_zone", kind: "text", label: "Time zone", hint: "Such as Europe/Rome." },
];
const kept: Entry[] = [
  { pointer: "/description", kind: "text", label: "Description" },
  ...start.slice(1),
  { pointer: "/period_s", kind: "duration", label: "Amounts are for each", hint: "Usually 1 h." },
  { pointer: "/hold_s", kind: "duration", label: "Hold decreases back for" },
  { pointer: "/budget/vm_cost", kind: "money", label: "VM bill of a period, at most", hint: "Empty is no limit." },
  { pointer: "/budget/total", kind: "money", label: "VM bill and refused jobs, at most", hint: "Empty is no limit." },
  {
    pointer: "/options/bound",
    kind: "text",
    label: "Plan with the",
    words: [
      { word: "average", text: "expected time" },
      { word: "lower", text: "optimistic time" },
      { word: "upper", text: "cautious time" },
      { word: "calibrated", text: "time that each class was calibrated with" },
    ],
  },
  {
    pointer: "/options/integrality",
    kind: "text",
    label: "Plans have",
    words: [
      { word: "executable", text: "whole VMs, jobs and slots" },
      { word: "integer", text: "whole VMs and jobs" },
      { word: "relaxed", text: "parts of VMs and jobs" },
    ],
  },
  {
    pointer: "/options/sharing",
    kind: "text",
    label: "VMs of two classes",
    words: [
      { word: "shared", text: "may be the same" },
      { word: "dedicated", text: "are never the same" },
    ],
  },
  {
    pointer: "/options/engine",
    kind: "text",
    label: "Second opinion of CBC",
    words: [
      { word: "cbc", text: "always" },
      { word: "auto", text: "where the exact method proved nothing" },
      { word: "exact", text: "never" },
    ],
  },
  { pointer: "/options/max_solve_ms", kind: "count", label: "A solve may take", unit: "ms" },
];

const defaults = { bound: "average", integrality: "executable", sharing: "shared", engine: "cbc", max_solve_ms: 2000 } as const;

export function ClustersPart() {
  const all = clusters.value;
  const opened = query.value.get("cluster");
  return (
    <>
      <header class="headed">
        <h1>{all ? `${count(all.length, "cluster", "clusters")}.` : "Clusters"}</h1>
        <span class="actions">
          <Export kept={[{ text: "CSV", href: "/v1/clusters?format=csv", file: "headroom-clusters.csv" }, { text: "XLSX", href: "/v1/clusters?format=xlsx", file: "headroom-clusters.xlsx" }, { text: "JSON", href: "/v1/clusters", file: "headroom-clusters.json" }]} />
        </span>
      </header>
      <Unless />
      <section class="card" aria-label="Clusters">
        <DataTable
          caption="Clusters"
          rows={all ?? []}
          name={(c) => c.name}
          file={["clusters"]}
          sort="name"
          filter
          one="cluster"
          many="clusters"
          columns={[
            { key: "name", title: "Cluster", value: (c) => c.name, show: (c) => <a href={addressOf(c.name, "plan")}>{c.name}</a> },
            { key: "description", title: "Description", value: (c) => c.description ?? "" },
            { key: "currency", title: "Currency", value: (c) => c.currency ?? null },
            { key: "time_zone", title: "Time zone", value: (c) => c.time_zone ?? null },
            { key: "period_s", title: "Period", value: (c) => c.period_s ?? null, show: (c) => duration(c.period_s ?? 3600), number: true },
            {
              key: "go",
              title: "",
              onScreenOnly: true,
              value: () => null,
              show: (c) => (
                <span class="links">
                  <button class="quiet" aria-label={`Settings of ${c.name}`} onClick={() => choose("cluster", c.name)}>Settings</button>
                  <a href={`/settings/prices?cluster=${encodeURIComponent(c.name)}`}>Prices</a>
                  <a href={addressOf(c.name, "contracts")}>Commitments</a>
                </span>
              ),
            },
          ]}
        />
      </section>
      {opened && all?.some((c) => c.name === opened) && <One key={opened} name={opened} />}
      {may("operator") && <Make />}
    </>
  );
}

function One({ name }: { name: string }) {
  const read = async () => {
    const a = (await ask("GET /v1/clusters/{cluster}", { path: { cluster: name } }))!;
    return { ...a, value: { ...a.value, options: { ...defaults, ...a.value.options } } };
  };
  const of = useFetched(read, name);
  return (
    <section class="card" aria-labelledby="one">
      <h2 id="one">
        Settings of <bdi>{name}</bdi>
      </h2>
      <Shown of={of} what="cluster">
        {(opened) => <Form opened={opened} read={read} />}
      </Shown>
    </section>
  );
}

function Form({ opened, read }: { opened: { value: Cluster; etag: string }; read: () => Promise<{ value: Cluster; etag: string }> }) {
  const name = opened.value.name;
  const editing = useMemo(() => {
    const send = async (body: Cluster, etag: string) => {
      const answer = await ask("PUT /v1/clusters/{cluster}", { path: { cluster: name }, body, match: etag });
      void begin();
      return answer;
    };
    return new Editing<Cluster>(opened, () => kept, send, read, `settings of ${name}`);
  }, [opened]);
  return (
    <>
      <form
        class="stack"
        noValidate
        onSubmit={(e) => {
          e.preventDefault();
          void editing.save();
        }}
      >
        <Refused of={editing} name={name} />
        <fieldset class="stack" disabled={!may("operator")}>
          <Fields of={editing} entries={kept} />
          <Save of={editing} />
        </fieldset>
      </form>
      {may("operator") && <Delete name={name} etag={editing.base.value.etag} />}
    </>
  );
}

function Delete({ name, etag }: { name: string; etag: string }) {
  const typed = useSignal("");
  const faults = useSignal<Fault[]>([]);
  const drop = async () => {
    try {
      await ask("DELETE /v1/clusters/{cluster}", { path: { cluster: name }, match: etag });
      choose("cluster", null);
      await begin();
    } catch (e) {
      if (!(e instanceof Problem)) throw e;
      faults.value = faultsOf(e);
    }
  };
  return (
    <form
      class="stack sunken"
      aria-label="Delete the cluster"
      onSubmit={(e) => {
        e.preventDefault();
        if (typed.value === name) void drop();
      }}
    >
      <Mistakes faults={faults.value} />
      <p>Its classes, prices and contracts go; its plans stay on record. This cannot be undone.</p>
      <p class="tools">
        <label>
          Type <bdi class="strong">{name}</bdi> to delete it <input value={typed.value} autocomplete="off" onInput={(e) => (typed.value = e.currentTarget.value)} />
        </label>
        <button disabled={typed.value !== name}>Delete the cluster</button>
      </p>
    </form>
  );
}

function Make() {
  const made = useSignal("");
  const editing = useMemo(() => {
    const send = async (body: Cluster) => {
      const answer = await ask("POST /v1/clusters", { path: {}, body });
      await begin();
      made.value = answer!.value.name;
      return { value: { name: "", currency: "USD", time_zone: "UTC" }, etag: "" };
    };
    return new Editing<Cluster>({ value: { name: "", currency: "USD", time_zone: "UTC" }, etag: "" }, () => start, send, null, "new cluster");
  }, []);
  return (
    <form
      class="card"
      noValidate
      aria-labelledby="make"
      onSubmit={(e) => {
        e.preventDefault();
        void editing.save();
      }}
    >
      <h2 id="make">Make a cluster</h2>
      <Refused of={editing} name="the cluster" />
      <Fields of={editing} entries={start} />
      <Save of={editing} text="Make the cluster">
        {made.value && <a href={addressOf(made.value, "classes") + "?new=1"}>Add a class to {made.value}</a>}
      </Save>
    </form>
  );
}
