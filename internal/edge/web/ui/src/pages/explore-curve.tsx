// The curve over a knob, or the grid over two, beside the answer: the other changes are in force at every point.
import { useEffect, useRef } from "preact/hooks";
import { monthly, type Range, said } from "../model/sweep.ts";
import { inText, lower } from "../model/words.ts";
import { Asking } from "../parts/asking.tsx";
import { useDraft } from "../state/drafts.ts";
import { base } from "../state/edits.ts";
import { asked, between, compute, discard, draw, drawn, goOn, of, outdated, ranges, sweep, turn, why } from "../state/curves.ts";
import { lazy } from "../parts/lazy.tsx";
import { Line } from "./explore-line.tsx";

const Grid = lazy(async () => (await import("./explore-grid.tsx")).Grid);

export function Curve() {
  const card = useRef<HTMLElement>(null);
  useEffect(() => {
    if (document.activeElement?.closest(".knob")) card.current!.scrollIntoView({ block: "nearest" }); // somebody asked for it there
  }, [drawn.value.join()]);
  const s = sweep.value;
  const there = s !== null && s.points.length > 0 && of.value.length > 0;
  const cost = base.value?.plan.cost;
  const reason = why.value;
  return (
    <section ref={card} class={there || asked.since.value === 0 ? "card" : "card curve coming"} aria-labelledby="curve">
      <header>
        <h2 id="curve">{drawn.value.length > 1 ? "Grid over two" : `Curve over ${inText(lower(ranges.value[0]?.of.label ?? ""))}`}</h2>
        <button class="quiet" onClick={() => draw()}>Take away</button>
      </header>
      <p class="strong">{there ? said(of.value, s, cost ? monthly(cost.total, cost.period_s) : null) : asked.since.value > 0 ? "Computing the curve …" : "There is no curve yet."}</p>
      <Asking of={asked} />
      {outdated.value && asked.since.value === 0 && (
        <div class="banner" role="status">
          The newest change is not in this yet: it takes a while.
          <button class="quiet" onClick={compute}>Draw it anew</button>
        </div>
      )}
      {reason !== null && asked.since.value === 0 && (
        <div class="banner" role="alert">
          Stopped at {s?.points.length ?? 0} of {s?.total ?? asked.run.value!.progress.total}: {reason}. {there ? `The ${s.points.length} points are shown.` : "There are no points."}
          {there && <button class="quiet" onClick={goOn}>Go on</button>}
          <button class="quiet" onClick={discard}>Discard</button>
        </div>
      )}
      {there && (
        <>
          {s.vary.length > 1 ? <Grid /> : <Line sweep={s} of={of.value} />}
          {s.points.some((p) => p.conflict) && <p class="small muted">Where there is no plan: {s.points.find((p) => p.conflict)!.conflict}</p>}
        </>
      )}
      <Spans key={drawn.value.join()} />
    </section>
  );
}

type Typed = Record<"from" | "to" | "n", string>;

/** Spans are from where to where it is drawn, and with how many points. */
function Spans() {
  const typed = useDraft<Typed[] | null>("range", null);
  const all = ranges.value;
  const at = typed.value?.length === all.length ? typed.value : all.map((r) => ({ from: String(r.from), to: String(r.to), n: String(r.n) }));
  const send = (e: Event) => {
    e.preventDefault();
    typed.value = null;
    between(at.map((t) => ({ from: Number(t.from), to: Number(t.to), n: Number(t.n) })));
  };
  return (
    <form class="stack" onSubmit={send}>
      {all.map((r, i) => (
        <Span key={r.of.key} of={r} value={at[i]!} put={(more) => (typed.value = at.map((t, j) => (j === i ? { ...t, ...more } : t)))} send={i === all.length - 1} many={all.length > 1} />
      ))}
    </form>
  );
}

function Span({ of: { of }, value, put, send, many }: { of: Range; value: Typed; put: (more: Partial<Typed>) => void; send: boolean; many: boolean }) {
  const one = (label: string, key: keyof Typed, after: string) => (
    <div class="field">
      <label>
        {label}{" "}
        <span>
          <input type="text" inputMode="decimal" required pattern="\d{1,12}(\.\d{1,9})?" value={value[key]} onInput={(e) => put({ [key]: e.currentTarget.value.trim() })} /> {after}
        </span>
      </label>
    </div>
  );
  return (
    <div class="inline" role="group" aria-label={of.label}>
      {many && (
        <p class="strong axis">
          <bdi>{of.label}</bdi>
        </p>
      )}
      {one("from", "from", of.unit)}
      {one("to", "to", of.unit)}
      {one("points", "n", "")}
      {send && <button type="submit">Compute</button>}
      {many && <button type="button" class="quiet" onClick={() => turn(of.key)}>Take <span class="hidden">{of.label} </span>away</button>}
    </div>
  );
}
