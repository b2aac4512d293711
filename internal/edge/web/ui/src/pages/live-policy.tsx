// By which policy slots are given away. Another one is tried first, on what has happened.
import { useSignal } from "@preact/signals";
import { ask, Problem } from "../api/client.ts";
import type { Policy, PolicyTrial, PolicyTrialChoice } from "../api/contract.ts";
import { clock, inClock } from "../model/time.ts";
import { isolated, isolating } from "../model/words.ts";
import { DataTable } from "../parts/table.tsx";
import { now } from "../state/clock.ts";
import { cluster } from "../state/cluster.ts";
import { useDraft } from "../state/drafts.ts";
import { again, settings } from "../state/live.ts";
import { lacking, may, refusal } from "../state/rights.ts";
import { route } from "../state/route.ts";

type Kind = Policy["kind"];
const kinds: Record<Kind, string> = {
  fifo: "First come, first served",
  edf: "Nearest deadline first",
  fair: "Fair shares",
  capacity: "Capacities of classes",
  "progress-share": "Share of progress",
  "max-progress": "Most progress towards deadlines",
  learned: "Learned from what nodes made of it",
};
const windows: Record<string, string> = { "3600": "the last hour", "900": "the last 15 minutes", "14400": "the last 4 hours", "86400": "the last day" };

export function PolicyCard() {
  const has = settings.value!;
  const kind = has.value.policy.kind;
  const want = useDraft<Kind | null>("policy", null);
  const window_ = useDraft("time to try a policy on", "3600");
  const trial = useSignal<{ kind: Kind; value: PolicyTrial } | null>(null);
  const wrong = useSignal("");
  const done = useSignal("");
  const busy = useSignal<"" | "try" | "switch">("");
  const name = route.value.cluster;
  const other = want.value ?? kind;
  const work = async (what: "try" | "switch", f: () => Promise<void>) => {
    busy.value = what;
    wrong.value = done.value = "";
    try {
      await f();
    } catch (e) {
      if (!(e instanceof Problem)) throw e;
      wrong.value = e.status === 412 ? "Somebody changed how tasks are handed out after you opened it. It stands above as it is now; switch again if you still want to." : refusal(e);
      if (e.status === 412) again();
    }
    busy.value = "";
  };
  // Options of a policy of another kind would be refused, so that one begins with its defaults.
  const policy = (): Policy => (other === kind ? has.value.policy : { kind: other });
  const tryIt = () => work("try", async () => {
      const answer = await ask("POST /v1/clusters/{cluster}/live/dry-run", { path: { cluster: name }, body: { policy: policy(), window_s: Number(window_.value) } });
      trial.value = { kind: other, value: answer!.value };
    });
  const change = () =>
    work("switch", async () => {
      const { version: _, updated_at: __, ...rest } = has.value;
      await ask("PUT /v1/clusters/{cluster}/live", { path: { cluster: name }, match: has.etag, body: { ...rest, policy: policy() } });
      done.value = `From the next heartbeat on: ${kinds[other]}. Tasks that run go on.`;
      trial.value = null;
      want.value = null;
      again();
    });
  const t = trial.value?.kind === other ? trial.value.value : null;
  return (
    <section class="card" aria-labelledby="policy">
      <h2 id="policy">Policy</h2>
      <p>
        Freed slots are given away by <strong>{kinds[kind]}</strong> <span class="small muted">({kind})</span>.
      </p>
      <div class="tools">
        <label>
          Another one{" "}
          <select value={other} onChange={(e) => (want.value = e.currentTarget.value as Kind)}>
            {(Object.keys(kinds) as Kind[]).map((k) => (
              <option key={k} value={k}>
                {kinds[k]}
              </option>
            ))}
          </select>
        </label>
        <label>
          on{" "}
          <select value={window_.value} onChange={(e) => { window_.value = e.currentTarget.value; trial.value = null; }}>
            {Object.entries(windows).map(([w, text]) => (
              <option key={w} value={w}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <button disabled={busy.value !== ""} onClick={() => void tryIt()}>{busy.value === "try" ? "Trying …" : "Try it first"}</button>
        {t && other !== kind && (
          <button class="main" disabled={busy.value !== "" || !may("operator")} onClick={() => void change()}>
            Switch to it
          </button>
        )}
      </div>
      {t && other !== kind && !may("operator") && <p class="small">{lacking("operator")}</p>}
      {wrong.value && <p role="alert" class="wrong">{wrong.value}</p>}
      {done.value && <p role="status">{done.value}</p>}
      {t && <Trial of={t} />}
    </section>
  );
}

function Trial({ of: t }: { of: PolicyTrial }) {
  const zone = cluster.value?.time_zone ?? "UTC";
  const when = (at: string | null) => (at === null ? "–" : clock(new Date(at), zone, new Date(now.value)));
  const said = (text: string) => inClock(text, zone, new Date(now.value));
  const job = (c: PolicyTrialChoice | null) => (c === null ? "stays idle" : `${isolated(c.job_name)}, ${c.kind}`);
  const names = [...new Set([...t.deadlines.map((d) => d.name), ...t.differences.flatMap((d) => [d.was?.job_name ?? "", d.would?.job_name ?? ""])])].filter(Boolean);
  return (
    <div class="stack" role="status">
      <p class="strong" id="trial">{isolating(said(t.sentence), names)}</p>
      {t.warnings.map((w) => (
        <p key={w.detail} class="small">{said(w.detail)}</p>
      ))}
      {t.deadlines.length > 0 && (
        <DataTable
          caption="Jobs with a deadline"
          columns={[
            { key: "name", title: "Job with a deadline", value: (d) => d.name },
            { key: "deadline_at", title: "Deadline", value: (d) => d.deadline_at, show: (d) => when(d.deadline_at) },
            { key: "slots", title: "Slots it got", number: true, value: (d) => d.slots },
            { key: "would_slots", title: "It would have got", number: true, value: (d) => d.would_slots },
            { key: "first_at", title: "First slot", value: (d) => d.first_at, show: (d) => when(d.first_at) },
            { key: "would_at", title: "It would have been", value: (d) => d.would_at, show: (d) => when(d.would_at) },
          ]}
          rows={t.deadlines}
          name={(d) => String(d.job)}
          file={[route.value.cluster, "dry-run-deadlines"]}
        />
      )}
      {t.differences.length > 0 && (
        <DataTable
          caption="The first choices that differ"
          columns={[
            { key: "at", title: "Time", value: (d) => d.at, show: (d) => when(d.at) },
            { key: "node", title: "Slot on", value: (d) => d.node },
            { key: "was", title: "Was", value: (d) => job(d.was) },
            { key: "would", title: "Would have been", value: (d) => job(d.would) },
            { key: "why", title: "Why", value: (d) => said(d.would?.reason ?? d.why) },
          ]}
          rows={t.differences}
          name={(d) => `${d.at} ${d.node} ${d.was?.job} ${d.was?.kind} ${d.would?.job}`}
          file={[route.value.cluster, "dry-run"]}
        />
      )}
    </div>
  );
}
