// Import in four steps: the file, what it was recognised as, its first rows, and what came of it. Past runs may be many files.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { ask, faultsOf, Problem, upload } from "../api/client.ts";
import type { Applied, Class, Document, HistoryImport, PriceImport } from "../api/contract.ts";
import { classesOf, type Wrong, wrongOf } from "../model/classtable.ts";
import { chosen, dropped, type Found, type Log, logsOf } from "../model/logs.ts";
import { begin, type Beginning, type Brought, broughtTexts } from "../model/recognise.ts";
import { rowsOf } from "../model/rows.ts";
import { brief, count } from "../model/words.ts";
import { trouble } from "../state/cluster.ts";
import { may, refusal } from "../state/rights.ts";
import { DataTable } from "./table.tsx";

const whole = 8 << 20; // the most that a document may have

export interface Result {
  taken: boolean;
  said: string;
  wrong: Wrong[];
}

/** Checked is what an import would come to, and how to go on with it. */
type Checked = Result & { go?: () => Promise<Result> };

const bytes = (n: number) => (n >= 1e9 ? `${(n / 1e9).toFixed(2)} GB` : n >= 1e6 ? `${(n / 1e6).toFixed(1)} MB` : `${Math.ceil(n / 1e3)} kB`);
const stepTexts = ["Choose a file", "What it is", "First rows", "Result"];

interface Props {
  cluster: string;
  only?: Brought;
  /** What must be there before anything is sent. */
  before?: () => Promise<Result | null>;
  /** It is over; something was taken, or nothing. */
  done?: (kind: Brought, taken: boolean) => unknown;
}

export function Importer({ cluster, only, before, done }: Props) {
  const file = useSignal<File | null>(null);
  const logs = useSignal<Log[]>([]); // of past runs; the file is the first
  const beginning = useSignal<Beginning | null>(null);
  const kind = useSignal<Brought | null>(null);
  const checked = useSignal<Checked | null>(null);
  const result = useSignal<Result | null>(null);
  const sending = useSignal<{ sent: number; stop: AbortController } | null>(null);
  const region = useSignal("");
  const instance = useSignal("");
  const input = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement | null>(null);
  const over = useSignal(false);
  useEffect(() => () => sending.peek()?.stop.abort(), []);
  const step = result.value ? 3 : beginning.value ? 2 : 0;

  const choose = async (found: Found[]) => {
    const all = logsOf(found);
    const f = all[0]?.file;
    if (!f) return;
    sending.value?.stop.abort();
    checked.value = result.value = beginning.value = null;
    file.value = f;
    logs.value = all;
    const b = await begin(f);
    if (file.value !== f) return;
    beginning.value = b;
    kind.value = found.length > 1 ? "history" : (b.kind ?? null);
    if (kind.value && kind.value !== "history" && kind.value !== "prices") await check();
  };

  /** sendRuns uploads files of past runs one after the other. One that is refused does not keep back the others. */
  const sendRuns = async (dry: boolean, stop: AbortController): Promise<Result> => {
    const all = logs.value;
    const answers: HistoryImport[] = [];
    let gone = 0;
    for (const { file: f, wrong } of all) {
      try {
        if (wrong) {
          answers.push(within(f, all.length, { ...nothing, refused: { count: 1, first: [{ where: "the log", detail: wrong }] } }));
          continue;
        }
        answers.push(within(f, all.length, await upload("POST /v1/clusters/{cluster}/history-imports", { path: { cluster }, query: dry ? { dry_run: true } : {}, file: f, kind: "application/octet-stream", signal: stop.signal, sent: (n: number) => (sending.value = { sent: gone + n, stop }) })));
      } catch (e) {
        if (!(e instanceof Problem) || ![400, 413, 422].includes(e.status)) throw e;
        answers.push(within(f, all.length, { ...nothing, refused: { count: 1, first: [{ where: "the file", detail: e.message }] } }));
      }
      gone += f.size;
    }
    return historyResult(answers.reduce(both));
  };

  /** send uploads the file, telling how much of it has gone. */
  const send = async (dry: boolean): Promise<Result> => {
    const stop = new AbortController();
    sending.value = { sent: 0, stop };
    const asked = { path: { cluster }, file: file.value!, kind: "application/octet-stream", signal: stop.signal, sent: (n: number) => (sending.value = { sent: n, stop }) };
    const patterns = instance.value.split(/[\s,]+/).filter(Boolean);
    try {
      return kind.value === "history"
        ? await sendRuns(dry, stop)
        : priceResult(await upload("POST /v1/clusters/{cluster}/price-imports", { ...asked, query: { ...(dry ? { dry_run: true } : {}), ...(region.value ? { region: region.value } : {}), ...(patterns.length ? { instance: patterns } : {}) } }));
    } catch (e) {
      if (e instanceof DOMException) {
        const n = sending.value?.sent ?? 0;
        return { taken: false, wrong: [], said: `Cancelled after ${bytes(n)}. ${kind.value === "history" ? "The runs that had come whole by then stay." : "Nothing was imported."}` };
      }
      return refused(e, []);
    } finally {
      if (sending.value?.stop === stop) sending.value = null;
    }
  };

  const check = async () => {
    const of = file.value!;
    const c: Checked = await checks(kind.value!, of, cluster, () => send(true)).catch((e: unknown) => refused(e, []));
    if (file.value !== of) return; // another one has been chosen meanwhile
    checked.value = !c.go && kind.value === "prices" && c.taken ? { ...c, go: () => send(false) } : c;
  };
  const go = async () => {
    const of = file.value;
    const lacks = (await before?.()) ?? null;
    if (file.value !== of) return;
    checked.value = lacks ?? checked.value;
    if (lacks) return;
    const r = kind.value === "history" ? await send(false) : checked.value?.go ? await checked.value.go().catch((e: unknown) => refused(e, [])) : null;
    if (!r || file.value !== of) return;
    await done?.(kind.value!, r.taken);
    result.value = r;
  };
  const fits = kind.value !== null && (!only || kind.value === only) && kind.value !== "problem";
  const busy = sending.value;
  const size = logs.value.reduce((n, l) => n + l.file.size, 0);
  const many = logs.value.length > 1;
  return (
    <div class="stack">
      <ol class="steps" aria-label="Steps">
        {stepTexts.map((t, i) => (
          <li key={t} aria-current={i === step ? "step" : undefined}>
            {t}
          </li>
        ))}
      </ol>
      <label
        class={over.value ? "drop over" : "drop"}
        onDragOver={(e) => {
          e.preventDefault();
          over.value = true;
        }}
        onDragLeave={() => (over.value = false)}
        onDrop={(e) => {
          e.preventDefault();
          over.value = false;
          if (e.dataTransfer) void dropped(e.dataTransfer).then(choose);
        }}
      >
        <span>{file.value ? `${many ? count(logs.value.length, "file", "files") : file.value.name}, ${bytes(size)}` : asksFor(only)}</span>
        <input
          ref={input}
          type="file"
          multiple={only !== "prices"}
          disabled={!may("operator")}
          onClick={(e) => (e.currentTarget.value = "")} // the same file may be chosen again, mended
          onChange={(e) => void choose(chosen(e.currentTarget.files))}
        />
      </label>
      {only !== "prices" && (
        <p class="links">
          <button class="quiet" disabled={!may("operator")} onClick={() => folder.current?.click()}>Choose a folder of logs</button>
          <input
            ref={(e) => {
              folder.current = e;
              if (e) e.webkitdirectory = true;
            }}
            type="file"
            hidden
            onClick={(e) => (e.currentTarget.value = "")}
            onChange={(e) => void choose(chosen(e.currentTarget.files))}
          />
        </p>
      )}
      {beginning.value && (
        <>
          <p>
            {many ? "These are read as past runs of jobs." : kind.value ? `This is ${broughtTexts[kind.value]}.` : "This file is not known."}{" "}
            <span class="muted">{many ? "A file that is something else is left out, and told." : beginning.value.by}</span>
            {kind.value && !fits && (
              <>
                {" "}
                {kind.value === "problem" ? <a href="/welcome?way=paste">Make a cluster of it</a> : `Only ${broughtTexts[only!]} can be imported here.`}
              </>
            )}
          </p>
          {kind.value === "prices" && fits && (
            <div class="fields">
              <label class="field">
                <span class="strong small">Region, where the sheet has several</span>
                <input value={region.value} onInput={(e) => (region.value = e.currentTarget.value)} />
              </label>
              <label class="field">
                <span class="strong small">Only these instances, such as m5.*</span>
                <input value={instance.value} onInput={(e) => (instance.value = e.currentTarget.value)} />
              </label>
            </div>
          )}
          {busy && (
            <p class="tools">
              <progress max={size} value={busy.sent} aria-label="Sent" />
              <span role="status">
                Sent {bytes(busy.sent)} of {bytes(size)}.
              </span>
              <button onClick={() => busy.stop.abort()}>Cancel</button>
            </p>
          )}
          {!busy && !result.value && (
            <>
              {checked.value && <Told result={checked.value} checked />}
              {fits && (
                <p class="links">
                  {kind.value === "prices" && <button onClick={() => void check()}>Check it first</button>}
                  {(kind.value === "history" || checked.value?.go) && (
                    <button class="main" onClick={() => void go()}>
                      Import
                    </button>
                  )}
                </p>
              )}
            </>
          )}
          {result.value ? <Told result={result.value} /> : !many && <Preview of={beginning.value} />}
        </>
      )}
    </div>
  );
}

function Preview({ of }: { of: Beginning }) {
  const columns = (of.head ?? ["text"]).slice(0, 12);
  return (
    <DataTable
      caption="First rows"
      rows={of.rows}
      name={(r) => String(r.line)}
      columns={[{ key: "line", title: "Line", value: (r) => r.line, number: true }, ...columns.map((title, i) => ({ key: `c${i}`, title: title || " ", value: (r: Beginning["rows"][number]) => (r.cells[i] ?? "").slice(0, 200) }))]}
    />
  );
}

/** Told is what came of it, or would come. */
function Told({ result: r, checked }: { result: Result; checked?: boolean }) {
  return (
    <div class={r.taken || r.wrong.length === 0 ? "stack" : "stack bad-import"} role="status">
      <p class="strong">
        {r.said}
        {!r.taken && r.wrong.length > 0 && " Nothing was imported."}
        {r.taken && checked && " Nothing is changed yet."}
      </p>
      {r.wrong.length > 0 && (
        <DataTable
          caption="What is wrong"
          rows={r.wrong}
          name={(w) => `${w.row} ${w.field} ${w.detail}`}
          file={["import", "mistakes"]}
          one="mistake"
          many="mistakes"
          columns={[
            { key: "row", title: "Row", value: (w) => w.row },
            { key: "field", title: "Field", value: (w) => w.field },
            { key: "wrong", title: "What is wrong", value: (w) => w.detail },
            { key: "change", title: "What to change", value: (w) => w.change },
          ]}
        />
      )}
    </div>
  );
}

function refused(e: unknown, lines: number[]): Result {
  if (!(e instanceof Problem)) throw e;
  if (e.status === 401) trouble.value = e;
  const wrong = e.details?.errors?.length ? wrongOf(faultsOf(e), lines) : [];
  return { taken: false, wrong, said: wrong.length > 0 ? `${count(wrong.length, "mistake", "mistakes")}${wrong.length >= 50 ? " or more" : ""}.` : e.status === 412 ? `${refusal(e)} Nothing was imported; choose the file again.` : refusal(e) };
}

const summary = (a: Applied) => {
  const n = (action: string) => a.changes.filter((c) => c.action === action).length;
  return a.changes.length === 0 ? "Nothing is different." : `${n("create")} new, ${n("update")} changed, ${n("delete")} deleted.`;
};

/** checks asks what an import would come to; what it gives back can be gone on with where nothing is wrong. */
async function checks(kind: Brought, file: File, cluster: string, dry: () => Promise<Result>): Promise<Checked> {
  if (kind === "prices") return dry();
  if (file.size > whole) return { taken: false, wrong: [], said: `This file has ${bytes(file.size)}; ${broughtTexts[kind]} may have ${bytes(whole)}. Import it in parts.` };
  const text = await file.text();
  const path = { cluster };
  const there = await ask("GET /v1/clusters/{cluster}/document", { path });
  let body: Document;
  let lines: number[] = [];
  if (kind === "classes") {
    const read = classesOf(rowsOf(text), there!.value.classes ?? []);
    if (read.wrong.length > 0) return { taken: false, wrong: read.wrong, said: `${count(read.wrong.length, "mistake", "mistakes")} in ${count(read.lines.length, "row", "rows")}.` };
    const names = new Set(read.classes.map((c) => c.name));
    lines = read.lines;
    // The file's come first, so that what is wrong is told by their place.
    body = { cluster: there!.value.cluster, classes: [...read.classes, ...(there!.value.classes ?? []).filter((c: Class) => !names.has(c.name))] };
  } else {
    try {
      body = JSON.parse(text) as Document;
    } catch (e) {
      return { taken: false, wrong: [], said: `This cannot be read as JSON: ${e instanceof Error ? e.message : String(e)}` };
    }
    if (body.cluster?.name !== cluster) return { taken: false, wrong: [], said: `This document is of the cluster ${String(body.cluster?.name)}, and you are in ${cluster}. Open that one, or write ${cluster} into the document.` };
  }
  try {
    const would = await ask("PUT /v1/clusters/{cluster}/document", { path, query: { dry_run: true }, body });
    const of = kind === "classes" ? `${count(lines.length, "class", "classes")}: ` : "";
    return {
      taken: true,
      wrong: [],
      said: of + summary(would!.value),
      go: async () => {
        try {
          const answer = await ask("PUT /v1/clusters/{cluster}/document", { path, body, match: there!.etag });
          return { taken: true, wrong: [], said: `Imported. ${of}${summary(answer!.value)}` };
        } catch (e) {
          return refused(e, lines);
        }
      },
    };
  } catch (e) {
    return refused(e, lines);
  }
}

const asksFor = (only?: Brought) =>
  only === "prices" ? "Drop a price sheet here, or choose one" : only === "history" ? "Drop logs of past runs here, or choose them: many files at once" : "Drop a file here, or choose one: classes as CSV, a document, or past runs (many files at once)";

const none = { count: 0, first: [] };
const nothing: HistoryImport = { dry_run: false, executions: 0, created: 0, updated: 0, unchanged: 0, unusable: none, refused: none, bytes: 0, jobs: [], more_jobs: 0 };

/** within says of which of several files something was left out. */
function within(f: File, files: number, h: HistoryImport): HistoryImport {
  if (files === 1) return h;
  return { ...h, refused: { ...h.refused, first: h.refused.first.map((r) => ({ ...r, where: `${f.name}, ${r.where}` })) } };
}

/** both is what two imports came to together. */
function both(a: HistoryImport, b: HistoryImport): HistoryImport {
  const sum = (of: "executions" | "created" | "updated" | "unchanged" | "bytes" | "more_jobs") => a[of] + b[of];
  const told = (of: "unusable" | "refused") => ({ count: a[of].count + b[of].count, first: [...a[of].first, ...b[of].first] });
  const known = new Set(a.jobs.map((j) => j.job)); // the figures of a job are told nowhere
  return { dry_run: a.dry_run, executions: sum("executions"), created: sum("created"), updated: sum("updated"), unchanged: sum("unchanged"), unusable: told("unusable"), refused: told("refused"), bytes: sum("bytes"), jobs: [...a.jobs, ...b.jobs.filter((j) => !known.has(j.job))], more_jobs: sum("more_jobs") };
}

function historyResult(h: HistoryImport): Result {
  const wrong = [...h.refused.first, ...h.unusable.first].map((r) => ({ row: r.where, field: "", detail: brief(r.detail), change: h.executions === 0 ? "Mend it and import it again." : "It was left out." }));
  if (h.executions === 0) return { taken: false, wrong, said: "There is no run in it that can be taken." };
  return {
    taken: true,
    wrong,
    said: `${count(h.executions, "run", "runs")} of ${count(h.jobs.length + h.more_jobs, "job", "jobs")} in ${bytes(h.bytes)}: ${h.created} new, ${h.updated} changed, ${h.unchanged} known already, ${h.unusable.count} of which no profile can be made, ${h.refused.count} refused.`,
  };
}

function priceResult(p: PriceImport): Result {
  const of = (what: string, c: PriceImport["prices"]) => `${what}: ${c.created} new, ${c.updated} changed, ${c.unchanged} known`;
  return { taken: true, wrong: [], said: `${p.dry_run ? "This would be taken over" : "Imported"}. ${of("Prices", p.prices)}; ${of("VM types", p.vm_types)}; ${of("offers", p.offers)}.` };
}
