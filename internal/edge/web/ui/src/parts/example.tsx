// What stands where nothing is yet: a greyed example of what would be there, and one click that takes it over.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { faultsOf, Problem } from "../api/client.ts";
import type { Fault } from "../api/contract.ts";
import { trouble } from "../state/cluster.ts";
import { Mistakes } from "./form.tsx";

interface Props {
  title: string;
  /** What the example is of, for those who do not see it. */
  of: string;
  button: string;
  /** Whether the key may do it. */
  may: boolean;
  take: () => unknown;
  /** The example itself. */
  picture: ComponentChildren;
  children?: ComponentChildren;
}

export function Example({ title, of, button, may, take, picture, children }: Props) {
  const faults = useSignal<Fault[]>([]);
  const busy = useSignal(false);
  const press = async () => {
    busy.value = true;
    faults.value = [];
    try {
      await take();
    } catch (e) {
      if (!(e instanceof Problem)) throw e;
      if (e.status === 401) trouble.value = e;
      faults.value = faultsOf(e);
    }
    busy.value = false;
  };
  return (
    <section class="example sunken stack" aria-label="Example">
      <p class="strong">{title}</p>
      {children}
      <figure>
        <figcaption class="small muted">Example: {of}</figcaption>
        <div class="grey" aria-hidden="true">
          {picture}
        </div>
      </figure>
      <Mistakes faults={faults.value} />
      <p>
        <button type="button" disabled={!may || busy.value} onClick={() => void press()}>
          {button}
        </button>
      </p>
    </section>
  );
}
