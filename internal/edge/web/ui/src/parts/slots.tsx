// Nodes and their slots as squares. One node is read at a time: by the pointer, or by the arrow keys.
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { type Signal, useSignal } from "@preact/signals";

/** Squares are what is seen of a node. */
export interface Squares {
  name: string;
  /** How many squares it has, and how many of them are busy. */
  slots: number;
  busy: number;
  state: "alive" | "new" | "dead" | "overloaded";
  said: string;
}

interface Props {
  label: string;
  nodes: Squares[];
  chosen: string | null;
  choose: (name: string | null) => void;
  /** read is the node that is read now. */
  read: Signal<string | null>;
}

const glyphs: Partial<Record<Squares["state"], string>> = { dead: "✕", overloaded: "▲" };

/** A node with more slots than this is drawn as full as it is, but not slot by slot. */
const most = 64;

/** SlotGrid draws again only the nodes of which something has changed, so that a thousand of them stay quick. */
export function SlotGrid({ label, nodes, chosen, choose, read }: Props) {
  const drawn = useRef(new Map<string, { key: string; node: VNode }>());
  const box = useRef<HTMLDivElement>(null);
  const focused = useSignal(false);
  const named = nodes.length <= 60;
  const at = Math.max(0, nodes.findIndex((n) => n.name === read.value));
  useEffect(() => {
    if (focused.value) box.current?.children[at]?.scrollIntoView({ block: "nearest" });
  }, [at]);
  const rows = () => {
    const all = [...box.current!.children] as HTMLElement[];
    const top = all[at]?.offsetTop ?? 0;
    const middle = (e: HTMLElement) => e.offsetLeft + e.offsetWidth / 2;
    const nearest = (row: HTMLElement[]) => row.sort((a, b) => Math.abs(middle(a) - middle(all[at]!)) - Math.abs(middle(b) - middle(all[at]!)))[0];
    const tops = [...new Set(all.map((e) => e.offsetTop))].sort((a, b) => a - b);
    const row = (step: number) => nearest(all.filter((e) => e.offsetTop === tops[tops.indexOf(top) + step]));
    return { up: () => all.indexOf(row(-1)!), down: () => all.indexOf(row(1)!) };
  };
  const onKey = (e: KeyboardEvent) => {
    if (e.ctrlKey || e.metaKey || e.altKey || nodes.length === 0) return;
    const to: Record<string, () => number> = { ArrowRight: () => at + 1, ArrowLeft: () => at - 1, Home: () => 0, End: () => nodes.length - 1, ArrowUp: () => rows().up(), ArrowDown: () => rows().down() };
    if (e.key === "Enter" || e.key === " ") choose(nodes[at]!.name === chosen ? null : nodes[at]!.name);
    else if (e.key === "Escape") choose(null);
    else if (to[e.key]) {
      const next = nodes[to[e.key]!()];
      if (next) read.value = next.name;
    } else return;
    e.preventDefault();
  };
  const next = new Map<string, { key: string; node: VNode }>();
  const all = nodes.map((n, i) => {
    const key = `${i} ${n.slots} ${n.busy} ${n.state} ${n.name === chosen} ${focused.value && i === at} ${named} ${n.said}`;
    const before = drawn.current.get(n.name);
    const it = before?.key === key ? before : { key, node: <Node key={n.name} n={n} id={`node-${i}`} chosen={n.name === chosen} read={focused.value && i === at} named={named} /> };
    next.set(n.name, it);
    return it.node;
  });
  drawn.current = next;
  const of = (e: Event) => (e.target as Element).closest<HTMLElement>("[data-node]")?.dataset["node"] ?? null;
  return (
    <div
      ref={box}
      class="slots"
      role="listbox"
      aria-label={label}
      tabIndex={0}
      aria-activedescendant={focused.value && nodes.length > 0 ? `node-${at}` : undefined}
      onKeyDown={onKey}
      onFocus={() => {
        focused.value = true;
        read.value ??= nodes[0]?.name ?? null;
      }}
      onBlur={() => (focused.value = false)}
      onPointerOver={(e) => {
        const name = of(e);
        if (name !== null) read.value = name;
      }}
      onClick={(e) => {
        const name = of(e);
        if (name !== null) choose(name === chosen ? null : name);
      }}
    >
      {all}
    </div>
  );
}

function Node({ n, id, chosen, read, named }: { n: Squares; id: string; chosen: boolean; read: boolean; named: boolean }) {
  const squares = [];
  for (let i = 0; i < Math.min(n.slots, most); i++) squares.push(<i key={i} class={i < n.busy ? "busy" : ""}>{i === 0 && glyphs[n.state]}</i>);
  return (
    <span id={id} class={`node ${n.state}${read ? " read" : ""}`} role="option" aria-selected={chosen} aria-label={n.said} data-node={n.name}>
      {squares}
      {n.slots > most && <b>…</b>}
      {named && <bdi>{n.name}</bdi>}
    </span>
  );
}
