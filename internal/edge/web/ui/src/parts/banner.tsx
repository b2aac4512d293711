import type { ComponentChildren } from "preact";

/** Banner says what stands between what is shown and the truth. It is spoken once; what changes each second
 *  stands in more, and is not spoken again. */
export function Banner({ said, more, error, children }: { said: ComponentChildren; more?: string; error?: boolean; children?: ComponentChildren }) {
  return (
    <div class={error ? "banner error" : "banner"}>
      <p>
        <span role={error ? "alert" : "status"}>{said}</span>
        {more && <span aria-hidden="true"> {more}</span>}
      </p>
      {children}
    </div>
  );
}
