// The question before a page is left on which something is not saved.
import { signal } from "@preact/signals";
import { render } from "preact";
import { trouble } from "../state/cluster.ts";
import { unsaved, writeDraft } from "../state/drafts.ts";
import { go } from "../state/route.ts";
import { Dialog } from "./dialog.tsx";

/** wanted is the address that was chosen; "" while there is none. */
const wanted = signal("");

function Question() {
  if (wanted.value === "") return null;
  const leave = (forget: boolean) => {
    if (forget) for (const key of unsaved.value) writeDraft(key, null);
    const to = wanted.value;
    wanted.value = "";
    go(to);
  };
  return (
    <Dialog title="What you typed is not saved" close={() => (wanted.value = "")}>
      <p>It is kept in this tab, and stands in the form again when you come back.</p>
      <p class="tools">
        <button class="main" onClick={() => (wanted.value = "")}>Stay</button>
        <button onClick={() => leave(false)}>Leave and keep it</button>
        <button onClick={() => leave(true)}>Leave and forget it</button>
      </p>
    </Dialog>
  );
}

/** ask holds back a link to another page while a form has something that is not saved. */
function ask(e: MouseEvent): void {
  const link = (e.target as Element).closest("a");
  if (!link || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
  const to = new URL(link.href);
  const ours = to.origin === location.origin && !link.target && !link.hasAttribute("download");
  if (!ours || to.pathname === location.pathname || unsaved.peek().size === 0) return;
  if (/^\/(v1|docs|openapi)/.test(to.pathname)) return; // the browser asks
  if (trouble.peek()?.status === 404) return; // the cluster is gone, and there is nothing to come back to
  e.preventDefault();
  e.stopPropagation();
  wanted.value = to.pathname + to.search;
}

/** guard asks from now on. */
export function guard(): void {
  document.addEventListener("click", ask, true);
  render(<Question />, document.body.appendChild(document.createElement("div")));
}
