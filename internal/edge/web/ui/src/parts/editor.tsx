// The form of something that is stored: its fields, its mistakes, its Save, and what to do when somebody else
// was faster.
import { type ComponentChildren, Fragment } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { leaves } from "../model/pointer.ts";
import { useUnsaved } from "../state/drafts.ts";
import type { Editing, Entry } from "../state/editing.ts";
import { faster, lacking, may } from "../state/rights.ts";
import { Choice, Field, Mistakes } from "./form.tsx";
import { DataTable } from "./table.tsx";

/** Unless says that the key may not change a cluster, or clusters at all. */
export function Unless({ of }: { of?: string }) {
  if (may("operator")) return null;
  return (
    <p class="banner">
      <span>{lacking("operator", of ?? "")}</span>
    </p>
  );
}

export function Fields<T extends object>({ of, entries }: { of: Editing<T>; entries: Entry[] }) {
  return (
    <div class="fields">
      {entries.map((e) =>
        e.words ? (
          <Choice key={e.pointer} pointer={e.pointer} label={e.label} value={of.text(e)} put={(w) => of.put(e, w)} words={e.words} {...(e.hint ? { hint: e.hint } : {})} />
        ) : (
          <Field
            key={e.pointer}
            pointer={e.pointer}
            label={e.label}
            value={of.text(e)}
            put={(t) => of.put(e, t)}
            faults={of.faults.value}
            kind={e.kind === "count" || e.kind === "number" || e.kind === "money" ? "number" : "text"}
            {...(e.hint ? { hint: e.hint } : {})}
            {...(e.unit ? { unit: e.unit } : {})}
          />
        ),
      )}
    </div>
  );
}

/** Refused is what stands above a form: what is wrong with it, or who was faster, with both versions. It comes into view
 *  by itself, for Save may be far below. */
export function Refused<T extends object>({ of, name }: { of: Editing<T>; name: string }) {
  useUnsaved(of.draft, of.dirty);
  const c = of.conflict.value;
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.scrollIntoView({ block: "nearest" }), [c]);
  if (!c) return <Mistakes faults={of.faults.value} />;
  if (!c.theirs)
    return (
      <div ref={box} class="banner error" role="alert">
        <span>{faster(c.by, c.at, name, "deleted")}</span>
      </div>
    );
  const mine = leaves(of.value().value);
  const theirs = leaves(c.theirs.value);
  const differ = [...new Set([...mine.keys(), ...theirs.keys()])].filter((k) => mine.get(k) !== theirs.get(k) && !/^(\/class)?\/(version|created_at|updated_at|inputs_version)$/.test(k));
  const entries = new Map(of.entries(of.base.value.value).map((e) => [e.pointer, e.label]));
  return (
    <div ref={box} class="banner error stack" role="alert">
      <span>{faster(c.by, c.at, name)}</span>
      <span class="links">
        <button type="button" class="quiet" onClick={() => void of.mine()}>Keep mine</button>
        <button type="button" class="quiet" onClick={() => of.discard()}>Take theirs</button>
      </span>
      <DataTable
        caption="Both versions"
        rows={differ}
        name={(k) => k}
        columns={[
          { key: "field", title: "Field", value: (k) => entries.get(k) ?? k.slice(1) },
          { key: "mine", title: "Mine", value: (k) => mine.get(k) ?? null },
          { key: "theirs", title: "Theirs", value: (k) => theirs.get(k) ?? null },
        ]}
      />
    </div>
  );
}

/** Save is the end of a form. */
export function Save<T extends object>({ of, text = "Save", children }: { of: Editing<T>; text?: string; children?: ComponentChildren }) {
  return (
    <Fragment>
      <p class="links">
        <button class="main" disabled={of.saving.value}>
          {text}
        </button>
        {children}
        <span role="status" class="small muted">
          {of.saving.value ? "Saving …" : of.saved.value ? "Saved." : of.restored.value ? "Not saved yet: what you typed before is here again." : of.dirty ? "Not saved yet." : ""}
        </span>
        {of.restored.value && !of.conflict.value && <button type="button" class="quiet" onClick={() => of.discard()}>Discard it</button>}
      </p>
    </Fragment>
  );
}
