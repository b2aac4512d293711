// The address is the state: page, cluster and what is chosen on it. Nobody else reads or writes it.
import { computed, signal } from "@preact/signals";

export interface Route {
  /** Which page, as pages.ts names them. */
  page: string;
  cluster: string;
  /** What follows the page's name: a class, two plans. */
  rest: string[];
}

/** Where each page of a cluster stands: its place, and what follows the place in the address. */
const addresses: Record<string, string> = {
  plan: "plan",
  classes: "plan/classes",
  history: "plan/history",
  explore: "explore",
  contracts: "commitments",
  live: "operate",
  batch: "operate/batch",
  pool: "operate/pool",
};
const pageAt = new Map(Object.entries(addresses).map(([page, address]) => [address, page]));
/** What pages were called in addresses of former times, where that is not their name of today. */
const called: Record<string, string> = { now: "plan", "what-if": "explore", curves: "explore" };

/** readRoute tells which page an address leads to, and whether that is its address of former times: the page's own
 *  name after the cluster's. */
function readRoute(path: string): Route & { former: boolean } {
  const parts = path.split("/").filter(Boolean).map(readPart);
  if (parts[0] !== "c" || !parts[1]) return { page: parts[0] ?? "", cluster: "", rest: parts.slice(1), former: false };
  const [cluster, first = "now", second = ""] = parts.slice(1) as [string, string?, string?];
  const within = pageAt.get(`${first}/${second}`);
  if (first === "explore" && second === "curves") return { page: "explore", cluster, rest: [], former: true };
  if (within) return { page: within, cluster, rest: parts.slice(4), former: false };
  const rest = parts.slice(3);
  const page = pageAt.get(first);
  if (page) return { page, cluster, rest, former: false };
  const old = called[first] ?? first;
  return { page: old, cluster, rest, former: old in addresses };
}

/** look reads where one is. An address of former times becomes the one of today. */
function look() {
  const { page, cluster, rest, former } = readRoute(location.pathname);
  if (former) {
    const keys = new URLSearchParams(location.search);
    if (/\/curves\/?$/.test(location.pathname) && !keys.has("x")) keys.set("x", "deadline"); // the curve that was drawn unasked
    const text = keys.toString();
    history.replaceState(null, "", addressOf(cluster, page, ...rest) + (text ? `?${text}` : "") + location.hash);
  }
  return { path: location.pathname, query: location.search };
}

const here = signal(look());
addEventListener("popstate", () => (here.value = look()));

export const route = computed<Route>(() => readRoute(here.value.path));

function readPart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** stay remembers which page of which cluster is open; what it gives back says whether that still is so. */
export function stay(): () => boolean {
  const { page, cluster } = route.peek();
  return () => route.peek().page === page && route.peek().cluster === cluster;
}

/** path is where one is, whatever is chosen there. */
export const path = computed(() => here.value.path);

export const query = computed(() => new URLSearchParams(here.value.query));

/** chosen is one key of the address, where it is one of these words; else the first of them. */
export function chosen<T extends string>(key: string, words: readonly [T, ...T[]]): T {
  const word = query.value.get(key) as T;
  return words.includes(word) ? word : words[0];
}

/** addressOf is a page of a cluster. */
export function addressOf(cluster: string, page: string, ...rest: string[]): string {
  return ["/c", cluster, ...(addresses[page] ?? page).split("/"), ...rest].map((p, i) => (i ? encodeURIComponent(p) : p)).join("/");
}

/** go opens an address as a new step of the history. */
export function go(address: string): void {
  history.pushState(null, "", address);
  here.value = look();
  scrollTo(0, 0);
}

/** replace opens an address in place of the one where one is, which Back does not lead to. */
export function replace(address: string): void {
  history.replaceState(null, "", address);
  here.value = look();
}

/** choose puts a key into the address, or takes it out, in place of what was there. */
export function choose(key: string, word: string | null): void {
  chooseAll(key, word ? [word] : []);
}

/** onLink opens links to our own pages without a reload. */
export function onLink(e: MouseEvent): void {
  const link = (e.target as Element).closest("a");
  if (!link || e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
  const to = new URL(link.href);
  if (to.origin !== location.origin || link.target || link.hasAttribute("download") || !isPage(to.pathname)) return;
  e.preventDefault();
  if (to.hash && to.pathname === location.pathname) {
    document.getElementById(to.hash.slice(1))?.focus();
    return;
  }
  go(to.pathname + to.search);
}

function isPage(path: string): boolean {
  return path === "/" || path === "/welcome" || path === "/overview" || path.startsWith("/c/") || path.startsWith("/settings");
}

/** chooseAll puts a key with several words into the address. */
export function chooseAll(key: string, words: string[]): void {
  rewrite({ [key]: words }, false);
}

/** rewrite puts several keys into the address at once, as a step of the history that Back undoes or in place
 *  of what was there. */
export function rewrite(changes: Record<string, string[]>, step: boolean): void {
  const keys = new URLSearchParams(location.search);
  for (const [key, words] of Object.entries(changes)) {
    keys.delete(key);
    for (const w of words) keys.append(key, w);
  }
  const text = keys.toString();
  history[step ? "pushState" : "replaceState"](null, "", location.pathname + (text ? "?" + text : ""));
  here.value = { path: location.pathname, query: location.search };
}
