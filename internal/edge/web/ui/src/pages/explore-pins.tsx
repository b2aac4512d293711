// Scenarios that are kept side by side, all compared with the same plan.
import { useSignal } from "@preact/signals";
import { headline, type Period, periods, perPeriod, type Units } from "../model/money.ts";
import { letters, longestName, type Pin, shortened } from "../model/pins.ts";
import { count } from "../model/words.ts";
import { base, open, pins, setPins } from "../state/edits.ts";
import { chosen } from "../state/route.ts";
import { answered, keyOfEdits, summaries } from "../state/whatif.ts";

/** Figures are those that scenarios are compared by. */
interface Figures {
  title: string;
  status: string;
  cost: { total: string; bill: string; penalties: string; period_s: number; currency: string };
  vms: { total: number };
  admitted: number;
  refused: number;
}

export function Pinned() {
  const compare = useSignal(false);
  const was = answered.value?.base;
  const b = base.value;
  if (!was || !b) return null;
  const of = (p: Pin) => summaries.value.get(keyOfEdits(b.number, p.edits));
  const all: (Figures | null)[] = [{ ...was, title: "Now" }, ...pins.value.map((p) => {
    const f = of(p);
    return f ? { ...f, title: `${p.letter} ${p.name}` } : null;
  })];
  return (
    <section class="card" aria-labelledby="pinned">
      <header>
        <h2 id="pinned">Pinned</h2>
        <span class="small muted">
          {pins.value.length} of {letters.length} · all compared with plan {new Intl.NumberFormat("en-US").format(b.number)}
        </span>
        <button aria-expanded={compare.value} onClick={() => (compare.value = !compare.value)}>Compare</button>
      </header>
      <div class="pins">
        <div class="pin">
          <p class="strong">Now</p>
          <Card of={all[0] ?? null} />
          <p><button class="quiet" onClick={() => open([])}>Open</button></p>
        </div>
        {pins.value.map((p, i) => (
          <div key={p.letter} class={`pin ${p.letter}`}>
            <p class="strong">
              {p.letter} <input class="named" aria-label={`Name of ${p.letter}`} maxLength={longestName} value={p.name} onChange={(e) => rename(p, e.currentTarget.value)} />
            </p>
            <Card of={all[i + 1] ?? null} />
            <p class="links">
              <button class="quiet" onClick={() => open(p.edits)}>Open</button>
              <button class="quiet" onClick={() => setPins(pins.value.filter((x) => x.letter !== p.letter))}>Unpin</button>
            </p>
          </div>
        ))}
      </div>
      {compare.value && <Compared all={all.filter((f) => f !== null)} />}
    </section>
  );
}

function rename(p: Pin, name: string): void {
  setPins(pins.value.map((x) => (x.letter === p.letter ? { ...x, name: shortened(name.trim()) || `Scenario ${x.letter}` } : x)), false);
}

function Card({ of }: { of: Figures | null }) {
  const period = chosen<Period>("per", periods);
  if (!of) return <p class="muted late">Reading …</p>;
  if (of.status === "infeasible") return <p>No plan possible</p>;
  return (
    <>
      <p>VM bill {headline(perPeriod(of.cost.bill, of.cost.period_s, period), of.cost.currency)}</p>
      <p class="small muted">
        {count(of.vms.total, "VM", "VMs")} · {of.refused} refused
      </p>
    </>
  );
}

/** Compared has a row for each figure and a column for each scenario; the smallest amount is bold. */
function Compared({ all }: { all: Figures[] }) {
  const period = chosen<Period>("per", periods);
  const per = (f: Figures, amount: string): Units => perPeriod(amount, f.cost.period_s, period);
  const money: { title: string; of: (f: Figures) => Units }[] = [
    { title: "VM bill", of: (f) => per(f, f.cost.bill) },
    { title: "Value refused", of: (f) => per(f, f.cost.penalties) },
    { title: "Bill and value refused", of: (f) => per(f, f.cost.total) },
  ];
  const counts: { title: string; of: (f: Figures) => number }[] = [
    { title: "VMs", of: (f) => f.vms.total },
    { title: "Jobs served", of: (f) => f.admitted },
    { title: "Jobs refused", of: (f) => f.refused },
  ];
  const possible = all.filter((f) => f.status !== "infeasible");
  return (
    <div class="wide" role="group" aria-label="Pinned scenarios compared" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Figure</th>
            {all.map((f) => (
              <th key={f.title} scope="col" class="number">
                <bdi>{f.title}</bdi>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {money.map((row) => {
            const least = possible.map(row.of).reduce((a, b) => (b < a ? b : a));
            return (
              <tr key={row.title}>
                <th scope="row">{row.title}</th>
                {all.map((f) => (
                  <td key={f.title} class={f.status !== "infeasible" && row.of(f) === least ? "number strong" : "number"}>
                    {f.status === "infeasible" ? "no plan" : headline(row.of(f), f.cost.currency)}
                  </td>
                ))}
              </tr>
            );
          })}
          {counts.map((row) => (
            <tr key={row.title}>
              <th scope="row">{row.title}</th>
              {all.map((f) => (
                <td key={f.title} class="number">
                  {f.status === "infeasible" ? "–" : row.of(f)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
