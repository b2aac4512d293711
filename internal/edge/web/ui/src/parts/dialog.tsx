import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** Dialog asks something before the page goes on; Escape and Close leave it. */
export function Dialog({ title, close, children }: { title: string; close: () => void; children: ComponentChildren }) {
  const box = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const before = document.activeElement;
    box.current!.showModal();
    return () => before instanceof HTMLElement && before.focus();
  }, []);
  return (
    <dialog ref={box} aria-labelledby="dialog" onClose={close} onCancel={close}>
      <div class="stack">
        <header class="headed">
          <h2 id="dialog">{title}</h2>
          <span class="actions">
            <button onClick={() => box.current!.close()}>Close</button>
          </span>
        </header>
        {children}
      </div>
    </dialog>
  );
}
