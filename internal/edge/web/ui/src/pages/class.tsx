// One class: its form, what it comes to alone, its measured runs, and the versions of its profile.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { list } from "../api/client.ts";
import type { Profile } from "../api/contract.ts";
import { leaves } from "../model/pointer.ts";
import { duration } from "../model/time.ts";
import { Fields, Refused, Save, Unless } from "../parts/editor.tsx";
import { Export } from "../parts/export.tsx";
import { Shown } from "../parts/fetched.tsx";
import { lastChange } from "../model/words.ts";
import { Name } from "../parts/name.tsx";
import { lazy } from "../parts/lazy.tsx";
import { DataTable } from "../parts/table.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { alone, type Alone } from "../state/alone.ts";
import { addressOfClass, type Edited, entriesOf, fresh, readClass, saveClass, slotsOf } from "../state/classes.ts";
import { cluster } from "../state/cluster.ts";
import { Editing, type Entry } from "../state/editing.ts";
import { Fetched, useFetched } from "../state/fetched.ts";
import { may } from "../state/rights.ts";
import { addressOf, choose, go, query, route, stay } from "../state/route.ts";
import { type Suggested, suggested } from "../state/suggest.ts";

const words = ["class", "versions"] as const;
const texts = { class: "Class", versions: "Versions" };
const Runs = lazy(async () => (await import("./class-runs.tsx")).MeasuredRuns);

export function OneClass() {
  const { cluster: of, rest } = route.value;
  const name = rest[0] ?? "";
  const read = useFetched(async () => (name ? await readClass(of, name) : { value: fresh(), etag: "" }), of, name);
  if (read.problem.value?.status === 404 && read.value.value === null && !lastChange(read.problem.value))
    return (
      <>
        <h1>
          There is no class <Name of={name} /> in this cluster.
        </h1>
        <p class="links">
          <a href={addressOf(of, "classes")}>All classes</a>
        </p>
      </>
    );
  return (
    <Shown of={read} what="class" height={400}>
      {(opened) => <Opened of={of} name={name} opened={opened} />}
    </Shown>
  );
}

const all = (e: Edited) => {
  const g = entriesOf(e);
  return [...g.look, ...g.promise, ...g.money];
};

function Opened({ of, name, opened }: { of: string; name: string; opened: { value: Edited; etag: string } }) {
  const editing = useMemo(() => {
    const nameEntry = { pointer: "/class/name", kind: "text" as const, label: "Name", required: true };
    const e: Editing<Edited> = new Editing<Edited>(
      opened,
      (v) => (name ? all(v) : [nameEntry, ...all(v)]),
      (v, etag) => saveClass(of, v, e.base.value.value, etag, v.class.profile?.name ?? v.class.name),
      name ? () => readClass(of, name) : null,
      "class",
    );
    return e;
  }, [of, name]);
  // What is read again takes the place of what was opened only where nothing has been typed.
  useEffect(() => {
    if (!editing.dirty && opened.etag !== editing.base.peek().etag) editing.base.value = opened;
  }, [opened]);
  const value = editing.base.value.value;
  const groups = entriesOf(value);
  const c = value.class;
  const live = editing.value();
  const mapOnly = live.value.figures !== null && !live.value.figures.reduce_tasks;
  return (
    <>
      <header class="headed">
        <h1>
          {name ? (
            <>
              <Name of={name} />: <Lead edited={value} />
            </>
          ) : (
            "A new class: what one job looks like, what is promised, and what a refused job is worth."
          )}
        </h1>
        <span class="actions">
          <a href={addressOf(of, "classes")}>All classes</a>
          {name && <Export kept={[{ text: "JSON", href: `/v1/clusters/${encodeURIComponent(of)}/classes/${encodeURIComponent(name)}`, file: `headroom-${of}-class.json` }]} />}
        </span>
      </header>
      <Unless of={of} />
      <Maybe
        tabs={name !== "" && c.profile !== undefined}
        of={of}
        profile={c.profile?.name ?? ""}
        used={c.profile?.version ?? 0}
        use={(p) => {
          // Another version is another value of the form; it is saved with the rest.
          editing.base.value = { ...editing.base.value, value: { class: { ...c, profile: { name: p.name, version: p.version! } }, figures: p.profile } };
          editing.typed.value = {};
          void editing.save();
          choose("tab", null);
        }}
      >
        <div class="halves">
          <form
            class="card"
            noValidate
            aria-label="Class"
            onSubmit={(e) => {
              e.preventDefault();
              const here = stay();
              void editing.save().then((taken) => taken && !name && here() && go(addressOfClass(of, editing.base.value.value.class.name)));
            }}
          >
            <Refused of={editing} name={name || "the class"} />
            <fieldset class="stack" disabled={!may("operator")}>
              {!name && (
                <>
                  <Fields of={editing} entries={[{ pointer: "/class/name", kind: "text", label: "Name" }]} />
                  <Described editing={editing} />
                </>
              )}
              <h2>What one job looks like</h2>
              {c.profile && (
                <p class="small muted">
                  Profile <bdi>{c.profile.name}</bdi>, version {c.profile.version}. Other figures become its next version.
                </p>
              )}
              <Fields of={editing} entries={mapOnly ? groups.look.filter((e) => !/shuffle|\/reduce_(avg|max)/.test(e.pointer)) : groups.look} />
              <h2>Promise</h2>
              <Fields of={editing} entries={groups.promise} />
              <h2>Money</h2>
              <Fields of={editing} entries={groups.money.map((e) => ({ ...e, unit: cluster.value?.currency ?? "", hint: `What you value a refused job at, in ${duration(cluster.value?.period_s ?? 3600)}.` }))} />
              <Suggest of={of} editing={editing} entry={groups.money[0]!} />
              <Save of={editing} text={name ? "Save" : "Add the class"} />
            </fieldset>
          </form>
          <div class="stack">
            <AloneCard edited={live.value} broken={live.faults.length > 0} />
            {name && c.profile && <Runs editing={editing} />}
          </div>
        </div>
      </Maybe>
    </>
  );
}

/** Suggest offers what one more job costs as a price to begin with: by itself where there is none, otherwise on request. */
function Suggest({ of, editing, entry }: { of: string; editing: Editing<Edited>; entry: Entry }) {
  const asked = useMemo(() => new Fetched<{ price: Suggested | null }>(), [of, editing]);
  const { value, faults } = editing.value();
  const broken = faults.some((f) => f.pointer !== entry.pointer);
  const empty = editing.text(entry).trim() === "";
  const rest = JSON.stringify([{ ...value.class, penalty: "" }, value.figures]);
  const look = () => void asked.load(async () => ({ price: await suggested(of, value) }));
  useEffect(() => asked.forget(), [rest]); // it was a price for other jobs
  useEffect(() => {
    if (empty && !broken && may("planner")) look();
  }, [empty, broken, rest]);
  if (!may("planner")) return null;
  const price = asked.value.value?.price;
  if (!asked.value.value || (price && editing.text(entry) === price.value))
    return (
      <p class="small muted">
        {asked.problem.value ? asked.problem.value.message : "What one more job costs is a price to begin with. "}
        <button type="button" class="quiet" disabled={broken} onClick={look}>Suggest a price</button>
      </p>
    );
  if (!price) return <p class="small muted">Nothing says what one more job costs, so no price is suggested.</p>;
  return (
    <p class="small" id="suggested" role="status">
      {price.said}{" "}
      <button
        type="button"
        class="quiet"
        onClick={() => {
          editing.put(entry, price.value);
          document.getElementById("field-class-penalty")?.focus();
        }}
      >
        Take {price.value} over
      </button>
    </p>
  );
}

function Lead({ edited: { class: c } }: { edited: Edited }) {
  const jobs = `${c.jobs.max} ${c.jobs.max === 1 ? "job" : "jobs"} at once at most${c.jobs.all ? ", all promised" : c.jobs.min ? `, ${c.jobs.min} promised` : ""}`;
  return <>{c.deadline_s ? `done within ${duration(c.deadline_s)}, ${jobs}.` : `${jobs}.`}</>;
}

/** Described chooses by what the jobs of a new class are described. */
function Described({ editing }: { editing: Editing<Edited> }) {
  const { class: c, figures } = editing.base.value.value;
  const put = (word: string) => {
    const { demand: _d, vms_per_job: _v, ...rest } = c;
    const begin = fresh();
    const value: Edited =
      word === "profile"
        ? { class: { ...rest, deadline_s: 900, slots_per_vm: { map: 2, reduce: 2 } }, figures: begin.figures }
        : word === "demand"
          ? { class: { ...rest, deadline_s: 900, slots_per_vm: { map: 2, reduce: 2 }, demand: { map_work_s: 4000, reduce_work_s: 0, fixed_s: 60 } }, figures: null }
          : { class: { name: c.name, jobs: c.jobs, penalty: c.penalty, vms_per_job: "1" }, figures: null };
    editing.base.value = { ...editing.base.value, value };
  };
  return (
    <div class="field">
      <label for="described">Described by</label>
      <select id="described" value={figures ? "profile" : c.demand ? "demand" : "vms"} onChange={(e) => put(e.currentTarget.value)}>
        <option value="profile">its tasks</option>
        <option value="demand">work and a fastest possible time</option>
        <option value="vms">VMs per job</option>
      </select>
    </div>
  );
}

/** AloneCard says what the class comes to by itself, as its fields stand; a question is asked when the one
 *  before it has been answered. */
function AloneCard({ edited, broken }: { edited: Edited; broken: boolean }) {
  const shown = useMemo(() => new Fetched<Alone>(), []);
  const key = JSON.stringify([edited.class, edited.figures, cluster.value?.options?.bound]);
  const waiting = useSignal<string | null>(null);
  useEffect(() => {
    if (broken || !may("planner")) return;
    const bound = cluster.value?.options?.bound ?? "average";
    waiting.value = key;
    const next = async () => {
      if (shown.asking.value || waiting.value === null) return;
      const asked = JSON.parse(waiting.value) as [Edited["class"], Edited["figures"]];
      waiting.value = null;
      await shown.load(() => alone({ class: asked[0], figures: asked[1] }, bound));
      void next();
    };
    void next();
  }, [key, broken]);
  const a = shown.value.value;
  return (
    <section class="card" aria-labelledby="alone">
      <h2 id="alone">This class alone</h2>
      {!may("planner") ? (
        <p class="muted">Your key may not ask what a class comes to. Ask an administrator for the role planner.</p>
      ) : shown.problem.value ? (
        <p class="wrong" role="alert">{shown.problem.value.message}</p>
      ) : a ? (
        <>
          {a.vmsPerJob !== null ? (
            <p>
              <span class="big" id="gamma">{a.vmsPerJob.toFixed(a.vmsPerJob < 10 ? 2 : 1)}</span> <span class="unit">VMs per job{a.fastest !== null && `, fastest possible ${duration(a.fastest)}`}</span>
            </p>
          ) : (
            <p class="wrong">No number of VMs is enough: the fastest possible time is {duration(a.fastest ?? 0)}.</p>
          )}
          <p class="small muted">{a.said}</p>
        </>
      ) : (
        <p class="muted">Reading …</p>
      )}
      {slotsOf(edited.class).length > 1 && <p class="small muted">On VMs of the type {slotsOf(edited.class)[0]![0]}.</p>}
    </section>
  );
}

function Maybe({ tabs, children, ...v }: { tabs: boolean; of: string; profile: string; used: number; use: (p: Profile) => void; children: ComponentChildren }) {
  return tabs ? <Tabs label="Parts of the class" words={words} texts={texts} show={(w) => (w === "class" ? children : <Versions {...v} />)} /> : <>{children}</>;
}

/** Versions sets two versions of the profile side by side: what differs, and nothing else. */
function Versions({ of, profile, used, use }: { of: string; profile: string; used: number; use: (p: Profile) => void }) {
  const read = useFetched(() => list("GET /v1/clusters/{cluster}/profiles/{name}/versions", { cluster: of, name: profile }), of, profile);
  return (
    <section class="card" aria-label="Versions">
      <Shown of={read} what="versions">
        {(versions) => {
          const numbers = versions.map((p) => p.version!).sort((a, b) => a - b);
          const m = /^(\d+)\.\.(\d+)$/.exec(query.value.get("v") ?? "");
          const right = m ? Number(m[2]) : numbers.at(-1)!;
          const left = m ? Number(m[1]) : (numbers.at(-2) ?? right);
          const [a, b] = [left, right].map((n) => versions.find((p) => p.version === n));
          const pick = (label: string, value: number, put: (n: number) => string) => (
            <label>
              {label}{" "}
              <select value={String(value)} onChange={(e) => choose("v", put(Number(e.currentTarget.value)))}>
                {numbers.map((n) => (
                  <option key={n} value={String(n)}>
                    {n}
                    {n === used ? ", in use" : ""}
                  </option>
                ))}
              </select>
            </label>
          );
          if (!a || !b) return <p>There is no such version.</p>;
          const x = leaves(a.profile);
          const y = leaves(b.profile);
          const differ = [...new Set([...x.keys(), ...y.keys()])].filter((k) => x.get(k) !== y.get(k));
          return (
            <>
              <p class="tools">
                {pick("From version", left, (n) => `${n}..${right}`)}
                {pick("to version", right, (n) => `${left}..${n}`)}
                {right !== used && may("operator") && <button onClick={() => use(b)}>Use version {right}</button>}
              </p>
              <p class="small muted">{differ.length === 0 ? "These say the same." : `${differ.length} of ${new Set([...x.keys(), ...y.keys()]).size} figures differ; the others are the same.`}</p>
              {differ.length > 0 && (
                <DataTable
                  caption="Differences of the versions"
                  rows={differ}
                  name={(k) => k}
                  file={[of, profile, `versions-${left}-${right}`]}
                  columns={[
                    { key: "figure", title: "Figure", value: (k) => k.slice(1).replaceAll("_", " ").replace(/ s$/, ", seconds") },
                    { key: "from", title: `Version ${left}`, value: (k) => x.get(k) ?? null, number: true },
                    { key: "to", title: `Version ${right}`, value: (k) => y.get(k) ?? null, number: true },
                  ]}
                />
              )}
            </>
          );
        }}
      </Shown>
    </section>
  );
}
