// A table as it is shown, sorted, copied and written to files: the same columns for all of them.
import type { ComponentChildren } from "preact";

export interface Column<R> {
  key: string;
  title: string;
  /** The whole value, as files have it; null is unknown, which is never shown as zero. */
  value: (row: R) => string | number | null;
  /** How people see it; the value as it stands where there is nothing better. */
  show?: (row: R) => ComponentChildren;
  number?: boolean;
  /** It is not shown, but files have it. */
  inFilesOnly?: boolean;
  /** It is for pressing, and in no file. */
  onScreenOnly?: boolean;
}

const collator = new Intl.Collator("en", { numeric: true });

/** compare orders rows by a column, upwards or downwards; what is unknown comes last either way. */
export function compare<R>(c: Column<R>, a: R, b: R, down: boolean): number {
  const x = c.value(a);
  const y = c.value(b);
  if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1;
  return (down ? -1 : 1) * (c.number ? Number(x) - Number(y) : collator.compare(String(x), String(y)));
}

/** csv is the table as RFC 4180 has it. A text that a spreadsheet would take for a formula gets an apostrophe. */
export function csv<R>(columns: Column<R>[], rows: R[]): string {
  const line = (cells: string[]) => cells.map((c) => (/[",\r\n]/.test(c) ? `"${c.replaceAll('"', '""')}"` : c)).join(",") + "\n";
  columns = columns.filter((c) => !c.onScreenOnly);
  return line(columns.map((c) => guard(c.key))) + rows.map((r) => line(columns.map((c) => cell(c, r)))).join("");
}

/** tsv is what is copied: spreadsheets paste it into cells. */
export function tsv<R>(columns: Column<R>[], rows: R[]): string {
  const line = (cells: string[]) => cells.map((c) => c.replace(/[\t\r\n]+/g, " ")).join("\t") + "\n";
  columns = columns.filter((c) => !c.onScreenOnly);
  return line(columns.map((c) => guard(c.title))) + rows.map((r) => line(columns.map((c) => cell(c, r)))).join("");
}

function cell<R>(c: Column<R>, row: R): string {
  const v = c.value(row);
  if (v === null) return "";
  const text = String(v);
  return c.number ? text : guard(text);
}

/** guard puts an apostrophe before what a spreadsheet may take for a formula: also full-width, and after spaces. */
export function guard(text: string): string {
  return startsFormula.test(text) ? `'${text}` : text;
}

/** unguard takes it away again. */
export function unguard(text: string): string {
  return text.startsWith("'") && startsFormula.test(text.slice(1)) ? text.slice(1) : text;
}

const startsFormula = /^(?:[\t\r\n]|\s*[=+\-@＝＋－＠])/;
