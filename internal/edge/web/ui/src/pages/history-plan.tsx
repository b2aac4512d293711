// What can be done with one plan of the history: hold it, prove it again, keep it as a file.
import { useSignal } from "@preact/signals";
import { ask, get, Problem } from "../api/client.ts";
import type { PlanSummary, Report } from "../api/contract.ts";
import { headline, perPeriod } from "../model/money.ts";
import { count } from "../model/words.ts";
import { Chip } from "../parts/chip.tsx";
import { DataTable } from "../parts/table.tsx";
import { refresh } from "../state/cluster.ts";
import { each, moment, numbered, period } from "./history-words.tsx";
import { refusal } from "../state/rights.ts";

const hours = ["1", "4", "12", "24", "168"] as const;
const hourTexts: Record<string, string> = { "1": "1 hour", "4": "4 hours", "12": "12 hours", "24": "1 day", "168": "7 days" };

/** Chosen is the plan that was ticked. */
export function Chosen({ plan }: { plan: PlanSummary }) {
  const report = useSignal<Report | null>(null);
  const wrong = useSignal("");
  const busy = useSignal(false);
  const done = useSignal("");
  const long = useSignal<string>("4");
  const path = { cluster: plan.cluster, plan: String(plan.number) };
  const base = `/v1/clusters/${encodeURIComponent(plan.cluster)}/plans/${plan.number}`;
  const file = `${plan.cluster}-plan-${plan.number}`;
  const work = async (what: () => Promise<void>) => {
    busy.value = true;
    wrong.value = done.value = "";
    try {
      await what();
    } catch (e) {
      if (!(e instanceof Problem)) throw e;
      wrong.value = refusal(e);
    }
    busy.value = false;
  };
  const verify = () => work(async () => void (report.value = await get("POST /v1/clusters/{cluster}/plans/{plan}/verify", path)));
  const pin = () =>
    work(async () => {
      const until = new Date(Date.now() + Number(long.value) * 3600_000).toISOString();
      const answer = await ask("PUT /v1/clusters/{cluster}/plans/pin", { path: { cluster: plan.cluster }, body: { number: plan.number, until } });
      await refresh(plan.cluster);
      done.value = `Plan ${numbered(answer!.value.number)} holds until ${moment(answer!.value.until)}.`;
    });
  return (
    <div class="stack chosen">
      <div class="tools">
        <strong>Plan {numbered(plan.number)}</strong>
        <button disabled={busy.value} onClick={() => void verify()}>Verify</button>
        <label class="small">
          Pin for{" "}
          <select value={long.value} onChange={(e) => (long.value = e.currentTarget.value)}>
            {hours.map((h) => (
              <option key={h} value={h}>
                {hourTexts[h]}
              </option>
            ))}
          </select>
        </label>
        <button disabled={busy.value} onClick={() => void pin()}>Pin</button>
        <span class="links small">
          <a href={`${base}?format=csv`} download={`${file}.csv`}>Its classes as CSV</a>
          <a href={`${base}?format=xlsx`} download={`${file}.xlsx`}>XLSX</a>
          <a href={base} download={`${file}.json`}>JSON</a>
          <a href={`${base}/problem`} download={`${file}-problem.json`}>Its inputs</a>
        </span>
      </div>
      {wrong.value && <p role="alert" class="wrong">{wrong.value}</p>}
      {done.value && <p role="status">{done.value}</p>}
      {report.value && <Proved plan={plan} report={report.value} />}
    </div>
  );
}

/** verdict is what an independent proof came to, in a sentence. */
export function verdict(plan: PlanSummary, r: Report): string {
  const held = r.checks.filter((c) => c.outcome === "ok").length;
  const per = period();
  const bound = r.bound === undefined ? "" : ` No plan's bill less the value of its jobs is below ${headline(perPeriod(r.bound, plan.period_s, per), plan.currency)} ${each[per]}.`;
  switch (r.outcome) {
    case "ok":
      return `Plan ${numbered(plan.number)} was proved again by code that shares nothing with the code that planned: ${count(held, "check holds", "checks hold")}.`;
    case "not proved":
      return `Nothing speaks against plan ${numbered(plan.number)}, and ${count(held, "check holds", "checks hold")}, but not all of it could be proved.${bound}`;
    case "failed":
      return `Plan ${numbered(plan.number)} does not hold: ${r.checks.find((c) => c.outcome === "failed")?.detail ?? "a check failed."}`;
  }
}

function Proved({ plan, report }: { plan: PlanSummary; report: Report }) {
  const open = useSignal(report.outcome !== "ok");
  const tone = { ok: "good", "not proved": "warning", failed: "bad" } as const;
  const said = { ok: "Proved", "not proved": "Not proved", failed: "Wrong" } as const;
  return (
    <div class="stack" role="status">
      <p>
        <Chip tone={tone[report.outcome]} text={said[report.outcome]} /> {verdict(plan, report)}{" "}
        <button class="quiet" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>
          {open.value ? "Hide the checks" : "Show the checks"}
        </button>
      </p>
      {open.value && (
        <DataTable
          caption={`What was checked of plan ${plan.number}`}
          columns={[
            { key: "check", title: "Check", value: (c) => c.name },
            { key: "outcome", title: "Outcome", value: (c) => c.outcome },
            { key: "detail", title: "What was found", value: (c) => c.detail },
          ]}
          rows={report.checks}
          name={(c) => c.name}
          file={[plan.cluster, "plan", plan.number, "checks"]}
        />
      )}
    </div>
  );
}
