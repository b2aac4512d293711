// What was asked for: the last value that came, and beside it what went wrong since; never one instead of
// the other.
import { batch, type Signal, signal } from "@preact/signals";
import { useLayoutEffect, useMemo } from "preact/hooks";
import { Problem } from "../api/client.ts";

export class Fetched<T> {
  readonly value: Signal<T | null> = signal(null);
  readonly problem: Signal<Problem | null> = signal(null);
  readonly asking = signal(false);
  /** again asks what was asked last. */
  again: () => void = () => {};
  #newest = 0;

  /** load asks; of several that are under way the last one asked counts. */
  async load(ask: () => Promise<T | null>): Promise<void> {
    const mine = ++this.#newest;
    this.again = () => void this.load(ask);
    this.asking.value = true;
    try {
      const value = await ask();
      if (mine !== this.#newest) return;
      batch(() => {
        if (value !== null) this.value.value = value;
        this.problem.value = null;
        this.asking.value = false;
      });
    } catch (e) {
      if (mine !== this.#newest) return;
      this.asking.value = false;
      if (e instanceof DOMException && e.name === "AbortError") return;
      if (!(e instanceof Problem)) throw e;
      this.problem.value = e;
    }
  }

  forget(): void {
    this.#newest++;
    batch(() => {
      this.value.value = null;
      this.problem.value = null;
      this.asking.value = false;
    });
  }
}

/** useFetched asks when a component comes and whenever its keys change; what another key had is forgotten. */
export function useFetched<T>(ask: () => Promise<T | null>, ...keys: unknown[]): Fetched<T> {
  const fetched = useMemo(() => new Fetched<T>(), []);
  useLayoutEffect(() => {
    fetched.forget();
    void fetched.load(ask);
  }, keys);
  return fetched;
}
