// A form on something that is stored: what stands in its fields, what is wrong with it, and what happens when
// somebody else was faster. Saving is one PUT of the version that was opened.
import { batch, effect, type Signal, signal } from "@preact/signals";
import { type Answer, faultsOf, Problem } from "../api/client.ts";
import type { Fault } from "../api/contract.ts";
import { at, place } from "../model/pointer.ts";
import { how, type Kind, read, written } from "../model/typed.ts";
import { lastChange } from "../model/words.ts";
import { trouble } from "./cluster.ts";
import { draftKey, readDraft, writeDraft } from "./drafts.ts";
import { refusal } from "./rights.ts";

/** Entry is a field: where its value stands, and of which kind it is. */
export interface Entry {
  pointer: string;
  kind: Kind;
  label: string;
  hint?: string;
  unit?: string;
  required?: boolean;
  /** The words it may have, where these are few. */
  words?: { word: string; text: string }[];
}

/** Conflict is what somebody else made of it meanwhile, and who. */
interface Conflict<T> {
  by: string;
  at: string;
  theirs: Answer<T> | null;
}

export class Editing<T extends object> {
  /** What was opened; its etag is "" for something new. */
  readonly base: Signal<Answer<T>>;
  /** What has been typed, by pointer. */
  readonly typed: Signal<Record<string, string>> = signal({});
  readonly faults: Signal<Fault[]> = signal([]);
  readonly conflict: Signal<Conflict<T> | null> = signal(null);
  readonly saving = signal(false);
  /** When it was saved last. */
  readonly saved = signal(0);
  /** The key of its draft; "" where none is kept. */
  readonly draft: string = "";
  /** Whether it began with a draft. */
  readonly restored = signal(false);
  #present: Answer<T>;

  /** form names its draft; of a form without one nothing is kept. */
  constructor(
    base: Answer<T>,
    readonly entries: (value: T) => Entry[],
    readonly send: (value: T, etag: string) => Promise<Answer<T> | null>,
    readonly fetch: (() => Promise<Answer<T> | null>) | null,
    form = "",
  ) {
    this.base = signal(base);
    this.#present = base;
    if (form === "") return;
    this.draft = draftKey(form);
    this.#restore();
    effect(() => {
      const typed = this.typed.value;
      writeDraft(this.draft, Object.keys(typed).length > 0 ? { base: this.base.value, typed } : null);
    });
  }

  /** A draft goes on from what was opened when it was typed: where that has changed since, both versions are shown. */
  #restore(): void {
    const kept = readDraft<{ base: Answer<T>; typed: Record<string, string> }>(this.draft);
    if (!kept?.base || !kept.typed) return;
    const now = this.#present;
    this.base.value = kept.base;
    this.typed.value = kept.typed;
    this.restored.value = true;
    if (now.etag !== kept.base.etag) this.conflict.value = { by: "", at: "", theirs: now };
  }

  /** discard takes what is stored in place of what was typed. */
  discard(): void {
    batch(() => {
      this.base.value = this.conflict.value?.theirs ?? this.base.value;
      this.typed.value = {};
      this.faults.value = [];
      this.conflict.value = null;
      this.restored.value = false;
    });
  }

  text(e: Entry): string {
    return this.typed.value[e.pointer] ?? written(e.kind, at(this.base.value.value, e.pointer));
  }

  put(e: Entry, text: string): void {
    batch(() => {
      this.typed.value = { ...this.typed.value, [e.pointer]: text };
      this.saved.value = 0;
      if (this.faults.value.some((f) => f.pointer === e.pointer)) this.faults.value = this.faults.value.filter((f) => f.pointer !== e.pointer);
    });
  }

  get dirty(): boolean {
    return Object.keys(this.typed.value).length > 0;
  }

  /** value is what was opened with what was typed, and what of that cannot be read. */
  value(): { value: T; faults: Fault[] } {
    const value = structuredClone(this.base.value.value);
    const faults: Fault[] = [];
    for (const e of this.entries(this.base.value.value)) {
      const text = this.typed.value[e.pointer];
      if (text === undefined) continue;
      const v = read(e.kind, text, at(value, e.pointer));
      if (v === undefined) faults.push({ pointer: e.pointer, code: "unreadable", detail: `${e.label}: "${text}" cannot be read. ${how[e.kind]}` });
      else if (v === null && e.required) faults.push({ pointer: e.pointer, code: "missing", detail: `${e.label} is missing. ${how[e.kind]}` });
      else place(value, e.pointer, v);
    }
    return { value, faults };
  }

  /** save sends it, if all of it can be read; it says whether it was taken. */
  async save(etag = this.base.value.etag): Promise<boolean> {
    const { value, faults } = this.value();
    this.faults.value = faults;
    if (faults.length > 0 || this.saving.value) return false;
    this.saving.value = true;
    const sent = this.typed.value;
    try {
      const answer = await this.send(value, etag);
      batch(() => {
        if (answer) this.base.value = answer;
        this.typed.value = Object.fromEntries(Object.entries(this.typed.value).filter(([pointer, text]) => text !== sent[pointer])); // meanwhile
        this.conflict.value = null;
        this.saved.value = this.dirty ? 0 : Date.now();
        this.restored.value = false;
      });
      return true;
    } catch (e) {
      if (!(e instanceof Problem)) throw e;
      await this.#refused(e);
      return false;
    } finally {
      this.saving.value = false;
    }
  }

  async #refused(e: Problem): Promise<void> {
    const last = lastChange(e);
    const clusterGone = e.status === 404 && last !== null;
    if (e.status === 401 || clusterGone) trouble.value = e; // which stands above every page
    if (clusterGone) return;
    if ((e.status === 412 || e.status === 404) && this.fetch) {
      const theirs = await this.fetch().catch((p: unknown) => p);
      if (e.status === 412 || (theirs instanceof Problem && theirs.status === 404)) {
        this.conflict.value = { by: last?.by ?? "", at: last?.at ?? "", theirs: theirs instanceof Error ? null : (theirs as Answer<T> | null) };
        return;
      }
    }
    this.faults.value = e.status === 412 ? [{ code: "", detail: refusal(e) }] : faultsOf(e);
  }

  /** mine saves what stands here over what somebody else has made of it. */
  mine(): Promise<boolean> {
    return this.save(this.conflict.value?.theirs?.etag ?? "");
  }
}
