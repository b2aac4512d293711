// What has changed since a plan was made, and could not be planned.
import { useSignal } from "@preact/signals";
import { ask, get, Problem } from "../api/client.ts";
import type { CurrentPlan, Problem as PlannedProblem } from "../api/contract.ts";
import { changesOf, type Changed, undone } from "../model/changes.ts";
import { refresh } from "../state/cluster.ts";
import { useFetched } from "../state/fetched.ts";
import { Dialog } from "./dialog.tsx";
import { Shown } from "./fetched.tsx";
import { DataTable } from "./table.tsx";
import { refusal } from "../state/rights.ts";

export function Change({ plan, problem, close }: { plan: CurrentPlan; problem: PlannedProblem; close: () => void }) {
  const path = { cluster: plan.cluster };
  const fresh = useFetched(() => get("GET /v1/clusters/{cluster}/problem", path), plan.cluster, plan.freshness.inputs_version);
  const said = useSignal("");
  const undo = async (changes: Changed[]) => {
    said.value = "";
    try {
      const document = (await ask("GET /v1/clusters/{cluster}/document", { path }))!;
      const { body, left } = undone(document.value, changes);
      if (left.length > 0) {
        said.value = `This cannot be undone here: ${left.map((c) => `${c.of} ${c.name} ${c.field}`.trim()).join(", ")}. Change it by hand.`;
        return;
      }
      await ask("PUT /v1/clusters/{cluster}/document", { path, body, match: document.etag });
      await refresh(plan.cluster);
      close();
    } catch (e) {
      if (!(e instanceof Problem)) throw e;
      said.value = refusal(e);
    }
  };
  return (
    <Dialog title={`What has changed since plan ${plan.number}`} close={close}>
      <Shown of={fresh} what="changes" height={80}>
        {(now) => {
          const changes = changesOf(problem, now);
          return (
            <>
              <DataTable
                caption="What has changed"
                rows={changes}
                name={(c) => `${c.of} ${c.name} ${c.field}`}
                columns={[
                  { key: "what", title: "What", value: (c) => `${c.of} ${c.name}`.trim() },
                  { key: "field", title: "Field", value: (c) => c.field },
                  { key: "plan", title: `In plan ${plan.number}`, value: (c) => c.was },
                  { key: "now", title: "Now", value: (c) => c.is },
                ]}
              />
              {changes.length === 0 && <p>Nothing has changed any more.</p>}
              {said.value && <p class="wrong" role="alert">{said.value}</p>}
              {changes.length > 0 && (
                <p>
                  <button class="main" onClick={() => void undo(changes)}>Undo it</button>
                </p>
              )}
            </>
          );
        }}
      </Shown>
    </Dialog>
  );
}
