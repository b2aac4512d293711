// What can be changed: a few controls at first, and a list of all the others.
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { JobAnswer, ProblemClass } from "../api/contract.ts";
import { ask } from "../api/client.ts";
import { planned } from "../model/planned.ts";
import { axisOf, type Knob, keyOf } from "../model/scenario.ts";
import { count } from "../model/words.ts";
import { hint, KnobControl } from "../parts/knob.tsx";
import { drawn } from "../state/curves.ts";
import { base, edits, offered } from "../state/edits.ts";
import { useFetched } from "../state/fetched.ts";

export function Change() {
  return (
    <section class="card change" aria-labelledby="change">
      <h2 id="change">Change</h2>
      <p class="small muted" id={hint}>
        Those first that change the plan soonest. Move a slider, or type a value: arrow keys move one step, Page keys ten.
      </p>
      <Knobs />
    </section>
  );
}

const closest = 5; // knobs that change the plan soonest, shown at first

function Knobs() {
  const shown = useSignal<string[]>([]);
  const from = base.value;
  if (!from) return <p class="muted late">Reading plan …</p>;
  const all = offered.value;
  const soonest = all.slice(0, closest);
  const largest = [...(from.problem.supply.contracts ?? [])].sort((a, b) => b.vms - a.vms)[0]?.name;
  const first = (k: Knob) => soonest.includes(k) || ["price:on_demand", "demand:*", "budget:vm_month", `contract:${largest}`].includes(keyOf(k));
  const of = new Set([...edits.value.map(keyOf), ...shown.value]);
  const visible = all.filter((k) => first(k) || of.has(keyOf(k)) || drawn.value.includes(axisOf(k) ?? ""));
  const seen = new Set(visible);
  const classes = new Map(from.problem.classes.map((c) => [c.name, c]));
  return (
    <>
      <Listed knobs={visible} classes={classes} added={shown.value.at(-1)} />
      <AddChange hidden={all.filter((k) => !seen.has(k))} add={(k) => (shown.value = [...shown.value, keyOf(k)])} />
    </>
  );
}

/** Listed is the knobs; one that is added takes the focus, since setting it is what comes next. */
function Listed({ knobs, classes, added }: { knobs: Knob[]; classes: Map<string, ProblemClass>; added: string | undefined }) {
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => list.current!.children[knobs.findIndex((k) => keyOf(k) === added)]?.querySelector("input")?.focus(), [added]);
  return (
    <div ref={list} class="knobs">
      {knobs.map((k) => (
        <Timed key={keyOf(k)} knob={k} of={k.what === "deadline" ? classes.get(k.name) : undefined} />
      ))}
    </div>
  );
}

/** Timed is a knob; a deadline's has the time below which no number of VMs helps. */
function Timed({ knob, of }: { knob: Knob; of: ProblemClass | undefined }) {
  const fastest = useFetched(() => (of ? fastestOf(of) : Promise.resolve(null)), base.value?.number, knob.name).value.value;
  const edit = edits.value.find((e) => keyOf(e) === keyOf(knob));
  return fastest === null ? <KnobControl knob={knob} edit={edit} /> : <KnobControl knob={knob} edit={edit} fastest={fastest} />;
}

/** fastestOf is the shortest possible time of a class, on the type of VMs where that is least. */
async function fastestOf(c: ProblemClass): Promise<number | null> {
  if (!c.demand && !c.profile) return null;
  const answer = c.profile ? ((await ask("POST /v1/bounds", { path: {}, body: { kind: "job", jobs: 1, profile: c.profile, slots: { map: 1, reduce: 1 }, share: { map: 1, reduce: 1 } } }))!.value as JobAnswer) : null;
  const speeds = base.value?.problem.supply.vm_types?.map((v) => c.speed?.[v.name] ?? 1).filter((s) => s > 0) ?? [1];
  const bound = base.value?.problem.options?.bound ?? "average";
  const fixed = Math.min(...speeds.map((s) => planned(c, answer?.coefficients ?? null, c.profile?.overhead_s ?? 0, bound, s)[2]));
  return fixed > 0 && fixed < Infinity ? fixed : null;
}

const groups: Knob["group"][] = ["Classes", "Prices", "Contracts", "Limits"];
const most = 60;

/** AddChange lists what else can be changed, and finds it by any of its words. */
function AddChange({ hidden, add }: { hidden: Knob[]; add: (k: Knob) => void }) {
  const open = useSignal(false);
  const word = useSignal("");
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (open.value) box.current?.querySelector<HTMLElement>("input")?.focus();
  }, [open.value]);
  if (hidden.length === 0) return null;
  const words = word.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = hidden.filter((k) => words.every((w) => k.label.toLowerCase().includes(w)));
  const close = () => {
    open.value = false;
    word.value = "";
  };
  const choose = (k: Knob) => {
    add(k);
    close();
  };
  const onKey = (e: KeyboardEvent) => {
    const items = [...box.current!.querySelectorAll<HTMLElement>("input, .choices button")];
    const at = items.indexOf(document.activeElement as HTMLElement);
    if (e.key === "Escape") {
      close();
      box.current!.querySelector("button")!.focus();
    } else if (e.key === "Enter" && at === 0 && found[0]) choose(found[0]);
    else if (e.key === "ArrowDown") items[Math.min(at + 1, items.length - 1)]?.focus();
    else if (e.key === "ArrowUp") items[Math.max(at - 1, 0)]?.focus();
    else return;
    e.preventDefault();
  };
  return (
    <div ref={box} class="stack">
      <p>
        <button aria-expanded={open.value} onClick={() => (open.value ? close() : (open.value = true))}>
          Add a change
        </button>
      </p>
      {open.value && (
        <div class="choices stack" onKeyDown={onKey}>
          <label>
            <span class="hidden">Find what to change</span>
            <input type="search" placeholder="Find what to change" value={word.value} onInput={(e) => (word.value = e.currentTarget.value)} />
          </label>
          <p class="hidden" role="status">
            {count(found.length, "change", "changes")} found
          </p>
          {groups.map((g) => {
            const of = found.slice(0, most).filter((k) => k.group === g);
            return (
              of.length > 0 && (
                <div key={g} role="group" aria-label={g}>
                  <h3>{g}</h3>
                  {of.map((k) => (
                    <button key={keyOf(k)} class="quiet" onClick={() => choose(k)}>
                      <bdi>{k.label}</bdi>
                    </button>
                  ))}
                </div>
              )
            );
          })}
          <p class="small muted">{found.length === 0 ? "Nothing has these words." : found.length > most ? `The first ${most} of ${found.length}; type a word to find others.` : ""}</p>
        </div>
      )}
    </div>
  );
}
