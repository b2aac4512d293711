// Files that people keep.

/** fileName says what is in a file: headroom-analytics-eu-plan-1284-classes.csv. */
export function fileName(extension: string, ...words: (string | number)[]): string {
  const text = ["headroom", ...words].join("-").replace(/[^\p{L}\p{N}._-]+/gu, "-").slice(0, 120);
  return `${text}.${extension}`;
}

/** save gives a file to the browser. */
export function save(name: string, body: Blob): void {
  const address = URL.createObjectURL(body);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
