// Import for a cluster: classes, a document, or past runs, of which classes can be made.
import { Importer } from "../parts/importer.tsx";
import { Unless } from "../parts/editor.tsx";
import { Export } from "../parts/export.tsx";
import { Proposal } from "../parts/proposal.tsx";
import { useSignal } from "@preact/signals";
import { addressOf, go, route } from "../state/route.ts";

export function ImportPage() {
  const { cluster: of } = route.value;
  const runs = useSignal(0);
  return (
    <>
      <header class="headed">
        <h1>
          Bring classes, a whole document or past runs into <bdi>{of}</bdi>.
        </h1>
        <span class="actions">
          <a href={addressOf(of, "classes")}>All classes</a>
          <Export kept={[{ text: "JSON", href: `/v1/clusters/${encodeURIComponent(of)}/document`, file: `headroom-${of}.json` }]} />
        </span>
      </header>
      <Unless of={of} />
      <section class="card" aria-label="Import">
        <Importer cluster={of} done={(kind, taken) => kind === "history" && taken && runs.value++} />
      </section>
      <Proposal key={runs.value} cluster={of} asked={runs.value > 0} made={() => go(addressOf(of, "plan"))} />
    </>
  );
}
