const most = 40;

/** Name is a name that people gave: apart from the text around it, cut in the middle where it is long, and whole
 *  for those who do not see it. */
export function Name({ of, strong = false }: { of: string; strong?: boolean }) {
  const letters = [...of];
  const look = strong ? "strong" : "";
  if (letters.length <= most) return <bdi class={look}>{of}</bdi>;
  const half = most / 2 - 1;
  return (
    <bdi class={look} title={of}>
      <span aria-hidden="true">
        {letters.slice(0, half).join("")}…{letters.slice(-half).join("")}
      </span>
      <span class="hidden">{of}</span>
    </bdi>
  );
}
