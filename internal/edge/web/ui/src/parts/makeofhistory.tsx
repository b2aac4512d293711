// Classes made of past runs: a profile of each job's runs, and a class that promises a little more time than
// they took.
import { useSignal } from "@preact/signals";
import { ask, list, Problem } from "../api/client.ts";
import type { Class, RecordedJob } from "../api/contract.ts";
import { duration } from "../model/time.ts";
import { count } from "../model/words.ts";
import { useDraft } from "../state/drafts.ts";
import { useFetched } from "../state/fetched.ts";
import { may } from "../state/rights.ts";
import { addressOf, go } from "../state/route.ts";
import { Shown } from "./fetched.tsx";
import { DataTable } from "./table.tsx";

const most = 50; // jobs that are offered at first

/** deadlineFor is one and a half times the median run, in whole minutes. */
const deadlineFor = (j: RecordedJob) => Math.max(60, Math.ceil((1.5 * (j.median_seconds ?? 600)) / 60) * 60);

const nameFor = (job: string) => job.trim().slice(0, 200) || "job";

export function MakeOfHistory({ cluster }: { cluster: string }) {
  const jobs = useFetched(() => list("GET /v1/clusters/{cluster}/recorded-jobs", { cluster }), cluster);
  const left = useDraft<string[]>("jobs without a class", []);
  const said = useSignal("");
  const wrong = useSignal<string[]>([]);
  const usable = (jobs.value.value ?? []).filter((j) => j.usable > 0);
  const picked = usable.slice(0, most).filter((j) => !left.value.includes(j.job));

  const make = async () => {
    wrong.value = [];
    const path = { cluster };
    try {
      const document = (await ask("GET /v1/clusters/{cluster}/document", { path }))!;
      const there = new Set((document.value.classes ?? []).map((c) => c.name));
      const classes: Class[] = [];
      for (const [i, j] of picked.entries()) {
        said.value = `Making profile ${i + 1} of ${picked.length} …`;
        const name = nameFor(j.job);
        if (there.has(name)) {
          wrong.value = [...wrong.value, `${j.job}: there is a class of that name already; it stays as it is.`];
          continue;
        }
        try {
          const made = (await ask("POST /v1/clusters/{cluster}/profiles/from-history", { path, body: { job: j.job, profile: name } }))!.value;
          classes.push({ name, profile: { name, version: made.profile.version! }, deadline_s: deadlineFor(j), slots_per_vm: { map: 2, reduce: 2 }, jobs: { min: 0, max: 1 }, penalty: "1" });
        } catch (e) {
          if (!(e instanceof Problem)) throw e;
          wrong.value = [...wrong.value, `${j.job}: ${e.message}`];
        }
      }
      for (const c of classes) await ask("POST /v1/clusters/{cluster}/classes", { path, body: c });
      said.value = `${count(classes.length, "class was", "classes were")} made.`;
      if (classes.length > 0 && wrong.value.length === 0) go(addressOf(cluster, "plan"));
    } catch (e) {
      if (!(e instanceof Problem)) throw e;
      said.value = "";
      wrong.value = [e.message];
    }
  };
  if (usable.length === 0 || !may("operator")) return null;
  return (
    <section class="card" aria-labelledby="of-history">
      <h2 id="of-history">Make classes of {count(usable.length, "recorded job", "recorded jobs")}</h2>
      <p class="small muted">Each gets a profile of its runs, one and a half times their median as its deadline, one job at once and a value of 1 when refused. Change them afterwards as you like.</p>
      <Shown of={jobs} what="jobs">
        {() => (
          <DataTable
            caption="Recorded jobs"
            rows={usable.slice(0, most)}
            name={(j) => j.job}
            columns={[
              {
                key: "pick",
                title: "",
                onScreenOnly: true,
                value: () => null,
                show: (j) => (
                  <input
                    type="checkbox"
                    aria-label={`Make a class of ${j.job}`}
                    checked={!left.value.includes(j.job)}
                    onChange={(e) => {
                      const rest = left.value.filter((job) => job !== j.job);
                      left.value = e.currentTarget.checked ? rest : [...rest, j.job];
                    }}
                  />
                ),
              },
              { key: "job", title: "Job", value: (j) => j.job },
              { key: "usable", title: "Runs", value: (j) => j.usable, number: true },
              { key: "median_seconds", title: "Median", value: (j) => j.median_seconds, show: (j) => (j.median_seconds === null ? "–" : duration(j.median_seconds)), number: true },
              { key: "deadline_s", title: "Deadline", value: deadlineFor, show: (j) => duration(deadlineFor(j)), number: true },
            ]}
          />
        )}
      </Shown>
      {wrong.value.length > 0 && (
        <ul class="banner error" role="alert">
          {wrong.value.map((w) => (
            <li key={w}>{w}</li>
          ))}
        </ul>
      )}
      <p class="links">
        <button class="main" disabled={picked.length === 0} onClick={() => void make()}>
          Make {count(picked.length, "class", "classes")}
        </button>
        <span role="status" class="small muted">
          {said.value}
        </span>
      </p>
    </section>
  );
}
