import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { lastChange, noCluster } from "../model/words.ts";
import { trouble } from "../state/cluster.ts";
import type { Fetched } from "../state/fetched.ts";

/** Waiting keeps the place of what has not come yet, and says so when that takes a moment. */
export function Waiting({ what, height }: { what: string; height: number }) {
  const late = useSignal(false);
  useEffect(() => {
    const timer = setTimeout(() => (late.value = true), 300);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="waiting" style={{ minHeight: `${height}px` }}>
      {late.value && <p class="muted">Reading {what} …</p>}
    </div>
  );
}

/** Shown is what was fetched; what went wrong since stands above it. */
export function Shown<T>({ of, what, height = 200, children }: { of: Fetched<T>; what: string; height?: number; children: (value: T) => ComponentChildren }) {
  const value = of.value.value;
  const wrong = of.problem.value;
  const problem = wrong && trouble.value && wrong.status === 404 && (lastChange(wrong) || noCluster(wrong)) ? null : wrong; // that the cluster is gone, or never was, stands above
  return (
    <>
      {problem && (
        <div class="banner error" role="alert">
          {problem.message}
          <button class="quiet" onClick={() => of.again()}>Try now</button>
        </div>
      )}
      {value !== null ? children(value) : !wrong && <Waiting what={what} height={height} />}
    </>
  );
}
