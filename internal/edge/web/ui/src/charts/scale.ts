// Scales lay values along an axis and say where its marks stand.

export interface Scale {
  from: number;
  to: number;
  ticks: number[];
  text: (value: number) => string;
  /** Marks may stand at values without having a line across the chart. */
  bare?: boolean;
}

/** ofClocks are steps of seconds that make round durations. */
export const ofClocks = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400];

/** number is a scale with round marks, about so many, or with the first of some steps that makes no more; it
 *  begins at zero where it is told to or nearly does. */
export function number(values: number[], text: (v: number) => string, { about = 5, zero = false, exact = false, whole = false, steps = [] as number[] } = {}): Scale {
  const known = values.filter(Number.isFinite);
  let from = known.length > 0 ? Math.min(...known) : 0;
  let to = known.length > 0 ? Math.max(...known) : 1;
  if (zero || (from > 0 && from < (to - from) / 4)) from = Math.min(from, 0);
  if (from === to) [from, to] = from === 0 ? [0, 1] : [Math.min(from, from * 0.5, from * 1.5), Math.max(to, to * 0.5, to * 1.5)];
  const rough = (to - from) / about;
  const step = Math.max(steps.find((s) => s >= rough) ?? round(rough), whole ? 1 : 0);
  if (!exact) {
    from = Math.floor(from / step + 1e-9) * step;
    to = Math.ceil(to / step - 1e-9) * step;
  }
  const ticks: number[] = [];
  for (let k = Math.ceil(from / step - 1e-9); k * step <= to + step * 1e-9; k++) ticks.push(Number((k * step).toPrecision(12)));
  return { from, to, ticks, text };
}

/** round is the next step of the form 1, 2 or 5 times a power of ten. */
function round(rough: number): number {
  const ten = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((k) => k * ten).find((s) => s >= rough * (1 - 1e-9))!;
}

/** names is a scale of things beside each other: the first at 0. */
export function names(all: string[]): Scale {
  return { from: -0.5, to: all.length - 0.5, ticks: all.map((_, i) => i), text: (i) => all[i] ?? "", bare: true };
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const steps = [minute, 5 * minute, 15 * minute, 30 * minute, hour, 3 * hour, 6 * hour, 12 * hour, day, 2 * day, 7 * day];

/** moments is a scale of time on the clocks of a zone, with about so many marks. */
export function moments(from: number, to: number, zone: string, about = 6): Scale {
  if (to <= from) to = from + minute;
  const rough = (to - from) / about;
  const step = steps.find((s) => s >= rough);
  const format = (f: Intl.DateTimeFormatOptions) => {
    const text = new Intl.DateTimeFormat("en-GB", { timeZone: zone, ...f });
    return (v: number) => text.format(v);
  };
  const ticks: number[] = [];
  if (step !== undefined) {
    const first = Math.ceil((from + offset(from, zone)) / step) * step;
    for (let local = first; ; local += step) {
      const at = moment(local, zone);
      if (at > to) break;
      if (at >= from) ticks.push(at);
    }
    return { from, to, ticks, text: step < day ? (to - from > day ? format({ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" }) : format({ hour: "2-digit", minute: "2-digit" })) : format({ day: "numeric", month: "short" }) };
  }
  const months = [1, 2, 3, 6, 12, 24, 60, 120].find((m) => m * 30 * day >= rough) ?? 1200;
  const begin = new Date(from + offset(from, zone));
  for (let m = Math.ceil((begin.getUTCFullYear() * 12 + begin.getUTCMonth()) / months) * months; ; m += months) {
    const at = moment(Date.UTC(Math.floor(m / 12), m % 12, 1), zone);
    if (at > to) break;
    if (at >= from) ticks.push(at);
  }
  return { from, to, ticks, text: months >= 12 ? format({ year: "numeric" }) : format({ month: "short", year: "numeric" }) };
}

const clocks = new Map<string, Intl.DateTimeFormat>();

/** offset is by how much a zone's clocks are ahead of UTC at a moment. */
function offset(at: number, zone: string): number {
  let f = clocks.get(zone);
  if (!f) {
    f = new Intl.DateTimeFormat("en-GB", { timeZone: zone, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric" });
    clocks.set(zone, f);
  }
  const p = Object.fromEntries(f.formatToParts(at).map((x) => [x.type, Number(x.value)]));
  return Date.UTC(p["year"]!, p["month"]! - 1, p["day"]!, p["hour"]!, p["minute"]!, p["second"]!) - Math.floor(at / 1000) * 1000;
}

/** moment is when a zone's clocks show a local time, given as if it were UTC's. */
function moment(local: number, zone: string): number {
  return local - offset(local - offset(local, zone), zone);
}
