// Measured runs of a class against what was predicted for the slots that each of them had.
import { type Signal, useSignal } from "@preact/signals";
import { ask, get, list, Problem, table } from "../api/client.ts";
import type { ClassCalibration } from "../api/contract.ts";
import { type Cursor, Figure } from "../charts/figure.tsx";
import { Band, Dots, Level, Plot, type Point } from "../charts/plot.tsx";
import { number, ofClocks } from "../charts/scale.ts";
import { rowsOf } from "../model/rows.ts";
import { clock, duration } from "../model/time.ts";
import { count, inPageWords } from "../model/words.ts";
import { Shown } from "../parts/fetched.tsx";
import { now } from "../state/clock.ts";
import type { Edited } from "../state/classes.ts";
import { cluster, trouble } from "../state/cluster.ts";
import type { Editing } from "../state/editing.ts";
import { useFetched } from "../state/fetched.ts";
import { may, refusal } from "../state/rights.ts";
import { addressOf, choose, query, route } from "../state/route.ts";

interface Run {
  id: string;
  at: string;
  seconds: number;
  slots: string;
  lower: number;
  average: number;
  upper: number;
}

interface Measured {
  report: ClassCalibration;
  runs: Run[];
  /** Of the class; 0 is none. */
  deadline: number;
}

/** read has the report and its runs, the earliest first; a class without runs has nothing to report. */
async function read(of: string, name: string, job: string): Promise<Measured | { nothing: string; jobs: string[] }> {
  const path = { cluster: of, name };
  const asked = job ? { job } : {};
  try {
    const [report, text, seen] = await Promise.all([
      get("GET /v1/clusters/{cluster}/classes/{name}/calibration", path, asked),
      table("GET /v1/clusters/{cluster}/classes/{name}/calibration", path, { format: "csv", ...asked }),
      get("GET /v1/clusters/{cluster}/classes/{name}", path),
    ]);
    const [head, ...rows] = rowsOf(text);
    const column = (key: string) => head!.cells.indexOf(key);
    const [id, at, seconds, map, reduce, lower, average, upper] = ["execution", "submitted_at", "seconds", "map_slots", "reduce_slots", "lower_s", "average_s", "upper_s"].map(column) as [number, number, number, number, number, number, number, number];
    const runs = rows.map(({ cells: c }) => ({ id: c[id]!, at: c[at]!, seconds: Number(c[seconds]), slots: `${c[map]} / ${c[reduce]}`, lower: Number(c[lower]), average: Number(c[average]), upper: Number(c[upper]) }));
    return { report, runs: runs.sort((a, b) => (a.at < b.at ? -1 : 1)), deadline: seen.deadline_s ?? 0 };
  } catch (e) {
    if (!(e instanceof Problem) || ![400, 404, 409, 422].includes(e.status)) throw e;
    // A profile that was typed in does not say whose runs it is about; a job of the class's name is taken for it.
    const jobs = (await list("GET /v1/clusters/{cluster}/recorded-jobs", { cluster: of })).map((j) => j.job);
    return !job && jobs.includes(name) ? read(of, name, name) : { nothing: e.message, jobs };
  }
}

export function MeasuredRuns({ editing }: { editing: Editing<Edited> }) {
  const { cluster: of, rest } = route.value;
  const name = rest[0] ?? "";
  const job = query.value.get("job") ?? "";
  const measured = useFetched(() => read(of, name, job), of, name, job);
  return (
    <section class="card" aria-label="Measured runs">
      <Shown of={measured} what="runs">
        {(m) =>
          "nothing" in m ? (
            <>
              <h3>Measured runs</h3>
              <p class="small muted">{m.nothing}</p>
              <p class="tools">
                {m.jobs.length > 0 && (
                  <label>
                    Runs of the job{" "}
                    <select value={job} onChange={(e) => choose("job", e.currentTarget.value)}>
                      <option value="">choose one</option>
                      {m.jobs.map((j) => (
                        <option key={j} value={j}>
                          {j}
                        </option>
                      ))}
                    </select>
                  </label>
                )}
                <a href={addressOf(of, "classes", "import")}>Import history</a>
              </p>
            </>
          ) : (
            <Runs {...m} of={of} name={name} editing={editing} again={() => measured.again()} />
          )
        }
      </Shown>
    </section>
  );
}

/** sentence says how the runs lie, as it can be forwarded. */
function sentence(runs: Run[]): string {
  const n = runs.length;
  const slow = runs.filter((r) => r.seconds > r.upper);
  const fast = runs.filter((r) => r.seconds < r.lower).length;
  const by = Math.max(0, ...slow.map((r) => r.seconds / r.upper - 1));
  const parts = [`${n - slow.length - fast} of ${n} runs ended inside the predicted range`];
  if (slow.length > 0) parts.push(`${slow.length} ${slow.length === 1 ? "was" : "were"} slower by up to ${by < 0.1 ? (by * 100).toFixed(1) : Math.round(by * 100)} %`);
  if (fast > 0) parts.push(`${fast} ${fast === 1 ? "was" : "were"} faster`);
  return parts.join("; ") + ".";
}

function Runs({ report, runs, deadline, of, name, editing, again }: Measured & { of: string; name: string; editing: Editing<Edited>; again: () => void }) {
  const said = useSignal("");
  const adopting = useSignal(false);
  const zone = cluster.value?.time_zone ?? "UTC";
  const calibrated = cluster.value?.options?.bound === "calibrated";
  const when = (r: Run) => (r.at ? clock(new Date(r.at), zone, new Date(now.peek())) : "not dated");
  const lead = sentence(runs);
  const inSlurm = runs.length > 0 && runs.every((r) => r.id.startsWith("slurm ")); // as its driver and lists of sacct name them
  const best = report.recommended;
  const adopt = async () => {
    const opened = editing.base.value;
    said.value = "";
    adopting.value = true;
    try {
      const made = (await ask("PUT /v1/clusters/{cluster}/classes/{name}/calibration", { path: { cluster: of, name }, body: { job: report.job }, match: opened.etag }))!;
      editing.base.value = { value: { class: made.value, figures: opened.value.figures }, etag: made.etag };
      again();
    } catch (e) {
      if (!(e instanceof Problem)) throw e;
      if (e.status === 401) trouble.value = e; // which stands above every page
      else said.value = refusal(e);
      if (e.status === 412 && !editing.dirty) editing.base.value = (await editing.fetch!().catch(() => null)) ?? opened; // so that it can be tried again
    } finally {
      adopting.value = false;
    }
  };
  return (
    <>
      <Figure
        title={inSlurm ? "Measured in Slurm" : "Measured runs"}
        said={lead}
        rows={runs}
        name={(r) => r.id}
        file={`class-${name}-runs`}
        points={[runs.map((r) => `${when(r)} · ${duration(r.seconds)} on ${r.slots} ${r.slots === "1" ? "slot" : "slots"} · predicted ${duration(r.lower)} to ${duration(r.upper)}, expected ${duration(r.average)}`)]}
        columns={[
          { key: "execution", title: "Run", value: (r) => r.id },
          { key: "submitted_at", title: "Submitted", value: (r) => r.at, show: when },
          { key: "slots", title: "Slots map / reduce", value: (r) => r.slots },
          { key: "seconds", title: "Took", value: (r) => r.seconds, show: (r) => duration(r.seconds), number: true },
          { key: "lower_s", title: "Optimistic", value: (r) => r.lower, show: (r) => duration(r.lower), number: true },
          { key: "average_s", title: "Expected", value: (r) => r.average, show: (r) => duration(r.average), number: true },
          { key: "upper_s", title: "Cautious", value: (r) => r.upper, show: (r) => duration(r.upper), number: true },
        ]}
      >
        {(cursor) => <Spread runs={runs} deadline={deadline} cursor={cursor} />}
      </Figure>
      <p class="legend">
        <span>
          <span class="patch band" />
          Predicted, optimistic to cautious
        </span>
        <span>
          <span class="patch demand" />A measured run
        </span>
      </p>
      {best && (
        <p class="small">
          {Math.round(report.coverage * 100)} of 100 runs are done in {best.factor} times the {{ lower: "optimistic", average: "expected", upper: "cautious" }[best.bound]} time: plans can count on that{calibrated ? "" : ", and those of this cluster do not: they plan with another bound"}.{" "}
          {report.in_use && report.in_use.bound === best.bound && report.in_use.factor === best.factor ? (calibrated ? "It is in use." : "It is adopted, for plans with calibrated times.") : may("operator") && <button class="quiet" disabled={adopting.value} onClick={() => void adopt()}>Use it</button>}
        </p>
      )}
      {said.value && (
        <p class="wrong" role="alert">
          {said.value}
        </p>
      )}
      {report.warnings.map((w) => (
        <p key={w.code} class="small muted">
          {inPageWords(w.detail)}
        </p>
      ))}
      {report.left_out > 0 && <p class="small muted">{count(report.left_out, "run", "runs")} left out, because nothing can be predicted for them.</p>}
    </>
  );
}

function Spread({ runs, deadline, cursor }: { runs: Run[]; deadline: number; cursor: Signal<Cursor> }) {
  const read = cursor.value?.point ?? -1;
  const dots = runs.map((r, i): Point => [i + 1, r.seconds]);
  const upper = runs.map((r, i): Point => [i + 1, r.upper]);
  const lower = runs.map((r, i): Point => [i + 1, r.lower]);
  const few = number([0, runs.length + 1], (n) => (n > 0 && n <= runs.length ? String(n) : ""), { exact: true, whole: true, about: 8 });
  return (
    <Plot
      x={{ ...few, bare: true }}
      y={number([0, deadline, ...[...dots, ...upper].map(([, y]) => y)], duration, { steps: ofClocks })}
      height={280}
      along="runs, the earliest first"
      at={(x) => (cursor.value = x === null ? null : { series: 0, point: Math.min(Math.max(Math.round(x) - 1, 0), runs.length - 1) })}
    >
      {(a) => (
        <>
          <Band of={a} upper={upper} lower={lower} look="" />
          <Dots of={a} points={dots} look="demand" size={3.5} />
          {deadline > 0 && <Level of={a} y={deadline} word="deadline" look="" />}
          {dots[read] && <Dots of={a} points={[dots[read]]} look="read" size={7} />}
        </>
      )}
    </Plot>
  );
}
