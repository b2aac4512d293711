import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** Dialog asks something before the page goes on; Escape and Close leave it. */
export function Dialog({ title, close, children }: { title: string; close: () => void; children: ComponentChildren }) {
  const box = useRef<HTMLDialogElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    const before = document.activeElement;
    box.current!.showModal();
    if (!box.current!.querySelector("[autofocus]")) heading.current!.focus(); // what it asks is read before its buttons
    return () => before instanceof HTMLElement && before.focus();
  }, []);
  return (
    <dialog ref={box} aria-labelledby="dialog" onClose={close} onCancel={close}>
      <div class="stack">
        <header class="headed">
          <h2 id="dialog" tabIndex={-1} ref={heading}>{title}</h2>
          <span class="actions">
            <button onClick={() => box.current!.close()}>Close</button>
          </span>
        </header>
        {children}
      </div>
    </dialog>
  );
}
