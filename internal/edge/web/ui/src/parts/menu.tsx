import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** Menu opens a list of links and buttons; Escape, leaving it and choosing close it. */
export function Menu({ title, children }: { title: string; children: ComponentChildren }) {
  const open = useSignal(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const outside = (e: Event) => {
      if (!box.current?.contains(e.target as Node)) open.value = false;
    };
    document.addEventListener("pointerdown", outside);
    document.addEventListener("focusin", outside);
    return () => {
      document.removeEventListener("pointerdown", outside);
      document.removeEventListener("focusin", outside);
    };
  }, []);
  return (
    <div
      ref={box}
      class="popup"
      onKeyDown={(e) => {
        if (e.key !== "Escape") return;
        open.value = false;
        box.current!.querySelector("button")!.focus();
      }}
    >
      <button aria-expanded={open.value} onClick={() => (open.value = !open.value)}>
        {title} <span aria-hidden="true">▾</span>
      </button>
      {open.value && (
        <div class="list" onClick={() => (open.value = false)}>
          {children}
        </div>
      )}
    </div>
  );
}
