/** The strokes of each page's glyph, in a square of 20. */
const strokes: Record<string, string> = {
  overview: "M3 5h3M3 10h3M3 15h3M9 5h8M9 10h8M9 15h8",
  plan: "M3 16h14M5 16V9h3v7M10 16V4h3v12",
  explore: "M3 6h14M3 14h14M8 3v6M13 11v6",
  contracts: "M5 2h7l4 4v12H5zM8 10h5M8 14h5",
  live: "M2 10h4l2-6 4 12 2-6h4",
  settings: "M10 7a3 3 0 1 0 0 6 3 3 0 0 0 0-6M10 2v3M10 15v3M2 10h3M15 10h3",
};

/** Glyph stands above a page's name where the rail is narrow. */
export function Glyph({ of }: { of: string }) {
  return (
    <svg class="glyph" width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
      <path d={strokes[of] ?? "M4 10h12"} />
    </svg>
  );
}
