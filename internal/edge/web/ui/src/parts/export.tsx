import { Menu } from "./menu.tsx";

/** Kept is one way of keeping what a page shows: a file that the service writes, or something done here. */
export type Kept = { text: string; href: string; file: string } | { text: string; press: () => unknown };

/** Export is what a page can be kept as; every page can be printed. */
export function Export({ kept }: { kept: Kept[] }) {
  return (
    <Menu title="Export">
      {kept.map((k) =>
        "href" in k ? (
          <a key={k.text} href={k.href} download={k.file}>
            {k.text}
          </a>
        ) : (
          <button key={k.text} onClick={() => void k.press()}>
            {k.text}
          </button>
        ),
      )}
      <button onClick={() => print()}>Print</button>
    </Menu>
  );
}
