// Forms: fields with their mistakes, and a list of those on top that leads to them.
import type { ComponentChildren } from "preact";
import type { Fault } from "../api/contract.ts";

interface FieldProps {
  /** Where its value stands in what is sent, as a JSON pointer: mistakes name it. */
  pointer: string;
  label: string;
  value: string;
  put: (text: string) => void;
  hint?: string;
  unit?: string;
  kind?: "text" | "number";
  required?: boolean;
  /** What the service or the page itself says is wrong. */
  faults: Fault[];
}

const idOf = (pointer: string) => `field${pointer.replace(/[^a-zA-Z0-9]/g, "-")}`;

export function Field({ pointer, label, value, put, hint, unit, kind = "text", required, faults }: FieldProps) {
  const id = idOf(pointer);
  const mine = faults.filter((f) => f.pointer === pointer);
  const said = [hint && `${id}-hint`, mine.length > 0 && `${id}-wrong`].filter(Boolean).join(" ");
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <span>
        <input
          id={id}
          type="text"
          inputMode={kind === "number" ? "decimal" : "text"}
          autocomplete="off"
          value={value}
          required={required ?? false}
          aria-invalid={mine.length > 0}
          aria-describedby={said || undefined}
          onInput={(e) => put(e.currentTarget.value)}
        />
        {unit && <span class="small muted"> {unit}</span>}
      </span>
      {hint && (
        <p class="small muted" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {mine.length > 0 && (
        <p class="small wrong" id={`${id}-wrong`}>
          {mine.map((f) => sentence(f)).join(" ")}
        </p>
      )}
    </div>
  );
}

/** sentence is a mistake with what to do about it. */
function sentence(f: Fault): string {
  return f.hint ? `${f.detail} ${f.hint.detail}` : f.detail;
}

/** Choice is a field with a few values. */
export function Choice({ pointer, label, value, put, words, hint }: { pointer: string; label: string; value: string; put: (word: string) => void; words: { word: string; text: string }[]; hint?: string }) {
  const id = idOf(pointer);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} aria-describedby={hint ? `${id}-hint` : undefined} onChange={(e) => put(e.currentTarget.value)}>
        {words.map((w) => (
          <option key={w.word} value={w.word}>
            {w.text}
          </option>
        ))}
      </select>
      {hint && (
        <p class="small muted" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

/** Mistakes lists what is wrong, each leading to its field. */
export function Mistakes({ faults, children }: { faults: Fault[]; children?: ComponentChildren }) {
  if (faults.length === 0) return null;
  return (
    <div class="banner error" role="alert">
      <ul>
        {faults.map((f, i) => (
          <li key={i}>{f.pointer && document.getElementById(idOf(f.pointer)) ? <a href={`#${idOf(f.pointer)}`}>{f.detail}</a> : sentence(f)}</li>
        ))}
      </ul>
      {children}
    </div>
  );
}
