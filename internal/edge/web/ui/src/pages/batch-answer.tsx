// What a packing is: its phases over time, what other ways of packing come to, and what stands where.
import { useMemo } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { Problem } from "../api/client.ts";
import type { Packing } from "../api/contract.ts";
import type { Cursor } from "../charts/figure.tsx";
import { Figure } from "../charts/figure.tsx";
import { Gantt, mostRows } from "../charts/gantt.tsx";
import { algorithms, at, type JobRow, type Kind, kinds, kindsOf, nameOf, rowsOf, said } from "../model/batch.ts";
import { fileName, save } from "../model/files.ts";
import { type Column, csv } from "../model/table.ts";
import { duration } from "../model/time.ts";
import { count, inPageWords, isolated, isolating, percent } from "../model/words.ts";
import { Export } from "../parts/export.tsx";
import { Working } from "./batch-working.tsx";
import { Segments } from "../parts/segments.tsx";
import { begin, compared, comparing, given, keep, keeping, kept, packing, seen } from "../state/batch.ts";
import { choose, chosen, route } from "../state/route.ts";
import { refusal } from "../state/rights.ts";

const ways = ["phase", "machine"] as const;
const wayTexts = { phase: "Phases", machine: "Machines" } as const;

export function Answer() {
  const s = seen.value;
  const of = useMemo(() => kindsOf(s?.batch ?? null), [s?.batch]);
  const cursor = useSignal<Cursor>(null);
  const from = begin.value;
  const p = s?.packing;
  const rows = useMemo(() => (p ? rowsOf(p, of) : []), [p, of]);
  const points = useMemo(() => (p ? p.phases.map((_, i) => rows.filter((r) => r.phase === i + 1).map((r) => said(p, r, from))) : []), [p, rows, from]);
  if (!p || !s) return null;
  const placed = p.phases.some((f) => f.placement);
  const by = placed ? chosen("row", ways) : "phase";
  const name = route.value.cluster;
  const all = columns(p, from);
  const drawn = by === "phase" ? rows.length : Math.max(...p.phases.map((f) => f.placement?.length ?? 0));
  const used = [...new Set(rows.map((r) => r.kind))];
  const extras = rows.some((r) => r.job.role === "guest");
  const end = p.end_s < 7200;
  return (
    <>
      <section class="card" aria-labelledby="when">
        <header>
          <h2 id="when">When each job runs</h2>
          <span class="tools">
            {placed && <Segments label="A row for each" name="row" words={ways} texts={wayTexts} value={by} choose={(w) => choose("row", w === "phase" ? null : w)} />}
            <Keep />
            <Export
              kept={[
                { text: "CSV", press: () => save(fileName("csv", name, "packing"), new Blob([csv(all, rows)], { type: "text/csv" })) },
                { text: "JSON", press: () => save(fileName("json", name, "packing"), new Blob([JSON.stringify({ packing: p, batch: s.batch }, null, 2)], { type: "application/json" })) },
              ]}
            />
          </span>
        </header>
        <Figure
          title={count(p.phases.length, "phase", "phases")}
          said={`They begin at ${at(from, 0)} and end at ${at(from, p.end_s, end)}, after ${duration(p.end_s)}. ${p.status === "optimal" ? "No packing is shorter." : `None is shorter than ${duration(p.lower_bound_s)}.`}`}
          columns={all}
          rows={rows}
          name={(r) => `${r.phase} ${r.job.job} ${r.job.number}`}
          points={points}
          file="packing"
          cursor={cursor}
        >
          {(c) => <Gantt packing={p} kinds={of} by={by} begin={from} cursor={c} />}
        </Figure>
        {drawn > mostRows && <p class="small muted">{`The first ${mostRows} of ${drawn} rows are drawn; the table has all.`}</p>}
        <p class="legend">
          {used.map((k) => (
            <span key={k}>
              <span class={`patch kind ${k}`} />
              {kinds[k]}
            </span>
          ))}
          {extras && (
            <span>
              <span class="patch kind neither extra" />
              as extra VMs
            </span>
          )}
          {p.deadlines && <span>▼ deadline: {p.deadlines.met} met, {p.deadlines.missed === 0 ? "none missed" : `${p.deadlines.missed} missed`}{p.deadlines.proved ? ", proved" : ""}</span>}
        </p>
        {p.deadlines && <p class="small muted">{p.deadlines.basis}</p>}
        <Warnings packing={p} />
        <Sources />
      </section>
      <Compared end={p.end_s} />
      {placed && <Placed packing={p} of={of} at={cursor.value?.series ?? null} />}
    </>
  );
}

/** Warnings are often of one kind for each job: the first stands there, the others are opened. */
function Warnings({ packing: p }: { packing: Packing }) {
  const names = p.jobs.map((j) => j.name);
  const all = [...new Set(p.warnings.map((w) => isolating(inPageWords(w.detail), names)))];
  if (all.length === 0) return null;
  const [first, ...rest] = all;
  return (
    <>
      <p class="small">{first}</p>
      {rest.length > 0 && (
        <details class="small">
          <summary>{count(rest.length, "warning", "warnings")} more</summary>
          {rest.map((w) => (
            <p key={w}>{w}</p>
          ))}
        </details>
      )}
    </>
  );
}

function columns(p: Packing, from: number): Column<JobRow>[] {
  const exact = p.end_s < 7200;
  return [
    { key: "phase", title: "Phase", number: true, value: (r) => r.phase },
    { key: "job", title: "Job", value: (r) => nameOf(p, r.job) },
    { key: "kind", title: "Kind", value: (r) => kinds[r.kind] },
    { key: "as", title: "Runs as", value: (r) => (r.job.role === "guest" ? "extra VMs" : "VMs") },
    { key: "vms", title: "VMs", number: true, value: (r) => r.job.vms },
    { key: "start_s", title: "Begins", number: true, value: (r) => r.start, show: (r) => at(from, r.start, exact) },
    { key: "end_s", title: "Ends", number: true, value: (r) => r.job.end_s, show: (r) => at(from, r.job.end_s, exact) },
    { key: "seconds", title: "Takes", number: true, value: (r) => r.job.seconds, show: (r) => duration(r.job.seconds) },
    { key: "deadline_s", title: "Due by", number: true, value: (r) => r.deadline, show: (r) => (r.deadline === null ? "–" : `${at(from, r.deadline, exact)}${r.job.late ? ", late" : ""}`) },
    { key: "late", title: "Late", value: (r) => (r.job.late ? "yes" : "no"), inFilesOnly: true },
  ];
}

/** Keep stores the packing with its batch, so that it has an address. */
function Keep() {
  const wrong = useSignal("");
  const busy = useSignal(false);
  const batch = seen.value?.batch;
  if (!batch || kept.value) return null;
  const press = async () => {
    busy.value = true;
    wrong.value = "";
    try {
      wrong.value = await keep(batch);
    } catch (e) {
      if (!(e instanceof Problem)) throw e;
      wrong.value = refusal(e);
    }
    busy.value = false;
  };
  return (
    <>
      <button disabled={busy.value} onClick={() => void press()}>Keep</button>
      {busy.value && <Working told={keeping} />}
      {wrong.value && <span role="alert" class="small">{wrong.value}</span>}
    </>
  );
}

/** Sources says what the times were fitted to. */
function Sources() {
  const all = packing.answer.value?.value.sources;
  if (!all || given.value) return null;
  const measured = all.reduce((n, s) => n + s.measurements, 0);
  const past = all.reduce((n, s) => n + s.executions, 0);
  const blind = all.filter((s) => !s.usage);
  return (
    <p class="small muted">
      The times come from {count(measured, "measurement", "measurements")}
      {past > 0 && ` and ${count(past, "past run", "past runs")}`}.{" "}
      {blind.length > 0 && `What ${blind.length === all.length ? "the classes use" : count(blind.length, "class uses", "classes use")} was not measured, so ${blind.length === 1 ? "it carries no extra VMs and runs on none" : "they carry no extra VMs and run on none"}.`}
    </p>
  );
}

/** Compared are the other ways of packing, as bars from zero. */
function Compared({ end }: { end: number }) {
  const all = comparing.answer.value?.value.compared;
  const run = comparing.run.value;
  const wrong = comparing.wrong.value;
  const from = begin.value;
  const due = all?.some((p) => p.deadlines);
  const most = Math.max(...(all ?? []).map((p) => p.end_s));
  return (
    <section class="card" aria-labelledby="compared">
      <h2 id="compared">Other ways of packing</h2>
      <Working told={comparing.run} />
      {wrong ? <p class="small muted">{wrong.detail}</p> : !compared.value && !run && <p class="small muted">Comparing …{all && " What stands here is of the batch before."}</p>}
      {all && (
        <table class="ways" role="table">
          <thead role="rowgroup">
            <tr role="row">
              <th role="columnheader" scope="col">Way</th>
              <th role="columnheader" scope="col">How long it takes</th>
              <th role="columnheader" scope="col" class="number">Ends at</th>
              <th role="columnheader" scope="col" class="number">Saves</th>
              {due && <th role="columnheader" scope="col" class="number">Missed</th>}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {all.map((p) => (
              <tr key={p.algorithm} role="row">
                <td role="cell">
                  {algorithms[p.algorithm]}
                  {p.algorithm === "multi" && p.status === "optimal" && ", exact"}
                </td>
                <td role="cell">
                  <div class="bar"><div class={p.algorithm === "multi" ? "reserved" : "other"} style={{ width: `${(100 * p.end_s) / most}%` }} /></div>
                  <span class="small muted">{duration(p.end_s)}</span>
                </td>
                <td role="cell" class="number">{at(from, p.end_s, end < 7200)}</td>
                <td role="cell" class="number">{p.saving >= 0.0005 ? percent(p.saving) : p.saving <= -0.0005 ? `−${percent(-p.saving)}` : "–"}<span class="narrow"> saved</span></td>
                {due && <td role="cell" class="number">{p.deadlines?.missed ?? "–"}<span class="narrow"> missed</span></td>}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

const mostMachines = 120;

/** Placed shows what stands on each machine in a phase: a box a machine, a square a VM. */
function Placed({ packing: p, of, at: read }: { packing: Packing; of: Map<string, Kind>; at: number | null }) {
  const open = useSignal(0);
  const i = Math.min(read ?? open.value, p.phases.length - 1);
  const f = p.phases[i]!;
  const machines = f.placement ?? [];
  const square = (job: number, extra: boolean, key: number) => {
    const j = f.jobs[job];
    return <i key={key} class={j ? `vm kind ${of.get(j.job) ?? "neither"}${extra ? " extra" : ""}` : "vm free"} />;
  };
  const saidOf = (m: (typeof machines)[number], n: number) => {
    const words = f.jobs.flatMap((j, k) => {
      const disks = m.disks.filter((d) => d === k).length;
      const extras = (m.extras ?? []).filter((d) => d === k).length;
      return [disks > 0 ? `${count(disks, "VM", "VMs")} of ${isolated(nameOf(p, j))}` : "", extras > 0 ? `${count(extras, "extra VM", "extra VMs")} of ${isolated(nameOf(p, j))}` : ""].filter(Boolean);
    });
    return `Machine ${n + 1}: ${words.join(", ") || "nothing"}`;
  };
  return (
    <section class="card" aria-labelledby="placed">
      <header>
        <h2 id="placed">Machines and disks</h2>
        <label class="small">
          In phase{" "}
          <select value={String(i)} onChange={(e) => (open.value = Number(e.currentTarget.value))}>
            {p.phases.map((_, k) => (
              <option key={k} value={String(k)}>
                {k + 1}
              </option>
            ))}
          </select>{" "}
          of {p.phases.length}
        </label>
      </header>
      <ul class="machines">
        {machines.slice(0, mostMachines).map((m, n) => (
          <li key={n} title={saidOf(m, n)}>
            <span class="small muted" aria-hidden="true">{n + 1}</span>
            <span class="hidden">{saidOf(m, n)}</span>
            <span class="vms" aria-hidden="true">
              {m.disks.map((d, k) => square(d, false, k))}
              {(m.extras ?? []).map((d, k) => square(d, true, m.disks.length + k))}
            </span>
          </li>
        ))}
      </ul>
      {machines.length > mostMachines && <p class="small muted">{`${mostMachines} of ${machines.length} machines are drawn.`}</p>}
      <p class="small muted">A square is a VM: one on each disk, hatched those that a machine carries besides. Jobs: {f.jobs.map((j, k) => <span key={k}>{k > 0 && ", "}<bdi>{nameOf(p, j)}</bdi></span>)}.</p>
    </section>
  );
}
