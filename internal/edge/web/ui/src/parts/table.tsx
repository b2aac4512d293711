import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { fileName, save } from "../model/files.ts";
import { type Column, compare, csv, tsv } from "../model/table.ts";
import { count } from "../model/words.ts";
import { printing } from "../state/printing.ts";

const usual = 100;

interface Props<R> {
  /** What the table is of, for those who do not see where it stands. */
  caption: string;
  columns: Column<R>[];
  rows: R[];
  name: (row: R) => string;
  /** What the file is called after the product's name; without it the table is not written to one. */
  file?: (string | number)[];
  /** By which column it is sorted at first; as it comes without. */
  sort?: string;
  /** Rows may be looked for by these words. */
  filter?: boolean;
  one?: string;
  many?: string;
  /** How many rows are shown at a time. */
  onPage?: number;
  /** Stands before the tools at the right. */
  children?: ComponentChildren;
}

/** DataTable sorts, looks for rows, shows a hundred at a time, and is copied and saved whole. Where there is
 *  little room each row is a block, with the columns' names in it. */
export function DataTable<R>({ caption, columns, rows, name, file, sort, filter, one = "row", many = "rows", onPage = usual, children }: Props<R>) {
  const by = useSignal(sort ?? "");
  const down = useSignal(false);
  const word = useSignal("");
  const page = useSignal(0);
  const copied = useSignal(false);
  const shown = columns.filter((c) => !c.inFilesOnly);
  const most = printing.value ? Number.MAX_SAFE_INTEGER : onPage;
  const column = columns.find((c) => c.key === by.value);
  const sought = word.value.trim().toLowerCase();
  const found = sought ? rows.filter((r) => columns.some((c) => String(c.value(r) ?? "").toLowerCase().includes(sought))) : rows;
  const ordered = column ? [...found].sort((a, b) => compare(column, a, b, down.value)) : found;
  const pages = Math.max(1, Math.ceil(ordered.length / most));
  const at = Math.min(page.value, pages - 1);
  const order = (key: string) => {
    down.value = by.value === key && !down.value;
    by.value = key;
  };
  const copy = async () => {
    await navigator.clipboard.writeText(tsv(columns, ordered));
    copied.value = true;
    setTimeout(() => (copied.value = false), 2000);
  };
  return (
    <div class="stack">
      {(filter || file || children) && (
        <div class="tools">
          {filter && (
            <label>
              <span class="hidden">Filter {many}</span>
              <input
                type="search"
                placeholder="Filter"
                value={word.value}
                onInput={(e) => {
                  word.value = e.currentTarget.value;
                  page.value = 0;
                }}
              />
            </label>
          )}
          {children}
          {file && (
            <span class="end">
              <button type="button" class="quiet" onClick={() => void copy()}>{copied.value ? "Copied" : "Copy"}</button>
              <button type="button" class="quiet" onClick={() => save(fileName("csv", ...file), new Blob([csv(columns, ordered)], { type: "text/csv" }))}>CSV</button>
            </span>
          )}
        </div>
      )}
      <div class="wide" role="group" aria-label={caption} tabIndex={0}>
        <table class="data" role="table">
          <caption class="hidden">{caption}</caption>
          <thead role="rowgroup">
            <tr role="row">
              {shown.map((c) => (
                <th key={c.key} role="columnheader" scope="col" class={c.number ? "number" : ""} aria-sort={by.value !== c.key ? "none" : down.value ? "descending" : "ascending"}>
                  {c.title && (
                    <button type="button" class="sort" onClick={() => order(c.key)}>
                      {c.title}
                      <span aria-hidden="true">{by.value !== c.key ? "" : down.value ? " ▾" : " ▴"}</span>
                    </button>
                  )}
                </th>
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {ordered.slice(at * most, (at + 1) * most).map((r) => (
              <tr key={name(r)} role="row">
                {shown.map((c) => (
                  <td key={c.key} role="cell" class={c.number ? "number" : ""}>
                    {c.title && <span class="narrow muted">{c.title} </span>}
                    {c.show ? c.show(r) : c.number ? (c.value(r) ?? "–") : <bdi>{c.value(r) ?? "–"}</bdi>}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {(ordered.length > most || sought) && (
        <p class="small muted">
          {ordered.length === 0
            ? `No ${one} has these words.`
            : `Showing ${at * most + 1} to ${Math.min((at + 1) * most, ordered.length)} of ${count(ordered.length, one, many)}.`}{" "}
          {at > 0 && <button type="button" class="quiet" onClick={() => (page.value = at - 1)}>Before</button>} {at < pages - 1 && <button type="button" class="quiet" onClick={() => (page.value = at + 1)}>Next</button>}
        </p>
      )}
    </div>
  );
}
