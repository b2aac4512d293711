// Whether there is room for one column alone.
import { signal } from "@preact/signals";

const query = matchMedia("screen and (max-width: 719px)");

export const narrow = signal(query.matches);
query.addEventListener("change", () => (narrow.value = query.matches));
