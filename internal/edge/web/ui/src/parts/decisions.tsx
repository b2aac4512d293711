import { useSignal } from "@preact/signals";
import type { ClassPlan } from "../api/contract.ts";
import { count } from "../model/words.ts";
import { printing } from "../state/printing.ts";
import { Name } from "./name.tsx";

const onPage = 100;

type Decided = Pick<ClassPlan, "admitted" | "vms">;

/** Decision is what is decided about a class in two plans. */
export interface Decision {
  name: string;
  from: Decided | null;
  to: (Decided & Pick<ClassPlan, "reason">) | null;
}

/** decisionsOf are those of two plans. */
export function decisionsOf(before: ClassPlan[], after: ClassPlan[]): Decision[] {
  const of = new Map(before.map((c) => [c.name, c]));
  const stay = new Set(after.map((c) => c.name));
  return [...after.map((c) => ({ name: c.name, from: of.get(c.name) ?? null, to: c })), ...before.filter((c) => !stay.has(c.name)).map((c) => ({ name: c.name, from: c, to: null }))];
}

const changes = ({ from, to }: Decision) => !from || !to || from.admitted !== to.admitted || Math.abs(from.vms - to.vms) >= 0.05;

/** Decisions are the classes to which another thing happens in another plan; those that do not change are
 *  counted, and shown to who asks. */
export function Decisions({ of: rows, was, is, currency }: { of: Decision[]; was: string; is: string; currency: string }) {
  const whole = useSignal(false);
  const changed = rows.filter(changes);
  const same = rows.length - changed.length;
  const shown = whole.value ? [...changed, ...rows.filter((r) => !changes(r))] : changed;
  const most = printing.value ? shown.length : onPage;
  return (
    <section class="card" aria-labelledby="decisions">
      <h2 id="decisions">Decisions that change</h2>
      {shown.length > 0 && (
        <table class="decisions" role="table">
          <thead role="rowgroup">
            <tr role="row">
              <th role="columnheader" scope="col">Class</th>
              <th role="columnheader" scope="col" class="number">{was}</th>
              <th role="columnheader" scope="col" class="number">{is}</th>
              <th role="columnheader" scope="col" class="number">VMs</th>
              <th role="columnheader" scope="col">Why, amounts in {currency}</th>
            </tr>
          </thead>
          <tbody role="rowgroup">
            {shown.slice(0, most).map(({ name, from, to }) => {
              const more = (to?.admitted ?? 0) - (from?.admitted ?? 0);
              const vms = (to?.vms ?? 0) - (from?.vms ?? 0);
              return (
                <tr key={name} role="row">
                  <td role="cell">
                    <Name of={name} strong />
                  </td>
                  <td role="cell" class="number">
                    <span class="narrow">{was.toLowerCase()} </span>
                    {from ? from.admitted : "–"}
                  </td>
                  <td role="cell" class="number">
                    <span class="narrow">{is.toLowerCase()} </span>
                    {to ? to.admitted : "–"} {more !== 0 && <span class="strong">{more > 0 ? `+${more}` : `−${-more}`}</span>}
                  </td>
                  <td role="cell" class="number">{Math.abs(vms) < 0.05 ? "0" : vms > 0 ? `+${vms.toFixed(1)}` : `−${(-vms).toFixed(1)}`}<span class="narrow"> VMs</span></td>
                  <td role="cell" class="small muted">{to ? to.reason : "It is no class any more."}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
      <p class="small muted">
        {changed.length === 0 ? "No decision changes." : same === 0 ? "" : `${count(same, "class does", "classes do")} not change.`}
        {shown.length > most && ` The first ${most} of ${count(shown.length, "class", "classes")} are shown.`}{" "}
        {same > 0 && (
          <button class="quiet" aria-expanded={whole.value} onClick={() => (whole.value = !whole.value)}>
            {whole.value ? "Show those that change" : "Show all classes"}
          </button>
        )}
      </p>
    </section>
  );
}
