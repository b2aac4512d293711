// Which jobs may wait for cheaper hours, what that does to the bill, and when they start.
import { useSignal } from "@preact/signals";
import { ask } from "../api/client.ts";
import type { Schedule, ScheduledClass, ScheduleHour } from "../api/contract.ts";
import { type Cursor, Figure } from "../charts/figure.tsx";
import { Blocks, Line, Plot } from "../charts/plot.tsx";
import { moments, number } from "../charts/scale.ts";
import { fileName, save } from "../model/files.ts";
import { text, units } from "../model/money.ts";
import { moved, standing, told, waited, type Moved, type Standing } from "../model/schedule.ts";
import type { Column } from "../model/table.ts";
import { hourly } from "../model/time.ts";
import { count } from "../model/words.ts";
import { Export, type Kept } from "../parts/export.tsx";
import { Shown } from "../parts/fetched.tsx";
import { Name } from "../parts/name.tsx";
import { Unplanned } from "../parts/noplan.tsx";
import { DataTable } from "../parts/table.tsx";
import { now } from "../state/clock.ts";
import { cluster, current } from "../state/cluster.ts";
import { useFetched } from "../state/fetched.ts";
import { useFollowed } from "../state/followed.ts";
import { narrow } from "../state/narrow.ts";
import { addressOf, choose, chosen, route } from "../state/route.ts";
import { decimal } from "./contracts-parts.tsx";
import { Worth } from "./contracts-wait-worth.tsx";

const hour = 3_600_000;
const spans = ["", "1", "2", "4"] as const; // the first is what plans follow, the others are weeks
const texts: Record<(typeof spans)[number], string> = { "": "what plans follow", "1": "one week", "2": "two weeks", "4": "four weeks" };


const zone = () => cluster.value?.time_zone ?? "UTC";
const said = (at: string) => hourly(new Date(at), zone(), new Date(now.value));

export function Wait() {
  const name = route.value.cluster;
  const span = chosen("weeks", spans);
  const plan = current.value?.plan.cluster === name ? current.value.plan.number : null; // asked once it is known, and after another
  const followed = useFollowed(name, span === "");
  const f = followed.value.value;
  const why = f?.without;
  const refused = f?.may_wait ? why : undefined; // where nothing may wait HowTo says more
  const weeks = plan === null ? "" : why ? "1" : span; // the question what a schedule would be
  const of = useFetched(async () => (weeks ? (await ask("POST /v1/clusters/{cluster}/schedules", { path: { cluster: name }, body: asked(weeks) }))!.value : null), name, weeks, plan);
  const a = span || why ? of.value.value : (f?.answer ?? null);
  if (plan === null) return <Unplanned />;
  return (
    <>
      <div class="headed">
        <h1>{a ? waited(a, !span && !why && !!f?.question?.place_all) : "Jobs that may wait"}</h1>
        <div class="actions">
          <label class="small">
            Ahead:{" "}
            <select value={why ? weeks : span} onChange={(e) => choose("weeks", e.currentTarget.value || null)}>
              {spans.map((w) => (
                <option key={w} value={w} disabled={w === "" && !!why}>
                  {texts[w]}
                </option>
              ))}
            </select>
          </label>
          <Export kept={a ? kept(name, a) : []} />
        </div>
      </div>
      {refused && <p>The plans follow no schedule: {why}</p>}
      {span === "" && !why ? (
        <Shown of={followed} what="the schedule">{(found) => found.answer && <Answer a={found.answer} all={!!found.question?.place_all} now={standing(found)} weeks="1" />}</Shown>
      ) : of.problem.value?.status === 422 ? (
        <>
          {!of.problem.value.message.startsWith(why ?? " ") && <p>These hours cannot be planned together yet. {of.problem.value.message}</p>}
          {!refused && <HowTo />}
        </>
      ) : (
        <Shown of={of} what="the hours ahead">{(found) => <Answer a={found} all={false} now={[]} weeks={weeks} />}</Shown>
      )}
    </>
  );
}

/** asked is the coming week, or longer. */
function asked(weeks: string): { until?: string } {
  return weeks === "1" ? {} : { until: new Date((Math.ceil((Date.now() + 1) / hour) + 168 * Number(weeks)) * hour).toISOString() };
}

function kept(name: string, a: Schedule): Kept[] {
  return [{ text: "JSON", press: () => save(fileName("json", name, "schedule"), new Blob([JSON.stringify(a, null, 2)], { type: "application/json" })) }];
}

function Answer({ a, all, now: classes, weeks }: { a: Schedule; all: boolean; now: Standing[]; weeks: string }) {
  const moves = moved(a);
  const unknown = classes.filter((s) => !s.leases).length;
  return (
    <>
      <p>{told(a, all, said)}</p>
      {a.warnings.map((w) => (
        <p key={w.code + w.detail} class="small muted">
          {w.detail}
        </p>
      ))}
      {a.classes.every((c) => !c.waits) && <HowTo />}
      {classes.length > 0 && (
        <section class="card" aria-labelledby="standing">
          <h2 id="standing">Now</h2>
          <p class="small muted">In the hour from {said(a.hours[0]!.start)}: what runs, what has arrived and waits, and what starts next where it is worth its VMs.</p>
          <DataTable caption="Now" columns={classes.some((s) => s.leases) ? [...standingColumns, ...leaseColumns] : standingColumns} rows={classes} name={(s) => s.class} />
          {unknown > 0 && <p class="small muted">{unknown === classes.length ? "In the last day no job asked for a lease, so that the schedule counts as followed." : `In the last day no job of ${count(unknown, "class", "classes")} asked for a lease. There the schedule counts as followed.`}</p>}
        </section>
      )}
      <section class="card" aria-label="VMs">
        <Hours a={a} />
      </section>
      {moves.length > 0 && (
        <section class="card" aria-labelledby="moves">
          <h2 id="moves">What starts later</h2>
          <p class="small muted">Runs that arrive in an hour start in the next at the earliest.</p>
          <DataTable caption="What starts later" columns={moves[0]!.type ? [...moveColumns, { key: "type", title: "VM type", value: (m) => m.type ?? "", show: (m) => named(m.type ?? "") }] : moveColumns} rows={moves} name={(m) => `${m.class} ${m.arrived} ${m.start} ${m.run_s} ${m.type}`} file={[route.value.cluster, "moves"]} filter onPage={20} />
        </section>
      )}
      <section class="card" aria-labelledby="waiting">
        <h2 id="waiting">Classes</h2>
        <DataTable caption="Classes" columns={classColumns} rows={a.classes} name={(c) => c.name} file={[route.value.cluster, "waiting"]} />
      </section>
      <Worth classes={a.classes.map((c) => c.name)} first={(a.classes.find((c) => c.waits) ?? a.classes[0]!).name} weeks={weeks} until={asked(weeks)} />
    </>
  );
}

/** HowTo says what lets a class wait. */
function HowTo() {
  return (
    <p>
      A class may wait whose runs may end long after they arrive. Open one under <a href={addressOf(route.value.cluster, "classes")}>Classes</a>, and say within what time of its arrival a run must have ended.
    </p>
  );
}

type Row = ScheduleHour & { once: number };

function Hours({ a }: { a: Schedule }) {
  const cursor = useSignal<Cursor>(null);
  const rows: Row[] = a.hours.map((h, i) => ({ ...h, once: a.at_once.vms[i] ?? 0 }));
  const money = (amount: string) => text(units(amount), a.currency, 2);
  const spot = rows.some((h) => h.spot);
  const columns: Column<Row>[] = [
    { key: "start", title: "From", value: (h) => h.start, show: (h) => said(h.start) },
    { key: "vms", title: "VMs", number: true, value: (h) => h.vms },
    { key: "reserved", title: "Reserved", number: true, value: (h) => h.reserved },
    { key: "on_demand", title: "On demand", number: true, value: (h) => h.on_demand },
    ...(spot ? [{ key: "spot", title: "Spot", number: true, value: (h: Row) => h.spot ?? 0 }] : []),
    { key: "vms_at_once", title: "VMs without waiting", number: true, value: (h) => h.once },
    { key: "vm_bill", title: "VM bill", number: true, value: (h) => h.cost, show: (h) => money(h.cost) },
    ...(rows[0]!.by_type ?? []).map(({ type }, v): Column<Row> => ({ key: `vms_${type}`, title: `VMs of ${type}`, number: true, value: (h) => h.by_type![v]!.vms })),
  ];
  const types = (h: Row) => (h.by_type ? ` (${h.by_type.map((t) => `${t.vms} ${t.type}`).join(", ")})` : "");
  const at = (h: Row) => Date.parse(h.start);
  const first = at(rows[0]!);
  const last = at(rows.at(-1)!) + hour;
  const points = rows.map((h) => `${said(h.start)} · ${count(h.vms, "VM", "VMs")}${types(h)}, ${h.on_demand} on demand${h.spot ? `, ${h.spot} spot` : ""} · ${h.once} without waiting · VM bill ${money(h.cost)}`);
  const blocks = (low: (h: Row) => number, high: (h: Row) => number) => rows.map((h) => ({ from: at(h), until: at(h) + hour, low: low(h), high: high(h) }));
  const most = Math.max(...rows.map((h) => Math.max(h.vms, h.once)));
  const least = rows.reduce((x, h) => Math.max(x, h.once), 0);
  const peak = rows.reduce((x, h) => Math.max(x, h.vms), 0);
  return (
    <>
      <Figure
        title="VMs of each hour"
        said={`At most ${count(peak, "VM", "VMs")}; without waiting at most ${least}. The line is what the hours need where nothing waits.`}
        columns={columns}
        rows={rows}
        name={(h) => h.start}
        points={[points]}
        file="schedule"
        cursor={cursor}
      >
        {() => (
          <Plot
            x={moments(first, last, zone(), 7)}
            y={number([most], String, { zero: true, whole: true })}
            height={narrow.value ? 200 : 280}
            at={(x) => {
              const i = x === null ? -1 : Math.floor((x - first) / hour);
              cursor.value = rows[i] ? { series: 0, point: i } : null;
            }}
          >
            {(of) => (
              <>
                <Blocks of={of} parts={blocks(() => 0, (h) => h.reserved)} look="reserved" />
                <Blocks of={of} parts={blocks((h) => h.reserved, (h) => h.vms)} look="demand" />
                {cursor.value && rows[cursor.value.point] && <Blocks of={of} parts={[blocks(() => 0, (h) => h.vms)[cursor.value.point]!]} look="read" />}
                <Line of={of} points={[...rows.map((h): [number, number] => [at(h), h.once]), [last, rows.at(-1)!.once]]} look="without" steps />
              </>
            )}
          </Plot>
        )}
      </Figure>
      <p class="legend">
        <span><span class="patch reserved" />Reserved</span>
        <span><span class="patch demand" />On demand</span>
        <span><span class="patch upfront" />Without waiting, as a line</span>
      </p>
    </>
  );
}

const named = (name: string) => <Name of={name} />;

const standingColumns: Column<Standing>[] = [
  { key: "class", title: "Class", value: (s) => s.class, show: (s) => named(s.class) },
  { key: "run", title: "Run", number: true, value: (s) => s.running },
  { key: "wait", title: "Wait", number: true, value: (s) => s.waiting },
  { key: "next", title: "Next start", value: (s) => s.next?.at ?? null, show: (s) => (s.next ? said(s.next.at) : "none") },
  { key: "next_runs", title: "Start then, at most", number: true, value: (s) => s.next?.jobs ?? null },
];

const leaseColumns: Column<Standing>[] = [
  { key: "ask", title: "Of them ask", number: true, value: (s) => s.leases?.asking ?? null },
  { key: "missed", title: "Missed", number: true, value: (s) => s.leases?.missed ?? null },
];

const moveColumns: Column<Moved>[] = [
  { key: "class", title: "Class", value: (m) => m.class, show: (m) => named(m.class) },
  { key: "runs", title: "Runs", number: true, value: (m) => m.jobs },
  { key: "arrive", title: "Arrive from", value: (m) => m.arrived, show: (m) => said(m.arrived) },
  { key: "start", title: "Start", value: (m) => m.start, show: (m) => said(m.start) },
  { key: "later_h", title: "Later, hours", number: true, value: (m) => m.hours },
  { key: "run_h", title: "Run, hours", number: true, value: (m) => m.run_s / 3600, show: (m) => decimal(m.run_s / 3600) },
];

const classColumns: Column<ScheduledClass>[] = [
  { key: "class", title: "Class", value: (c) => c.name, show: (c) => named(c.name) },
  { key: "runs", title: "Runs", number: true, value: (c) => c.arrived },
  { key: "may_wait", title: "May wait", value: (c) => String(c.waits), show: (c) => (c.waits ? "yes" : "no") },
  { key: "later", title: "Start later", number: true, value: (c) => c.later },
  { key: "mean_later_h", title: "Later on average, hours", number: true, value: (c) => c.mean_later_s / 3600, show: (c) => decimal(c.mean_later_s / 3600) },
  { key: "refused", title: "Refused", number: true, value: (c) => c.refused },
];
