// Scenarios that are kept side by side, as the address holds them: pin=A:<name>:<ch;ch;…>.
import { type Edit, read, write } from "./scenario.ts";

export interface Pin {
  letter: string;
  name: string;
  edits: Edit[];
}

export const letters = ["A", "B", "C", "D"] as const;
export const longestName = 60;

export function writePins(pins: Pin[]): string[] {
  return pins.map((p) => `${p.letter}:${encodeURIComponent(p.name)}:${write(p.edits).join(";")}`);
}

/** shortened keeps as much of a name as pins have room for, and no half of a sign. */
export function shortened(name: string): string {
  return [...name].slice(0, longestName).join("");
}

/** readPins takes what can be read and gives back the rest as it stands. */
export function readPins(texts: string[]): { pins: Pin[]; unread: string[] } {
  const pins: Pin[] = [];
  const unread: string[] = [];
  for (const text of texts) {
    const m = /^([A-D]):([^:]*):(.*)$/s.exec(text);
    const inside = m && read(m[3]!.split(";").filter(Boolean));
    let name = "";
    try {
      name = decodeURIComponent(m?.[2] ?? "");
    } catch {
      unread.push(text);
      continue;
    }
    if (!m || !inside || inside.unread.length > 0 || pins.some((p) => p.letter === m[1])) unread.push(text);
    else pins.push({ letter: m[1]!, name: shortened(name), edits: inside.edits });
  }
  return { pins, unread };
}
