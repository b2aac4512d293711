// Welcome: four ways to the first plan. Each ends on Plan.
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import more from "../../../../cli/server/demo-more.json";
import demo from "../../../../cli/server/demo.json";
import { ask, faultsOf, Problem } from "../api/client.ts";
import type { Document, Fault, MeasurementBatch, Problem as Planned } from "../api/contract.ts";
import { documentOf, firstPrice, firstType, free, plain, rentedBy } from "../model/beginnings.ts";
import { Fields, Refused, Unless } from "../parts/editor.tsx";
import { Field, Mistakes } from "../parts/form.tsx";
import { Importer, type Result } from "../parts/importer.tsx";
import { Proposal } from "../parts/proposal.tsx";
import { type Edited, fresh, neat, saveClass } from "../state/classes.ts";
import { now } from "../state/clock.ts";
import { begin, clusters, trouble } from "../state/cluster.ts";
import { useDraft } from "../state/drafts.ts";
import { Editing, type Entry } from "../state/editing.ts";
import { may } from "../state/rights.ts";
import { addressOf, choose, chosen, go } from "../state/route.ts";

const ways = ["none", "class", "history", "paste"] as const;
const dots = ["Choose a way", "Say what is planned", "See the plan"];

/** make makes a cluster like a document, which must not be there yet. */
const make = (body: Document) => ask("PUT /v1/clusters/{cluster}/document", { path: { cluster: body.cluster.name }, body, unless: "*" });

/** equip gives the demo what its pages show besides: how long its jobs were measured to take, and a forecast, which
 *  has the classes' own numbers of jobs on the first day. */
async function equip(demo: Document) {
  const path = { cluster: demo.cluster.name };
  const hour = 3_600_000;
  const begins = Math.floor(now.value / hour) * hour;
  const text = (hours: number) => new Date(begins + hours * hour).toISOString();
  const weeks = more.weeks as Record<string, string>;
  const forecast = (name: string, from: number, until: number, week: string) => ask("POST /v1/clusters/{cluster}/forecasts/weekly", { path, body: { class: name, from: text(from), until: text(until), week } });
  await Promise.all([
    ask("POST /v1/clusters/{cluster}/measurements", { path, body: { measurements: more.measurements as MeasurementBatch["measurements"] } }),
    ...(demo.classes ?? []).flatMap((c) => [forecast(c.name, 0, 25, `mon-sun 0-24: ${c.jobs.max}`), forecast(c.name, 25, 25 + 13 * 168, weeks[c.name]!)]),
  ]);
}

async function toPlan(name: string) {
  await begin();
  go(addressOf(name, "plan"));
}

export function Welcome() {
  const way = chosen("way", ways);
  return (
    <>
      <h1>How many VMs to rent, which jobs to let in, and what it costs: four ways to a first plan.</h1>
      <ol class="steps dots" aria-label="Where you are">
        {dots.map((t, i) => (
          <li key={t} aria-current={i === (way === "none" ? 0 : 1) ? "step" : undefined}>
            {t}
          </li>
        ))}
      </ol>
      <Unless />
      {!may("operator") ? null : way === "class" ? <TypeClass /> : way === "history" ? <History /> : way === "paste" ? <Paste /> : <Ways />}
      {way !== "none" && (
        <p>
          <button class="quiet" onClick={() => choose("way", null)}>Another way</button>
        </p>
      )}
    </>
  );
}

function Ways() {
  const said = useSignal<Fault[]>([]);
  const busy = useSignal(false);
  const see = async () => {
    const body = demo as unknown as Document;
    busy.value = true;
    try {
      await make(body);
      await equip(body);
    } catch (e) {
      // Who has a cluster of that name opens it.
      if (e instanceof Problem && e.status !== 412) {
        if (e.status === 401) trouble.value = e;
        said.value = faultsOf(e);
        busy.value = false;
        return;
      }
    }
    await toPlan(body.cluster.name);
  };
  const rows: [title: string, text: string, press: () => void][] = [
    ["See a demo", "A small cluster with nightly jobs, dashboards and questions. Change anything; delete it when you know enough.", () => void see()],
    ["Type one class", "Five figures of a job that you know.", () => choose("way", "class")],
    ["Import history", "Logs of past runs, as Hadoop, Spark, Slurm or a table recorded them; classes and a forecast are made of them.", () => choose("way", "history")],
    ["Paste a problem", "The JSON that headroom solve takes.", () => choose("way", "paste")],
  ];
  return (
    <>
      <Mistakes faults={said.value} />
      <div class="beginnings">
        {rows.map(([title, text, press]) => (
          <section key={title} class="card">
            <h2>{title}</h2>
            <p class="muted">{text}</p>
            <p>
              <button class="main" disabled={busy.value} onClick={press}>
                {title}
              </button>
            </p>
          </section>
        ))}
      </div>
    </>
  );
}

/** useTarget is the cluster that gets what is brought: one that is there, or a new one. */
function useTarget() {
  const names = clusters.value?.map((c) => c.name) ?? [];
  const fresh_ = free(names, "first");
  const asked = useSignal("");
  const name = names.includes(asked.value) ? asked.value : fresh_;
  const field = names.length > 0 && (
    <label>
      Into{" "}
      <select value={name} onChange={(e) => (asked.value = e.currentTarget.value)}>
        <option value={fresh_}>a new cluster, {fresh_}</option>
        {names.map((n) => (
          <option key={n} value={n}>
            {n}
          </option>
        ))}
      </select>
    </label>
  );
  return { name, isNew: !names.includes(name), field };
}

const assumed = `A cluster is made with one VM type, ${firstType}, at ${firstPrice} USD an hour and two slots. Change that under Settings, Prices.`;

const five: Entry[] = [
  { pointer: "/figures/map_tasks", kind: "count", label: "Tasks of one job", required: true },
  { pointer: "/figures/map_avg_s", kind: "duration", label: "Average task", required: true },
  { pointer: "/figures/map_max_s", kind: "duration", label: "Longest task", required: true },
  { pointer: "/class/deadline_s", kind: "duration", label: "Deadline", required: true },
  { pointer: "/class/jobs/max", kind: "count", label: "Jobs at once, at most", required: true },
];

function TypeClass() {
  const target = useTarget();
  const to = useSignal(target);
  to.value = target;
  const editing = useMemo(() => {
    const value = fresh();
    value.class.name = "first-class";
    value.class.jobs = { all: true, max: value.class.jobs.max };
    const send = async (e: Edited) => {
      const { name, isNew } = to.peek();
      if (!isNew) await saveClass(name, e, e, "", e.class.name);
      else {
        const { name: of } = e.class;
        await make({ ...plain(name, now.value), profiles: [{ name: of, version: 1, profile: neat(e.figures!) }], classes: [{ ...e.class, profile: { name: of, version: 1 } }] });
      }
      await toPlan(name);
      return null;
    };
    return new Editing<Edited>({ value, etag: "" }, () => [{ pointer: "/class/name", kind: "text", label: "Name", required: true }, ...five], send, null, "one class");
  }, []);
  return (
    <form
      class="card"
      noValidate
      aria-label="One class"
      onSubmit={(e) => {
        e.preventDefault();
        void editing.save();
      }}
    >
      <Refused of={editing} name="the class" />
      <Fields of={editing} entries={five} />
      <p class="tools">
        <label>
          Called <input value={editing.text({ pointer: "/class/name", kind: "text", label: "Name" })} onInput={(e) => editing.put({ pointer: "/class/name", kind: "text", label: "Name" }, e.currentTarget.value)} />
        </label>
        {target.field}
      </p>
      {target.isNew && <p class="small muted">{assumed}</p>}
      <p>
        <button class="main" disabled={editing.saving.value}>
          See the plan
        </button>
      </p>
    </form>
  );
}

const rented: Entry[] = [
  { pointer: "/vm_types/0/name", kind: "text", label: "VM type to rent", hint: "Such as m5.xlarge." },
  { pointer: "/prices/0/price", kind: "money", label: "Price of one an hour, in USD", hint: "On demand, such as 0.192." },
];

function History() {
  const target = useTarget();
  const [type, price] = [useDraft("VM type", ""), useDraft("price", "")];
  const there = useSignal(""); // the cluster that was made here
  const into = useSignal(""); // the cluster that has runs now
  const times = useSignal(0); // that runs were imported
  const faults = useSignal<Fault[]>([]);
  const refused = (e: unknown): Result => {
    if (!(e instanceof Problem)) throw e;
    if (e.status === 401) trouble.value = e;
    faults.value = faultsOf(e);
    return { taken: false, wrong: [], said: "The cluster was not made. Mend what is told above, and import again." };
  };

  /** before makes the cluster, where there is none yet. */
  const before = async () => {
    if (there.value === target.name) return null;
    faults.value = [
      ...(type.value.trim() ? [] : [{ pointer: rented[0]!.pointer, code: "missing", detail: "Say which type of VM you rent." }]),
      ...(price.value.trim() ? [] : [{ pointer: rented[1]!.pointer, code: "missing", detail: "Say what one costs an hour. Without a price nothing can be planned." }]),
    ];
    if (!target.isNew) faults.value = [];
    if (faults.value.length > 0) return { taken: false, wrong: [], said: "Nothing was imported. Mend what is told above, and import again." };
    if (!target.isNew) return null;
    try {
      await make(rentedBy(target.name, type.value.trim(), price.value.trim(), now.value));
      there.value = target.name;
      return null;
    } catch (e) {
      return refused(e);
    }
  };

  /** undo deletes the cluster that was made here, so that none is left behind without a class. */
  const undo = async () => {
    if (there.value === "") return;
    const path = { cluster: there.value };
    there.value = "";
    const version = (await ask("GET /v1/clusters/{cluster}", { path }))!.etag;
    await ask("DELETE /v1/clusters/{cluster}", { path, match: version });
  };
  const { isNew, name } = target;
  return (
    <>
      <section class="card" aria-label="Import">
        <Mistakes faults={faults.value} />
        {target.field && <p>{target.field}</p>}
        {isNew && (
          <div class="fields">
            {rented.map((e, i) => (
              <Field key={e.pointer} pointer={e.pointer} label={e.label} value={[type, price][i]!.value} put={(t) => ([type, price][i]!.value = t)} faults={faults.value} {...(e.hint ? { hint: e.hint } : {})} />
            ))}
          </div>
        )}
        <Importer
          cluster={name}
          only="history"
          before={before}
          done={async (_, taken) => {
            into.value = taken ? name : "";
            times.value++;
            if (!taken) await undo();
          }}
        />
      </section>
      {into.value && (
        <Proposal
          key={times.value}
          cluster={into.value}
          asked
          made={() => {
            type.value = price.value = "";
            void toPlan(into.value);
          }}
          nothing={undo}
        />
      )}
    </>
  );
}

function Paste() {
  const text = useDraft("problem", "");
  const faults = useSignal<Fault[]>([]);
  const busy = useSignal(false);
  const name = free(clusters.value?.map((c) => c.name) ?? [], "pasted");
  const send = async () => {
    faults.value = [];
    let problem: Planned;
    try {
      problem = JSON.parse(text.value) as Planned;
    } catch (e) {
      faults.value = [{ code: "syntax", detail: `This cannot be read as JSON: ${e instanceof Error ? e.message : String(e)}.` }];
      return;
    }
    busy.value = true;
    try {
      await ask("POST /v1/solve", { path: {}, body: problem }); // its mistakes are told as of the problem
      await make(documentOf(problem, name, now.value));
      text.value = "";
      await toPlan(name);
    } catch (e) {
      if (!(e instanceof Problem)) throw e;
      if (e.status === 401) trouble.value = e;
      faults.value = faultsOf(e).map((f) => ({ ...f, detail: f.pointer ? `${f.pointer}: ${f.detail}` : f.detail }));
    } finally {
      busy.value = false;
    }
  };
  return (
    <form
      class="card"
      aria-label="A problem"
      onSubmit={(e) => {
        e.preventDefault();
        void send();
      }}
    >
      <Mistakes faults={faults.value} />
      <div class="field">
        <label for="problem">Problem, as JSON</label>
        <textarea id="problem" class="code" rows={14} spellcheck={false} value={text.value} onInput={(e) => (text.value = e.currentTarget.value)} />
        <p class="small muted">
          It becomes the cluster {name}; its contracts run for a year from this hour. <a href="/docs/reference/problem">What a problem has</a>
        </p>
      </div>
      <p>
        <button class="main" disabled={busy.value || text.value.trim() === ""}>
          See the plan
        </button>
      </p>
    </form>
  );
}
