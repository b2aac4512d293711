// Long questions: answered at once where that is soon, by a run otherwise. What there is until then is shown
// meanwhile; a run's id stands in the address, so that the same address shows its answer again.
import { batch, type Signal, signal } from "@preact/signals";
import { ask, file, get, Problem } from "../api/client.ts";
import type { Operations, Run } from "../api/contract.ts";
import { choose } from "./route.ts";
import { ended, followRun, isRun } from "./runs.ts";

type Long = { [N in keyof Operations]: N extends `POST ${string}` ? (Run extends Operations[N]["answer"] ? N : never) : never }[keyof Operations];

export class Asked<T> {
  readonly value: Signal<T | null> = signal(null);
  /** The run that works on it, or has. */
  readonly run: Signal<Run | null> = signal(null);
  readonly problem: Signal<Problem | null> = signal(null);
  /** Since when it is worked on; 0 is not. */
  readonly since = signal(0);
  /** What it was asked about, for those who ask only once. */
  about = "";
  #stop = () => {};
  #newest = 0;

  constructor(
    readonly kind: string,
    /** Its run stands in the address. */
    readonly inAddress = true,
  ) {}

  /** start asks; what was shown stays until there is an answer. Where the service takes the question in another
   *  form only, other gives it. */
  async start<N extends Long>(name: N, path: Operations[N]["path"], body: Operations[N]["body"], other: (p: Problem) => Operations[N]["body"] | null = () => null): Promise<void> {
    const mine = this.#begin();
    if (this.inAddress) choose("run", null);
    const abort = new AbortController();
    this.#stop = () => abort.abort();
    try {
      const answer = (await ask(name, { path, body, signal: abort.signal }))!.value;
      if (mine !== this.#newest) return;
      if (isRun(answer)) {
        if (this.inAddress) choose("run", answer.id);
        this.#follow(answer, mine);
      } else this.#end(mine, answer as T, null);
    } catch (e) {
      if (mine !== this.#newest) return;
      const again = e instanceof Problem ? other(e) : null;
      if (again) return this.start(name, path, again);
      this.#fail(e, mine);
    }
  }

  /** show is start for a run that is there already; false says that there is no such run of this kind, and that
   *  nothing else was asked meanwhile. */
  async show(id: string): Promise<boolean> {
    const mine = this.#begin();
    try {
      const run = await get("GET /v1/runs/{id}", { id });
      if (mine !== this.#newest) return true;
      if (run.kind === this.kind) {
        this.#follow(run, mine);
        return true;
      }
    } catch (e) {
      if (!(e instanceof Problem && e.status === 404)) {
        this.#fail(e, mine);
        return true;
      }
    }
    if (mine !== this.#newest) return true;
    this.since.value = 0;
    return false;
  }

  cancel(): void {
    const run = this.run.value;
    if (run && !ended(run)) void ask("DELETE /v1/runs/{id}", { path: { id: run.id } }).catch((e: unknown) => this.#fail(e, this.#newest));
    else if (this.since.value) {
      this.leave();
    }
  }

  /** leave stops following; a run goes on. */
  leave(): void {
    if (this.since.value > 0) this.about = ""; // there will be no answer to it
    this.since.value = 0;
    this.#newest++;
    this.#stop();
    this.#stop = () => {};
  }

  forget(): void {
    this.leave();
    batch(() => {
      this.value.value = this.run.value = this.problem.value = null;
      this.since.value = 0;
    });
  }

  #begin(): number {
    this.leave();
    batch(() => {
      this.run.value = this.problem.value = null;
      this.since.value = Date.now();
    });
    return this.#newest;
  }

  #follow(first: Run, mine: number): void {
    const stop = followRun(first, (r) => {
      if (mine !== this.#newest) return;
      this.run.value = r;
      if (r.result_url) void this.#read(r, mine);
      else if (ended(r)) this.#end(mine, null, r);
    });
    if (mine !== this.#newest) stop();
    else this.#stop = stop;
  }

  async #read(r: Run, mine: number): Promise<void> {
    try {
      const value = (r.result ?? (await get("GET /v1/runs/{id}/result", { id: r.id }))) as T;
      if (mine !== this.#newest) return;
      if (ended(r)) this.#end(mine, value, r);
      else if (!ended(this.run.value ?? r)) this.value.value = value;
    } catch (e) {
      // What a run has until now may be elsewhere, or the run may just have ended.
      if (ended(r)) this.#fail(e, mine);
    }
  }

  #end(mine: number, value: T | null, run: Run | null): void {
    if (mine !== this.#newest) return;
    batch(() => {
      if (value !== null) this.value.value = value;
      if (run) this.run.value = run;
      this.since.value = 0;
    });
  }

  #fail(e: unknown, mine: number): void {
    if (mine !== this.#newest) return;
    this.since.value = 0;
    if (e instanceof DOMException && e.name === "AbortError") return;
    if (!(e instanceof Problem)) throw e;
    this.problem.value = e;
  }
}

/** stopped says why a run ended before its end; null where it did not. */
export function stopped(r: Run | null): string | null {
  if (!r || !ended(r) || r.state === "succeeded") return null;
  return r.state === "cancelled" ? "it was cancelled" : (r.error?.detail.replace(/\.$/, "") ?? "it failed");
}

/** Form is what a file is to be, and what a row of a table stands for. */
type Form = { format: "csv" | "xlsx" | "focus"; per?: "period" | "day" | "month" };

/** fileOf is the answer to a long question as a file, however long that takes. */
export async function fileOf<N extends Long>(name: N, path: Operations[N]["path"], body: Operations[N]["body"], query: Form): Promise<Blob> {
  const answer = await file(name, { path, query: query as Operations[N]["query"], body });
  if (!answer.type.includes("json")) return answer;
  const run = JSON.parse(await answer.text()) as Run;
  await new Promise<void>((then) => followRun(run, (r) => ended(r) && then()));
  return file("GET /v1/runs/{id}/result", { path: { id: run.id }, query });
}
