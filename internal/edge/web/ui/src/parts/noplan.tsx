// A cluster that has no plan yet: why, and what to do.
import { list } from "../api/client.ts";
import empty from "./empty.svg";
import { trouble } from "../state/cluster.ts";
import { useFetched } from "../state/fetched.ts";
import { noPlanYet } from "../model/words.ts";
import { addressOf, route } from "../state/route.ts";
import { Waiting } from "./fetched.tsx";

/** Unplanned stands where a plan would: while it is read, and where there is none. */
export function Unplanned() {
  const t = trouble.value;
  if (t && noPlanYet(t)) return <NoPlan said={t.message} />;
  return (
    <>
      <h1 class="muted">{t ? "There is nothing to see yet." : <span class="late">Reading plan …</span>}</h1>
      {!t && (
        <div class="cards late" aria-hidden="true">
          <div class="waiting span-5" style={{ height: "306px" }} />
          <div class="waiting span-7" style={{ height: "306px" }} />
          <div class="waiting span-12" style={{ height: "400px" }} />
        </div>
      )}
    </>
  );
}

function NoPlan({ said }: { said: string }) {
  const name = route.value.cluster;
  const inputs = useFetched(
    async () => {
      const path = { cluster: name };
      const [classes, prices, contracts] = await Promise.all([list("GET /v1/clusters/{cluster}/classes", path, { limit: 1 }, 1), list("GET /v1/clusters/{cluster}/prices", path, { limit: 1 }, 1), list("GET /v1/clusters/{cluster}/contracts", path, { limit: 1 }, 1)]);
      return { classes: classes.length, supply: prices.length + contracts.length };
    },
    name,
    said,
  ).value.value;
  if (!inputs) return <Waiting what="plan" height={306} />;
  if (inputs.classes === 0)
    return (
      <>
        <img class="picture" src={new URL(empty, import.meta.url).href} alt="" width="240" height="120" />
        <h1>Nothing to plan yet. Add a class and the first plan follows by itself.</h1>
        <p class="links">
          <a href={addressOf(name, "classes")}>Add a class</a>
          <a href={addressOf(name, "classes", "import")}>Import</a>
        </p>
      </>
    );
  const why = /cannot be planned: (.*)$/.exec(said)?.[1];
  if (inputs.supply === 0)
    return (
      <>
        <h1>There is no plan yet, because prices are missing.</h1>
        <p class="links">
          <a href="/settings/prices">Add a price</a>
        </p>
      </>
    );
  return <h1>{why ? `There is no plan yet. ${why}` : "The first plan is being computed."}</h1>;
}
