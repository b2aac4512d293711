// Batch: when a night's jobs end on fixed machines, which of them run together, and how many machines it takes.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { list, Problem } from "../api/client.ts";
import type { Class, Fault } from "../api/contract.ts";
import { lead, proof, secondsOf } from "../model/batch.ts";
import { duration } from "../model/time.ts";
import { count } from "../model/words.ts";
import { Chip } from "../parts/chip.tsx";
import { Mistakes } from "../parts/form.tsx";
import { BatchExample, exampleBatch } from "../parts/examples.tsx";
import { lazy } from "../parts/lazy.tsx";
import { Working } from "./batch-working.tsx";
import { now } from "../state/clock.ts";
import { session } from "../state/cluster.ts";
import { begin, by, current, disks, fewest, findFewest, follow, given, hosts, jobs, kept, machines, move, open, packing, penalty, seen, setJobs, settle, type Work } from "../state/batch.ts";
import { useFetched } from "../state/fetched.ts";
import { choose, query, route } from "../state/route.ts";
import { lacking, may, refusal } from "../state/rights.ts";

const Answer = lazy(async () => (await import("./batch-answer.tsx")).Answer);
const Kept = lazy(async () => (await import("./batch-kept.tsx")).Kept, 120);

export function Batch() {
  const name = route.value.cluster;
  const id = query.value.get("kept");
  const wrong = useSignal("");
  const known = session.value !== null;
  useEffect(() => follow(may("planner")), [name, known, id]);
  useEffect(() => {
    wrong.value = "";
    if (!id) return;
    open(id).catch((e: unknown) => {
      if (!(e instanceof Problem)) throw e;
      wrong.value = e.message;
    });
  }, [name, known, id]);
  const s = seen.value;
  const unknown = given.value ? [] : unknownTimes(packing.wrong.value?.problem ?? null);
  return (
    <>
      <div class="headed">
        {s ? <h1>{lead(s.packing, begin.value)}</h1> : <h1 class={packing.wrong.value || !may("planner") ? "" : "muted"}>{packing.wrong.value ? "These jobs cannot be packed yet." : may("planner") ? (packing.since.value ? "Packing …" : "Batch") : "Batch"}</h1>}
        {s && <Chip {...proof(s.packing)} />}
      </div>
      {wrong.value && <div class="banner error" role="alert">{wrong.value}</div>}
      {!may("planner") && !id && (
        <div class="banner">{lacking("planner")} What others have kept can be opened below.</div>
      )}
      <Progress of={packing} />
      {unknown.length > 0 ? <NotYet faults={unknown} /> : <Wrong of={packing} />}
      <div class="split">
        <section class="card" aria-labelledby="batch">
          <h2 id="batch">Batch</h2>
          <Given />
          <Machines />
          {!given.value && <Jobs />}
        </section>
        <div class={s && !current.value ? "stack stale" : "stack"}>
          {s && <Answer />}
          <Kept />
        </div>
      </div>
    </>
  );
}

/** unknownTimes are the findings that say that the cluster's classes cannot be packed as they are; none where something
 *  else is wrong. */
function unknownTimes(p: Problem | null): Fault[] {
  const all = p?.details?.errors ?? [];
  return all.every((f) => ["not_measured", "missing", "too_many"].includes(f.code)) ? all : [];
}

const mostSaid = 3;

/** NotYet says what is missing before the classes can be packed, beside an example that can. */
function NotYet({ faults }: { faults: Fault[] }) {
  const take = () => {
    given.value = exampleBatch;
  };
  return (
    <BatchExample title="Here stands when each job runs, and on which machines." take={take}>
      <ul class="small">
        {faults.slice(0, mostSaid).map((f) => (
          <li key={f.detail}>{f.detail}</li>
        ))}
        {faults.length > mostSaid && <li>{`So it is with ${count(faults.length - mostSaid, "other class", "other classes")}.`}</li>}
      </ul>
    </BatchExample>
  );
}

/** Progress is how long a question has been under way, if it is for a moment; it can be cancelled. */
function Progress({ of }: { of: Work }) {
  const since = of.since.value;
  if (!since || now.value - since < 300) return null;
  if (of.run.value) return <p><Working told={of.run} /></p>;
  return (
    <p class="computing small" role="status">
      Computing, {duration(Math.max(0, Math.round((now.value - since) / 1000)))}{" "}
      <button class="quiet" onClick={() => of.cancel()}>Cancel</button>
    </p>
  );
}

function Wrong({ of }: { of: Work }) {
  const wrong = of.wrong.value;
  if (!wrong) return null;
  if (wrong.problem?.status === 403) return <div class="banner error" role="alert">{refusal(wrong.problem)}</div>;
  // Findings point into what was sent, which nobody sees: each is a sentence by itself.
  const faults: Fault[] = wrong.problem?.details?.errors?.map(({ pointer: _, ...f }) => f) ?? [];
  return (
    <Mistakes faults={faults.length > 0 ? faults : [{ code: "", detail: wrong.detail }]}>
      {seen.value && <p class="small">What is shown is the last packing that there was.</p>}
    </Mistakes>
  );
}

/** Given says that another batch than the cluster's classes is packed. */
function Given() {
  const g = given.value;
  if (!g) return <p class="small muted">Jobs of this cluster's classes, as long as they were measured to take.</p>;
  const n = g.jobs.reduce((sum, j) => sum + (j.count ?? 1), 0);
  return (
    <p class="small">
      {kept.value ? `A batch of ${count(n, "job", "jobs")} that was kept.` : `A batch of ${count(n, "job", "jobs")} that was given; keep it to find it again.`}{" "}
      <button
        class="quiet"
        onClick={() => {
          given.value = kept.value = null;
          for (const k of ["kept", "m", "d", "h", "p"]) choose(k, null);
        }}
      >
        Back to the classes
      </button>
    </p>
  );
}

function Number_({ id, label, value, least, most, step = 1, put, hint }: { id: string; label: string; value: number; least: number; most: number; step?: number; put: (n: number) => void; hint?: string }) {
  return (
    <div class="line">
      <label for={id}>
        {label}
        {hint && <span class="small muted hint">{hint}</span>}
      </label>
      <input
        id={id}
        type="number"
        min={least}
        max={most}
        step={step}
        value={value}
        onChange={(e) => {
          const n = Number(e.currentTarget.value);
          if (e.currentTarget.value !== "" && n >= least && n <= most && (step !== 1 || Number.isInteger(n))) put(n);
          else e.currentTarget.value = String(value);
        }}
      />
    </div>
  );
}

/** Time is a time of day, as 24 hours whatever the browser's language is. */
function Time({ id, value, put }: { id: string; value: string; put: (word: string) => void }) {
  return (
    <input
      id={id}
      type="text"
      inputMode="numeric"
      autocomplete="off"
      placeholder="05:00"
      value={value}
      onChange={(e) => {
        if (secondsOf(e.currentTarget.value) !== null) put(e.currentTarget.value.trim());
        else e.currentTarget.value = value;
      }}
    />
  );
}

function Machines() {
  const m = machines.value;
  const most = Math.max(50, m);
  const put = (key: string) => (n: number) => choose(key, String(n));
  const found = fewest.answer.value?.value.machines;
  const looking = fewest.since.value > 0;
  return (
    <div class="stack form">
      <div class="knob">
        <Number_ id="machines" label="Machines" value={m} least={1} most={10_000} put={put("m")} />
        <input
          type="range"
          min={1}
          max={most}
          value={m}
          aria-label="Machines"
          aria-valuetext={count(m, "machine", "machines")}
          onInput={(e) => move(Number(e.currentTarget.value))}
          onChange={settle}
        />
        <div class="fewest">
          <label for="by">Fewest that end by</label>
          <Time id="by" value={by.value} put={(w) => choose("by", w)} />
          <button disabled={looking || !may("planner")} onClick={() => void findFewest()}>Find</button>
        </div>
        <Progress of={fewest} />
        <Wrong of={fewest} />
        {found && (
          <p class="small" role="status">
            {count(found.machines, "machine is", "machines are")} the fewest that end by {by.value}
            {found.machines > 1 && (found.proved ? `; with ${found.machines - 1} the jobs end later, which is proved.` : `; that ${found.machines - 1} do not suffice is not proved.`)}
            {found.machines === 1 && "."}
          </p>
        )}
      </div>
      <div class="line">
        <label for="begin">Begins at</label>
        <Time id="begin" value={timeOf(begin.value)} put={(w) => choose("begin", w)} />
      </div>
      <Number_ id="disks" label="Disks of a machine" hint="each carries a VM" value={disks.value} least={1} most={10_000} put={put("d")} />
      <Number_ id="hosts" label="I/O-bound VMs for each extra VM" hint="0 where machines carry no extra VMs" value={hosts.value} least={0} most={10_000} put={put("h")} />
      <Number_ id="penalty" label="Slower beside extra VMs" hint="1.1 is a tenth slower" value={penalty.value} least={1} most={1000} step={0.01} put={put("p")} />
    </div>
  );
}

function timeOf(seconds: number): string {
  return `${String(Math.floor(seconds / 3600)).padStart(2, "0")}:${String(Math.floor(seconds / 60) % 60).padStart(2, "0")}`;
}

const mostClasses = 40;

/** Jobs is how many of each class run. */
function Jobs() {
  const name = route.value.cluster;
  const word = useSignal("");
  const classes = useFetched(() => list("GET /v1/clusters/{cluster}/classes", { cluster: name }), name);
  const all = classes.value.value;
  if (!all || all.length === 0) return <p class="small muted">{all ? "Nothing to pack yet. Add a class, and measure how long its jobs take." : "Reading classes …"}</p>;
  const of = jobs.value;
  const many = (c: Class) => (of.size === 0 ? 1 : (of.get(c.name) ?? 0));
  const found = all.filter((c) => c.name.toLowerCase().includes(word.value.trim().toLowerCase()));
  const put = (c: Class, n: number) => {
    const next = of.size === 0 ? new Map(all.map((x) => [x.name, 1])) : new Map(of);
    next.set(c.name, n);
    setJobs(all.every((x) => (next.get(x.name) ?? 0) === 1) ? new Map() : new Map([...next].filter(([, k]) => k > 0)));
  };
  return (
    <fieldset class="stack form">
      <legend>Jobs of each class</legend>
      {all.length > 10 && (
        <label>
          <span class="hidden">Filter classes</span>
          <input type="search" placeholder="Filter" value={word.value} onInput={(e) => (word.value = e.currentTarget.value)} />
        </label>
      )}
      {found.slice(0, mostClasses).map((c) => (
        <div key={c.name} class="line">
          <label for={`job-${c.name}`} class="whose">
            <bdi>{c.name}</bdi>
          </label>
          <input
            id={`job-${c.name}`}
            type="number"
            min={0}
            max={1000}
            value={many(c)}
            onChange={(e) => {
              const n = Number(e.currentTarget.value);
              if (Number.isInteger(n) && n >= 0 && n <= 1000) put(c, n);
              else e.currentTarget.value = String(many(c));
            }}
          />
        </div>
      ))}
      {found.length > mostClasses && <p class="small muted">{`${mostClasses} of ${found.length} classes. Filter to see others.`}</p>}
    </fieldset>
  );
}

