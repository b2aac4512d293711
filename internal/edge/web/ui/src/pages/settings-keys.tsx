// Keys: who may ask what. A new key's secret is shown once.
import { useSignal } from "@preact/signals";
import { ask, faultsOf, list, Problem } from "../api/client.ts";
import type { CreatedKey, Fault, Key, Role } from "../api/contract.ts";
import { clock } from "../model/time.ts";
import { how, read } from "../model/typed.ts";
import { count } from "../model/words.ts";
import { Export } from "../parts/export.tsx";
import { Shown } from "../parts/fetched.tsx";
import { Choice, Field, Mistakes } from "../parts/form.tsx";
import { Name } from "../parts/name.tsx";
import { DataTable } from "../parts/table.tsx";
import { now } from "../state/clock.ts";
import { session, trouble } from "../state/cluster.ts";
import { useDraft } from "../state/drafts.ts";
import { useFetched } from "../state/fetched.ts";
import { may } from "../state/rights.ts";

const roles: { word: Role; text: string }[] = [
  { word: "viewer", text: "viewer: reads" },
  { word: "planner", text: "planner: also solves and plans" },
  { word: "operator", text: "operator: also changes inputs" },
  { word: "admin", text: "admin: also keys and the audit log" },
  { word: "agent", text: "agent: for programs beside the jobs" },
];

const moment = (text: string | null) => (text ? clock(new Date(text), "UTC", new Date(now.peek())) : "never");

function state(k: Key): string {
  if (k.revoked_at) return `revoked ${moment(k.revoked_at)}`;
  return k.expires_at && Date.parse(k.expires_at) <= now.value ? "over" : "in use";
}

export function Keys() {
  const keys = useFetched(() => (may("admin") ? list("GET /v1/keys", {}) : Promise.resolve(null)), session.value?.id);
  const asked = useSignal("");
  const failed = useSignal("");
  const revoke = async (k: Key) => {
    asked.value = failed.value = "";
    try {
      await ask("DELETE /v1/keys/{id}", { path: { id: k.id } });
      keys.again();
    } catch (e) {
      if (!(e instanceof Problem)) throw e;
      failed.value = e.message;
    }
  };
  const live = keys.value.value?.filter((k) => state(k) === "in use").length;
  return (
    <>
      <header class="headed">
        <h1>{live === undefined ? "Keys" : live === 0 ? "No key that was made here is in use." : `${count(live, "key opens", "keys open")} Headroom.`}</h1>
        <span class="actions">
          <Export kept={may("admin") ? [{ text: "CSV", href: "/v1/keys?format=csv", file: "headroom-keys.csv" }, { text: "XLSX", href: "/v1/keys?format=xlsx", file: "headroom-keys.xlsx" }, { text: "JSON", href: "/v1/keys", file: "headroom-keys.json" }] : []} />
        </span>
      </header>
      {!may("admin") && <p class="banner">Your key may not see keys. Ask an administrator for the role admin.</p>}
      {may("admin") && (
        <>
          <NewKey made={() => keys.again()} />
          <section class="card" aria-label="Keys">
            {failed.value && <p class="wrong" role="alert">{failed.value}</p>}
            <Shown of={keys} what="keys">
              {(all) => (
                <DataTable
                  caption="Keys"
                  rows={all}
                  name={(k) => k.id}
                  file={["keys"]}
                  filter
                  one="key"
                  many="keys"
                  columns={[
                    { key: "name", title: "Name", value: (k) => k.name, show: (k) => <Name of={k.name} /> },
                    { key: "role", title: "Role", value: (k) => k.role },
                    { key: "clusters", title: "Clusters", value: (k) => k.clusters?.join(", ") ?? "all" },
                    { key: "created_at", title: "Made", value: (k) => k.created_at, show: (k) => moment(k.created_at) },
                    { key: "created_by", title: "By", value: (k) => k.created_by },
                    { key: "expires_at", title: "Ends", value: (k) => k.expires_at, show: (k) => moment(k.expires_at) },
                    { key: "state", title: "State", value: state },
                    {
                      key: "revoke",
                      title: "",
                      onScreenOnly: true,
                      value: () => null,
                      show: (k) =>
                        state(k) !== "in use" ? null : asked.value === k.id ? (
                          <span>
                            It opens nothing any more, at once. <button class="quiet" onClick={() => void revoke(k)}>Revoke it</button> <button class="quiet" onClick={() => (asked.value = "")}>Keep it</button>
                          </span>
                        ) : (
                          <button class="quiet" aria-label={`Revoke ${k.name}`} onClick={() => (asked.value = k.id)}>Revoke</button>
                        ),
                    },
                  ]}
                />
              )}
            </Shown>
          </section>
        </>
      )}
    </>
  );
}

function NewKey({ made }: { made: () => void }) {
  const name = useDraft("name of a key", "");
  const role = useDraft<Role>("role of a key", "viewer");
  const of = useDraft("clusters of a key", "");
  const until = useDraft("end of a key", "");
  const faults = useSignal<Fault[]>([]);
  const key = useSignal<CreatedKey | null>(null);
  const copied = useSignal(false);
  const busy = useSignal(false);
  const make = async () => {
    if (busy.value) return; // twice would be two keys
    const expires = read("moment", until.value, null);
    if (expires === undefined) {
      faults.value = [{ code: "unreadable", pointer: "/expires_at", detail: how.moment }];
      return;
    }
    const names = of.value.split(/[\s,]+/).filter(Boolean);
    const sent = [name, of, until].map((field) => ({ field, text: field.value }));
    busy.value = true;
    try {
      const answer = await ask("POST /v1/keys", { path: {}, body: { name: name.value.trim(), role: role.value, clusters: names.length ? names : null, expires_at: expires as string | null }, key: crypto.randomUUID() });
      key.value = answer!.value;
      faults.value = [];
      for (const { field, text } of sent) if (field.value === text) field.value = "";
      role.value = "viewer";
      copied.value = false;
      made();
    } catch (e) {
      if (!(e instanceof Problem)) throw e;
      if (e.status === 401) trouble.value = e;
      faults.value = faultsOf(e);
    } finally {
      busy.value = false;
    }
  };
  const secret = key.value?.token ?? "";
  return (
    <form
      class="card"
      noValidate
      aria-labelledby="new-key"
      onSubmit={(e) => {
        e.preventDefault();
        void make();
      }}
    >
      <h2 id="new-key">Make a key</h2>
      <Mistakes faults={faults.value} />
      {secret && (
        <div class="banner" role="status">
          <label for="secret">
            The secret of <bdi>{key.value!.name}</bdi>. It is shown this once and stored nowhere:
          </label>
          <input id="secret" class="secret" readOnly value={secret} onFocus={(e) => e.currentTarget.select()} />
          <button type="button" onClick={() => void navigator.clipboard.writeText(secret).then(() => (copied.value = true))}>{copied.value ? "Copied" : "Copy"}</button>
          <button type="button" class="quiet" onClick={() => (key.value = null)}>I have it</button>
        </div>
      )}
      <div class="fields">
        <Field pointer="/name" label="Name" value={name.value} put={(t) => (name.value = t)} faults={faults.value} hint="Who or what uses it; it stands in the audit log." />
        <Choice pointer="/role" label="Role" value={role.value} put={(w) => (role.value = w as Role)} words={roles} />
        <Field pointer="/clusters" label="Only clusters" value={of.value} put={(t) => (of.value = t)} faults={faults.value} hint="Names with commas; empty is all." />
        <Field pointer="/expires_at" label="Ends" value={until.value} put={(t) => (until.value = t)} faults={faults.value} hint="Such as 2026-03-01 22:00, in UTC; empty is never." />
      </div>
      <p>
        <button class="main" disabled={busy.value}>Make the key</button>
      </p>
    </form>
  );
}
