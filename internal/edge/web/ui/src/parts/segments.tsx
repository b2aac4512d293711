/** Segments is a choice of one of a few words. */
export function Segments<T extends string>(props: { label: string; name: string; words: readonly T[]; texts: Record<T, string>; value: T; choose: (word: T) => void }) {
  return (
    <fieldset class="segments">
      <legend class="hidden">{props.label}</legend>
      {props.words.map((w) => (
        <label key={w}>
          <input type="radio" name={props.name} checked={props.value === w} onChange={() => props.choose(w)} />
          {props.texts[w]}
        </label>
      ))}
    </fieldset>
  );
}
