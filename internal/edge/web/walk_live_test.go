package web_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// fleet declares nodes of a live cluster.
func (s *server) fleet(t *testing.T, cluster string, names ...string) {
	t.Helper()
	for _, name := range names {
		s.send(t, "PUT", "/v1/clusters/"+cluster+"/nodes/"+name, map[string]any{"type": "m5.xlarge", "cores": 4, "slots": map[string]int{"map": 3, "reduce": 1}}, nil)
	}
}

// beat sends a node's heartbeat and gives the assignments that it got.
func (s *server) beat(t *testing.T, cluster, node string, seq int, running []int, load float64) (got []int) {
	t.Helper()
	var answer struct{ Assignments []struct{ Assignment int } }
	s.send(t, "POST", "/v1/clusters/"+cluster+"/nodes/"+node+"/heartbeats", map[string]any{"seq": seq, "running": running, "state": map[string]any{"load1": load}}, &answer)
	for _, a := range answer.Assignments {
		got = append(got, a.Assignment)
	}
	return got
}

func walkLive(t *testing.T, s *server, browser context.Context) {
	const at = "/v1/clusters/shop"
	s.send(t, "POST", "/v1/clusters", map[string]any{"name": "shop"}, nil)
	s.put(t, at+"/live", map[string]any{"policy": map[string]any{"kind": "fifo"}, "heartbeat_s": 1, "node_timeout_s": 3}, s.etag(t, at+"/live"))
	ctx := s.tab(t, browser)
	s.open(t, ctx, "/c/shop/live")
	until(t, ctx, `document.querySelector("h1").textContent === "No node has told of itself yet." && document.querySelector("main").textContent.includes("headroom live agent shop --node node-1")`)
	picture(t, ctx, "live-empty")

	s.fleet(t, "shop", "node-1", "node-2", "node-3")
	deadline := func(seconds int) string {
		return time.Now().Add(time.Duration(seconds) * time.Second).UTC().Format(time.RFC3339)
	}
	s.send(t, "POST", at+"/jobs", map[string]any{"name": hostileName, "maps": 40, "deadline_at": deadline(3600)}, nil)
	s.send(t, "POST", at+"/jobs", map[string]any{"name": "urgent", "maps": 6, "deadline_at": deadline(60)}, nil)
	mine := s.beat(t, "shop", "node-3", 1, []int{}, 0.5) // it falls silent after this
	if len(mine) != 4 {
		t.Fatalf("node-3 has %v", mine)
	}
	seq, running := 1, map[string][]int{"node-1": {}, "node-2": {}}
	for next := time.Tick(200 * time.Millisecond); ; seq++ {
		running["node-1"] = append(running["node-1"], s.beat(t, "shop", "node-1", seq, running["node-1"], 1.5)...)
		running["node-2"] = append(running["node-2"], s.beat(t, "shop", "node-2", seq, running["node-2"], 9)...)
		if value[bool](t, ctx, `document.querySelector("h1").textContent === "2 nodes are alive (1 dead, 1 overloaded), 8 of 8 slots busy. 1 job runs, 1 job waits."`) {
			break
		}
		if seq > 150 {
			t.Fatalf("the page leads with %q", value[string](t, ctx, `document.querySelector("h1").textContent`))
		}
		<-next
	}
	var nodes struct {
		Items []struct {
			Name, State string
			Running     int
			Slots       struct{ Map, Reduce int }
		}
	}
	s.get(t, at+"/nodes", &nodes)
	got := value[map[string][]any](t, ctx, `Object.fromEntries([...document.querySelectorAll("[data-node]")].map((e) => [e.dataset.node, [e.className.includes("dead") ? "dead" : "alive", e.querySelectorAll("i").length, e.querySelectorAll("i.busy").length]]))`)
	for _, n := range nodes.Items {
		if want := fmt.Sprint([]any{n.State, n.Slots.Map + n.Slots.Reduce, n.Running}); fmt.Sprint(got[n.Name]) != want {
			t.Errorf("%s is drawn as %v, want %s", n.Name, got[n.Name], want)
		}
	}
	type decision struct {
		Assignment int
		JobName    string `json:"job_name"`
		Reason     string
		Outcome    string
	}
	var decisions struct{ Items []decision }
	decided := func() []string {
		s.get(t, at+"/decisions", &decisions)
		var all []string
		for _, d := range decisions.Items {
			all = append(all, d.JobName+" "+d.Reason)
		}
		return all
	}
	shown := `[...document.querySelector("#log").closest("section").querySelectorAll("tbody tr")].map((r) => [2, 4].map((i) => { const c = r.cells[i].cloneNode(true); c.querySelector(".narrow")?.remove(); return c.textContent.trim(); }).join(" "))`
	until(t, ctx, fmt.Sprintf(`%s.join("|") === %q`, shown, strings.Join(decided(), "|")))
	if log := value[[]string](t, ctx, shown); len(log) < 12 || !strings.Contains(strings.Join(log, "|"), hostileName) {
		t.Errorf("the log has %q", log)
	}

	// Nodes by keys, and one alone.
	do(t, ctx, chromedp.Focus(chromedp.CSS(".slots")), chromedp.KeyEvent(kb.ArrowRight))
	until(t, ctx, `document.querySelector(".readout").textContent.includes("node-2") && document.querySelector(".readout").textContent.includes("overloaded, 4 of 4 slots busy, load 9 on 4 cores")`)
	do(t, ctx, chromedp.KeyEvent(kb.Enter))
	until(t, ctx, `location.search === "?node=node-2" && document.querySelectorAll("#log ~ * tbody tr, .data tbody tr").length > 0`)
	until(t, ctx, `[...document.querySelector("#log").closest("section").querySelectorAll("tbody tr")].every((r) => r.textContent.includes("node-2"))`)
	press(t, ctx, "All nodes")

	// The log stops while it is paused, and counts the new entries.
	press(t, ctx, "Pause")
	before := decided()
	s.send(t, "POST", at+"/nodes/node-1/heartbeats", map[string]any{"seq": seq + 1, "running": running["node-1"][2:], "finished": []map[string]any{{"assignment": running["node-1"][0], "seconds": 2.5}, {"assignment": running["node-1"][1], "seconds": 2.5}}, "state": map[string]any{"load1": 1.5}}, nil)
	until(t, ctx, `[...document.querySelectorAll("button")].some((b) => b.textContent === "2 new")`)
	if still := value[int](t, ctx, shown+".length"); still != len(before) {
		t.Errorf("the log that is paused has %d rows, want %d", still, len(before))
	}
	press(t, ctx, "2 new")
	until(t, ctx, fmt.Sprintf(`%s.length === %d`, shown, len(decided())))
	until(t, ctx, `document.querySelector(".progress").closest("tbody").textContent.includes("2 of 6") || document.querySelector(".progress").closest("tbody").textContent.includes("2 of 40")`)

	// A policy is tried before it is switched to; its sentence is the service's.
	calm(t, ctx, "live")
	looks(t, ctx, "live")
	value[bool](t, ctx, `{ const e = document.querySelector("#policy").closest("section").querySelector("select"); e.value = "edf"; e.dispatchEvent(new Event("change", {bubbles: true})); true }`)
	press(t, ctx, "Try it first")
	until(t, ctx, `document.querySelector("#trial")?.textContent.includes(" edf would have decided ")`)
	var trial struct{ Same, Decisions, Other int }
	s.send(t, "POST", at+"/live/dry-run", map[string]any{"policy": map[string]any{"kind": "edf"}}, &trial)
	if said := value[string](t, ctx, `document.querySelector("#trial").textContent`); trial.Other == 0 || !strings.Contains(said, fmt.Sprintf("would have decided %d of %d decisions alike", trial.Same, trial.Decisions)) {
		t.Errorf("the page says %q, the service %+v", said, trial)
	}
	if raw := value[bool](t, ctx, `/\d{4}-\d\d-\d\dT/.test(document.querySelector("#trial").closest("section").innerText)`); raw {
		t.Errorf("the trial has moments as programs write them: %q", value[string](t, ctx, `document.querySelector("#trial").closest("section").innerText`))
	}
	picture(t, ctx, "live-trial")
	press(t, ctx, "Switch to it")
	until(t, ctx, `document.querySelector("#policy").closest("section").querySelector("strong").textContent === "Nearest deadline first"`)
	var settings map[string]any
	if s.get(t, at+"/live", &settings); settings["policy"].(map[string]any)["kind"] != "edf" || settings["node_timeout_s"] != 3.0 {
		t.Errorf("the settings are %v", settings)
	}
	// While nothing changes the answer is 304.
	until(t, ctx, `performance.getEntriesByType("resource").some((e) => e.name.includes("/nodes") && e.responseStatus === 304)`)

	// A hidden page requests nothing.
	requests := `performance.getEntriesByType("resource").filter((e) => e.name.includes("/nodes")).length`
	value[bool](t, ctx, `Object.defineProperty(document, "hidden", {configurable: true, get: () => true}), document.dispatchEvent(new Event("visibilitychange")), performance.clearResourceTimings(), true`)
	time.Sleep(1600 * time.Millisecond) // a page in sight would ask in this time; one that does not ask gives no sign
	if asked := value[int](t, ctx, requests); asked > 0 {
		t.Errorf("a page that is hidden asked %d times", asked)
	}
	value[bool](t, ctx, `delete document.hidden, document.dispatchEvent(new Event("visibilitychange")), true`)
	until(t, ctx, requests+` > 0`)
	if long() {
		walkManyNodes(t, s, ctx)
	}
}

// walkManyNodes shows many nodes, of which only the changed ones are redrawn.
func walkManyNodes(t *testing.T, s *server, ctx context.Context) {
	const many = 1000
	s.send(t, "POST", "/v1/clusters", map[string]any{"name": "large"}, nil)
	var names []string
	for i := range many {
		names = append(names, fmt.Sprintf("node-%04d", i))
	}
	s.fleet(t, "large", names...)
	s.put(t, "/v1/clusters/large/live", map[string]any{"policy": map[string]any{"kind": "fifo"}, "heartbeat_s": 1, "node_timeout_s": 600}, s.etag(t, "/v1/clusters/large/live"))
	s.send(t, "POST", "/v1/clusters/large/jobs", map[string]any{"name": "wide", "maps": 3 * many}, nil)
	s.beat(t, "large", names[0], 1, []int{}, 1)
	s.open(t, ctx, "/c/large/live")
	until(t, ctx, fmt.Sprintf(`document.querySelectorAll("[data-node]").length === %d`, many))
	// After a heartbeat that changes one node, the others keep their elements.
	value[bool](t, ctx, `window.slots = [...document.querySelectorAll("[data-node]")].map((e) => e.firstChild), true`)
	value[bool](t, ctx, `window.changes = 0, window.frames = 0, new MutationObserver((all) => { window.changes += all.length; window.frames++; }).observe(document.querySelector(".slots"), {subtree: true, childList: true, attributes: true, characterData: true}), true`)
	s.beat(t, "large", names[1], 1, []int{}, 1)
	until(t, ctx, `document.querySelectorAll("[data-node]")[1].querySelectorAll("i.busy").length === 4`)
	if kept := value[bool](t, ctx, `[...document.querySelectorAll("[data-node]")].every((e, i) => e.firstChild === window.slots[i])`); !kept {
		t.Error("nodes were drawn anew of which nothing changed")
	}
	changes := value[int](t, ctx, `window.changes`)
	t.Logf("%d nodes: a heartbeat of one changes the page in %d places", many, changes)
	if changes > 40 {
		t.Errorf("a heartbeat of one of %d nodes changes the page in %d places", many, changes)
	}
	moved := value[float64](t, ctx, `(async () => { const e = document.querySelector(".slots"); e.focus(); const began = performance.now(); for (let i = 0; i < 10; i++) { e.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true})); await new Promise((then) => requestAnimationFrame(() => setTimeout(then))); } return (performance.now() - began) / 10; })()`)
	t.Logf("%d nodes: an arrow key is painted after %.0f ms", many, moved)
	picture(t, ctx, fmt.Sprintf("live-%d", many))
}
