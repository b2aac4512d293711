import type { ComponentChildren } from "preact";
import { choose, chosen } from "../state/route.ts";

/** Tabs are parts of a page, one of which is shown; which one stands in the address. Arrow keys go along. */
export function Tabs<T extends string>({ label, words, texts, show }: { label: string; words: readonly [T, ...T[]]; texts: Record<T, string>; show: (word: T) => ComponentChildren }) {
  const at = chosen("tab", words);
  const open = (w: T) => choose("tab", w === words[0] ? null : w);
  const onKey = (e: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (!step) return;
    const next = words[(words.indexOf(at) + step + words.length) % words.length]!;
    open(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={onKey}>
        {words.map((w) => (
          <button key={w} id={`tab-${w}`} role="tab" aria-selected={w === at} aria-controls="tab-panel" tabIndex={w === at ? 0 : -1} onClick={() => open(w)}>
            {texts[w]}
          </button>
        ))}
      </div>
      <div class="stack" role="tabpanel" id="tab-panel" aria-labelledby={`tab-${at}`}>
        {show(at)}
      </div>
    </>
  );
}
