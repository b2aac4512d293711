// The time as the service has it, told each second.
import { signal } from "@preact/signals";

let ahead = 0; // milliseconds that the service's clock is before ours

export const now = signal(Date.now());
setInterval(() => (now.value = Date.now() + ahead), 1000);

/** setClock is told between which milliseconds ahead of ours the service's clock must be, and moves no further than that. */
export function setClock([least, most]: [number, number]): void {
  ahead = Math.min(Math.max(ahead, least), most);
}
