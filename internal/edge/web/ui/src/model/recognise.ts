// What a file is, by its first bytes. Files may have gigabytes: no more than their beginning is read here.
import { type Row, rowsOf } from "./rows.ts";

export type Brought = "classes" | "document" | "problem" | "history" | "prices";

export const broughtTexts: Record<Brought, string> = {
  classes: "a table of classes",
  document: "a cluster as one document",
  problem: "a problem, as headroom solve takes it",
  history: "past runs of jobs",
  prices: "a price sheet",
};

export interface Beginning {
  kind: Brought | null;
  /** What it was known by. */
  by: string;
  /** The head of a table, and the first rows; of other files the first lines. */
  head: string[] | null;
  rows: Row[];
}

const looked = 64 * 1024;
const previewed = 20;

/** begin reads the beginning of a file, unpacking it where that can be done here. */
export async function begin(file: Blob): Promise<Beginning> {
  const bytes = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  if (bytes[0] === 0x28 && bytes[1] === 0xb5) return { kind: "history", by: "It is packed with zstd; Headroom looks into it.", head: null, rows: [] };
  const packed = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const text = packed ? await unpacked(file) : new TextDecoder().decode(await file.slice(0, looked).arrayBuffer());
  const found = known(text);
  return { ...found, by: packed ? `${found.by} It is packed with gzip.` : found.by };
}

async function unpacked(file: Blob): Promise<string> {
  const reader = file.slice(0, looked).stream().pipeThrough(new DecompressionStream("gzip")).getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    while (text.length < looked) {
      const { value, done } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    // The slice ends in the middle of what is packed.
  }
  void reader.cancel().catch(() => {});
  return text;
}

function known(text: string): Beginning {
  const lines = () =>
    text
      .split("\n")
      .slice(0, previewed)
      .map((l, i) => ({ line: i + 1, cells: [l.slice(0, 200)] }));
  const other = (kind: Brought | null, by: string): Beginning => ({ kind, by, head: null, rows: lines() });
  if (text.startsWith("Avro-Json")) return other("history", "It is a job history of Hadoop.");
  if (/^\s*[{[]/.test(text)) {
    if (text.includes('"SparkListener')) return other("history", "It is an event log of Spark.");
    if (/"(offerCode|formatVersion)"/.test(text)) return other("prices", "It is an offer file of AWS.");
    if (/"supply"\s*:/.test(text)) return other("problem", "It has a supply and classes.");
    if (/"cluster"\s*:\s*\{/.test(text)) return other("document", "It has a cluster.");
    if (/"(jobID|am\.type)"/.test(text)) return other("history", "It is a trace of Rumen or of the load simulator.");
    return other(null, "It is JSON of a kind that Headroom does not know.");
  }
  const rows = rowsOf(text, previewed + 8);
  const head = rows[0]?.cells ?? [];
  const has = (...names: string[]) => names.every((n) => head.some((h) => h.trim().toLowerCase() === n));
  const table = (kind: Brought, by: string): Beginning => ({ kind, by, head, rows: rows.slice(1, previewed + 1) });
  if (head[0] === "FormatVersion") return table("prices", "It is an offer file of AWS, as CSV.");
  if (has("vm_type", "price_per_hour")) return table("prices", "It has the columns vm_type and price_per_hour.");
  if (has("job", "task", "kind")) return table("history", "It has a row for each task of each job.");
  if (has("name", "penalty")) return table("classes", "It has the columns name and penalty.");
  return other(null, "Its first line names no columns that Headroom knows: name and penalty (classes), job, task and kind (past runs), or vm_type and price_per_hour (prices).");
}
