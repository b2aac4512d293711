import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { fileName, save } from "../model/files.ts";
import type { Column } from "../model/table.ts";
import { clock } from "../model/time.ts";
import { DataTable } from "../parts/table.tsx";
import { now } from "../state/clock.ts";
import { cluster, current } from "../state/cluster.ts";
import { pngOf, svgOf } from "./picture.ts";

/** Cursor is the point that is read: of which series, and which of its points. */
export type Cursor = { series: number; point: number } | null;

interface Props<R> {
  title: string;
  /** What the chart shows, in a sentence. */
  said: string;
  columns: Column<R>[];
  rows: R[];
  name: (row: R) => string;
  /** What each point of each series says when it is read. */
  points: string[][];
  /** What files are called after the product, the cluster and its plan. */
  file: string;
  /** Enter opens the point that is read. */
  open?: (c: NonNullable<Cursor>) => void;
  cursor?: Signal<Cursor>;
  /** What the chart shows stands beside it already: its title and sentence are for those who do not see it. */
  bare?: boolean;
  /** It stands right below the page's title. */
  top?: boolean;
  /** What its colours mean. */
  legend?: ComponentChildren;
  children: (cursor: Signal<Cursor>) => ComponentChildren;
}

/** Figure is a chart with what makes it readable for everyone: a sentence, a line that reads the point under
 *  the pointer or the keys, the table behind it, and files of both. */
export function Figure<R>({ title, said, columns, rows, name, points, file, open, cursor: given, bare, top, legend, children }: Props<R>) {
  const own = useSignal<Cursor>(null);
  const cursor = given ?? own;
  const table = useSignal(false);
  const slot = useRef<HTMLDivElement>(null);
  useEffect(() => {
    cursor.value = null;
  }, [points.length, points[0]?.length]);

  const words = [cluster.value?.name ?? "", ...(current.value ? ["plan", current.value.plan.number] : []), file];
  const heads = () => {
    const zone = cluster.value?.time_zone ?? "UTC";
    const of = current.value ? `, plan ${current.value.plan.number}` : "";
    return [title, `${cluster.value?.name ?? "Headroom"}${of}, ${new Date(now.value).toISOString().slice(0, 10)} ${clock(new Date(now.value), zone, new Date(now.value))}`];
  };
  const drawing = () => slot.current!.querySelector("svg");
  const picture = async (kind: "svg" | "png") => {
    const d = drawing();
    if (!d) return;
    const svg = svgOf(d, heads());
    save(fileName(kind, ...words), kind === "svg" ? new Blob([svg.text], { type: "image/svg+xml" }) : await pngOf(svg));
  };
  const step = (series: number, point: number) => {
    const s = Math.min(Math.max(series, 0), points.length - 1);
    const many = points[s]?.length ?? 0;
    if (many > 0) cursor.value = { series: s, point: Math.min(Math.max(point, 0), many - 1) };
  };
  const onKey = (e: KeyboardEvent) => {
    const at = cursor.value;
    const { series, point } = at ?? { series: 0, point: -1 };
    const last = (points[series]?.length ?? 1) - 1;
    const moves: Record<string, () => void> = {
      ArrowRight: () => step(series, point + 1),
      ArrowLeft: () => step(series, point - 1),
      ArrowUp: () => step(series - 1, Math.max(point, 0)),
      ArrowDown: () => step(series + 1, Math.max(point, 0)),
      Home: () => step(series, 0),
      End: () => step(series, last),
      Escape: () => (cursor.value = null),
      Enter: () => at && open?.(at),
    };
    const move = moves[e.key];
    if (!move || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    move();
  };
  const pointer = useSignal<{ x: number; y: number; room: number } | null>(null);
  const follow = (e: PointerEvent) => {
    const r = slot.current!.getBoundingClientRect();
    pointer.value = e.pointerType === "touch" ? null : { x: e.clientX - r.left, y: e.clientY - r.top, room: r.width };
  };
  const read = cursor.value && points[cursor.value.series]?.[cursor.value.point];
  return (
    <figure class="figure">
      <figcaption class={bare ? "hidden" : undefined}>
        {top ? <h2>{title}</h2> : <h3>{title}</h3>}
        <p class="small muted">{said}</p>
      </figcaption>
      {table.value ? (
        <DataTable caption={title} columns={columns} rows={rows} name={name} file={words} />
      ) : (
        <div ref={slot} class="plot" role="img" aria-label={`${said} The arrow keys read its points.`} tabIndex={0} onKeyDown={onKey} onPointerMove={follow} onPointerLeave={() => (pointer.value = null)}>
          {children(cursor)}
          {read && pointer.value && <Tip at={pointer.value} said={read} />}
        </div>
      )}
      {legend}
      <div class="foot">
        {!table.value && (
          <p class="readout small" aria-live="polite">
            {read ?? <span class="muted">Point at the chart, or read it with the arrow keys.</span>}
          </p>
        )}
        <p class="links small">
          <button class="quiet" aria-expanded={table.value} onClick={() => (table.value = !table.value)}>
            {table.value ? "Show the chart" : "Show as table"}
          </button>
          {!table.value && (
            <>
              <button class="quiet" onClick={() => void picture("png")}>PNG</button>
              <button class="quiet" onClick={() => void picture("svg")}>SVG</button>
            </>
          )}
        </p>
      </div>
    </figure>
  );
}

/** Tip is the point that is read, beside the pointer: on the side where there is room. The line below says it to all. */
function Tip({ at: { x, y, room }, said }: { at: { x: number; y: number; room: number }; said: string }) {
  return (
    <p class="tip small" aria-hidden="true" style={{ top: `${y + 20}px`, ...(x < room / 2 ? { left: `${x + 12}px` } : { right: `${room - x + 12}px` }) }}>
      {said}
    </p>
  );
}
