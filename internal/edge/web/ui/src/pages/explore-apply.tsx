// Takes the changes over: applied to the cluster with their difference before, or copied.
import { useSignal } from "@preact/signals";
import { ask, Problem } from "../api/client.ts";
import type { Change, FieldChange } from "../api/contract.ts";
import { memberSaid, valueSaid } from "../model/members.ts";
import { command, taken, yaml } from "../model/taken.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Shown } from "../parts/fetched.tsx";
import { DataTable } from "../parts/table.tsx";
import { now } from "../state/clock.ts";
import { refresh } from "../state/cluster.ts";
import { base, edits, forget, startOver } from "../state/edits.ts";
import { useFetched } from "../state/fetched.ts";
import { lacking, may, refusal } from "../state/rights.ts";
import { rewrite, route } from "../state/route.ts";
import { toClipboard } from "../state/clipboard.ts";

const document = "/v1/clusters/{cluster}/document";

interface Row extends Partial<FieldChange> {
  of: Change;
}

export function Apply({ close, done }: { close: () => void; done: () => void }) {
  const path = { cluster: route.value.cluster };
  const problem = base.value!.problem;
  const said = useSignal("");
  const text = useSignal("");
  const busy = useSignal(false);
  const fresh = useFetched(async () => {
    const { value, etag } = (await ask(`GET ${document}`, { path }))!;
    const { body, left } = taken(value, edits.value, problem, now.value);
    const { changes } = (await ask(`PUT ${document}`, { path, query: { dry_run: true }, body }))!.value;
    return { body, left, etag, rows: changes.flatMap((of): Row[] => (of.fields.length > 0 ? of.fields.map((f) => ({ of, ...f })) : [{ of }])) };
  }, path.cluster);
  const apply = async () => {
    const { body, etag } = fresh.value.value!;
    said.value = "";
    busy.value = true;
    try {
      await ask(`PUT ${document}`, { path, body, match: etag });
      close();
      startOver();
      forget(); // what undoes a step of trying would not undo this
      rewrite({ base: [] }, false); // what comes next is compared with the plan made anew
      done();
      await refresh(path.cluster);
    } catch (e) {
      if (!(e instanceof Problem)) throw e;
      said.value = e.status === 412 ? `${refusal(e)} The difference is shown anew.` : refusal(e);
      if (e.status === 412) fresh.again();
    } finally {
      busy.value = false;
    }
  };
  const copy = async (what: string, of: string) => {
    const copied = await toClipboard(of);
    text.value = copied ? "" : of;
    said.value = copied ? `${what} is copied.` : `Copy ${what.toLowerCase()} from here:`;
  };
  const { cost } = base.value!.plan;
  return (
    <Dialog title={`Apply to ${path.cluster}`} close={close}>
      <Shown of={fresh} what="difference" height={80}>
        {({ body, left, rows }) => (
          <>
            {rows.length > 0 ? (
              <DataTable
                caption="What applying changes"
                rows={rows}
                name={(r) => `${r.of.kind} ${r.of.name} ${r.pointer}`}
                columns={[
                  { key: "what", title: "What", value: (r) => `${r.of.kind.replace("_", " ")} ${r.of.name}` },
                  { key: "field", title: "Field", value: (r) => (r.pointer === undefined ? r.of.action : memberSaid(r.pointer).join(" › ")) },
                  { key: "before", title: "Now", value: (r) => (r.pointer === undefined ? "–" : valueSaid(r.pointer, r.before, cost)) },
                  { key: "after", title: "Then", value: (r) => (r.pointer === undefined ? "–" : valueSaid(r.pointer, r.after, cost)) },
                ]}
              />
            ) : (
              <p>Nothing of the cluster changes.</p>
            )}
            {left.length > 0 && <p>This stays as it is: <bdi>{left.join("; ")}</bdi>.</p>}
            {!may("operator") && <p class="muted">{lacking("operator")}</p>}
            <p class="links">
              <button class="main" disabled={rows.length === 0 || busy.value || fresh.asking.value || !may("operator")} onClick={() => void apply()}>Apply</button>
              <button disabled={rows.length === 0} onClick={() => void copy("The cluster with these changes, for headroom apply", `${yaml(body)}\n`)}>Copy the cluster as YAML</button>
              <button onClick={() => void copy("The command, which asks and changes nothing,", command(path.cluster, edits.value, problem))}>Copy the what-if as a command</button>
            </p>
            <p class="small muted">The YAML is the whole cluster with these changes, for headroom apply. The command asks what they would do, and changes nothing.</p>
            <p role="status">{said.value}</p>
            {text.value && <textarea readOnly rows={6} aria-label="To be copied" value={text.value} onFocus={(e) => e.currentTarget.select()} />}
          </>
        )}
      </Shown>
    </Dialog>
  );
}
