// Answers that take longer than people wait without a word: the frame says so, and offers to stop.
import { signal } from "@preact/signals";

const patience = 300;

/** working is what is being computed, if for long: since when, and how it is stopped. */
export const working = signal<{ since: number; stop: () => void } | null>(null);

/** work tells of an answer that is waited for, until the function that it gives back is called. */
export function work(stop: () => void): () => void {
  const mine = { since: Date.now(), stop };
  const timer = window.setTimeout(() => (working.value = mine), patience);
  return () => {
    clearTimeout(timer);
    if (working.value === mine) working.value = null;
  };
}
