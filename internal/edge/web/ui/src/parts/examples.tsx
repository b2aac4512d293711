// The examples of pages that have nothing to show yet.
import { ask } from "../api/client.ts";
import type { Batch, Class, StandingOffer } from "../api/contract.ts";
import { firstType } from "../model/beginnings.ts";
import { saveClass } from "../state/classes.ts";
import { may } from "../state/rights.ts";
import { route } from "../state/route.ts";
import { Example } from "./example.tsx";

/** exampleBatch is a batch that any page may bring. */
export const exampleBatch: Batch = {
  machines: { count: 11, disks: 2, hosts_per_extra: 2, penalty: 1.1 },
  jobs: [
    { name: "sort", count: 3, role: "host", min_vms: 6, model: { a: 4200, b: -0.7 } },
    { name: "index", role: "guest", model: { a: 3600, b: -0.8 }, deadline_s: 7200 },
  ],
};

const bars: [name: string, from: number, width: number][] = [["sort 1", 0, 180], ["sort 2", 0, 180], ["index", 0, 130], ["sort 3", 180, 150]];

export function BatchExample({ title, take, children }: { title: string; take: () => void; children?: preact.ComponentChildren }) {
  const picture = (
    <svg viewBox="0 0 420 120">
      {bars.map(([name, from, width], i) => (
        <g key={name}>
          <text x="0" y={i * 28 + 20} font-size="13" fill="currentColor">{name}</text>
          <rect x={70 + from} y={i * 28 + 6} width={width} height="20" rx="3" fill="var(--reserved)" />
        </g>
      ))}
    </svg>
  );
  return (
    <Example title={title} of="four jobs on eleven machines, in two phases." button="Pack this example" may={may("planner")} take={take} picture={picture}>
      {children}
    </Example>
  );
}

const exampleNodes = ["example-node-1", "example-node-2", "example-node-3"];

export function LiveExample({ done }: { done: () => void }) {
  const cluster = route.value.cluster;
  const take = async () => {
    for (const node of exampleNodes) await ask("PUT /v1/clusters/{cluster}/nodes/{node}", { path: { cluster, node }, body: { type: "example", cores: 4, slots: { map: 3, reduce: 1 } } });
    done();
  };
  const picture = exampleNodes.map((n, i) => (
    <p key={n}>
      {[0, 1, 2, 3].map((slot) => <i key={slot} class={slot > 3 - i ? "slot free" : "slot"} />)} {n}
    </p>
  ));
  return <Example title="Here stand the nodes, each slot busy or free." of="three nodes with four slots each." button="Declare these three nodes" may={may("operator")} take={take} picture={picture} />;
}

const exampleClass: { class: Class; figures: NonNullable<Parameters<typeof saveClass>[1]["figures"]> } = {
  class: { name: "nightly-etl", deadline_s: 2700, slots_per_vm: { map: 4, reduce: 4 }, jobs: { min: 0, max: 4 }, penalty: "6.00" },
  figures: { map_tasks: 300, reduce_tasks: 40, map_avg_s: 30, map_max_s: 60, first_shuffle_avg_s: 12, first_shuffle_max_s: 20, shuffle_avg_s: 40, shuffle_max_s: 90, reduce_avg_s: 20, reduce_max_s: 50, overhead_s: 11 },
};

export function ClassExample({ of, done }: { of: string; done: () => void }) {
  const { class: c, figures } = exampleClass;
  const take = async () => {
    await saveClass(of, exampleClass, exampleClass, "", c.name);
    done();
  };
  const picture = (
    <table>
      <tbody>
        <tr><th>Class</th><th>Described by</th><th>Deadline</th><th>Jobs</th><th>Value refused</th></tr>
        <tr><td>{c.name}</td><td>{figures.map_tasks} and {figures.reduce_tasks} tasks</td><td>45 min</td><td>0–4</td><td>6.00</td></tr>
      </tbody>
    </table>
  );
  return <Example title="Here stand the classes of jobs that are planned." of="a nightly job of 340 tasks, done within 45 minutes." button="Add this class" may={may("operator")} take={take} picture={picture} />;
}

/** OfferExample offers VMs of a type for a year at two thirds of its price. Where there is no type yet, it makes one. */
export function OfferExample({ known, price, done }: { known: string; price: string; done: () => void }) {
  const cluster = route.value.cluster;
  const type = known || firstType;
  const reduced = ((Number(price) * 2) / 3).toFixed(4);
  const body: StandingOffer = { name: "example: a year", vm_type: type, price: reduced, upfront: "0", billing: "always", term_years: 1, max: 40 };
  const take = async () => {
    if (!known) {
      await ask("POST /v1/clusters/{cluster}/vm-types", { path: { cluster }, body: { name: type, in_use: true } });
      await ask("POST /v1/clusters/{cluster}/prices", { path: { cluster }, body: { vm_type: type, price, from: new Date(Date.now()).toISOString(), until: null } });
    }
    await ask("POST /v1/clusters/{cluster}/offers", { path: { cluster }, body });
    done();
  };
  const picture = (
    <table>
      <tbody>
        <tr><th>Offer</th><th>VM type</th><th>Term</th><th>A VM-hour</th><th>At most</th></tr>
        <tr><td>{body.name}</td><td>{type}</td><td>1 year</td><td>{reduced}</td><td>40</td></tr>
      </tbody>
    </table>
  );
  return <Example title="Here stand the contracts that you could sign, and which of them pay for themselves." of="a year at two thirds of the present price." button={known ? "Add this offer" : "Add this offer and its VM type"} may={may("operator")} take={take} picture={picture} />;
}

const weeks = 13;
const mostClasses = 100;

/** ForecastExample takes the demand of today as the forecast of a quarter of a year. */
export function ForecastExample({ classes, done }: { classes: { name: string; jobs: { max: number } }[]; done: () => void }) {
  const cluster = route.value.cluster;
  const take = async () => {
    const hour = 3_600_000;
    const from = Math.floor(Date.now() / hour) * hour;
    const span = { from: new Date(from).toISOString(), until: new Date(from + weeks * 168 * hour).toISOString() };
    for (const c of classes) await ask("POST /v1/clusters/{cluster}/forecasts/weekly", { path: { cluster }, body: { class: c.name, ...span, week: `mon-sun 0-24: ${c.jobs.max}` } });
    done();
  };
  const few = classes.length <= mostClasses;
  const picture = (
    <svg viewBox="0 0 420 60">
      <path d="M0 30H420" stroke="var(--demand)" stroke-width="3" />
      <path d="M0 58H420" stroke="currentColor" />
    </svg>
  );
  return (
    <Example
      title="Nothing says how many jobs there will be, so nothing can be said to be worth buying."
      of="as many jobs as today, at every hour of the next quarter of a year."
      button="Take this as the forecast"
      may={may("operator") && few}
      take={take}
      picture={picture}
    >
      {!few && <p class="small muted">There are too many classes to do it here; <code>headroom class forecast import</code> takes a table of all.</p>}
    </Example>
  );
}
