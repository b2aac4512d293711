import { glyph, type Tone } from "../model/words.ts";

/** Chip is a state in a few words; its colour says nothing that its words do not. */
export function Chip({ tone, text }: { tone: Tone; text: string }) {
  return (
    <span class={`chip ${tone}`}>
      <span aria-hidden="true">{glyph[tone]}</span> {text}
    </span>
  );
}
