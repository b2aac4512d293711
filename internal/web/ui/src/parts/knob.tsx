import { useSignal } from "@preact/signals";
import { parse, show, unitOf } from "../model/fields.ts";
import { type Edit, fromPlace, type Knob, keyOf, places, toPlace } from "../model/scenario.ts";
import { commit, move } from "../state/whatif.ts";

/** KnobControl changes one thing: a slider, a field, what it is now and where the plan changes its mind. */
export function KnobControl({ knob, edit }: { knob: Knob; edit: Edit | undefined }) {
  const typed = useSignal<string | null>(null);
  const refused = useSignal(false);
  const key = keyOf(knob);
  const id = `knob-${key.replace(/[^a-zA-Z0-9]/g, "_")}`;
  const value = edit ? (edit.op === "x" ? (knob.now ?? 0) * Number(edit.value) : Number(edit.value)) : knob.now;

  const set = (v: number | null) => {
    if (v === null || v === knob.now) return move(null, key);
    const op = knob.kind === "percent" ? "x" : "=";
    move({ what: knob.what, name: knob.name, op, value: String(Number(v.toPrecision(12))) }, key);
  };
  const take = () => {
    if (typed.value === null) return;
    const v = parse(knob.kind, typed.value, knob.now);
    refused.value = v === null;
    if (v === null) return;
    set(knob.kind === "count" ? Math.round(v) : v);
    commit();
    typed.value = null;
  };
  return (
    <div class="knob">
      <div class="line">
        <label for={id}>
          <bdi>{knob.label}</bdi>
        </label>
        <span>
          <input
            id={id}
            type="text"
            inputMode={knob.kind === "duration" ? "text" : "decimal"}
            aria-describedby={`${id}-now`}
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
      <input
        type="range"
        min={0}
        max={places}
        step={1}
        value={value === null ? places : toPlace(knob, value)}
        aria-label={knob.label}
        aria-valuetext={show(knob.kind, value)}
        onInput={(e) => {
          typed.value = null;
          set(fromPlace(knob, Number(e.currentTarget.value)));
        }}
        onChange={commit}
        onDblClick={() => {
          set(null);
          commit();
        }}
      />
      <p class="small muted" id={`${id}-now`}>
        {refused.value ? (
          <span class="strong">This cannot be read. Type {knob.kind === "duration" ? "18 min, 0:18:00" : "a number"}, +10 % or x1.2.</span>
        ) : (
          <>
            <button class="quiet" onClick={() => (set(null), commit())}>
              now {show(knob.kind, knob.now)}
              {knob.kind === "percent" ? " %" : ""}
            </button>
            {knob.flip !== null && knob.flip > 0 && (
              <>
                {" · "}
                <button class="quiet" onClick={() => (set(knob.flip), commit())}>
                  changes mind at {show(knob.kind, knob.flip)}
                </button>
              </>
            )}
          </>
        )}
      </p>
    </div>
  );
}
