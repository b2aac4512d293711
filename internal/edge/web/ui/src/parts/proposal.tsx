// Classes of past runs: what the service proposes, which a person may change before it is made. All of it is made, or nothing.
import { useSignal } from "@preact/signals";
import { ask, faultsOf, Problem } from "../api/client.ts";
import type { ClassesMade, ClassMade, Fault } from "../api/contract.ts";
import { how, read, written } from "../model/typed.ts";
import { duration } from "../model/time.ts";
import { count } from "../model/words.ts";
import { useDraft } from "../state/drafts.ts";
import { useFetched } from "../state/fetched.ts";
import { may, refusal } from "../state/rights.ts";
import { Shown } from "./fetched.tsx";
import { Field } from "./form.tsx";
import { DataTable } from "./table.tsx";

const operation = "POST /v1/clusters/{cluster}/classes/from-history";

/** Typed is what a person has changed of a class. */
interface Typed {
  leave?: boolean;
  name?: string;
  deadline?: string;
}

interface Props {
  cluster: string;
  /** Also a proposal without classes is shown, as runs have just been imported. */
  asked: boolean;
  made: () => void;
  /** There is no class to make. */
  nothing?: () => Promise<void>;
}

export function Proposal({ cluster, asked, made, nothing }: Props) {
  const slots = useSignal("");
  const given = useSignal(0);
  const body = given.value > 0 ? { slots: given.value } : {};
  const proposal = useFetched(
    async () => {
      const found = (await ask(operation, { path: { cluster }, body: { ...body, dry_run: true } }))!.value;
      if (found.classes.length === 0) await nothing?.();
      return found;
    },
    cluster,
    given.value,
  );
  if (!may("operator")) return null;
  const value = proposal.value.value;
  const wrong = proposal.problem.value;
  const lacking = wrong?.status === 422; // what stands in the way of classes that could be made
  if (!asked && !lacking && !value?.classes.length) return null;
  if (lacking && faultsOf(wrong).some((f) => f.pointer === "/slots"))
    return (
      <form
        class="card"
        aria-label="Slots"
        onSubmit={(e) => {
          e.preventDefault();
          given.value = Math.max(0, Number(read("count", slots.value, null) ?? 0));
        }}
      >
        <div class="fields">
          <Field pointer="/slots" label="Tasks that run at once on one VM" kind="number" value={slots.value} put={(t) => (slots.value = t)} faults={faultsOf(wrong)} />
        </div>
        <p>
          <button class="main">Go on</button>
        </p>
      </form>
    );
  return (
    <section class="card" aria-labelledby="of-history">
      <Shown of={proposal} what="what can be made of the runs">
        {(p) => <Classes of={p} cluster={cluster} body={body} made={made} kept={!nothing} />}
      </Shown>
    </section>
  );
}

function Classes({ of: p, cluster, body, made, kept }: { of: ClassesMade; cluster: string; body: { slots?: number }; made: () => void; kept: boolean }) {
  const typed = useDraft<Record<string, Typed>>("classes of past runs", {});
  const faults = useSignal<{ job: string; fault: Fault }[]>([]);
  const busy = useSignal(false);
  const picked = p.classes.filter((c) => !typed.value[c.job]?.leave);
  const put = (job: string, change: Typed) => (typed.value = { ...typed.value, [job]: { ...typed.value[job], ...change } });
  const name = (c: ClassMade) => typed.value[c.job]?.name ?? c.class.name;
  const stands = (c: ClassMade, about: string) => about !== "deadline" || typed.value[c.job]?.deadline === undefined;
  const deadline = (c: ClassMade) => typed.value[c.job]?.deadline ?? written("duration", c.class.deadline_s);
  const faultsAt = (job: string, member: string) => faults.value.filter((f) => f.job === job && f.fault.pointer?.endsWith(member));

  const make = async () => {
    const jobs = picked.map((c) => ({ job: c.job, name: name(c).trim(), deadline_s: read("duration", deadline(c), c.class.deadline_s) }));
    faults.value = jobs.flatMap((j): { job: string; fault: Fault }[] => (typeof j.deadline_s === "number" && j.deadline_s > 0 ? [] : [{ job: j.job, fault: { pointer: "/deadline_s", code: "", detail: how.duration } }]));
    if (faults.value.length > 0) return;
    busy.value = true;
    try {
      await ask(operation, { path: { cluster }, body: { ...body, jobs: jobs.map((j) => ({ ...j, deadline_s: j.deadline_s as number })) } });
      typed.value = {};
      made();
    } catch (e) {
      if (!(e instanceof Problem)) throw e;
      const named = e.details?.errors?.length ? faultsOf(e) : [{ code: "", detail: refusal(e) }];
      faults.value = named.map((fault) => ({ job: jobs[Number(/^\/jobs\/(\d+)/.exec(fault.pointer ?? "")?.[1] ?? -1)]?.job ?? "", fault }));
    } finally {
      busy.value = false;
    }
  };
  const input = (c: ClassMade, member: "name" | "deadline", value: string, label: string) => (
    <input
      aria-label={`${label} of ${c.job}`}
      aria-invalid={faultsAt(c.job, member === "name" ? "/name" : "/deadline_s").length > 0}
      size={member === "name" ? 18 : 9}
      value={value}
      onInput={(e) => put(c.job, { [member]: e.currentTarget.value })}
    />
  );
  return (
    <>
      <h2 id="of-history">{p.classes.length > 0 ? `${count(p.classes.length, "class", "classes")} can be made of these runs` : "No class can be made of these runs"}</h2>
      {p.classes.length > 0 && (
        <DataTable
          caption="Classes of past runs"
          rows={p.classes}
          name={(c) => c.job}
          columns={[
            {
              key: "keep",
              title: "",
              onScreenOnly: true,
              value: () => null,
              show: (c) => <input type="checkbox" aria-label={`Make a class of ${c.job}`} checked={!typed.value[c.job]?.leave} onChange={(e) => put(c.job, { leave: !e.currentTarget.checked })} />,
            },
            { key: "job", title: "Job", value: (c) => c.job },
            { key: "name", title: "Name", value: name, show: (c) => input(c, "name", name(c), "Name") },
            { key: "deadline_s", title: "Deadline", value: (c) => c.class.deadline_s ?? null, show: (c) => input(c, "deadline", deadline(c), "Deadline") },
            { key: "runs", title: "Runs", value: (c) => c.runs, number: true },
            { key: "median_seconds", title: "Median", value: (c) => c.median_seconds, show: (c) => (c.median_seconds === null ? "–" : duration(c.median_seconds)), number: true },
            { key: "arrivals", title: "How they come", value: (c) => c.arrivals },
          ]}
        />
      )}
      {p.classes.length === 0 && (
        <p>
          Import logs of runs that succeeded, or <a href="/welcome?way=class">type one class</a>.{!kept && " The new cluster was not kept."}
        </p>
      )}
      {p.more_jobs > 0 && <p>{count(p.more_jobs, "job waits", "jobs wait")} for the next time: open Import again when these classes are made.</p>}
      {p.left_out.count > 0 && (
        <details open={p.classes.length === 0}>
          <summary>{count(p.left_out.count, "run or job is", "runs or jobs are")} left out</summary>
          <ul class="said">
            {p.left_out.first.slice(0, 20).map((l) => (
              <li key={l.where}>
                <bdi>{l.where}</bdi>: {l.detail}
              </li>
            ))}
          </ul>
        </details>
      )}
      {p.classes.length > 0 && (
        <>
          <details open>
            <summary>It takes for granted that</summary>
            <ul class="said">
              {[...picked.flatMap((c) => c.assumed.filter((a) => stands(c, a.about))), ...p.assumed].map((a) => (
                <li key={a.detail}>{a.detail}</li>
              ))}
            </ul>
          </details>
          {faults.value.length > 0 && (
            <div class="banner error" role="alert">
              <ul>
                {faults.value.map((f) => (
                  <li key={f.job + f.fault.detail}>
                    {f.job && <bdi>{f.job}: </bdi>}
                    {f.fault.detail} {f.fault.hint?.detail}
                  </li>
                ))}
              </ul>
            </div>
          )}
          <p class="links">
            <button class="main" disabled={picked.length === 0 || busy.value} onClick={() => void make()}>
              Make {count(picked.length, "class", "classes")}
            </button>
          </p>
        </>
      )}
    </>
  );
}
