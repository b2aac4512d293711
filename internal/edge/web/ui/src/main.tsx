import "./style/all.css";
import { effect } from "@preact/signals";
import { Component, render, type ComponentChildren } from "preact";
import { Frame } from "./parts/frame.tsx";
import { guard } from "./parts/leaving.tsx";
import { pages } from "./pages/pages.ts";
import { begin, cluster, clusters, current, follow, lastCluster, remember } from "./state/cluster.ts";
import { finishAll } from "./state/deleting.ts";
import { addressOf, onLink, path, replace, route } from "./state/route.ts";
import "./state/theme.ts";

/** Guard keeps a page that fails from taking the others with it. */
class Guard extends Component<{ children: ComponentChildren; page: string }, { failed: unknown }> {
  override state = { failed: null as unknown };
  static override getDerivedStateFromError(failed: unknown) {
    return { failed };
  }
  override componentDidUpdate(before: { page: string }) {
    if (before.page !== this.props.page && this.state.failed) this.setState({ failed: null });
  }
  override render() {
    if (!this.state.failed) return this.props.children;
    return (
      <div class="banner error" role="alert">
        This page made a mistake: {String(this.state.failed)}. The other pages work; load this one again.
      </div>
    );
  }
}

function App() {
  const page = pages.find((p) => p.name === route.value.page);
  return (
    <Frame pages={pages}>
      <Guard page={route.value.page}>{page ? <page.view /> : clusters.value && <Elsewhere />}</Guard>
    </Frame>
  );
}

function Elsewhere() {
  return <h1>There is no page at this address.</h1>;
}

// What was deleted can be undone until its page is left.
effect(() => {
  path.value;
  finishAll();
});

effect(() => {
  document.title = [pages.find((p) => p.name === route.value.page)?.title, cluster.value?.name, "Headroom"].filter(Boolean).join(" · ");
  const open = cluster.value?.name ?? current.value?.plan.cluster; // either may be known first
  if (open) remember(open);
});

effect(() => {
  if (route.value.page !== "" || !clusters.value) return;
  const many = clusters.value.length;
  replace(many === 0 ? "/welcome" : many === 1 ? addressOf(lastCluster(), "plan") : "/overview");
});

guard();
document.addEventListener("click", onLink);
void begin();
follow();
render(<App />, document.getElementById("app")!);
