// Audit: who changed what, before and after.
import { useSignal } from "@preact/signals";
import { list } from "../api/client.ts";
import type { AuditEntry } from "../api/contract.ts";
import { leaves } from "../model/pointer.ts";
import { clock } from "../model/time.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Export } from "../parts/export.tsx";
import { Shown } from "../parts/fetched.tsx";
import { DataTable } from "../parts/table.tsx";
import { now } from "../state/clock.ts";
import { clusters } from "../state/cluster.ts";
import { useFetched } from "../state/fetched.ts";
import { may } from "../state/rights.ts";
import { choose, query } from "../state/route.ts";

const most = 1000;

export function Audit() {
  const of = query.value.get("cluster") ?? "";
  const entries = useFetched(() => (may("admin") ? list("GET /v1/audit", {}, of ? { cluster: of } : {}, most) : Promise.resolve([])), of);
  const shown = useSignal<AuditEntry | null>(null);
  const last = entries.value.value?.[0];
  const when = (e: AuditEntry) => clock(new Date(e.at), "UTC", new Date(now.peek()));
  const filter = of ? `&cluster=${encodeURIComponent(of)}` : "";
  return (
    <>
      <header class="headed">
        <h1>
          {last ? (
            <>
              The last change was at {when(last)}, by key <bdi>{last.by}</bdi>.
            </>
          ) : (
            "Audit"
          )}
        </h1>
        <span class="actions">
          <Export kept={may("admin") ? [{ text: "CSV", href: `/v1/audit?format=csv${filter}`, file: "headroom-audit.csv" }, { text: "XLSX", href: `/v1/audit?format=xlsx${filter}`, file: "headroom-audit.xlsx" }, { text: "JSON", href: `/v1/audit?limit=1000${filter}`, file: "headroom-audit.json" }] : []} />
        </span>
      </header>
      {!may("admin") && <p class="banner">Your key may not see the audit log. Ask an administrator for the role admin.</p>}
      <section class="card" aria-label="Audit">
        <Shown of={entries} what="changes" height={400}>
          {(all) => (
            <DataTable
              caption="Changes"
              rows={all}
              name={(e) => e.id}
              file={["audit"]}
              filter
              one="change"
              many="changes"
              columns={[
                { key: "at", title: "When", value: (e) => e.at, show: when },
                { key: "by", title: "Key", value: (e) => e.by },
                { key: "cluster", title: "Cluster", value: (e) => e.cluster },
                { key: "action", title: "Did", value: (e) => e.action },
                { key: "kind", title: "What", value: (e) => e.kind.replaceAll("_", " ") },
                { key: "name", title: "Name", value: (e) => e.name },
                {
                  key: "show",
                  title: "",
                  onScreenOnly: true,
                  value: () => null,
                  show: (e) =>
                    (e.before !== null || e.after !== null) && (
                      <button class="quiet" aria-label={`Show the change of ${e.name}`} onClick={() => (shown.value = e)}>
                        Show
                      </button>
                    ),
                },
              ]}
            >
              <label>
                Cluster{" "}
                <select value={of} onChange={(e) => choose("cluster", e.currentTarget.value)}>
                  <option value="">all</option>
                  {clusters.value?.map((c) => (
                    <option key={c.name} value={c.name}>
                      {c.name}
                    </option>
                  ))}
                </select>
              </label>
              {all.length >= most && <span class="small muted">The newest 1,000; the CSV has all.</span>}
            </DataTable>
          )}
        </Shown>
      </section>
      {shown.value && <Change entry={shown.value} close={() => (shown.value = null)} />}
    </>
  );
}

function Change({ entry, close }: { entry: AuditEntry; close: () => void }) {
  const before = leaves(entry.before);
  const after = leaves(entry.after);
  const differ = [...new Set([...before.keys(), ...after.keys()])].filter((k) => before.get(k) !== after.get(k));
  return (
    <Dialog title={`${entry.kind.replaceAll("_", " ")} ${entry.name}`} close={close}>
      <DataTable
        caption="Before and after"
        rows={differ}
        name={(k) => k}
        columns={[
          { key: "field", title: "Field", value: (k) => k.slice(1) },
          { key: "before", title: "Before", value: (k) => before.get(k) ?? null },
          { key: "after", title: "After", value: (k) => after.get(k) ?? null },
        ]}
      />
    </Dialog>
  );
}
