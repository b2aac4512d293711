import { useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { Waiting } from "./fetched.tsx";

/** lazy is a page, or a part of one, whose script is fetched when it is first opened; its place is kept so high. */
export function lazy<P extends object = object>(load: () => Promise<ComponentType<P>>, height = 400): ComponentType<P> {
  let page: ComponentType<P> | null = null;
  return function Lazy(props: P) {
    const came = useSignal(page !== null);
    const failed = useSignal(false);
    const fetch = () => {
      failed.value = false;
      load().then(
        (p) => {
          page = p;
          came.value = true;
        },
        () => (failed.value = true),
      );
    };
    useEffect(() => {
      if (!page) fetch();
    }, []);
    if (came.value && page) {
      const Page = page;
      return <Page {...props} />;
    }
    if (!failed.value) return height > 0 ? <Waiting what="page" height={height} /> : null;
    return (
      <div class="banner error" role="alert">
        This page could not be read: Headroom does not answer, or has a new version since you opened it.
        <button class="quiet" onClick={() => location.reload()}>Load again</button>
      </div>
    );
  };
}
