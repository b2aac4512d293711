// The pages: what each is called in the address and to people, and where it stands in the list.
import type { ComponentType } from "preact";
import type { Link } from "../parts/frame.tsx";
import { lazy } from "../parts/lazy.tsx";
import { Now } from "./now.tsx";

export interface Page extends Link {
  view: ComponentType;
}

export const pages: Page[] = [
  { name: "overview", title: "Overview", cluster: false, group: 0, view: lazy(async () => (await import("./overview.tsx")).Overview) },
  { name: "now", title: "Now", cluster: true, group: 0, view: Now },
  { name: "what-if", title: "What if", cluster: true, group: 0, view: lazy(async () => (await import("./whatif.tsx")).WhatIf) },
  { name: "curves", title: "Curves", cluster: true, group: 0, view: lazy(async () => (await import("./curves.tsx")).Curves) },
  { name: "contracts", title: "Contracts", cluster: true, group: 0, view: lazy(async () => (await import("./contracts.tsx")).Contracts) },
  { name: "classes", title: "Classes", cluster: true, group: 0, view: lazy(async () => (await import("./classes.tsx")).Classes) },
  { name: "batch", title: "Batch", cluster: true, group: 1, view: lazy(async () => (await import("./batch.tsx")).Batch) },
  { name: "live", title: "Live", cluster: true, group: 1, view: lazy(async () => (await import("./live.tsx")).Live) },
  { name: "history", title: "History", cluster: true, group: 1, view: lazy(async () => (await import("./history.tsx")).History) },
  { name: "settings", title: "Settings", cluster: false, group: 2, view: lazy(async () => (await import("./settings.tsx")).Settings) },
  { name: "welcome", title: "Welcome", cluster: false, group: null, view: lazy(async () => (await import("./welcome.tsx")).Welcome) },
];
