// Explore: one moves things and sees at once what the plan would do, and draws curves over them.
import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect } from "preact/hooks";
import { Problem } from "../api/client.ts";
import { fileName, save as keep } from "../model/files.ts";
import { letters } from "../model/pins.ts";
import { csv } from "../model/table.ts";
import { change } from "../model/scenario.ts";
import { columnsOf } from "../model/sweep.ts";
import { saidOf } from "../model/words.ts";
import { Banner } from "../parts/banner.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Export, type Kept } from "../parts/export.tsx";
import { lazy } from "../parts/lazy.tsx";
import { Menu } from "../parts/menu.tsx";
import { Unplanned } from "../parts/noplan.tsx";
import { toClipboard } from "../state/clipboard.ts";
import { cluster, current } from "../state/cluster.ts";
import { useDraft } from "../state/drafts.ts";
import { base, canRedo, canUndo, edits, longest, pins, redo, save, savedWrong, setPins, startOver, undo, unread, wantedBase } from "../state/edits.ts";
import { narrow } from "../state/narrow.ts";
import { asked, begin as beginCurves, draw, drawn, merged, of, sheet, sweep, unknown } from "../state/curves.ts";
import { answered, begin, compareWith, inFull, wrong } from "../state/whatif.ts";
import { Change } from "./explore-change.tsx";
import { refusal } from "../state/rights.ts";
import { route } from "../state/route.ts";

const outcome = () => import("./explore-answer.tsx");
const Strip = lazy(async () => (await outcome()).Strip, 0);
const Outcome = lazy(async () => (await outcome()).Outcome, 250);
const Apply = lazy(async () => (await import("./explore-apply.tsx")).Apply, 0);
const Pinned = lazy(async () => (await import("./explore-pins.tsx")).Pinned, 0);

export function Explore() {
  useLayoutEffect(begin, [route.value.cluster]); // all anew where another one is chosen
  useLayoutEffect(beginCurves, [route.value.cluster]);
  useEffect(() => {
    const onKey = (e: KeyboardEvent) => {
      if (!(e.ctrlKey || e.metaKey) || e.key.toLowerCase() !== "z" || (e.target as Element).matches("input:not([type=range], [type=checkbox]), textarea")) return;
      e.preventDefault();
      if (e.shiftKey) redo();
      else undo();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  if (!current.value && !base.value) return <Unplanned />;
  const from = base.value;
  return (
    <>
      <div class="headed">
        {from && <p class="small muted">Compared with plan {number(from.number)}</p>}
        <Actions />
      </div>
      <Notices />
      <Strip />
      <div class={drawn.value.length > 0 ? "split drawn" : "split"}>
        <Change />
        <div class="stack">
          <Outcome />
          {pins.value.length > 0 && <Pinned />}
        </div>
      </div>
    </>
  );
}

const number = (n: number) => new Intl.NumberFormat("en-US").format(n);

/** Notices are what of a link is not as it says. */
function Notices() {
  const kept = useSignal(0);
  const from = base.value;
  const now = current.value?.plan.number;
  const wanted = wantedBase.value;
  const not = [...unread.value, ...unknown.value.map((k) => `x=${k}`)];
  const afresh = () => {
    startOver();
    if (unknown.value.length > 0) draw();
  };
  return (
    <>
      {not.length > 0 && (
        <Banner
          said={
            <>
              Part of this link could not be read: <bdi>{not.slice(0, 3).map((u) => u.slice(0, 60)).join(", ")}</bdi>
              {not.length > 3 ? ` and ${not.length - 3} more` : ""}. The rest was applied.
            </>
          }
        >
          <button class="quiet" onClick={afresh}>Start over</button>
        </Banner>
      )}
      {savedWrong.value && <Banner error said={saidOf(savedWrong.value)} />}
      {!from && wanted > 0 && wrong.value && now !== undefined && (
        <Banner error said={`Plan ${number(wanted)}, which this link compares with, cannot be had: ${saidOf(wrong.value)}`}>
          <button class="quiet" onClick={() => compareWith(now)}>Compare with {number(now)}</button>
        </Banner>
      )}
      {from && now !== undefined && now !== from.number && kept.value !== now && (
        <Banner said={`This link compares with plan ${number(from.number)}. The cluster is now at ${number(now)}.`}>
          <button class="quiet" onClick={() => (kept.value = now)}>Keep</button>
          <button class="quiet" onClick={() => compareWith(now)}>Compare with {number(now)}</button>
        </Banner>
      )}
    </>
  );
}

function Actions() {
  const copied = useSignal(false);
  const long = useSignal(false);
  const shown = useSignal(false);
  const applies = useSignal<"asked" | "done" | null>(null);
  if (applies.value === "done" && edits.value.length > 0) applies.value = null;
  const copy = async () => {
    if (location.href.length > longest) {
      long.value = true;
      return;
    }
    if (!(await toClipboard(location.href))) {
      shown.value = true;
      return;
    }
    copied.value = true;
    setTimeout(() => (copied.value = false), 2000);
  };
  const pin = () => {
    const letter = letters.find((l) => !pins.value.some((p) => p.letter === l));
    if (letter) setPins([...pins.value, { letter, name: `Scenario ${letter}`, edits: edits.value }].sort((a, b) => (a.letter < b.letter ? -1 : 1)));
  };
  const buttons = (
    <>
      <button disabled={!canUndo.value} onClick={undo}>Undo</button>
      <button disabled={!canRedo.value} onClick={redo}>Redo</button>
      <button disabled={edits.value.length === 0} onClick={startOver}>Start over</button>
      <button onClick={() => void copy()}>{copied.value ? "Copied" : "Copy link"}</button>
    </>
  );
  return (
    <>
      <div class="actions">
        {narrow.value ? <Menu title="More">{buttons}</Menu> : buttons}
        <Export kept={files()} />
        <button disabled={edits.value.length === 0 || pins.value.length >= letters.length} onClick={pin}>Pin this</button>
        <button class="main" disabled={edits.value.length === 0 || !base.value} onClick={() => (applies.value = "asked")}>Apply …</button>
      </div>
      {applies.value === "done" && <Banner said="Applied. The plan made anew is what further changes are compared with." />}
      {applies.value === "asked" && <Apply close={() => (applies.value = null)} done={() => (applies.value = "done")} />}
      {long.value && <Save close={() => (long.value = false)} />}
      {shown.value && (
        <Dialog title="Copy link" close={() => (shown.value = false)}>
          <label class="field">
            This link has everything that is changed and pinned
            <input readOnly value={location.href} onFocus={(e) => e.currentTarget.select()} />
          </label>
        </Dialog>
      )}
    </>
  );
}

/** files are the answer, and the curve that is drawn. */
function files(): Kept[] {
  const a = answered.value;
  const b = base.value;
  if (!a || !b) return [];
  const words = [cluster.value?.name ?? "", "plan", b.number, "what-if"];
  const changes = edits.value.map((e) => change(e, b.problem));
  return [
    { text: "CSV", press: async () => { const t = (await outcome()).changesTable(await inFull(a), b.number); keep(fileName("csv", ...words), new Blob([csv(t.columns, t.rows)], { type: "text/csv" })); } },
    { text: "JSON", press: async () => { const { base, scenarios } = await inFull(a); keep(fileName("json", ...words), new Blob([JSON.stringify({ plan: b.number, changes, base, scenario: scenarios[0] }, null, 2)], { type: "application/json" })); } },
    ...curveFiles(),
  ];
}

function curveFiles(): Kept[] {
  const s = sweep.value;
  if (!s || of.value.length === 0 || s.points.length === 0) return [];
  const words = [cluster.value?.name ?? "", "plan", base.value!.number, "curve"];
  const run = merged.value ? null : asked.run.value;
  return [
    { text: "Curve as CSV", press: () => keep(fileName("csv", ...words), new Blob([csv(columnsOf(of.value, s), s.points)], { type: "text/csv" })) },
    { text: "Curve as JSON", press: () => keep(fileName("json", ...words), new Blob([JSON.stringify(s, null, 2)], { type: "application/json" })) },
    run?.result_url ? { text: "Curve as XLSX", href: `${run.result_url}?format=xlsx`, file: fileName("xlsx", ...words) } : { text: "Curve as XLSX", press: async () => keep(fileName("xlsx", ...words), await sheet(s)) },
  ];
}

/** Save keeps changes that are too many for a link. */
function Save({ close }: { close: () => void }) {
  const name = useDraft("scenario", "");
  const said = useSignal("");
  const send = async (e: Event) => {
    e.preventDefault();
    const b = base.value;
    if (!b) return;
    try {
      await save(name.value.trim(), b.problem);
      name.value = "";
      if (location.href.length > longest) {
        said.value = "The scenario is saved. The link is still long because of what is pinned: remove a pin.";
        return;
      }
      await toClipboard(location.href);
      close();
    } catch (e) {
      if (!(e instanceof Problem)) throw e;
      said.value = refusal(e);
    }
  };
  return (
    <Dialog title="Copy link" close={close}>
      <form class="stack" onSubmit={(e) => void send(e)}>
        <p>Save this scenario first; the link will then be short.</p>
        <div class="field">
          <label for="scenario">Name of the scenario</label>
          <input id="scenario" maxLength={60} required value={name.value} aria-describedby="scenario-wrong" onInput={(e) => (name.value = e.currentTarget.value)} />
          <p class="small wrong" id="scenario-wrong" role="alert">{said.value}</p>
        </div>
        <p>
          <button class="main">Save and copy link</button>
        </p>
      </form>
    </Dialog>
  );
}
