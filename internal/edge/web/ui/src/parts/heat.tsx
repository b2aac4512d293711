import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";

/** Cell is one point of a grid: a number as people read it, and how far up the ramp it stands, from 0 to 1. */
export interface Cell {
  text: string;
  /** Null is a point without a plan, undefined one that is not planned yet. */
  level: number | null | undefined;
  said: string;
  best: boolean;
  open?: () => void;
}

const steps = 7;

/** Head is a column or a row; now is what is in force. */
export interface Head {
  text: string;
  now: boolean;
}

const headed = ({ text, now }: Head) => (
  <>
    {text}
    {now && <span class="small now">now</span>}
  </>
);

/** HeatTable is a grid of points as a table: arrow keys go from cell to cell, Enter opens one. */
export function HeatTable({ caption, across, down, columns, rows, cells, read }: { caption: string; across: string; down: string; columns: Head[]; rows: Head[]; cells: Cell[][]; read: (c: Cell | null) => void }) {
  const at = useSignal<[number, number]>([0, 0]);
  const table = useRef<HTMLTableElement>(null);
  const row = Math.min(at.value[0], rows.length - 1);
  const column = Math.min(at.value[1], columns.length - 1);
  const go = (i: number, j: number) => {
    at.value = [Math.min(Math.max(i, 0), rows.length - 1), Math.min(Math.max(j, 0), columns.length - 1)];
    table.current!.querySelector<HTMLElement>(`[data-at="${at.value.join(" ")}"]`)!.focus();
  };
  const onKey = (e: KeyboardEvent) => {
    const moves: Record<string, () => void> = {
      ArrowRight: () => go(row, column + 1),
      ArrowLeft: () => go(row, column - 1),
      ArrowDown: () => go(row + 1, column),
      ArrowUp: () => go(row - 1, column),
      Home: () => go(row, 0),
      End: () => go(row, columns.length - 1),
      PageUp: () => go(0, column),
      PageDown: () => go(rows.length - 1, column),
      Enter: () => cells[row]![column]!.open?.(),
    };
    const move = moves[e.key];
    if (!move || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    move();
  };
  return (
    <>
    <p class="small muted">
      Across: <bdi>{across}</bdi>. Down: <bdi>{down}</bdi>.
    </p>
    <div class="wide heat" role="group" aria-label={caption} tabIndex={0}>
      <table ref={table} role="grid" onKeyDown={onKey} onFocusOut={() => read(null)}>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            <td class="corner" />
            {columns.map((c) => (
              <th key={c.text} scope="col" class="number">
                {headed(c)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((r, i) => (
            <tr key={r.text}>
              <th scope="row" class="number">
                {headed(r)}
              </th>
              {cells[i]!.map((c, j) => (
                <td
                  key={columns[j]!.text}
                  data-at={`${i} ${j}`}
                  tabIndex={i === row && j === column ? 0 : -1}
                  class={`number${c.level == null ? (c.level === null ? " impossible" : " unknown") : ` heat-${1 + Math.min(steps - 1, Math.floor(c.level * steps))}`}${c.best ? " best" : ""}`}
                  onFocus={() => {
                    at.value = [i, j];
                    read(c);
                  }}
                  onPointerEnter={() => read(c)}
                  onClick={() => {
                    go(i, j);
                    c.open?.();
                  }}
                >
                  {c.text}
                  {c.best && <span class="hidden"> cheapest</span>}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
    </>
  );
}
