// What stands around every page: where one is, which plan is seen, what is wrong.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { clusters, cluster, current, heard, signIn, trouble } from "../state/cluster.ts";
import { now } from "../state/clock.ts";
import { addressOf, go, route } from "../state/route.ts";
import { age, clock } from "../model/time.ts";
import { count, proof } from "../model/words.ts";
import { active } from "../state/runs.ts";
import { Chip } from "./chip.tsx";
import { pages } from "../pages/pages.ts";
import { setTheme, theme } from "../state/theme.ts";

export function Frame({ children }: { children: ComponentChildren }) {
  return (
    <div class="frame">
      <a class="skip" href="#content">Skip to content</a>
      <Top />
      <Rail />
      <main class="content" id="content" tabIndex={-1}>
        <Trouble />
        {children}
      </main>
      <Speaker />
    </div>
  );
}

function Top() {
  const at = route.value;
  const names = clusters.value?.map((c) => c.name) ?? [];
  return (
    <header class="top">
      {at.cluster && (
        <select aria-label="Cluster" value={at.cluster} onChange={(e) => go(addressOf(e.currentTarget.value, at.page))}>
          {!names.includes(at.cluster) && <option value={at.cluster}>{at.cluster}</option>}
          {names.map((n) => (
            <option key={n} value={n}>
              {n}
            </option>
          ))}
        </select>
      )}
      <PlanLine />
      <Runs />
      <div class="end">
        <select aria-label="Colours" value={theme.value} onChange={(e) => setTheme(e.currentTarget.value)}>
          <option value="system">As the system</option>
          <option value="light">Light</option>
          <option value="dark">Dark</option>
        </select>
      </div>
    </header>
  );
}

function PlanLine() {
  const p = current.value?.plan;
  if (!p) return null;
  const zone = cluster.value?.time_zone ?? "UTC";
  return (
    <>
      <p class="small muted">
        Plan {new Intl.NumberFormat("en-US").format(p.number)} · computed {age(now.value - Date.parse(p.freshness.confirmed_at))} · holds until{" "}
        {clock(new Date(p.freshness.valid_until), zone, new Date(now.value))}
      </p>
      <Chip {...proof(p)} />
    </>
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

function Rail() {
  const open = useSignal(false);
  const at = route.value;
  const link = (page: (typeof pages)[number]) => (
    <a key={page.name} href={page.cluster ? addressOf(at.cluster, page.name) : `/${page.name}`} aria-current={at.page === page.name ? "page" : undefined} onClick={() => (open.value = false)}>
      {page.title}
    </a>
  );
  const group = (n: number) => pages.filter((p) => p.group === n && (at.cluster || !p.cluster)).map(link);
  return (
    <nav class="rail" aria-label="Pages">
      <div class="bar">
        <div class="name">Headroom</div>
        <button class="menu" aria-expanded={open.value} aria-controls="links" onClick={() => (open.value = !open.value)}>
          Menu
        </button>
      </div>
      <div class={open.value ? "links open" : "links"} id="links">
        {group(0)}
        <hr />
        {group(1)}
        <hr />
        {group(2)}
      </div>
    </nav>
  );
}

/** Trouble says what stands between what is shown and the truth; what was seen last stays. */
function Trouble() {
  const t = trouble.value;
  const zone = cluster.value?.time_zone ?? "UTC";
  const p = current.value?.plan;
  if (t) {
    if (t.status === 401)
      return (
        <div class="banner error" role="alert">
          You were signed out. Your changes on this page are kept.
          <button class="quiet" onClick={signIn}>Sign in</button>
        </div>
      );
    if (t.status === 0)
      return (
        <div class="banner error" role="alert">
          Headroom does not answer.{heard.value > 0 && ` You see what was here at ${clock(new Date(heard.value), zone, new Date(heard.value))}.`}
        </div>
      );
    if (t.status !== 404 || p)
      return (
        <div class="banner error" role="alert">
          {t.message}
        </div>
      );
  }
  const attempt = p?.freshness.last_attempt;
  if (p && attempt?.failed)
    return (
      <div class="banner">
        The change of {clock(new Date(attempt.at), zone, new Date(now.value))} could not be planned: {attempt.reason}. Plan {p.number} stays in force.
      </div>
    );
  if (p?.freshness.stale)
    return (
      <div class="banner">
        This plan is {age(now.value - Date.parse(p.freshness.confirmed_at)).replace(" ago", "")} old. It was due to be renewed at {clock(new Date(p.freshness.valid_until), zone, new Date(now.value))}; the last good plan stays in force.
      </div>
    );
  return null;
}

/** Speaker reads changes of the plan aloud, for those who do not see the numbers change. */
function Speaker() {
  const p = current.value?.plan;
  return (
    <div class="hidden" aria-live="polite">
      {p ? `Plan ${p.number}` : ""}
    </div>
  );
}
