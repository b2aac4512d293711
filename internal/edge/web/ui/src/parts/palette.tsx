// The palette finds by typing what else takes several steps; and the list of keys.
import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { find, type Found, type Known } from "../model/palette.ts";
import { clusters, current, lastCluster } from "../state/cluster.ts";
import { addressOf, go, route } from "../state/route.ts";
import { setTheme } from "../state/theme.ts";
import { Dialog } from "./dialog.tsx";

/** Palette takes a few words, and leads to what they find. */
export function Palette({ pages, close, showKeys }: { pages: Known["pages"]; close: () => void; showKeys: () => void }) {
  const text = useSignal("");
  const at = useSignal(0);
  const id = useId();
  const plan = current.value?.plan;
  const found = find(text.value, {
    cluster: route.value.cluster || lastCluster(),
    clusters: clusters.value?.map((c) => c.name) ?? [],
    classes: plan?.plan.classes.map((c) => c.name) ?? [],
    plan: plan?.number ?? 0,
    pages,
    address: addressOf,
  });
  const take = (f: Found | undefined) => {
    if (!f) return;
    if (f.type !== undefined && f.type !== text.value) {
      text.value = f.type;
      at.value = 0;
      return;
    }
    close();
    if (f.theme) setTheme(f.theme);
    else if (f.keys) showKeys();
    else if (f.to) go(f.to);
  };
  const onKey = (e: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (by && found.length > 0) at.value = (at.value + by + found.length) % found.length;
    else if (e.key === "Enter") take(found[at.value]);
    else return;
    e.preventDefault();
  };
  return (
    <Dialog title="Search or ask" close={close}>
      <input
        type="search"
        role="combobox"
        list={undefined}
        aria-label="Clusters, classes, plans, pages, or a question"
        aria-expanded={found.length > 0}
        aria-controls={id}
        aria-activedescendant={found.length > 0 ? `${id}-${at.value}` : undefined}
        autocomplete="off"
        autofocus
        placeholder="A cluster, a class, plan 12, what if price 0.25"
        value={text.value}
        onInput={(e) => {
          text.value = e.currentTarget.value;
          at.value = 0;
        }}
        onKeyDown={onKey}
      />
      <ul class="found" id={id} role="listbox" aria-label="Found">
        {found.map((f, i) => (
          <li key={f.kind + f.title} id={`${id}-${i}`} role="option" aria-selected={i === at.value} onClick={() => take(f)}>
            <bdi>{f.title}</bdi> <span class="small muted">{f.kind}</span>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p class="muted">Nothing is called so. A question reads: what if price 0.25, or: what if deadline of a class 30 min.</p>}
    </Dialog>
  );
}

const keys: [string, string][] = [
  ["Ctrl K", "Search or ask: clusters, classes, plans, pages, questions"],
  ["?", "This list"],
  ["J, K", "On Plan: the class below, the class above"],
  ["Escape", "Closes a panel, a menu or a dialog"],
  ["Arrow keys", "On a chart: the point that is read; on tabs: the next one"],
  ["Enter", "On a chart: opens or tries the point that is read"],
  ["Ctrl Z, Ctrl Shift Z", "On Explore: undo and redo a change"],
];

export function Keys({ close }: { close: () => void }) {
  return (
    <Dialog title="Keys" close={close}>
      <dl class="keys">
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
