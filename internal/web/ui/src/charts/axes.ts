// What the axes of all charts have in common.
import type { Colours } from "./chart.tsx";

/** axis is the look of an axis; show writes its numbers. */
export function axis(c: Colours, show?: (x: number) => string) {
  return {
    axisLine: { lineStyle: { color: c.control } },
    axisTick: { lineStyle: { color: c.control } },
    splitLine: { lineStyle: { color: c.line } },
    axisLabel: { color: c.muted, fontSize: 13, hideOverlap: true, ...(show ? { formatter: show } : {}) },
  };
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
