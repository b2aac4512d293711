// Tables that people bring as files: RFC 4180, with commas, semicolons or tabs.

export interface Row {
  /** On which line of the file it begins, from 1. */
  line: number;
  cells: string[];
}

/** rowsOf reads a text's rows; of a text that is cut off, the last one may be half. */
export function rowsOf(text: string, most = Infinity): Row[] {
  const rows: Row[] = [];
  const from = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  const head = /^[^\r\n]*/.exec(text.slice(from))![0];
  const by = [",", ";", "\t"].map((c) => ({ c, n: head.split(c).length })).sort((a, b) => b.n - a.n)[0]!.c;
  let row: Row = { line: 1, cells: [] };
  let line = 1;
  const end = () => {
    if (row.cells.length > 1 || row.cells[0] !== "") rows.push(row);
    row = { line, cells: [] };
  };
  for (let i = from; i < text.length && rows.length < most; ) {
    let cell = "";
    if (text[i] === '"') {
      for (i++; i < text.length; i++) {
        const quote = text.indexOf('"', i);
        const part = text.slice(i, quote < 0 ? text.length : quote);
        cell += part;
        line += part.split("\n").length - 1;
        i = quote < 0 ? text.length : quote;
        if (text[i + 1] !== '"') break;
        cell += '"';
        i++;
      }
      i++;
    }
    const start = i;
    while (i < text.length && text[i] !== by && text[i] !== "\n" && text[i] !== "\r") i++;
    row.cells.push(cell + text.slice(start, i));
    if (text[i] === by) {
      i++;
      if (i < text.length && text[i] !== "\n" && text[i] !== "\r") continue;
      row.cells.push("");
    }
    if (text[i] === "\r") i++;
    if (text[i] === "\n") i++;
    line++;
    end();
  }
  if (row.cells.length > 0 && rows.length < most) end();
  return rows;
}
