import type { ECharts, EChartsCoreOption } from "echarts/core";
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

/** Colours are the tokens of the style sheet as they are now. */
export type Colours = Record<"text" | "muted" | "line" | "surface" | "sunken" | "control" | "accent" | "reserved" | "demand" | "refused" | "idle" | "fifth" | "bad" | "good" | "warning", string>;

const names: (keyof Colours)[] = ["text", "muted", "line", "surface", "sunken", "control", "accent", "reserved", "demand", "refused", "idle", "fifth", "bad", "good", "warning"];

export function colours(): Colours {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(names.map((n) => [n, style.getPropertyValue(`--${n}`).trim()])) as Colours;
}

/** hatch is how what is idle or impossible is filled, whatever its colour. */
export function hatch(colour: string) {
  return { color: colour, symbol: "rect", dashArrayX: [1, 0], dashArrayY: [2, 4], rotation: -Math.PI / 4 };
}

interface Props {
  /** Makes the chart for the colours of the theme. Give a new function when what it shows has changed. */
  option: (c: Colours) => EChartsCoreOption;
  height?: number;
  /** Tells of the pointer's place on the axes, or that it has left. */
  at?: (x: number | null, y: number) => void;
  /** Tells of a click at a place on the axes. */
  press?: (x: number, y: number) => void;
}

/** Chart is drawn by ECharts at the width that it has. */
export function Chart({ option, height = 320, at, press }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<ECharts | null>(null);
  const ready = useSignal(0);
  const latest = useRef(option);
  latest.current = option;

  const draw = () => {
    const c = colours();
    chart.current?.setOption(
      { animation: false, textStyle: { fontFamily: getComputedStyle(document.documentElement).fontFamily, color: c.text, fontSize: 13 }, ...latest.current(c) },
      { notMerge: true },
    );
  };
  useEffect(() => {
    let over = false;
    let watch: ResizeObserver | null = null;
    void import("./echarts.ts").then(({ init }) => {
      if (over) return;
      chart.current = init(box.current!, null, { renderer: "svg" });
      watch = new ResizeObserver(() => chart.current?.resize());
      watch.observe(box.current!);
      ready.value++;
    });
    return () => {
      over = true;
      watch?.disconnect();
      chart.current?.dispose();
      chart.current = null;
    };
  }, []);
  useEffect(draw, [option, ready.value]);
  useEffect(() => {
    const watch = new MutationObserver(draw);
    watch.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    return () => watch.disconnect();
  }, []);

  const place = (e: MouseEvent): [number, number] => {
    const r = box.current!.getBoundingClientRect();
    return (chart.current?.convertFromPixel({ gridIndex: 0 }, [e.clientX - r.left, e.clientY - r.top]) as [number, number] | undefined) ?? [NaN, NaN];
  };
  return (
    <div
      ref={box}
      class="chart"
      style={{ height: `${height}px` }}
      onPointerMove={at && ((e) => at(...place(e)))}
      onPointerLeave={at && (() => at(null, 0))}
      onClick={press && ((e) => press(...place(e)))}
    />
  );
}
