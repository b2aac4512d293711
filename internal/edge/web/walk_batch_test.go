package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"example.org/headroom/internal/test/await"
)

type packing struct {
	Algorithm string
	Status    string
	EndS      float64 `json:"end_s"`
	Saving    float64
	Phases    []struct {
		Jobs []struct {
			Job string
			VMs int `json:"vms"`
		}
	}
	Deadlines *struct{ Met, Missed int }
}

// night creates a cluster whose classes were measured on several sizes.
func (s *server) night(t *testing.T, cluster string) {
	t.Helper()
	var document map[string]any
	s.get(t, "/v1/clusters/demo/document", &document)
	document["cluster"].(map[string]any)["name"] = cluster
	document["classes"].([]any)[3].(map[string]any)["name"] = hostileName
	s.apply(t, cluster, document)
	var all []map[string]any
	for i, c := range document["classes"].([]any) {
		name := c.(map[string]any)["name"]
		for _, vms := range []float64{4, 16} {
			all = append(all, map[string]any{"job": name, "kind": "power", "vms": vms, "seconds": float64(9000+4000*i) * math.Pow(vms, -0.6-0.05*float64(i))})
		}
		if i < 4 {
			all = append(all, map[string]any{"job": name, "kind": "usage", "vms": 6, "cpu_percent": []int{90, 20, 85, 30}[i], "io_mb_s": []int{10, 300, 250, 20}[i]})
		}
	}
	s.send(t, "POST", "/v1/clusters/"+cluster+"/measurements", map[string]any{"measurements": all}, nil)
}

// leads returns the required beginning of a page about a packing.
func (p packing) leads(begin float64) string {
	jobs := 0
	for _, f := range p.Phases {
		jobs += len(f.Jobs)
	}
	at := int(math.Round(begin+p.EndS)) / 60
	saved := fmt.Sprintf("%.1f", 100*p.Saving)
	if p.Saving >= 0.1 {
		saved = fmt.Sprintf("%.0f", math.Floor(100*p.Saving+0.5))
	}
	return fmt.Sprintf("The night's %d jobs end at %02d:%02d, %s %% sooner than one after another.", jobs, at/60%24, at%60, saved)
}

func walkBatch(t *testing.T, s *server, browser context.Context) {
	s.night(t, "nights")
	ask := func(machines int, query string) (answer struct {
		Packing  packing
		Compared []packing
		Machines struct {
			Machines int
			Proved   bool
		}
	}) {
		t.Helper()
		s.send(t, "POST", "/v1/clusters/nights/class-packings"+query, map[string]any{"machines": map[string]any{"count": machines, "disks": 4, "hosts_per_extra": 2, "penalty": 1.1}}, &answer)
		return answer
	}
	leads := func(ctx context.Context, want string) {
		t.Helper()
		until(t, ctx, fmt.Sprintf(`document.querySelector("h1").textContent === %q`, want))
	}
	ctx := s.tab(t, browser)
	s.open(t, ctx, "/c/nights/batch?m=6&h=2&p=1.1&by=00:30")
	leads(ctx, ask(6, "").Packing.leads(22*3600))
	var compared []packing
	await.Until(t, time.Minute, "an answer at once, which a busy machine makes a run", func() bool {
		compared = ask(6, "?compare=true").Compared
		return len(compared) > 0
	})
	until(t, ctx, fmt.Sprintf(`document.querySelectorAll(".ways tbody tr").length === %d`, len(compared)))
	names := map[string]string{"sequential": "One after another", "pair": "Pairs", "multi": "Together, exact", "pso": "The paper's swarm"}
	ends := value[map[string]string](t, ctx, `Object.fromEntries([...document.querySelectorAll(".ways tbody tr")].map((r) => [r.cells[0].textContent, r.cells[2].textContent.slice(0, 5)]))`)
	for _, p := range compared {
		at := int(math.Round(22*3600+p.EndS)) / 60
		if got, want := ends[names[p.Algorithm]], fmt.Sprintf("%02d:%02d", at/60%24, at%60); got != want {
			t.Errorf("%s ends at %q, want %s", p.Algorithm, got, want)
		}
	}
	if bars, jobs := value[int](t, ctx, `document.querySelectorAll(".gantt rect.job").length`), len(ask(6, "").Packing.Phases); bars < jobs || bars != 5 {
		t.Errorf("%d bars of 5 jobs in %d phases", bars, jobs)
	}
	do(t, ctx, chromedp.Focus(chromedp.CSS(".plot")), chromedp.KeyEvent(kb.ArrowRight))
	until(t, ctx, `/^Phase 1: .* on \d+ VMs?.*, 22:00.* to \d\d:\d\d/.test(document.querySelector(".readout").textContent)`)
	calm(t, ctx, "batch")
	looks(t, ctx, "batch")

	// A step of the slider by keys packs again; the fewest machines are those of the API.
	do(t, ctx, chromedp.Focus(chromedp.CSS(`input[type=range]`)), chromedp.KeyEvent(kb.ArrowRight))
	until(t, ctx, `location.search.includes("m=7")`)
	leads(ctx, ask(7, "").Packing.leads(22*3600))
	fewest := ask(7, "?by_hours=2.5").Machines
	press(t, ctx, "Find")
	until(t, ctx, fmt.Sprintf(`location.search.includes("m=%d&") || location.search.endsWith("m=%d")`, fewest.Machines, fewest.Machines))
	leads(ctx, ask(fewest.Machines, "").Packing.leads(22*3600))
	do(t, ctx, chromedp.Click(chromedp.CSS(`.segments label:nth-of-type(2) input`)))
	until(t, ctx, fmt.Sprintf(`document.querySelectorAll(".gantt text.row").length === %d && document.querySelectorAll(".machines li").length === %d`, fewest.Machines, fewest.Machines))
	picture(t, ctx, "batch-machines")

	// A stored packing has an address that others may read.
	press(t, ctx, "Keep")
	until(t, ctx, `location.search.includes("kept=")`)
	link := strings.TrimPrefix(value[string](t, ctx, `location.href`), s.address)
	leads(ctx, ask(fewest.Machines, "").Packing.leads(22*3600))
	reader := s.viewer(t)
	other := reader.tab(t, browser)
	reader.open(t, other, link)
	leads(other, ask(fewest.Machines, "").Packing.leads(22*3600))
	reader.open(t, other, "/c/nights/batch")
	until(t, other, `document.querySelector("main").textContent.includes("Your key may read nights but not change it. Ask an administrator for the role planner.")`)

	// A pasted batch: its faults are listed, and its deadlines are shown.
	press(t, ctx, "Bring a batch")
	bring := func(text string) {
		t.Helper()
		until(t, ctx, `document.querySelector("dialog[open]")`)
		do(t, ctx, chromedp.Focus(chromedp.CSS("#batch-text")))
		quoted, _ := json.Marshal(text)
		value[bool](t, ctx, fmt.Sprintf(`{ const e = document.querySelector("#batch-text"); e.value = %s; e.dispatchEvent(new Event("input", {bubbles: true})); true }`, quoted))
		press(t, ctx, "Pack and keep it")
	}
	bring(`{"machines": {"count": 3`)
	until(t, ctx, `document.querySelector("dialog [role=alert]")?.textContent.startsWith("This is no JSON")`)
	bring(`{"machines": {"count": 3, "disks": 2}, "jobs": [{"name": "a", "model": {"a": 100, "b": 9}}]}`)
	until(t, ctx, `document.querySelector("dialog [role=alert]")?.textContent.includes("/jobs/0/model/b")`)
	bring(fmt.Sprintf(`{"machines": {"count": 3, "disks": 2}, "jobs": [{"name": %q, "count": 3, "model": {"a": 9000, "b": -0.5}, "deadline_s": 4000}, {"name": "b", "model": {"a": 5000, "b": -0.7}}]}`, "<img src=x onerror=alert(1)>"))
	until(t, ctx, `!document.querySelector("dialog") && document.querySelector("h1").textContent.startsWith("The night's 4 jobs end at ") && document.querySelectorAll(".gantt path.due").length === 1`)
	do(t, ctx, chromedp.Click(chromedp.CSS(`.segments label:nth-of-type(1) input`)))
	until(t, ctx, `document.querySelectorAll(".gantt path.due").length === 3`)
	var list struct {
		Items []struct {
			ID     string
			Missed int
		}
	}
	s.get(t, "/v1/clusters/nights/packings", &list)
	if missed := list.Items[0].Missed; missed > 0 {
		until(t, ctx, fmt.Sprintf(`document.querySelector("h1").textContent.includes(" %d deadline")`, missed))
	} else {
		until(t, ctx, `!document.querySelector("h1").textContent.includes("missed")`)
	}
	picture(t, ctx, "batch-given")

	if long() { // because it waits seconds for answers that usually come at once
		jobs := make([]string, 80)
		for i := range jobs {
			jobs[i] = fmt.Sprintf(`{"name": "j%d", "model": {"a": %d, "b": -0.%d}, "deadline_s": %d}`, i, 3000+917*i%7919, 3+i%6, 20000+700*i)
		}
		press(t, ctx, "Bring a batch")
		bring(`{"machines": {"count": 40, "disks": 4}, "options": {"max_solve_ms": 60000}, "jobs": [` + strings.Join(jobs, ",") + `]}`)
		until(t, ctx, `document.querySelector("dialog .computing")?.textContent.startsWith("Computing, ") && document.querySelector("header.top").textContent.includes("1 run")`)
		picture(t, ctx, "batch-running")
		press(t, ctx, "Cancel")
		until(t, ctx, `document.querySelector("dialog [role=alert]")?.textContent === "Stopped before it was answered."`)
	}

	// For classes without measurements, the page says which to take.
	s.open(t, ctx, "/c/demo/batch")
	until(t, ctx, `document.querySelector("h1").textContent === "These jobs cannot be packed yet." && document.querySelector("main .example").textContent.includes("headroom history measurement create demo")`)
	picture(t, ctx, "batch-unmeasured")
}
