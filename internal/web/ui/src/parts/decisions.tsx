import type { ClassPlan } from "../api/contract.ts";
import { count } from "../model/words.ts";

/** Decisions are the classes to which another thing happens in another plan, and how many do not change. */
export function Decisions({ before, after, was, is }: { before: ClassPlan[]; after: ClassPlan[]; was: string; is: string }) {
  const of = new Map(before.map((c) => [c.name, c]));
  const stay = new Set(after.map((c) => c.name));
  const changed = [
    ...after.map((c) => ({ name: c.name, from: of.get(c.name) ?? null, to: c as ClassPlan | null })).filter((c) => !c.from || c.from.admitted !== c.to!.admitted || Math.abs(c.from.vms - c.to!.vms) >= 0.05),
    ...before.filter((c) => !stay.has(c.name)).map((c) => ({ name: c.name, from: c as ClassPlan | null, to: null })),
  ];
  const same = new Set([...of.keys(), ...stay]).size - changed.length;
  return (
    <section class="card" aria-labelledby="decisions">
      <h2 id="decisions">Decisions that change</h2>
      {changed.length > 0 && (
        <table class="decisions" role="table">
          <thead>
            <tr role="row">
              <th scope="col">Class</th>
              <th scope="col" class="number">{was}</th>
              <th scope="col" class="number">{is}</th>
              <th scope="col" class="number">VMs</th>
              <th scope="col">Why</th>
            </tr>
          </thead>
          <tbody>
            {changed.slice(0, 100).map(({ name, from, to }) => {
              const more = (to?.admitted ?? 0) - (from?.admitted ?? 0);
              const vms = (to?.vms ?? 0) - (from?.vms ?? 0);
              return (
                <tr key={name} role="row">
                  <td role="cell">
                    <bdi class="strong">{name}</bdi>
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
        {changed.length > 100 && ` The first 100 of ${count(changed.length, "class", "classes")} are shown.`}
      </p>
    </section>
  );
}
