import { glyph, type Tone } from "../model/words.ts";

/** Mark is a state in a line of a table: a glyph and its words. */
export function Mark({ tone, text }: { tone: Tone; text: string }) {
  return (
    <span class={`sign ${tone}`}>
      <span aria-hidden="true">{glyph[tone]}</span> {text}
    </span>
  );
}
