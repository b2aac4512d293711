// Durations and moments as people read them.

/** day is one in milliseconds. */
export const day = 86_400_000;

/** duration writes seconds in the two largest units that say something. */
export function duration(seconds: number): string {
  if (seconds < 10 && seconds !== Math.round(seconds)) return `${seconds.toFixed(1)} s`;
  const s = Math.round(seconds);
  if (s < 60) return `${s} s`;
  if (s < 3600) return two(Math.floor(s / 60), "min", s % 60, "s");
  const m = Math.round(seconds / 60);
  if (m < 24 * 60) return two(Math.floor(m / 60), "h", m % 60, "min");
  const h = Math.round(seconds / 3600);
  return two(Math.floor(h / 24), h < 48 ? "day" : "days", h % 24, "h");
}

function two(large: number, unit: string, small: number, smaller: string): string {
  return small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smaller}`;
}

/** iso is a duration for machines. */
export function iso(seconds: number): string {
  return `PT${Math.round(seconds * 1000) / 1000}S`;
}

/** age says how long ago a moment was. */
export function age(milliseconds: number): string {
  return `${duration(Math.max(0, Math.floor(milliseconds / 1000)))} ago`;
}

/** clock is a moment's time of day in a zone, with its date where that is not today's, and the year where that is not this one. */
export function clock(moment: Date, zone: string, now: Date): string {
  const of = (at: Date, parts: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat("en-GB", { timeZone: zone, ...parts }).format(at);
  const year = of(moment, { year: "numeric" }) === of(now, { year: "numeric" }) ? undefined : "numeric";
  const date = (at: Date) => of(at, { day: "numeric", month: "short", year });
  const time = of(moment, { hour: "2-digit", minute: "2-digit", timeZoneName: "short" });
  return date(moment) === date(now) ? time : `${date(moment)}, ${time}`;
}

/** hourly is clock without the zone: of moments that follow each other. */
export function hourly(moment: Date, zone: string, now: Date): string {
  return clock(moment, zone, now).replace(/ [A-Z+\-0-9:]+$/, "");
}

/** second is a moment's time of day in a zone, to the second. */
export function second(moment: Date, zone: string): string {
  return new Intl.DateTimeFormat("en-GB", { timeZone: zone, hour: "2-digit", minute: "2-digit", second: "2-digit" }).format(moment);
}

/** inClock writes the moments of a sentence of the service as the page writes its own. */
export function inClock(text: string, zone: string, now: Date): string {
  return text.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[-+]\d\d:\d\d)/g, (moment) => clock(new Date(moment), zone, now));
}

/** monthOf is the month of a moment, in UTC as the service counts. */
export function monthOf(at: number): string {
  return new Intl.DateTimeFormat("en-US", { timeZone: "UTC", month: "long" }).format(new Date(at));
}

/** sinceInMonth says since when a part of a month counts, where that is not the month's beginning. */
export function sinceInMonth(from: number, now: number): string {
  const at = new Date(from);
  return from > Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1) ? ` since ${clock(at, "UTC", new Date(now))}` : "";
}
