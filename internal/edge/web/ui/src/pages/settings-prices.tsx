// Prices of a cluster: on-demand and spot periods, and price sheets.
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { ask, list, Problem } from "../api/client.ts";
import type { Price } from "../api/contract.ts";
import { price as money, units } from "../model/money.ts";
import { clock } from "../model/time.ts";
import { count } from "../model/words.ts";
import { useCluster } from "../parts/choosecluster.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Fields, Refused, Save, Unless } from "../parts/editor.tsx";
import { Export } from "../parts/export.tsx";
import { Shown } from "../parts/fetched.tsx";
import { Importer } from "../parts/importer.tsx";
import { DataTable } from "../parts/table.tsx";
import { now } from "../state/clock.ts";
import { clusters } from "../state/cluster.ts";
import { deleting, keep, remove } from "../state/deleting.ts";
import { Editing, type Entry } from "../state/editing.ts";
import { useFetched } from "../state/fetched.ts";
import { may } from "../state/rights.ts";
import { addressOf } from "../state/route.ts";

const entries: Entry[] = [
  { pointer: "/vm_type", kind: "text", label: "VM type", required: true, hint: "One that is not known is made." },
  { pointer: "/price", kind: "money", label: "Price of a VM-hour", required: true },
  { pointer: "/from", kind: "moment", label: "From (UTC)", hint: "Such as 2026-03-01 22:00.", required: true },
  { pointer: "/until", kind: "moment", label: "Until (UTC)", hint: "Such as 2027-03-01 22:00; empty is for ever." },
  {
    pointer: "/purchase",
    kind: "text",
    label: "Bought",
    words: [
      { word: "on_demand", text: "on demand" },
      { word: "spot", text: "as spot" },
    ],
  },
];

export function Prices() {
  const { name: of, field } = useCluster();
  const prices = useFetched(() => (of ? list("GET /v1/clusters/{cluster}/prices", { cluster: of }, { limit: 1000 }) : Promise.resolve([])), of);
  const edited = useSignal<Price | null>(null);
  const sheet = useSignal(false);
  const failed = useSignal("");
  const zone = clusters.value?.find((c) => c.name === of)?.time_zone ?? "UTC";
  const currency = clusters.value?.find((c) => c.name === of)?.currency ?? "USD";
  const when = (t: string | null | undefined) => (t ? clock(new Date(t), zone, new Date(now.peek())) : "for ever");
  const inForce = (p: Price) => Date.parse(p.from) <= now.value && (!p.until || Date.parse(p.until) > now.value);
  const id = (p: Price) => `price ${p.id}`;
  const drop = (p: Price) =>
    remove(id(p), async () => {
      try {
        await ask("DELETE /v1/clusters/{cluster}/prices/{id}", { path: { cluster: of, id: p.id! }, match: `"${p.version}"`, keepalive: true });
      } catch (e) {
        failed.value = e instanceof Problem ? e.message : String(e);
      }
      prices.again();
    });
  const write = may("operator");
  const all = prices.value.value;
  const at = `/v1/clusters/${encodeURIComponent(of)}/prices?format=`;
  return (
    <>
      <header class="headed">
        <h1>{!of ? "There is no cluster to price yet." : !all ? "Prices" : all.length === 0 ? "There is no plan yet, because prices are missing." : `${count(all.filter(inForce).length, "price holds", "prices hold")} now in ${of}.`}</h1>
        <span class="actions">
          <Export kept={of ? [{ text: "CSV", href: `${at}csv`, file: `headroom-${of}-prices.csv` }, { text: "XLSX", href: `${at}xlsx`, file: `headroom-${of}-prices.xlsx` }, { text: "JSON", href: `/v1/clusters/${encodeURIComponent(of)}/prices?limit=1000`, file: `headroom-${of}-prices.json` }] : []} />
        </span>
      </header>
      {of && (
        <>
          <p class="tools">
            {field}
            <a href={addressOf(of, "contracts")}>Commitments</a>
            {write && (
              <>
                <button onClick={() => (edited.value = { vm_type: all?.[0]?.vm_type ?? "", price: "", from: new Date(Math.floor(now.value / 3_600_000) * 3_600_000).toISOString(), purchase: "on_demand" })}>Add a price</button>
                <button aria-expanded={sheet.value} onClick={() => (sheet.value = !sheet.value)}>Import a price sheet</button>
              </>
            )}
          </p>
          <Unless of={of} />
          {sheet.value && (
            <section class="card" aria-label="Price sheet">
              <Importer key={of} cluster={of} only="prices" done={() => prices.again()} />
            </section>
          )}
          <section class="card" aria-label="Prices">
            {failed.value && <p class="wrong" role="alert">{failed.value}</p>}
            <Shown of={prices} what="prices">
              {(rows) => (
                <DataTable
                  caption="Prices"
                  rows={rows}
                  name={(p) => p.id!}
                  file={[of, "prices"]}
                  filter={rows.length > 10}
                  one="price"
                  many="prices"
                  columns={[
                    {
                      key: "vm_type",
                      title: "VM type",
                      value: (p) => p.vm_type,
                      show: (p) =>
                        deleting.value.has(id(p)) ? (
                          <span>
                            Deleted. <button class="quiet" onClick={() => keep(id(p))}>Undo</button>
                          </span>
                        ) : (
                          <bdi>{p.vm_type}</bdi>
                        ),
                    },
                    { key: "purchase", title: "Bought", value: (p) => p.purchase ?? "on_demand", show: (p) => (p.purchase === "spot" ? "as spot" : "on demand") },
                    { key: "price", title: `A VM-hour, ${currency}`, value: (p) => p.price, show: (p) => money(units(p.price), currency), number: true },
                    { key: "from", title: "From", value: (p) => p.from, show: (p) => when(p.from) },
                    { key: "until", title: "Until", value: (p) => p.until ?? null, show: (p) => when(p.until) },
                    { key: "state", title: "Now", value: (p) => (inForce(p) ? "holds" : Date.parse(p.from) > now.value ? "to come" : "over") },
                    {
                      key: "do",
                      title: "",
                      onScreenOnly: true,
                      value: () => null,
                      show: (p) =>
                        write &&
                        !deleting.value.has(id(p)) && (
                          <span class="links">
                            <button class="quiet" aria-label={`Change the price of ${p.vm_type} from ${p.from}`} onClick={() => (edited.value = p)}>Change</button>
                            <button class="quiet" aria-label={`Delete the price of ${p.vm_type} from ${p.from}`} onClick={() => drop(p)}>Delete</button>
                          </span>
                        ),
                    },
                  ]}
                />
              )}
            </Shown>
          </section>
        </>
      )}
      {edited.value && (
        <Dialog title={edited.value.id ? "Change a price" : "Add a price"} close={() => (edited.value = null)}>
          <Form
            of={of}
            price={edited.value}
            done={() => {
              edited.value = null;
              prices.again();
            }}
          />
        </Dialog>
      )}
    </>
  );
}

function Form({ of, price, done }: { of: string; price: Price; done: () => void }) {
  const editing = useMemo(() => {
    const path = { cluster: of, id: price.id ?? "" };
    const send = async (p: Price, etag: string) => {
      p = { ...p, until: p.until ?? null };
      if (p.id) return ask("PUT /v1/clusters/{cluster}/prices/{id}", { path, body: p, match: etag });
      const types = await list("GET /v1/clusters/{cluster}/vm-types", { cluster: of });
      if (p.vm_type && !types.some((t) => t.name === p.vm_type)) await ask("POST /v1/clusters/{cluster}/vm-types", { path: { cluster: of }, body: { name: p.vm_type, in_use: !types.some((t) => t.in_use) } });
      return ask("POST /v1/clusters/{cluster}/prices", { path: { cluster: of }, body: p });
    };
    return new Editing<Price>({ value: price, etag: `"${price.version}"` }, () => entries, send, () => ask("GET /v1/clusters/{cluster}/prices/{id}", { path }), `price ${price.id ?? "new"} of ${of}`);
  }, [price]);
  return (
    <form
      class="stack"
      noValidate
      onSubmit={(e) => {
        e.preventDefault();
        void editing.save().then((taken) => taken && done());
      }}
    >
      <Refused of={editing} name={`the price of ${price.vm_type}`} />
      <Fields of={editing} entries={entries} />
      <Save of={editing} />
    </form>
  );
}
