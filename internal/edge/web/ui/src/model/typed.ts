// What people type into forms, by what kind of value it becomes. Money stays decimal.
import { parse, show } from "./fields.ts";
import { decimal, scaled, units } from "./money.ts";

export type Kind = "text" | "count" | "number" | "duration" | "money" | "moment" | "flag";

const one = 1_000_000_000n;

/** read is the value that a text stands for, given what it is now (for +10 % and x1.2); undefined is what cannot
 *  be read, null an empty field. */
export function read(kind: Kind, text: string, now: unknown): string | number | boolean | null | undefined {
  const t = text.trim();
  if (t === "") return null;
  switch (kind) {
    case "text":
      return t;
    case "flag":
      return t === "true" ? true : t === "false" ? false : undefined;
    case "moment": {
      const m = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(?::\d\d)?)?Z?$/i.exec(t);
      const at = m ? Date.parse(`${m[1]}T${m[2] ?? "00:00"}:00Z`) : NaN;
      if (Number.isNaN(at)) return undefined;
      const iso = new Date(at).toISOString().replace(".000Z", "Z");
      return iso.startsWith(m![1]!) ? iso : undefined; // there is no 31 April
    }
    case "money":
      return amount(t, typeof now === "string" || typeof now === "number" ? String(now) : null);
    case "duration":
      return neat(parse("duration", t, typeof now === "number" ? now : null));
    default: {
      const n = parse("money", t, typeof now === "number" ? now : null);
      return n === null ? undefined : kind === "count" ? Math.round(n) : neat(n);
    }
  }
}

/** neat is without what multiplying has left behind. */
const neat = (n: number | null) => (n === null ? undefined : Number(n.toPrecision(12)));

function amount(text: string, now: string | null): string | undefined {
  const t = text.replace(/[\s,$€£]/g, "");
  const change = /^([+-])(\d+(?:\.\d+)?)%$/.exec(t) ?? /^()[x×](\d+(?:\.\d+)?)$/.exec(t);
  if (change && now !== null) {
    const by = units(change[2]!);
    return decimal(change[1] === "" ? scaled(units(now), by, one) : scaled(units(now), 100n * one + (change[1] === "-" ? -by : by), 100n * one));
  }
  return /^\d+(\.\d{1,9})?$/.test(t) ? t : undefined;
}

/** written is a value as its field has it. */
export function written(kind: Kind, value: unknown): string {
  if (kind === "flag") return String(value === true);
  if (value === null || value === undefined) return "";
  if (kind === "duration" && typeof value === "number") return value === Math.round(value) && value < 3600 ? show("duration", value) : exact(value);
  if (kind === "moment") return String(value).slice(0, 16).replace("T", " ");
  return String(value);
}

/** exact is a duration whose field gives back what it was. */
function exact(seconds: number): string {
  const [h, m] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  const s = Math.round((seconds - 3600 * h - 60 * m) * 1000) / 1000;
  return [h && `${h} h`, m && `${m} min`, s && `${s} s`].filter(Boolean).join(" ") || "0 s";
}

/** how says what a field of a kind takes. */
export const how: Record<Kind, string> = {
  text: "Type a text.",
  count: "Type a whole number, +10 % or x1.2.",
  number: "Type a number, +10 % or x1.2.",
  duration: "Type 18 min, 0:18:00, 1080 (seconds), +10 % or x1.2.",
  money: "Type an amount such as 0.45, +10 % or x1.2.",
  flag: "Type true or false.",
  moment: "Type a time such as 2026-03-01 22:00.",
};
