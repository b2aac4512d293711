// Money is decimal: strings from the service, whole numbers of a billionth while it is added up, and
// strings again for people. It never becomes a float.

/** Units are billionths of a currency's unit. */
export type Units = bigint;

const places = 9;
/** one is a unit of the currency. */
export const one = 10n ** BigInt(places);

/** units reads a decimal as the service writes it. */
export function units(amount: string): Units {
  const m = /^([-+]?)(\d*)(?:\.(\d*))?$/.exec(amount);
  if (!m) throw new RangeError(`${amount} is not an amount`);
  const part = (m[3] ?? "").padEnd(places, "0").slice(0, places);
  const whole = BigInt(m[2] || "0") * one + BigInt(part || "0");
  return m[1] === "-" ? -whole : whole;
}

/** decimal writes units with all the digits they have. */
export function decimal(u: Units): string {
  const sign = u < 0n ? "-" : "";
  const abs = u < 0n ? -u : u;
  const part = (abs % one).toString().padStart(places, "0").replace(/0+$/, "");
  return sign + (abs / one).toString() + (part ? "." + part : "");
}

/** plain writes a number as units reads it: never as 1e-7, which String makes of small ones. */
export function plain(x: number): string {
  return Math.min(x, 1e18).toFixed(places).replace(/\.?0+$/, "");
}

/** scaled multiplies by a fraction, rounded half away from zero. */
export function scaled(u: Units, times: bigint, by: bigint): Units {
  const abs = (u < 0n ? -u : u) * times;
  const out = (abs * 2n + by) / (by * 2n);
  return u < 0n ? -out : out;
}

/** Periods are what people see costs for. */
export type Period = "hour" | "day" | "month";

/** periods of a change, and of a bill; the first is meant where the address has none. */
export const periods = ["month", "hour", "day"] as const;
export const shownPeriods = ["hour", "day", "month"] as const;
export const periodTexts: Record<Period, string> = { hour: "Hour", day: "Day", month: "Month" };
export const each: Record<Period, string> = { hour: "an hour", day: "a day", month: "a month" };

/** atRate says that a bill of more than an hour goes on as it is in this hour. */
export const atRate: Record<Period, string> = { hour: "", day: " at this hour's rate", month: " at this hour's rate" };

/** eachAtRate is an hour, day or month that goes on as this hour does. */
export const eachAtRate: Record<Period, string> = { hour: "an hour", day: `a day${atRate.day}`, month: `a month${atRate.month}` };

/** hoursOf is how many hours a period has; a month is a twelfth of a year of 365 days. */
const hoursOf: Record<Period, bigint> = { hour: 1n, day: 24n, month: 730n };

/** perPeriod is an amount of a planning period of so many seconds, for a period that people see. */
export function perPeriod(amount: string, seconds: number, period: Period): Units {
  return scaled(units(amount), hoursOf[period] * 3600n, BigInt(seconds));
}

/** rounded rounds to a step, half away from zero. */
export const rounded = (u: Units, step: Units): Units => scaled(u, 1n, step) * step;

/** shares rounds parts to a step so that they add up to their rounded total: the largest remainders go up. */
export function shares(parts: Units[], step: Units): Units[] {
  const total = rounded(parts.reduce((a, b) => a + b, 0n), step);
  const down = parts.map((p) => floorDiv(p, step) * step);
  let missing = (total - down.reduce((a, b) => a + b, 0n)) / step;
  const order = parts.map((p, i) => ({ i, rest: p - down[i]! })).sort((a, b) => (a.rest === b.rest ? a.i - b.i : a.rest > b.rest ? -1 : 1));
  for (const { i } of order) {
    if (missing <= 0n) break;
    down[i]! += step;
    missing--;
  }
  return down;
}

function floorDiv(a: bigint, b: bigint): bigint {
  const q = a / b;
  return a % b < 0n ? q - 1n : q;
}

/** cent is the step of columns that add up. */
export const cent: Units = one / 100n;

const formats = new Map<string, Intl.NumberFormat>();

/** text writes an amount with its currency's symbol and a fixed number of places. */
export function text(u: Units, currency: string, digits: number): string {
  const key = `${currency} ${digits}`;
  let f = formats.get(key);
  if (!f) {
    try {
      f = new Intl.NumberFormat("en-US", { style: "currency", currency, minimumFractionDigits: digits, maximumFractionDigits: digits });
    } catch {
      f = new Intl.NumberFormat("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
    }
    formats.set(key, f);
  }
  // A string keeps every digit where a number would not.
  return f.format(decimal(u) as unknown as number).replace("-", "−");
}

/** headline leaves cents out where they are noise. */
export function headline(u: Units, currency: string): string {
  const large = u >= 1000n * one || u <= -1000n * one;
  return text(u, currency, large ? 0 : 2);
}

/** upTo writes what something is at most: cents are rounded up, and left out where they are noise. */
export function upTo(u: Units, currency: string): string {
  const step = u >= 1000n * one ? one : cent;
  return headline(((u + step - 1n) / step) * step, currency);
}

/** price shows as many places as a unit price needs: from two to four. */
export function price(u: Units, currency: string): string {
  const digits = u % (one / 100n) === 0n ? 2 : u % (one / 1000n) === 0n ? 3 : 4;
  return text(u, currency, digits);
}

/** short writes amounts on an axis, where there is little room: $12K. */
export function short(currency: string): (x: number) => string {
  const digits = { maximumFractionDigits: 2, notation: "compact" } as const;
  let f: Intl.NumberFormat;
  try {
    f = new Intl.NumberFormat("en-US", { style: "currency", currency, ...digits });
  } catch {
    f = new Intl.NumberFormat("en-US", digits);
  }
  return (x) => f.format(x).replace("-", "−");
}
