// The pages: what each is called in the address and to people, and in which of six places it stands.
import type { ComponentType } from "preact";
import type { Link } from "../parts/frame.tsx";
import { lazy } from "../parts/lazy.tsx";
import { Plan } from "./plan.tsx";

export interface Page extends Link {
  view: ComponentType;
}

// The first page of a place is the one that its name in the list leads to.
export const pages: Page[] = [
  { name: "overview", title: "Overview", cluster: false, place: "Overview", view: lazy(async () => (await import("./overview.tsx")).Overview) },
  { name: "plan", title: "Plan", cluster: true, place: "Plan", view: Plan },
  { name: "classes", title: "Classes", cluster: true, place: "Plan", view: lazy(async () => (await import("./classes.tsx")).Classes) },
  { name: "history", title: "History", cluster: true, place: "Plan", view: lazy(async () => (await import("./history.tsx")).History) },
  { name: "explore", title: "Explore", cluster: true, place: "Explore", view: lazy(async () => (await import("./explore.tsx")).Explore) },
  { name: "contracts", title: "Commitments", cluster: true, place: "Commitments", view: lazy(async () => (await import("./contracts.tsx")).Contracts) },
  { name: "live", title: "Live", cluster: true, place: "Operate", view: lazy(async () => (await import("./live.tsx")).Live) },
  { name: "batch", title: "Batch", cluster: true, place: "Operate", view: lazy(async () => (await import("./batch.tsx")).Batch) },
  { name: "pool", title: "Pool", cluster: true, place: "Operate", view: lazy(async () => (await import("./pool.tsx")).Pool) },
  { name: "settings", title: "Settings", cluster: false, place: "Settings", view: lazy(async () => (await import("./settings.tsx")).Settings) },
  { name: "welcome", title: "Welcome", cluster: false, place: null, view: lazy(async () => (await import("./welcome.tsx")).Welcome) },
];
