// Settings: keys, clusters, prices, the audit log, and what the server is made of.
import { ask, get, Problem } from "../api/client.ts";
import { DataTable } from "../parts/table.tsx";
import { Export } from "../parts/export.tsx";
import { Shown } from "../parts/fetched.tsx";
import { lazy } from "../parts/lazy.tsx";
import { session } from "../state/cluster.ts";
import { useFetched } from "../state/fetched.ts";
import { may } from "../state/rights.ts";
import { route } from "../state/route.ts";

const parts = [
  { name: "keys", title: "Keys", view: lazy(async () => (await import("./settings-keys.tsx")).Keys) },
  { name: "clusters", title: "Clusters", view: lazy(async () => (await import("./settings-clusters.tsx")).ClustersPart) },
  { name: "prices", title: "Prices", view: lazy(async () => (await import("./settings-prices.tsx")).Prices) },
  { name: "audit", title: "Audit", view: lazy(async () => (await import("./settings-audit.tsx")).Audit) },
  { name: "about", title: "About", view: About },
];

export function Settings() {
  const at = route.value.rest[0] ?? (may("admin") ? "keys" : "clusters");
  const part = parts.find((p) => p.name === at);
  return (
    <>
      <nav class="tabs" aria-label="Settings">
        {parts.map((p) => (
          <a key={p.name} href={`/settings/${p.name}`} aria-current={p.name === at ? "page" : undefined}>
            {p.title}
          </a>
        ))}
      </nav>
      {part ? <part.view key={at} /> : <h1>There is no page at this address.</h1>}
    </>
  );
}

function About() {
  const about = useFetched(() => get("GET /v1/about", {}));
  const who = session.value;
  const leave = async () => {
    try {
      await ask("DELETE /v1/session", { path: {} });
    } catch (e) {
      if (!(e instanceof Problem)) throw e;
    }
    location.assign("/sign-in");
  };
  return (
    <>
      <header class="headed">
        <h1>{about.value.value ? `Headroom ${about.value.value.version}` : "About"}</h1>
        <span class="actions">
          <Export kept={[]} />
        </span>
      </header>
      <section class="card" aria-label="What the server is made of">
        <Shown of={about} what="versions" height={120}>
          {(a) => (
            <DataTable
              caption="Versions"
              rows={[
                { what: "Headroom", is: a.version },
                { what: "Solver asked for second opinions", is: a.solver ?? "not needed yet, or not installed" },
                { what: "Database", is: a.database ? `Postgres ${a.database.version}, tables of migration ${a.database.schema}` : "away" },
              ]}
              name={(r) => r.what}
              columns={[
                { key: "what", title: "Part", value: (r) => r.what },
                { key: "is", title: "Version", value: (r) => r.is },
              ]}
            />
          )}
        </Shown>
        <p class="links">
          <a href="/docs/about/readme">Documentation</a>
          <a href="/docs">Reference of the API</a>
          <a href="/openapi.yaml">OpenAPI document</a>
          <a href="/welcome">Welcome</a>
        </p>
      </section>
      {who && (
        <section class="card" aria-labelledby="who">
          <h2 id="who">Signed in</h2>
          <p>
            By key <bdi>{who.name}</bdi>, role {who.role}, {who.clusters ? `clusters ${who.clusters.join(", ")}` : "all clusters"}.
          </p>
          <p>
            <button onClick={() => void leave()}>Sign out</button>
          </p>
        </section>
      )}
    </>
  );
}
