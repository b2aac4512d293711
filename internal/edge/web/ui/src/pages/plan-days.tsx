// The days behind and ahead of a plan as one picture: VMs by kind of supply, and what begins or ends on the way.
import type { Signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { CurrentPlan, Horizon } from "../api/contract.ts";
import { type Cursor, Figure } from "../charts/figure.tsx";
import { type Area, Blocks, Line, Mark, Plot, type Point } from "../charts/plot.tsx";
import { moments, number } from "../charts/scale.ts";
import { aheadOf, behind, endsIn, guessed, pricesIn, type Stretch } from "../model/days.ts";
import { decimal, headline, price, text, units } from "../model/money.ts";
import type { Column } from "../model/table.ts";
import { clock, day } from "../model/time.ts";
import { count, inText } from "../model/words.ts";
import { now } from "../state/clock.ts";
import { cluster } from "../state/cluster.ts";
import { type Days as Read, mayWait, span, useToCome } from "../state/days.ts";
import { addressOf, go } from "../state/route.ts";
import { whole, zoom, zoomed } from "../state/zoom.ts";

const step = 300_000; // by which the picture moves on

const zone = () => cluster.value?.time_zone ?? "UTC";
const said = (at: number) => clock(new Date(at), zone(), new Date(now.value)).replace(/ [A-Z+\-0-9:]+$/, "");

/** Picture is the time axis of a plan; the address holds which part of it is seen. */
export function Picture({ plan, days }: { plan: CurrentPlan; days: Read }) {
  const at = Math.floor(now.value / step) * step;
  const chosen = zoomed();
  const all: [number, number] = [Math.max(at - span * day, Math.min(days.held.at(-1)?.since ?? Date.parse(plan.created_at), at - day)), days.ahead ? at + span * day : at + step];
  const [from, until] = chosen ?? all;
  const stretches = useMemo(() => [...behind(days.held, days.ahead?.periods[0] ? Date.parse(days.ahead.periods[0].start) : now.peek()), ...(days.ahead ? aheadOf(days.ahead) : [])], [days, at]);
  const seen = stretches.filter((s) => s.until > from && s.from < until).map((s) => ({ ...s, from: Math.max(s.from, from), until: Math.min(s.until, until) }));
  const { currency } = plan.plan.cost;
  const prices = pricesIn(days.prices, from, until);
  const points = seen.map((s) => read(s, currency, prices));
  const open = (i: number) => {
    const p = seen[i]?.plan;
    const was = p && days.held[days.held.findIndex((h) => h.plan === p) + 1]?.plan;
    if (p && was) go(addressOf(plan.cluster, "history", `${was.number}..${p.number}`));
  };
  const next = days.contracts.filter((c) => Date.parse(c.until) > now.value && Date.parse(c.from) <= now.value).sort((a, b) => Date.parse(a.until) - Date.parse(b.until))[0];
  const toCome = useToCome(plan.cluster, days.ahead);
  const later = toCome.filter(([x], i) => x <= until && (toCome[i + 1]?.[0] ?? x) >= from).map(([x, vms]): Point => [Math.min(Math.max(x, from), until), vms]);
  const middle = (from + until) / 2;
  const wide = until - from;
  return (
    <>
      <header>
        <h2 id="days">Behind and ahead</h2>
        <span class="small">{days.ahead ? week(days.ahead) : days.late && <span class="muted">The days ahead are not planned yet.</span>}</span>
        <span class="tools small">
          <button class="quiet" onClick={() => zoom(middle - wide / 4, middle + wide / 4)}>Zoom in</button>
          {chosen && <button class="quiet" onClick={whole}>Show all</button>}
        </span>
      </header>
      <Figure
        title="VMs by kind of supply"
        said={`${sentence(stretches, at)}${days.ahead && mayWait(days.ahead) ? ` Jobs that may wait count as they arrive.${later.length > 0 ? " The line has the VMs of the plans to come, which let them wait." : ""}` : ""}${next ? ` Next contract end: ${inText(next.name)}, ${said(Date.parse(next.until)).replace(/, .*$/, "")}.` : ""}`}
        columns={columns(currency)}
        rows={seen}
        name={(s) => String(s.from)}
        points={[points]}
        file="days"
        bare
        open={(c) => open(c.point)}
        legend={<Legend priced={prices.some((p) => p.steps.length > 1)} all={seen} later={days.ahead && mayWait(days.ahead) ? plan.cluster : null} guessed={days.ahead !== null && guessed(days.ahead).some((g) => g.until > from && g.from < until)} />}
      >
        {(cursor) => (
          <Plot
            x={moments(from, until, zone(), 7)}
            y={number([...seen.map((s) => s.reserved + s.demand + s.spot), ...later.map(([, vms]) => vms)], String, { zero: true, whole: true, about: 3 })}
            height={150}
            top={30}
            at={(x) => (cursor.value = x === null ? null : pointed(seen, x))}
            press={(x) => open(pointed(seen, x)?.point ?? -1)}
            cross={cursor.value && middleOf(seen[cursor.value.point])}
            brush={zoom}
            reset={whole}
          >
            {(a) => <Drawn a={a} seen={seen} days={days} currency={currency} from={from} until={until} at={at} prices={prices} cursor={cursor} later={later} />}
          </Plot>
        )}
      </Figure>
    </>
  );
}

/** week says what the days ahead cost; hours without a plan have no bill. */
function week(h: Horizon): string {
  const none = h.total.infeasible_hours ?? 0;
  const value = units(h.total.cost.penalties);
  const refused = value > 0n ? `, and refused jobs valued at ${headline(value, h.currency)}` : "";
  return `Next ${span} days: ${headline(units(h.total.cost.bill), h.currency)}${refused}${none > 0 ? `, and ${count(Math.ceil(none), "hour", "hours")} without a plan` : ""}`;
}

const middleOf = (s: Stretch | undefined) => (s ? (s.from + s.until) / 2 : null);

/** pointed is the stretch at a moment. */
function pointed(seen: Stretch[], x: number): Cursor {
  const point = seen.findIndex((s) => s.from <= x && x < s.until);
  return point < 0 ? null : { series: 0, point };
}

/** read is a stretch as it is read under the picture. */
function read(s: Stretch, currency: string, prices: ReturnType<typeof pricesIn>): string {
  const vms = [`${count(s.reserved, "VM", "VMs")} reserved`, `${s.demand} on demand`, ...(s.spot > 0 ? [`${s.spot} spot`] : [])].join(", ");
  const cost = prices.length === 1 ? prices[0]!.steps.find((p) => p.from <= s.from && s.from < p.until) : undefined;
  const refused = s.refused > 0 ? ` · ${count(s.refused, "job", "jobs")} refused` : "";
  const whose = s.plan ? ` · plan ${s.plan.number}` : " · forecast";
  return `${said(s.from)} to ${said(s.until)} · ${vms} · bill ${text(s.bill, currency, 2)} an hour${cost ? ` · on demand at ${price(units(cost.text), currency)}` : ""}${refused}${whose}`;
}

/** sentence says between how many VMs the days ahead lie. */
function sentence(all: Stretch[], at: number): string {
  const vms = all.filter((s) => s.until > at && !s.plan).map((s) => s.reserved + s.demand + s.spot);
  if (vms.length === 0) return "What held in the days behind.";
  const [low, high] = [Math.min(...vms), Math.max(...vms)];
  return low === high ? `The days ahead need ${count(low, "VM", "VMs")} throughout.` : `The days ahead need between ${low} and ${count(high, "VM", "VMs")}.`;
}

function columns(currency: string): Column<Stretch>[] {
  return [
    { key: "from", title: "From", value: (s) => new Date(s.from).toISOString(), show: (s) => said(s.from) },
    { key: "until", title: "Until", value: (s) => new Date(s.until).toISOString(), show: (s) => said(s.until) },
    { key: "reserved", title: "Reserved", number: true, value: (s) => s.reserved },
    { key: "on_demand", title: "On demand", number: true, value: (s) => s.demand },
    { key: "spot", title: "Spot", number: true, value: (s) => s.spot, inFilesOnly: true },
    { key: "vm_bill_hour", title: "VM bill, hour", number: true, value: (s) => decimal(s.bill), show: (s) => text(s.bill, currency, 2) },
    { key: "refused", title: "Refused", number: true, value: (s) => s.refused },
    { key: "plan", title: "Plan", number: true, value: (s) => s.plan?.number ?? null, show: (s) => s.plan?.number ?? "forecast" },
  ];
}

function Legend({ all, guessed, later, priced }: { all: Stretch[]; guessed: boolean; later: string | null; priced: boolean }) {
  return (
    <p class="legend">
      <span><span class="patch reserved" />Reserved</span>
      <span><span class="patch demand" />On demand</span>
      {all.some((s) => s.spot > 0) && <span><span class="patch spot" />Spot</span>}
      {guessed && <span><span class="patch none" />No forecast</span>}
      {priced && <span class="muted">Above: the price on demand from then on</span>}
      {later !== null && <span><span class="patch upfront" /><a href={`${addressOf(later, "contracts")}?tab=wait`}>Where jobs wait</a></span>}
    </p>
  );
}

interface Drawing {
  a: Area;
  seen: Stretch[];
  days: Read;
  currency: string;
  from: number;
  until: number;
  at: number;
  prices: ReturnType<typeof pricesIn>;
  cursor: Signal<Cursor>;
  /** The VMs of the plans to come where jobs wait. */
  later: Point[];
}

function Drawn({ a, seen, days, currency, from, until, at, prices, cursor, later }: Drawing) {
  const kind = (low: (s: Stretch) => number, high: (s: Stretch) => number) => seen.map((s) => ({ from: s.from, until: s.until, low: low(s), high: high(s) }));
  const most = Math.max(0, ...seen.map((s) => s.reserved + s.demand + s.spot));
  const unknown = days.ahead ? guessed(days.ahead).filter((g) => g.until > from && g.from < until) : [];
  const hovered = cursor.value && seen[cursor.value.point];
  return (
    <>
      <Blocks of={a} parts={kind(() => 0, (s) => s.reserved)} look="reserved" />
      <Blocks of={a} parts={kind((s) => s.reserved, (s) => s.reserved + s.demand)} look="demand" />
      <Blocks of={a} parts={kind((s) => s.reserved + s.demand, (s) => s.reserved + s.demand + s.spot)} look="spot" />
      <Blocks of={a} parts={unknown.map((g) => ({ from: Math.max(g.from, from), until: Math.min(g.until, until), low: 0, high: most }))} look="unknown" />
      {hovered && <Blocks of={a} parts={[{ from: hovered.from, until: hovered.until, low: 0, high: hovered.reserved + hovered.demand + hovered.spot }]} look="read" />}
      <Line of={a} points={later} look="without" steps />
      {at > from && at < until && <Mark of={a} x={at} word="now" look="" />}
      {flags(days, currency, from, until, prices, a).map((f) => (
        <Mark key={`${f.at} ${f.word}`} of={a} x={f.at} word={f.word} look={f.look} up={f.up} />
      ))}
    </>
  );
}

const letter = 7.5; // how wide one is, about

/** flags are contracts that end and prices that change; of those that stand close together some have no room for words. */
function flags(days: Read, currency: string, from: number, until: number, prices: ReturnType<typeof pricesIn>, a: Area) {
  const ends = endsIn(days.contracts, from, until).map((c) => ({ at: c.at, word: `${inText(c.name)} ends`, look: "accent" }));
  const turns = prices.flatMap((p) => p.steps.slice(1).map((s) => ({ at: s.from, word: `${prices.length > 1 ? `${p.type} ` : ""}${price(units(s.text), currency)}`, look: "muted" })));
  let end = -Infinity;
  return [...ends, ...turns]
    .sort((x, y) => x.at - y.at)
    .map((f) => {
      const wide = (f.word.length * letter) / 2;
      const at = Math.min(Math.max(a.x(f.at), a.left + wide), a.right - wide); // as the chart keeps words within it
      const room = at - wide > end + 8;
      if (room) end = at + wide;
      return { ...f, word: room ? f.word : "", up: 14 };
    });
}
