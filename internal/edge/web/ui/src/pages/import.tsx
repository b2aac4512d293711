// Import for a cluster: classes, a document, or past runs, of which profiles can be made.
import { Importer } from "../parts/importer.tsx";
import { Unless } from "../parts/editor.tsx";
import { Export } from "../parts/export.tsx";
import { MakeOfHistory } from "../parts/makeofhistory.tsx";
import { useSignal } from "@preact/signals";
import { addressOf, route } from "../state/route.ts";

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
        <Importer cluster={of} done={(kind) => kind === "history" && runs.value++} />
      </section>
      <MakeOfHistory key={runs.value} cluster={of} />
    </>
  );
}
