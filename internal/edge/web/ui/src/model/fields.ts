// What people type into fields, and how values stand in them.
import type { Knob } from "./scenario.ts";
import { duration } from "./time.ts";

/** show is a value as its field has it. */
export function show(kind: Knob["kind"], value: number | null): string {
  if (value === null) return "no limit";
  switch (kind) {
    case "duration":
      return duration(value);
    case "percent":
      return String(Math.round(value * 1000) / 10);
    case "money":
      return value >= 1000 ? value.toFixed(0) : value >= 1 ? value.toFixed(2) : String(Number(value.toPrecision(4)));
    case "count":
      return String(Math.round(value));
    case "switch":
      return value ? "on" : "off";
  }
}

export const unitOf: Record<Knob["kind"], string> = { duration: "", percent: "%", money: "", count: "", switch: "" };

const seconds: Record<string, number> = { d: 86400, day: 86400, days: 86400, h: 3600, min: 60, m: 60, s: 1 };

/** parse reads 18m, 18 min, 1080, 0:18:00, +10 %, x1.2 and the like; null is what cannot be read. */
export function parse(kind: Knob["kind"], text: string, now: number | null): number | null {
  const t = text.trim().toLowerCase().replace(/,/g, "");
  let m = /^([+-])\s*(\d+(?:\.\d+)?)\s*%$/.exec(t);
  if (m && now !== null) return now * (1 + (m[1] === "-" ? -1 : 1) * (Number(m[2]) / 100));
  m = /^[x×]\s*(\d+(?:\.\d+)?)$/.exec(t);
  if (m && now !== null) return now * Number(m[1]);
  if (kind === "duration") {
    m = /^(?:(\d+):)?(\d{1,2}):(\d{1,2})$/.exec(t);
    if (m) return Number(m[1] ?? 0) * 3600 + Number(m[2]) * 60 + Number(m[3]);
    let sum = 0;
    const rest = t.replace(/(\d+(?:\.\d+)?)\s*(days|day|d|h|min|m|s)\b/g, (_, n: string, unit: string) => {
      sum += Number(n) * seconds[unit]!;
      return "";
    });
    if (rest.trim() === "" && sum > 0) return sum;
  }
  const bare = t.replace(/^[$€£]|%$/g, "").trim();
  if (!/^\d+(\.\d+)?$/.test(bare)) return null;
  return kind === "percent" ? Number(bare) / 100 : Number(bare);
}
