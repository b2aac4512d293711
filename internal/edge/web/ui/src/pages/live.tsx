// Live: what each node does, which jobs get there in time, what was decided and why, and by which policy.
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { LiveJob, LiveNode, LiveSettings } from "../api/contract.ts";
import type { Column } from "../model/table.ts";
import { age, clock, duration } from "../model/time.ts";
import { count, isolated, type Tone } from "../model/words.ts";
import { Chip } from "../parts/chip.tsx";
import { Export } from "../parts/export.tsx";
import { Waiting } from "../parts/fetched.tsx";
import { LiveExample } from "../parts/examples.tsx";
import { lazy } from "../parts/lazy.tsx";
import { Segments } from "../parts/segments.tsx";
import { SlotGrid, type Squares } from "../parts/slots.tsx";
import { DataTable } from "../parts/table.tsx";
import { now } from "../state/clock.ts";
import { cluster, current } from "../state/cluster.ts";
import { again, at, follow, goOn, jobs, log, logRows, nodes, overloaded, pause, paused, settings, showNode, unseen, wrong } from "../state/live.ts";
import { choose, chosen, query, route } from "../state/route.ts";

const PolicyCard = lazy(async () => (await import("./live-policy.tsx")).PolicyCard, 160);

export function Live() {
  const name = route.value.cluster;
  useEffect(follow, [name]);
  const base = `/v1/clusters/${encodeURIComponent(name)}`;
  const n = nodes.value;
  const s = settings.value?.value;
  return (
    <>
      <div class="headed">
        {n && s ? <h1>{lead(n, jobs.value ?? [], s)}</h1> : <h1 class="muted">{wrong.value ? "Live" : "Reading nodes …"}</h1>}
        <span class="actions">
          <Export
            kept={["nodes", "jobs", "decisions"].flatMap((w) => [
              { text: `${w[0]!.toUpperCase()}${w.slice(1)}, CSV`, href: `${base}/${w}?format=csv`, file: `${name}-${w}.csv` },
              { text: `${w[0]!.toUpperCase()}${w.slice(1)}, XLSX`, href: `${base}/${w}?format=xlsx`, file: `${name}-${w}.xlsx` },
              { text: `${w[0]!.toUpperCase()}${w.slice(1)}, JSON`, href: `${base}/${w}?limit=1000`, file: `${name}-${w}.json` },
            ])}
          />
        </span>
      </div>
      {wrong.value && (
        <div class="banner error" role="alert">
          {wrong.value.message} {at.value > 0 && `You see what was here ${age(now.value - at.value)}.`}
          <button class="quiet" onClick={() => again()}>Try now</button>
        </div>
      )}
      {!n || !s ? !wrong.value && <Waiting what="nodes" height={400} /> : n.length === 0 ? <Empty /> : <Nodes all={n} settings={s} />}
      {n && n.length > 0 && s && <Jobs />}
      {s && <PolicyCard />}
      {n && n.length > 0 && s && <Log />}
    </>
  );
}

function slotsOf(n: LiveNode): number {
  return n.slots.map + n.slots.reduce;
}

function lead(all: LiveNode[], active: LiveJob[], s: LiveSettings): string {
  if (all.length === 0) return "No node has told of itself yet.";
  const alive = all.filter((n) => n.state === "alive");
  const dead = all.filter((n) => n.state === "dead").length;
  const over = all.filter((n) => overloaded(n, s.policy)).length;
  const slots = alive.reduce((sum, n) => sum + slotsOf(n), 0);
  const busy = alive.reduce((sum, n) => sum + Math.min(n.running ?? 0, slotsOf(n)), 0);
  const fresh = all.length - alive.length - dead;
  const but = [dead > 0 && `${dead} dead`, fresh > 0 && `${fresh} not heard of yet`, over > 0 && `${over} overloaded`].filter(Boolean).join(", ");
  const open = active.filter((j) => j.state === "active");
  const run = open.filter((j) => j.maps.running + j.reduces.running > 0).length;
  const late = open.filter((j) => j.late).length;
  const jobs = [run > 0 && count(run, "job runs", "jobs run"), open.length > run && count(open.length - run, "job waits", "jobs wait")].filter(Boolean).join(", ");
  return `${alive.length === 0 ? "No node is" : count(alive.length, "node is", "nodes are")} alive${but ? ` (${but})` : ""}, ${busy} of ${count(slots, "slot", "slots")} busy. ${jobs === "" ? "No job runs." : `${jobs}${late > 0 ? `; ${late === 1 ? "1 is" : `${late} are`} late` : ""}.`}`;
}

function Empty() {
  const name = route.value.cluster;
  return (
    <section class="card" aria-labelledby="empty">
      <LiveExample done={() => again()} />
      <h2 id="empty">How nodes come</h2>
      <ol class="howto">
        <li>
          Make a key of the role agent (Settings, Keys), and declare each machine once: <code>headroom live node edit {name} node-1 --slots 4</code>, or <code>PUT /v1/clusters/{name}/nodes/node-1</code>.
        </li>
        <li>
          Start <code>headroom live agent {name} --node node-1 --tasks tasks.json</code> on it; it tells of the machine in heartbeats and runs the tasks that the answers name. A program of your own may send <code>POST …/nodes/node-1/heartbeats</code> as well.
        </li>
        <li>
          Submit a job: <code>POST /v1/clusters/{name}/jobs</code>. Its tasks are handed out from the next heartbeats on.
        </li>
      </ol>
      <p class="small muted">This page follows by itself.</p>
    </section>
  );
}

function Nodes({ all, settings: s }: { all: LiveNode[]; settings: LiveSettings }) {
  const read = useSignal<string | null>(null);
  const table = useSignal(false);
  const node = query.value.get("node");
  const squares = useMemo(
    () =>
      all.map((n): Squares => {
        const slots = slotsOf(n);
        const busy = Math.min(n.running ?? 0, slots);
        const state = n.state === "dead" ? "dead" : n.state === "new" ? "new" : overloaded(n, s.policy) ? "overloaded" : "alive";
        return { name: n.name ?? "", slots, busy: state === "dead" ? 0 : busy, state, said: `${isolated(n.name ?? "")}, ${words[state]}, ${busy} of ${slots} busy` };
      }),
    [all, s],
  );
  const rented = current.value?.plan.cluster === route.value.cluster ? current.value.plan.plan.vms.total : undefined;
  const at_ = all.find((n) => n.name === (read.value ?? node));
  const has = (state: Squares["state"]) => squares.filter((n) => n.state === state).length;
  const rules = s.policy.rules?.length ? "by the policy's rules" : `a load above ${s.policy.target ?? 1} for each core`;
  return (
    <section class="card" aria-labelledby="nodes">
      <header>
        <h2 id="nodes">Nodes and their slots</h2>
        <button class="quiet" aria-expanded={table.value} onClick={() => (table.value = !table.value)}>
          {table.value ? "Show the squares" : "Show as table"}
        </button>
      </header>
      {table.value ? (
        <NodeTable all={all} settings={s} />
      ) : (
        <>
          <SlotGrid label="Nodes; Enter shows a node's decisions alone" nodes={squares} chosen={node} choose={showNode} read={read} />
          <p class="readout small">{at_ ? said(at_, s) : "Point at a node, or read it with the arrow keys. Enter shows its decisions alone."}</p>
        </>
      )}
      <p class="legend">
        <span><i class="slot busy" />busy</span>
        <span><i class="slot" />free</span>
        {has("overloaded") > 0 && <span><i class="slot over">▲</i>{has("overloaded")} overloaded: {rules}</span>}
        {has("dead") > 0 && <span><i class="slot lost">✕</i>{has("dead")} dead: silent for {duration(s.node_timeout_s ?? 600)}</span>}
        {has("new") > 0 && <span><i class="slot fresh" />{has("new")} not heard of yet</span>}
      </p>
      {rented !== undefined && rented !== all.length && (
        <p class="small muted">{count(all.length, "node is", "nodes are")} known here; the plan rents {count(rented, "VM", "VMs")}.</p>
      )}
    </section>
  );
}

const words: Record<Squares["state"], string> = { alive: "alive", new: "not heard of yet", dead: "dead", overloaded: "overloaded" };

function said(n: LiveNode, s: LiveSettings): string {
  const r = n.report;
  const load = r?.load1 !== undefined ? `, load ${r.load1} on ${count(n.cores, "core", "cores")}` : "";
  const heard = n.last_heartbeat_at ? `, last heard ${age(at.value - Date.parse(n.last_heartbeat_at))}` : "";
  return `${isolated(n.name ?? "")} (${isolated(n.type)}): ${words[n.state === "alive" && overloaded(n, s.policy) ? "overloaded" : (n.state ?? "new")]}, ${n.running ?? 0} of ${count(slotsOf(n), "slot", "slots")} busy${load}${heard}`;
}

function NodeTable({ all, settings: s }: { all: LiveNode[]; settings: LiveSettings }) {
  return (
    <DataTable
      caption="Nodes"
      columns={[
        { key: "name", title: "Node", value: (n) => n.name ?? "" },
        { key: "state", title: "State", value: (n) => (overloaded(n, s.policy) ? "overloaded" : (n.state ?? "")) },
        { key: "type", title: "Type", value: (n) => n.type },
        { key: "running", title: "Tasks", number: true, value: (n) => n.running ?? 0 },
        { key: "slots", title: "Slots", number: true, value: slotsOf },
        { key: "cores", title: "Cores", number: true, value: (n) => n.cores },
        { key: "load1", title: "Load", number: true, value: (n) => n.report?.load1 ?? null },
        { key: "last_heartbeat_at", title: "Last heard", value: (n) => n.last_heartbeat_at ?? null, show: (n) => (n.last_heartbeat_at ? age(at.value - Date.parse(n.last_heartbeat_at)) : "never") },
      ]}
      rows={all}
      name={(n) => n.name ?? ""}
      file={[route.value.cluster, "nodes"]}
      filter
      one="node"
      many="nodes"
    />
  );
}

const kinds = ["active", "recent"] as const;
const kindTexts = { active: "Running", recent: "Newest 100" } as const;

/** progress is what is done of a job, against the time that it has. */
function progress(j: LiveJob): { done: number; total: number; time: number | null; ends: number | null } {
  const done = j.maps.done + j.reduces.done;
  const total = j.maps.total + j.reduces.total;
  const from = Date.parse(j.submitted_at);
  const until = j.ended_at ? Date.parse(j.ended_at) : at.value;
  const due = j.deadline_at ? Date.parse(j.deadline_at) : null;
  return { done, total, time: due !== null && due > from ? (until - from) / (due - from) : null, ends: j.state === "active" && done > 0 && until > from ? from + ((until - from) * total) / done : null };
}

function state(j: LiveJob): { tone: Tone; text: string } {
  if (j.state === "failed" || j.state === "killed" || j.state === "refused") return { tone: "bad", text: { failed: "Failed", killed: "Killed", refused: "Refused" }[j.state] };
  if (j.late) return { tone: "bad", text: j.state === "done" ? "Done late" : "Late" };
  if (j.state === "done") return { tone: "good", text: j.deadline_at ? "Done in time" : "Done" };
  const p = progress(j);
  if (p.done === 0 && j.maps.running + j.reduces.running === 0) return { tone: "warning", text: "Waits" };
  if (j.deadline_at && p.ends !== null && p.ends > Date.parse(j.deadline_at)) return { tone: "warning", text: "Behind" };
  return { tone: "good", text: j.deadline_at ? "In time so far" : "Running" };
}

function Jobs() {
  const all = jobs.value ?? [];
  const zone = cluster.value?.time_zone ?? "UTC";
  const when = (ms: number) => clock(new Date(ms), zone, new Date(at.value));
  const kind = chosen("jobs", kinds);
  const columns: Column<LiveJob>[] = [
    { key: "name", title: "Job", value: (j) => j.name, show: (j) => <><bdi class="strong">{j.name}</bdi> <span class="small muted">{j.number}{j.class && <> · <bdi>{j.class}</bdi></>}</span></> },
    { key: "state", title: "State", value: (j) => state(j).text, show: (j) => <Chip {...state(j)} /> },
    { key: "done", title: "Tasks done", number: true, value: (j) => progress(j).done, show: (j) => `${progress(j).done} of ${progress(j).total}` },
    { key: "total", title: "Tasks", number: true, value: (j) => progress(j).total, inFilesOnly: true },
    { key: "running", title: "Running", number: true, value: (j) => j.maps.running + j.reduces.running },
    { key: "deadline_at", title: "Progress against its deadline", value: (j) => j.deadline_at, show: (j) => <Bar job={j} when={when} /> },
  ];
  return (
    <section class="card" aria-labelledby="jobs">
      <header>
        <h2 id="jobs">Jobs</h2>
        <Segments label="Which jobs" name="jobs" words={kinds} texts={kindTexts} value={kind} choose={(w) => { choose("jobs", w === "active" ? null : w); again(); }} />
      </header>
      {all.length === 0 ? <p>{kind === "active" ? "No job runs. Submit one, and its tasks are handed out from the next heartbeats on." : "There was none in the last 7 days."}</p> : <DataTable caption="Jobs" columns={columns} rows={all} name={(j) => String(j.number)} file={[route.value.cluster, "jobs"]} filter={all.length > 10} one="job" many="jobs" />}
    </section>
  );
}

/** Bar is how much of a job is done; its tick is how much of its time has gone. */
function Bar({ job: j, when }: { job: LiveJob; when: (ms: number) => string }) {
  const p = progress(j);
  const part = p.total > 0 ? p.done / p.total : 0;
  const late = j.late || (p.ends !== null && j.deadline_at !== null && p.ends > Date.parse(j.deadline_at));
  const text = [
    `${Math.floor(100 * part)} % done`,
    p.time !== null && (p.time > 1 ? "its time is over" : `${Math.max(0, Math.floor(100 * p.time))} % of its time gone`),
    j.deadline_at && `deadline ${when(Date.parse(j.deadline_at))}`,
    p.ends !== null && j.maps.running + j.reduces.running > 0 && `at this pace it ends ${when(p.ends)}`,
  ].filter(Boolean);
  return (
    <div class="progress">
      <svg width="100%" height="16" aria-hidden="true">
        <rect class="track" width="100%" y="4" height="8" rx="4" />
        <rect class={late ? "late" : "done"} width={`${100 * part}%`} y="4" height="8" rx="4" />
        {p.time !== null && <line class="tick" x1={`${100 * Math.min(p.time, 1)}%`} x2={`${100 * Math.min(p.time, 1)}%`} y1="0" y2="16" />}
      </svg>
      <span class="small muted">{text.join(" · ")}</span>
    </div>
  );
}

function Log() {
  const all = log.value;
  const node = query.value.get("node");
  const zone = cluster.value?.time_zone ?? "UTC";
  const time = useMemo(() => new Intl.DateTimeFormat("en-GB", { timeZone: zone, hour: "2-digit", minute: "2-digit", second: "2-digit" }), [zone]);
  const more = unseen.value;
  return (
    <section class="card" aria-labelledby="log">
      <header>
        <h2 id="log">Decisions</h2>
        <span class="tools">
          {paused.value && more > 0 && (
            <button class="quiet" onClick={goOn}>
              {more >= logRows ? `${logRows} or more new` : `${more} new`}
            </button>
          )}
          <button aria-pressed={paused.value} disabled={!all} onClick={() => (paused.value ? goOn() : pause())}>{paused.value ? "Go on" : "Pause"}</button>
        </span>
      </header>
      {node !== null && (
        <p class="small">
          Of <bdi class="strong">{node}</bdi> alone.{" "}
          <button class="quiet" onClick={() => showNode(null)}>All nodes</button>
        </p>
      )}
      {!all ? (
        <Waiting what="decisions" height={200} />
      ) : all.length === 0 ? (
        <p>No task was handed out yet.</p>
      ) : (
        <DataTable
          caption="Decisions"
          columns={[
            { key: "at", title: "Time", value: (d) => d.at, show: (d) => <time dateTime={d.at}>{time.format(new Date(d.at))}</time> },
            { key: "node", title: "Slot on", value: (d) => d.node },
            { key: "job_name", title: "Job", value: (d) => d.job_name },
            { key: "task", title: "Task", value: (d) => `${d.kind} ${d.task}${d.attempt > 1 ? `, attempt ${d.attempt}` : ""}` },
            { key: "reason", title: "Why", value: (d) => d.reason },
            { key: "outcome", title: "Outcome", value: (d) => `${d.outcome}${d.cause ? `: ${/^[a-z_]+$/.test(d.cause) ? d.cause.replaceAll("_", " ") : d.cause}` : ""}` },
            { key: "policy", title: "Policy", value: (d) => d.policy, inFilesOnly: true },
            { key: "rule", title: "Rule", value: (d) => d.rule, inFilesOnly: true },
            { key: "assignment", title: "Assignment", number: true, value: (d) => d.assignment, inFilesOnly: true },
          ]}
          rows={all}
          name={(d) => String(d.assignment)}
          file={[route.value.cluster, "decisions"]}
        />
      )}
    </section>
  );
}
