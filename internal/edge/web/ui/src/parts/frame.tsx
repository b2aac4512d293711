// What stands around every page: where one is, which plan is seen, what is wrong.
import mark from "./mark.svg";
import { useSignal, useSignalEffect } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { CurrentPlan } from "../api/contract.ts";
import { eachAtRate, headline, perPeriod } from "../model/money.ts";
import { age, clock } from "../model/time.ts";
import { count, proof } from "../model/words.ts";
import { now } from "../state/clock.ts";
import { clusters, cluster, current, lastCluster } from "../state/cluster.ts";
import { addressOf, go, route } from "../state/route.ts";
import { active } from "../state/runs.ts";
import { setTheme, theme } from "../state/theme.ts";
import { working } from "../state/working.ts";
import { Chip } from "./chip.tsx";
import { Glyph } from "./glyph.tsx";
import { lazy } from "./lazy.tsx";
import { Trouble } from "./trouble.tsx";

const Palette = lazy(async () => (await import("./palette.tsx")).Palette, 0);
const Keys = lazy(async () => (await import("./palette.tsx")).Keys, 0);

/** Link is a page in the list of pages. */
export interface Link {
  name: string;
  title: string;
  /** It is about a cluster. */
  cluster: boolean;
  /** Where it stands in the list; null is a page that is not in the list. */
  place: string | null;
}

export function Frame({ pages, children }: { pages: Link[]; children: ComponentChildren }) {
  const shown = useSignal<"palette" | "keys" | null>(null);
  useEffect(() => {
    const onKey = (e: KeyboardEvent) => {
      const search = (e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "k";
      const keys = e.key === "?" && !(e.target as Element).closest("input, select, textarea");
      if ((!search && !keys) || document.querySelector("dialog[open]")) return;
      e.preventDefault();
      shown.value = search ? "palette" : "keys";
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  const close = () => (shown.value = null);
  return (
    <div class="frame">
      <a class="skip" href="#content">Skip to content</a>
      <Top />
      <Rail pages={pages} search={() => (shown.value = "palette")} />
      <main class="content" id="content" tabIndex={-1}>
        <Trouble />
        {children}
      </main>
      <Speaker />
      <Heading />
      {shown.value === "palette" && <Palette pages={pages} close={close} showKeys={() => (shown.value = "keys")} />}
      {shown.value === "keys" && <Keys close={close} />}
    </div>
  );
}

function Top() {
  const at = route.value;
  const names = clusters.value?.map((c) => c.name) ?? [];
  return (
    <header class="top">
      {at.cluster && (
        <select aria-label="Cluster" title={at.cluster} value={at.cluster} onChange={(e) => go(addressOf(e.currentTarget.value, at.page))}>
          {!names.includes(at.cluster) && <option value={at.cluster}>{at.cluster}</option>}
          {names.map((n) => (
            <option key={n} value={n}>
              {n}
            </option>
          ))}
        </select>
      )}
      <p class="paper strong">
        Headroom{at.cluster && <>, <bdi>{at.cluster}</bdi></>}, {new Date(now.value).toISOString().slice(0, 16).replace("T", " ")} UTC
      </p>
      <PlanLine />
      <Runs />
      <div class="end">
        <select aria-label="Colours" value={theme.value} onChange={(e) => setTheme(e.currentTarget.value)}>
          <option value="system">System colours</option>
          <option value="light">Light</option>
          <option value="dark">Dark</option>
        </select>
      </div>
      {working.value && <Computing since={working.value.since} stop={working.value.stop} />}
    </header>
  );
}

function PlanLine() {
  const p = current.value?.plan;
  if (!p) return null;
  const at = (moment: string) => clock(new Date(moment), cluster.value?.time_zone ?? "UTC", new Date(now.value));
  const { freshness: f } = p;
  const computed = `computed ${age(now.value - Date.parse(f.confirmed_at))} · holds until ${f.last_attempt?.failed ? "it can be planned anew" : at(f.valid_until)}`;
  return (
    <>
      <p class="small muted">
        Plan {number(p.number)} · {f.pin ? `pinned · made ${at(p.created_at)}` : computed}
      </p>
      <a class="plain" href="#proof">
        <Chip {...proof(p)} />
      </a>
    </>
  );
}

const number = (n: number) => new Intl.NumberFormat("en-US").format(n);

/** Computing says for how long an answer has been waited for. */
function Computing({ since, stop }: { since: number; stop: () => void }) {
  const ms = useSignal(Date.now() - since);
  useEffect(() => {
    const timer = setInterval(() => (ms.value = Date.now() - since), 100);
    return () => clearInterval(timer);
  }, [since]);
  return (
    <div class="computing small">
      <span role="status">
        <span aria-hidden="true">Computing, {(ms.value / 1000).toFixed(1)} s</span>
        <span class="hidden">Computing</span>
      </span>
      <button class="quiet" onClick={stop}>Cancel</button>
    </div>
  );
}

/** Runs says how far the work in the background is. */
function Runs() {
  const runs = active.value;
  if (runs.length === 0) return null;
  const done = runs.reduce((n, r) => n + r.progress.done, 0);
  const total = runs.reduce((n, r) => n + r.progress.total, 0);
  return (
    <span class="chip">
      {count(runs.length, "run", "runs")}
      {total > 0 ? `, ${Math.floor((100 * done) / total)} %` : ""}
    </span>
  );
}

function Rail({ pages, search }: { pages: Link[]; search: () => void }) {
  const open = useSignal(false);
  const at = route.value;
  const of = at.cluster || lastCluster();
  const here = pages.find((p) => p.name === at.page)?.place;
  const seen = pages.filter((p) => p.place !== null && (of || !p.cluster));
  const link = (page: Link, title: string, now: "page" | "true" | undefined, look?: string) => (
    <a key={title} class={look} href={page.cluster ? addressOf(of, page.name) : `/${page.name}`} aria-current={now} onClick={() => (open.value = false)}>
      {!look && <Glyph of={page.name} />}
      {title}
    </a>
  );
  // Of a place with several pages, those are listed while one is there.
  const place = (name: string) => {
    const within = seen.filter((p) => p.place === name);
    const rest = name === here && within.length > 1 ? within.filter((p) => p.title !== name) : [];
    const itself = !rest.some((p) => p.name === at.page);
    return [link(within[0]!, name, name !== here ? undefined : itself ? "page" : "true"), ...rest.map((p) => link(p, p.title, at.page === p.name ? "page" : undefined, "within"))];
  };
  return (
    <nav class="rail" aria-label="Pages">
      <div class="bar">
        <div class="name">
          <img src={new URL(mark, import.meta.url).href} alt="" width="24" height="24" />
          Headroom
        </div>
        <button class="search" onClick={search}>
          Search <kbd>Ctrl K</kbd>
        </button>
        <button class="menu" aria-expanded={open.value} aria-controls="links" onClick={() => (open.value = !open.value)}>
          Menu
        </button>
      </div>
      <div class={open.value ? "list open" : "list"} id="links">
        {[...new Set(seen.map((p) => p.place!))].map(place)}
      </div>
    </nav>
  );
}

const pause = 10_000;

/** Speaker reads changes of the plan aloud, for those who do not see the numbers change; not more often than
 *  can be listened to. */
function Speaker() {
  const said = useSignal("");
  const last = useRef<{ plan: CurrentPlan; at: number; timer: number } | null>(null);
  useSignalEffect(() => {
    const plan = current.value?.plan;
    const before = last.current;
    clearTimeout(before?.timer);
    if (!plan || before?.plan.cluster !== plan.cluster) {
      last.current = plan ? { plan, at: 0, timer: 0 } : null;
      return;
    }
    if (before.plan.number === plan.number) return;
    const say = () => {
      said.value = spoken(before.plan, plan);
      last.current = { plan, at: Date.now(), timer: 0 };
    };
    before.timer = window.setTimeout(say, Math.max(0, before.at + pause - Date.now()));
  });
  return (
    <div class="hidden" aria-live="polite" id="spoken">
      {said.value}
    </div>
  );
}

/** spoken is a change of the plan in a breath. */
function spoken(was: CurrentPlan, is: CurrentPlan): string {
  const { cost } = is.plan;
  const bill = perPeriod(cost.bill, cost.period_s, "month");
  const served = is.admitted - was.admitted;
  const jobs = served === 0 ? "as many jobs served" : `${count(Math.abs(served), served > 0 ? "more job" : "job fewer", served > 0 ? "more jobs" : "jobs fewer")} served`;
  return `Plan ${number(is.number)}: ${headline(bill, cost.currency)} ${eachAtRate.month}, ${jobs}`;
}

/** Heading leads the focus to what a page begins with when another page is opened, for those who would not
 *  notice otherwise; where that comes late, only if nobody has gone on meanwhile. */
function Heading() {
  const { page, cluster, rest } = route.value;
  const key = [page, cluster, ...rest].join("/");
  const first = useRef(true);
  useLayoutEffect(() => {
    if (first.current) {
      first.current = page === ""; // the page that "/" leads to is the first
      return;
    }
    const main = document.getElementById("content")!;
    const from = document.activeElement;
    const lead = () => {
      const at = document.activeElement;
      if (at !== from && at !== document.body) return true;
      const h1 = main.querySelector<HTMLElement>("h1");
      if (!h1) return false;
      h1.tabIndex = -1;
      h1.focus({ preventScroll: true });
      return true;
    };
    if (lead()) return;
    const watch = new MutationObserver(() => lead() && watch.disconnect());
    watch.observe(main, { childList: true, subtree: true });
    return () => watch.disconnect();
  }, [key]);
  return null;
}
