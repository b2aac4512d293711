// What it is worth to let jobs of a class wait: the schedule of the hours ahead for several times within which they end.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Waiting, WaitingPoint } from "../api/contract.ts";
import { type Cursor, Figure } from "../charts/figure.tsx";
import { Dots, Line, Plot, type Point } from "../charts/plot.tsx";
import { number } from "../charts/scale.ts";
import { short, text, units } from "../model/money.ts";
import type { Column } from "../model/table.ts";
import { count } from "../model/words.ts";
import { Asking } from "../parts/asking.tsx";
import { Asked } from "../state/asked.ts";
import { narrow } from "../state/narrow.ts";
import { route } from "../state/route.ts";

const asked = new Asked<Waiting>("waiting", false);
const hours = [0, 2, 4, 8, 12, 24];

export function Worth({ classes, first, weeks, until }: { classes: string[]; first: string; weeks: string; until: { until?: string } }) {
  const name = route.value.cluster;
  const of = useSignal(first);
  useEffect(() => () => asked.forget(), [name]);
  const show = () =>
    void asked.start("POST /v1/clusters/{cluster}/waiting", { cluster: name }, { ...until, vary: [{ what: "due", class: of.value, by: "value", values: hours.map((h) => String(3600 * h)) }] });
  const a = asked.value.value;
  return (
    <section class="card" aria-labelledby="worth">
      <h2 id="worth">How long may they wait?</h2>
      <p class="small muted">
        What {weeks === "1" ? "a week" : `${weeks} weeks`} from the next hour on, or the time until the forecasts end, would come to if runs of a class ended within 0 to 24 hours of their arrival. With 0 they start as they arrive.
      </p>
      <p class="actions">
        <label class="small">
          Class:{" "}
          <select
            value={of.value}
            onChange={(e) => {
              of.value = e.currentTarget.value;
              asked.forget();
            }}
          >
            {classes.map((c) => (
              <option key={c} value={c}>
                {c}
              </option>
            ))}
          </select>
        </label>
        <button onClick={show} disabled={asked.since.value > 0}>
          Compute
        </button>
      </p>
      <Asking of={asked} />
      {a && <Curve a={a} />}
    </section>
  );
}

const planned = (p: WaitingPoint) => p.status !== "infeasible";
const due = (p: WaitingPoint) => p.parameters[0]! / 3600;

/** told says within how many hours the total is least, and what that surely saves against no waiting. */
function told(a: Waiting, money: (amount: string) => string): string {
  const there = a.points.filter(planned);
  if (there.length === 0) return "There is no schedule for any of these times.";
  const best = there.reduce((x, p) => (units(p.total) < units(x.total) ? p : x));
  const none = there.find((p) => due(p) === 0);
  const least = `Least within ${count(due(best), "hour", "hours")}: ${money(best.total)}.`;
  if (!none || due(best) === 0) return least;
  if (none.waiting_classes !== best.waiting_classes) return `${least} Without waiting ${money(none.total)}, where runs count with the VMs that they hold on average; where they wait they count with whole hours.`;
  const saved = units(none.bound) - units(best.total);
  return `${least} Without waiting ${money(none.total)}${saved > 0n ? `; that is more by ${text(saved, a.currency, 2)} at least, whatever the schedules` : ", which may be as good: the difference is within the gaps of the schedules"}.`;
}

function Curve({ a }: { a: Waiting }) {
  const cursor = useSignal<Cursor>(null);
  const money = (amount: string) => text(units(amount), a.currency, 2);
  const shown = (p: WaitingPoint, amount: string) => (planned(p) ? money(amount) : "no schedule");
  const columns: Column<WaitingPoint>[] = [
    { key: "due_h", title: "End within, hours", number: true, value: due },
    { key: "together", title: "Bill and value refused", number: true, value: (p) => p.total, show: (p) => shown(p, p.total) },
    { key: "bill", title: "VM bill", number: true, value: (p) => p.bill, show: (p) => shown(p, p.bill) },
    { key: "bound", title: "No schedule below", number: true, value: (p) => p.bound, show: (p) => shown(p, p.bound) },
    { key: "most_vms", title: "VMs, at most", number: true, value: (p) => (planned(p) ? p.most_vms : null) },
    { key: "later", title: "Start later", number: true, value: (p) => (planned(p) ? p.later : null) },
    { key: "refused", title: "Refused", number: true, value: (p) => (planned(p) ? p.refused : null) },
  ];
  const points = a.points.map((p): Point => [due(p), planned(p) ? Number(p.total) : NaN]);
  const read = a.points.map((p) => `within ${count(due(p), "hour", "hours")} · ${planned(p) ? `bill and value refused ${money(p.total)}, at least ${money(p.bound)}` : p.conflict}`);
  return (
    <Figure title="Bill and value refused together" said={told(a, money)} columns={columns} rows={a.points} name={(p) => p.parameters.join()} points={[read]} file="waiting" cursor={cursor}>
      {() => (
        <Plot
          x={number([0, hours.at(-1)!], (h) => `${h} h`, { exact: true, about: 6, steps: [4] })}
          y={number(points.map(([, y]) => y), short(a.currency))}
          height={narrow.value ? 180 : 240}
          at={(x) => {
            const near = x === null ? -1 : points.reduce((best, [h], i) => (Math.abs(h - x) < Math.abs(points[best]![0] - x) ? i : best), 0);
            cursor.value = near < 0 ? null : { series: 0, point: near };
          }}
        >
          {(area) => (
            <>
              <Line of={area} points={points.filter(([, y]) => !Number.isNaN(y))} look="faint" />
              <Dots of={area} points={points} look="" />
              {cursor.value && <Dots of={area} points={[points[cursor.value.point]!]} look="read" size={7} />}
            </>
          )}
        </Plot>
      )}
    </Figure>
  );
}
