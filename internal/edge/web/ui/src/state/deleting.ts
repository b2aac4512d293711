// A delete waits for 30 seconds or until the page is left, so that it can be undone; only then it is sent.
import { signal } from "@preact/signals";

interface Waiting {
  timer: number;
  send: () => Promise<unknown>;
}

const waits = new Map<string, Waiting>();

/** deleting names what is about to be deleted. */
export const deleting = signal<ReadonlySet<string>>(new Set());

const seconds = 30;

function tell(): void {
  deleting.value = new Set(waits.keys());
}

/** remove deletes something, later; send must ask with keepalive and the version that was seen, and says
 *  itself what went wrong. */
export function remove(name: string, send: () => Promise<unknown>): void {
  keep(name);
  waits.set(name, { send, timer: window.setTimeout(() => void finish(name), seconds * 1000) });
  tell();
}

/** keep undoes it. */
export function keep(name: string): void {
  const w = waits.get(name);
  if (!w) return;
  clearTimeout(w.timer);
  waits.delete(name);
  tell();
}

async function finish(name: string): Promise<void> {
  const w = waits.get(name);
  if (!w) return;
  clearTimeout(w.timer);
  waits.delete(name);
  try {
    await w.send();
  } finally {
    tell();
  }
}

/** finishAll sends what still waits: the page is left. */
export function finishAll(): void {
  for (const name of [...waits.keys()]) void finish(name);
}

addEventListener("pagehide", finishAll);
