// Drafts: what was typed into a form and not saved. They are kept in the session storage of the tab, by the address and
// the name of the form, and are there again after leaving, signing out and loading the page anew.
import { type Signal, signal, useSignalEffect } from "@preact/signals";
import { useLayoutEffect, useMemo } from "preact/hooks";
import { path } from "./route.ts";

const prefix = "headroom.draft ";

/** unsaved are the drafts of forms that are open. */
export const unsaved = signal<ReadonlySet<string>>(new Set());

/** draftKey is the key of a form's draft, at the address that is open. */
export const draftKey = (form: string) => `${prefix}${path.peek()} ${form}`;

export function readDraft<T>(key: string): T | null {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? "null") as T | null;
  } catch {
    return null; // it is none of ours
  }
}

/** writeDraft keeps a draft; null forgets it. */
export function writeDraft(key: string, draft: unknown): void {
  try {
    if (draft === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, JSON.stringify(draft));
  } catch {
    // The storage is full: the form itself still has what was typed.
  }
}

function note(key: string, there: boolean): void {
  const next = new Set(unsaved.peek());
  there ? next.add(key) : next.delete(key);
  unsaved.value = next;
}

/** useUnsaved says that a form that is open has something that is not saved. */
export function useUnsaved(key: string, dirty: boolean): void {
  useLayoutEffect(() => {
    if (!dirty || key === "") return;
    note(key, true);
    return () => note(key, false);
  }, [key, dirty]);
}

/** useDraft is a value of a form that outlives its page. It is forgotten when it is again what it began with. */
export function useDraft<T>(form: string, start: T): Signal<T> {
  const key = useMemo(() => draftKey(form), [form]);
  const [value, first] = useMemo(() => [signal(readDraft<T>(key) ?? start), JSON.stringify(start)] as const, [key]);
  useSignalEffect(() => writeDraft(key, JSON.stringify(value.value) === first ? null : value.value));
  useUnsaved(key, JSON.stringify(value.value) !== first);
  return value;
}

addEventListener("beforeunload", (e) => {
  if (unsaved.peek().size > 0) e.preventDefault();
});
