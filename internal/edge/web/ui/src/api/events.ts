// Streams of events: one at a time, closed while nobody looks, opened again after a pause that grows.
import { ask, Problem } from "./client.ts";

const pauses = [1, 2, 4, 8, 15];

/** watch tells of each event of a stream, by its id, until the function that it gives back is called. Where no stream
 *  can be had it tells every 30 s. */
export function watch(address: string, event: string, tell: (id?: string) => void): () => void {
  let stream: EventSource | null = null;
  let timer = 0;
  let tries = 0;
  let over = false;

  const open = () => {
    clearTimeout(timer);
    if (over || document.hidden || stream) return;
    stream = new EventSource(address);
    stream.addEventListener(event, (e: MessageEvent) => {
      tries = 0;
      tell(e.lastEventId);
    });
    stream.addEventListener("error", () => {
      close();
      if (over || document.hidden) return;
      const seconds = (pauses[tries++] ?? 30) * (0.8 + 0.4 * Math.random());
      timer = window.setTimeout(() => void again(), seconds * 1000);
    });
  };
  // An EventSource does not say why it failed; who has been signed out is not asked for again.
  const again = async () => {
    try {
      await ask("GET /v1/session", { path: {} });
    } catch (e) {
      tell();
      if (e instanceof Problem && e.status === 401) return;
    }
    open();
  };
  const close = () => {
    stream?.close();
    stream = null;
  };
  const look = () => {
    if (document.hidden) close();
    else {
      tell();
      open();
    }
  };
  document.addEventListener("visibilitychange", look);
  open();
  return () => {
    over = true;
    clearTimeout(timer);
    close();
    document.removeEventListener("visibilitychange", look);
  };
}
