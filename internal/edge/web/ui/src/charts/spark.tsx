const [wide, high] = [112, 24];

/** Spark is a few values as a line of the size of a word, which goes on level until the next value; null is not known. */
export function Spark({ values, said }: { values: (number | null)[]; said: string }) {
  const known = values.filter((v) => v !== null);
  const [least, top] = [Math.min(...known), Math.max(...known)];
  const range = Math.max(top - least, top * 0.1, 1e-9); // a change of a few per cent is to look like one
  const low = (least + top - range) / 2;
  const x = (i: number) => Math.round((i / values.length) * wide * 10) / 10;
  const y = (v: number) => Math.round((high - 3 - ((v - low) / range) * (high - 6)) * 10) / 10;
  let path = "";
  let begins = true;
  values.forEach((v, i) => {
    if (v !== null) path += begins ? `M${x(i)} ${y(v)}H${x(i + 1)}` : `V${y(v)}H${x(i + 1)}`;
    begins = v === null;
  });
  return (
    <svg class="spark" width={wide} height={high} viewBox={`0 0 ${wide} ${high}`} role="img" aria-label={said}>
      <title>{said}</title>
      <path d={path} />
    </svg>
  );
}
