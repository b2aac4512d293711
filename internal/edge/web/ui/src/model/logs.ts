// Files as they are chosen or dropped, and the logs that they are. A rolled event log of Spark is several files.

/** Found is a file, and the folder in which it was chosen; "" where that is not known. */
export interface Found {
  file: File;
  folder: string;
}

/** Log is a file to send. wrong says why it cannot be sent. */
export interface Log {
  file: File;
  wrong?: string;
}

/** dropped returns the files of a drop, also those within folders. */
export async function dropped(of: DataTransfer): Promise<Found[]> {
  const entries = [...of.items].map((i) => i.webkitGetAsEntry()).filter((e) => e !== null); // before anything is waited for
  return (await Promise.all(entries.map((e) => within(e, "")))).flat();
}

async function within(entry: FileSystemEntry, folder: string): Promise<Found[]> {
  if (entry.isFile) return [{ folder, file: await new Promise<File>((done, failed) => (entry as FileSystemFileEntry).file(done, failed)) }];
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const all: Found[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((done, failed) => reader.readEntries(done, failed)); // a hundred at once
    if (some.length === 0) return all;
    for (const e of some) all.push(...(await within(e, `${folder}${entry.name}/`)));
  }
}

/** chosen returns the files of an input, with the folders of one that takes folders. */
export const chosen = (files: FileList | null): Found[] => [...(files ?? [])].map((file) => ({ file, folder: file.webkitRelativePath.slice(0, -file.name.length) }));

const part = /^events_(\d+)_(.+)$/;

/** logsOf puts the parts of rolled event logs together, and leaves out what lies beside logs where there are several files. */
export function logsOf(found: Found[]): Log[] {
  const rolled = new Map<string, { number: number; file: File }[]>();
  const logs: Log[] = [];
  for (const { file, folder } of found) {
    const of = part.exec(file.name);
    if (of) {
      const key = `${folder}${of[2]!.replace(/\.compact$/, "")}`;
      rolled.set(key, [...(rolled.get(key) ?? []), { number: Number(of[1]), file }]);
    } else if (found.length === 1 || !/^\.|^appstatus_|\.crc$|_conf\.xml$|^_SUCCESS$/.test(file.name)) logs.push({ file });
  }
  for (const [key, parts] of rolled) {
    parts.sort((a, b) => a.number - b.number || (a.file.name < b.file.name ? -1 : 1));
    const name = key.slice(key.lastIndexOf("/") + 1);
    const wrong = lacking(parts);
    logs.push({ file: new File(parts.map((p) => p.file), name), ...(wrong ? { wrong } : {}) });
  }
  return logs;
}

/** lacking says why parts are no whole log, as the server says of a folder. */
function lacking(parts: { number: number; file: File }[]): string | null {
  for (const [i, p] of parts.entries()) {
    if (p.file.name.endsWith(".compact")) return "Spark has compacted this log: the tasks of jobs that had ended are no longer in it. Keep logs whole, with spark.history.fs.eventLog.rolling.maxFilesToRetain as it is by default.";
    if (i > 0 && p.number === parts[i - 1]!.number) return `There are two parts with the number ${p.number}; leave one.`;
    if (p.number !== i + 1) return `Part ${i + 1} of the log is missing. Choose all parts, or the whole folder.`;
  }
  return null;
}
