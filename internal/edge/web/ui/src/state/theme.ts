import { effect, signal } from "@preact/signals";
import { printing } from "./printing.ts";

const key = "headroom.theme";
const dark = matchMedia("(prefers-color-scheme: dark)");
const system = signal(dark.matches);
dark.addEventListener("change", () => (system.value = dark.matches));

export const theme = signal(localStorage.getItem(key) ?? "system");

effect(() => {
  const isDark = !printing.value && (theme.value === "dark" || (theme.value !== "light" && system.value));
  document.documentElement.dataset["theme"] = isDark ? "dark" : "light";
});

export function setTheme(word: string): void {
  theme.value = word;
  if (word === "system") localStorage.removeItem(key);
  else localStorage.setItem(key, word);
}
