import { useSignal } from "@preact/signals";
import { parse, show, unitOf } from "../model/fields.ts";
import { axisOf, type Edit, fromPlace, type Knob, keyOf, partOf, places, rounded, stepOf, tooLarge, toPlace, valueText } from "../model/scenario.ts";
import { commit, move } from "../state/edits.ts";
import { drawn, turn } from "../state/curves.ts";

/** Of the knobs that are moved together with one hint: what it is called in their descriptions. */
export const hint = "knobs-hint";

/** standing is what a knob stands at; null is no limit. */
function standing(knob: Knob, edit: Edit | undefined): number | null {
  if (!edit) return knob.now;
  if (edit.value === "none") return null;
  return edit.op === "x" ? (knob.now ?? 0) * Number(edit.value) : Number(edit.value);
}

/** KnobControl changes one thing: a slider, a field, what it is now and where the plan changes its mind. What
 *  may be there or not has a box to tick first. */
export function KnobControl({ knob, edit, fastest }: { knob: Knob; edit: Edit | undefined; fastest?: number }) {
  const key = keyOf(knob);
  const id = `knob-${key.replace(/[^a-zA-Z0-9]/g, (c) => `_${c.codePointAt(0)!.toString(36)}`)}`;
  if (knob.kind === "switch") {
    const on = edit ? edit.value === "upper" : knob.now === 1;
    return (
      <div class="knob">
        <label class="tick">
          <input
            type="checkbox"
            checked={on}
            onChange={(e) => {
              const wanted = e.currentTarget.checked ? 1 : 0;
              move(wanted === knob.now ? null : { what: knob.what, name: knob.name, op: "=", value: wanted ? "upper" : "average" }, key);
              commit();
            }}
          />
          {knob.label}
        </label>
      </div>
    );
  }
  const value = standing(knob, edit);
  const put = (v: number | null) => {
    if (v === knob.now) return move(null, key);
    const op = knob.kind === "percent" && v !== null ? "x" : "=";
    move({ what: knob.what, name: knob.name, op, value: v === null ? "none" : valueText(v) }, key);
  };
  if (knob.first === undefined) return <Slider knob={knob} id={id} value={value ?? 0} put={put} fastest={fastest} />;
  return (
    <div class="knob">
      <label class="tick">
        <input
          type="checkbox"
          checked={value !== null}
          onChange={(e) => {
            put(e.currentTarget.checked ? (knob.now ?? knob.first!) : null);
            commit();
          }}
        />
        {knob.label}
      </label>
      {value !== null && <Slider knob={{ ...knob, label: knob.what === "budget" ? "Most for VMs a month" : "Most VMs on demand" }} id={id} value={value} put={put} fastest={undefined} />}
    </div>
  );
}

function Slider({ knob, id, value, put, fastest }: { knob: Knob; id: string; value: number; put: (v: number | null) => void; fastest: number | undefined }) {
  const axis = axisOf(knob);
  const typed = useSignal<string | null>(null);
  const refused = useSignal(false);
  const set = (v: number | null) => {
    put(v);
    commit();
  };
  const take = () => {
    if (typed.value === null) return;
    const v = parse(knob.kind, typed.value, knob.now ?? value);
    refused.value = v === null || v >= tooLarge;
    if (v === null || refused.value) return;
    set(knob.kind === "count" ? Math.round(v) : v);
    typed.value = null;
  };
  const steps: Record<string, number> = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 };
  const onKey = (e: KeyboardEvent) => {
    const to = steps[e.key] ? value + steps[e.key]! * stepOf(knob, value) : e.key === "Home" ? knob.least : e.key === "End" ? knob.most : null;
    if (to === null) return;
    e.preventDefault();
    typed.value = null;
    put(rounded(knob, to));
  };
  const said = `${show(knob.kind, value)}${unitOf[knob.kind] && ` ${unitOf[knob.kind]}`}`;
  return (
    <div class={knob.first === undefined ? "knob" : "knob inner"}>
      <div class="line">
        <label for={id}>
          <bdi>{knob.label}</bdi>
        </label>
        <span>
          <input
            id={id}
            type="text"
            inputMode={knob.kind === "duration" ? "text" : "decimal"}
            autocomplete="off"
            aria-describedby={`${id}-now ${hint}`}
            aria-invalid={refused.value}
            value={typed.value ?? show(knob.kind, value)}
            onInput={(e) => (typed.value = e.currentTarget.value)}
            onChange={take}
            onKeyDown={(e) => {
              if (e.key === "Enter") take();
              if (e.key === "Escape") {
                typed.value = null;
                refused.value = false;
              }
            }}
          />{" "}
          {unitOf[knob.kind]}
        </span>
      </div>
      <div class="slide">
        {fastest !== undefined && fastest > knob.least && <span class="tooFast" style={{ width: `${partOf(knob, fastest) * 100}%` }} />}
        <input
          type="range"
          min={0}
          max={places}
          step={1}
          value={toPlace(knob, value)}
          aria-label={knob.label}
          aria-valuetext={said}
          aria-describedby={hint}
          onInput={(e) => {
            typed.value = null;
            put(fromPlace(knob, Number(e.currentTarget.value)));
          }}
          onChange={() => commit()}
          onKeyDown={onKey}
          onKeyUp={(e) => (steps[e.key] || e.key === "Home" || e.key === "End") && commit()}
          onDblClick={() => set(knob.now)}
        />
      </div>
      <p class={knob.kind === "duration" ? "small muted hints" : "small muted"} id={`${id}-now`}>
        {refused.value ? (
          <span class="strong">This cannot be read. Type {knob.kind === "duration" ? "18 min, 0:18:00" : "a number"}, +10 % or x1.2.</span>
        ) : (
          <>
            <button class="quiet" onClick={() => set(knob.now)}>
              now {show(knob.kind, knob.now)}
              {knob.kind === "percent" ? " %" : ""}
            </button>
            {knob.flip !== null && knob.flip > 0 && (
              <>
                {" · "}
                <button class="quiet" onClick={() => set(knob.flip)}>
                  changes mind at {show(knob.kind, knob.flip)}
                </button>
              </>
            )}
            {axis !== null && (
              <>
                {" · "}
                <button class="quiet" aria-pressed={drawn.value.includes(axis)} onClick={() => turn(axis)}>
                  {drawn.value.includes(axis) ? (drawn.value.length > 1 ? "take it out of the grid" : "take its curve away") : drawn.value.length === 0 ? "draw a curve over this" : "draw a grid over this too"}
                </button>
              </>
            )}
            {fastest !== undefined && <> · fastest possible {show("duration", fastest)}</>}
          </>
        )}
      </p>
    </div>
  );
}
