// Packings that were kept, and a batch that somebody brings.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ask, faultsOf, list, Problem } from "../api/client.ts";
import type { Batch, Fault, PackingSummary } from "../api/contract.ts";
import { algorithms } from "../model/batch.ts";
import { clock, duration } from "../model/time.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Shown } from "../parts/fetched.tsx";
import { Mistakes } from "../parts/form.tsx";
import { Working } from "./batch-working.tsx";
import { DataTable } from "../parts/table.tsx";
import { exampleBatch } from "../parts/examples.tsx";
import { keep as keepIt, keeping } from "../state/batch.ts";
import { now } from "../state/clock.ts";
import { cluster } from "../state/cluster.ts";
import { deleting, keep, remove } from "../state/deleting.ts";
import { useDraft } from "../state/drafts.ts";
import { useFetched } from "../state/fetched.ts";
import { query, route } from "../state/route.ts";
import { may, refusal } from "../state/rights.ts";

export function Kept() {
  const name = route.value.cluster;
  const id = query.value.get("kept");
  const all = useFetched(() => list("GET /v1/clusters/{cluster}/packings", { cluster: name }), name);
  useEffect(() => {
    if (id && all.value.value && !all.value.value.some((p) => p.id === id)) all.again();
  }, [id]);
  const bring = useSignal(false);
  const wrong = useSignal("");
  const zone = cluster.value?.time_zone ?? "UTC";
  const mark = (p: PackingSummary) => `packing ${name} ${p.id}`;
  const drop = (p: PackingSummary) =>
    remove(mark(p), async () => {
      try {
        await ask("DELETE /v1/clusters/{cluster}/packings/{packing}", { path: { cluster: name, packing: p.id }, keepalive: true });
        all.again();
      } catch (e) {
        if (!(e instanceof Problem)) throw e;
        wrong.value = refusal(e);
      }
    });
  return (
    <section class="card" aria-labelledby="kept">
      <header>
        <h2 id="kept">Kept packings</h2>
        {may("planner") && <button onClick={() => (bring.value = true)}>Bring a batch</button>}
      </header>
      {wrong.value && <p role="alert" class="wrong">{wrong.value}</p>}
      <Shown of={all} what="packings" height={60}>
        {(rows) =>
          rows.length === 0 ? (
            <p class="small muted">None yet. “Keep” stores a packing with its batch; neither ever changes.</p>
          ) : (
            <DataTable
              caption="Kept packings"
              columns={[
                { key: "created_at", title: "When", value: (p) => p.created_at, show: (p) => (
                  <a href={`/c/${encodeURIComponent(name)}/batch?kept=${encodeURIComponent(p.id)}`} aria-current={p.id === id ? "true" : undefined}>
                    {clock(new Date(p.created_at), zone, new Date(now.value))}
                  </a>
                ) },
                { key: "created_by", title: "By", value: (p) => p.created_by },
                { key: "jobs", title: "Jobs", number: true, value: (p) => p.jobs },
                { key: "machines", title: "Machines", number: true, value: (p) => p.machines },
                { key: "end_s", title: "Takes", number: true, value: (p) => p.end_s, show: (p) => duration(p.end_s) },
                { key: "algorithm", title: "Way", value: (p) => `${algorithms[p.algorithm]}${p.status === "optimal" ? ", proved" : ""}`, inFilesOnly: true },
                { key: "missed", title: "Missed", number: true, value: (p) => p.missed },
                { key: "id", title: "Id", value: (p) => p.id, inFilesOnly: true },
                { key: "delete", title: "", value: () => "", show: (p) =>
                  deleting.value.has(mark(p)) ? (
                    <span>
                      Deleted. <button class="quiet" onClick={() => keep(mark(p))}>Undo</button>
                    </span>
                  ) : may("planner") ? (
                    <button class="quiet" onClick={() => drop(p)}>Delete</button>
                  ) : null },
              ]}
              rows={rows}
              name={(p) => p.id}
              file={[name, "packings"]}
            />
          )
        }
      </Shown>
      {bring.value && <Bring close={() => (bring.value = false)} />}
    </section>
  );
}

/** Bring takes a batch as a document, typed or from a file. It is kept at once, so that it has an address. */
function Bring({ close }: { close: () => void }) {
  const text = useDraft("batch", "");
  const faults = useSignal<Fault[]>([]);
  const busy = useSignal(false);
  const take = async () => {
    faults.value = [];
    let batch: Batch;
    try {
      batch = JSON.parse(text.value) as Batch;
    } catch (e) {
      faults.value = [{ code: "json", detail: `This is no JSON: ${e instanceof Error ? e.message : "it cannot be read"}.` }];
      return;
    }
    busy.value = true;
    try {
      const wrong = await keepIt(batch);
      if (wrong) faults.value = [{ code: "", detail: wrong }];
      else {
        text.value = "";
        close();
      }
    } catch (e) {
      if (!(e instanceof Problem)) throw e;
      faults.value = e.status === 403 ? [{ code: "", detail: refusal(e) }] : faultsOf(e).map((f) => ({ ...f, detail: f.pointer ? `${f.pointer}: ${f.detail}` : f.detail }));
    }
    busy.value = false;
  };
  return (
    <Dialog title="Bring a batch" close={close}>
      <p class="small">As <code>headroom batch pack</code> reads it: the machines, and of each job how long it takes on n VMs, a·n^b seconds or measurements.</p>
      <Mistakes faults={faults.value} />
      <label for="batch-text" class="strong">Batch</label>
      <textarea id="batch-text" rows={10} spellcheck={false} value={text.value} onInput={(e) => (text.value = e.currentTarget.value)} />
      <div class="tools">
        <button class="main" disabled={busy.value || text.value.trim() === ""} onClick={() => void take()}>Pack and keep it</button>
        <label class="small">
          or a file{" "}
          <input type="file" accept=".json,application/json" onChange={(e) => void e.currentTarget.files?.[0]?.slice(0, 10_000_000).text().then((t) => (text.value = t))} />
        </label>
        <button class="quiet" onClick={() => (text.value = JSON.stringify(exampleBatch, null, 1))}>Put an example in</button>
      </div>
      {busy.value && <Working told={keeping} />}
    </Dialog>
  );
}
