// The time as the service has it, told each second.
import { signal } from "@preact/signals";

let ahead = 0; // milliseconds that the service's clock is before ours

export const now = signal(Date.now());
setInterval(() => (now.value = Date.now() + ahead), 1000);

/** setClock is told of the service's time with each answer; answers name whole seconds. */
export function setClock(at: number): void {
  const difference = at - Date.now();
  if (Math.abs(difference - ahead) > 2000) ahead = difference;
}
