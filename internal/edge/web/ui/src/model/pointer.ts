// JSON pointers (RFC 6901): what a value has at a place, and another value put there.

type Node = Record<string, unknown>;

const steps = (pointer: string) => pointer.split("/").slice(1).map((s) => s.replaceAll("~1", "/").replaceAll("~0", "~"));

export const step = (name: string) => name.replaceAll("~", "~0").replaceAll("/", "~1");

export function at(value: unknown, pointer: string): unknown {
  for (const s of steps(pointer)) value = (value as Node | null | undefined)?.[s];
  return value;
}

/** place puts a value at a place, making what leads there; null takes away what is there. */
export function place(into: object, pointer: string, value: unknown): void {
  const way = steps(pointer);
  const last = way.pop()!;
  let node = into as Node;
  for (const s of way) node = (node[s] ??= {}) as Node;
  if (value === null) delete node[last];
  else node[last] = value;
}

/** leaves are a value's figures by their pointers. */
export function leaves(value: unknown, pointer = "", into = new Map<string, string>()): Map<string, string> {
  if (value !== null && typeof value === "object") for (const [k, v] of Object.entries(value)) leaves(v, `${pointer}/${step(k)}`, into);
  else if (value !== null && value !== undefined) into.set(pointer, String(value));
  return into;
}
