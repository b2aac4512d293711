// The pages: what each is called in the address and to people, and where it stands in the list.
import type { ComponentType } from "preact";
import { Now } from "./now.tsx";
import { WhatIf } from "./whatif.tsx";

export interface Page {
  name: string;
  title: string;
  /** It is about a cluster. */
  cluster: boolean;
  group: 0 | 1 | 2;
  view: ComponentType;
}

export const pages: Page[] = [
  { name: "now", title: "Now", cluster: true, group: 0, view: Now },
  { name: "what-if", title: "What if", cluster: true, group: 0, view: WhatIf },
];
