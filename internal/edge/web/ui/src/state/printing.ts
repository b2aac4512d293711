// While the page is printed it is light, and whatever is folded or shown in part is shown whole.
import { signal } from "@preact/signals";

export const printing = signal(matchMedia("print").matches);

addEventListener("beforeprint", () => (printing.value = true));
addEventListener("afterprint", () => (printing.value = false));
