package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// sweepAnswer holds the part of a sweep that the walk reads.
type sweepAnswer struct {
	Complete bool
	Total    int
	Points   []struct {
		Parameters []float64
		Status     string
		Cost       struct {
			Total    string
			PerMonth string `json:"per_month"`
		}
	}
}

// saved makes saved files readable: window.saved becomes the last file's text.
const saved = `window.saved = ""; URL.createObjectURL = (b) => { b.text().then((t) => (window.saved = t)); return "blob:none"; }; HTMLAnchorElement.prototype.click = () => {}; true`

// walkCurves draws a curve, reads its points with keys and saves them as files. It stops a long one in the middle and
// continues it, and goes through a grid to What if.
func walkCurves(t *testing.T, s *server, browser context.Context) {
	ctx := s.tab(t, browser)
	s.open(t, ctx, "/c/demo/curves")
	until(t, ctx, `document.querySelector("h1").textContent.startsWith("Best at 1")`)
	until(t, ctx, `document.querySelector(".axes path.line")`)
	const body = `{"curve":true,"vary":[{"what":"deadline","by":"factor","from":"0.5","to":"2","steps":61}]}`
	var a sweepAnswer
	s.send(t, http.MethodPost, "/v1/clusters/demo/sweeps", rawJSON(body), &a)
	if len(a.Points) != 61 {
		t.Fatalf("the service answers %d points", len(a.Points))
	}

	// The keys read the points.
	do(t, ctx, chromedp.Focus(chromedp.CSS(".plot")), chromedp.KeyEvent(kb.Home))
	until(t, ctx, `document.querySelector(".readout").textContent.startsWith("50 % · VM bill $24,656 a month at this hour's rate, value refused $14,272 · 119 VMs · 40 jobs served")`)
	do(t, ctx, chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
	until(t, ctx, `document.querySelector(".readout").textContent.startsWith("55 % · ")`)
	do(t, ctx, chromedp.KeyEvent(kb.ArrowDown))
	until(t, ctx, `document.querySelector(".readout").textContent.startsWith("55 % · relaxed $")`)
	do(t, ctx, chromedp.KeyEvent(kb.Escape))
	calm(t, ctx, "curves")
	looks(t, ctx, "curves")

	// The table, its file and the service's file are the same.
	press(t, ctx, "Show as table")
	until(t, ctx, `document.querySelectorAll("table.data tbody tr").length === 61`)
	value[bool](t, ctx, saved)
	press(t, ctx, "CSV")
	until(t, ctx, `window.saved !== ""`)
	mine := value[string](t, ctx, `window.saved`)
	if theirs := s.text(t, http.MethodPost, "/v1/clusters/demo/sweeps?format=csv", body); strings.ReplaceAll(theirs, "\r", "") != mine {
		t.Errorf("the page's file is\n%.600s\nthe service's\n%.600s", mine, theirs)
	}
	if got, want := value[string](t, ctx, `document.querySelector("table.data tbody tr td:nth-child(3)").innerText.trim()`), "$24,656"; got != want {
		t.Errorf("the table says %q, want %q", got, want)
	}

	// The page reports values without a plan, and the value from which there is one.
	s.open(t, ctx, "/c/demo/curves?x=deadline&from=25&to=150&n=26")
	var zone struct{ Curve struct{ Least float64 } }
	s.send(t, http.MethodPost, "/v1/clusters/demo/sweeps", rawJSON(`{"curve":true,"vary":[{"what":"deadline","from":"0.25","to":"1.5","steps":26}]}`), &zone)
	until(t, ctx, fmt.Sprintf(`document.querySelector("h1").textContent.endsWith("Below %.4g %% no plan keeps every promise.")`, zone.Curve.Least*100))
	until(t, ctx, `document.querySelector(".axes rect.none")`)
	do(t, ctx, chromedp.Focus(chromedp.CSS(".plot")), chromedp.KeyEvent(kb.ArrowRight))
	until(t, ctx, `document.querySelector(".readout").textContent.startsWith("25 % · no plan: ")`)
	looks(t, ctx, "curves-zone")

	// The relaxed cost of a contract's VMs is exact, and each corner explains its change.
	s.open(t, ctx, "/c/demo/curves?x="+url.QueryEscape("contract:three-year")+"&from=0&to=80&n=41")
	var corners struct {
		Curve struct{ Points []struct{ Margin string } }
	}
	s.send(t, http.MethodPost, "/v1/clusters/demo/sweeps", rawJSON(`{"curve":true,"vary":[{"what":"contract","contract":"three-year","by":"value","from":0,"to":80,"steps":41}]}`), &corners)
	until(t, ctx, `document.querySelector(".legend .diamond") && document.querySelector(".axes path.line")`)
	do(t, ctx, chromedp.Focus(chromedp.CSS(".plot")), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.Home), chromedp.KeyEvent(kb.ArrowRight))
	if margin := corners.Curve.Points[1].Margin; margin != "" {
		until(t, ctx, fmt.Sprintf(`document.querySelector(".readout").textContent.endsWith("a month at this hour's rate · from here on " + (%[1]q === "on_demand" ? "VMs on demand" : %[1]q))`, margin))
	}
	picture(t, ctx, "curves-corners")

	// A change of a scenario applies to every point.
	s.open(t, ctx, "/c/demo/curves?x=demand&from=100&to=100&n=2&show=vms&ch="+url.QueryEscape("contract:three-year:=0"))
	until(t, ctx, `document.querySelector(".banner")?.textContent.startsWith("1 change of a scenario applies")`)
	var w struct {
		Scenarios []struct{ VMs struct{ Total float64 } }
	}
	s.send(t, http.MethodPost, "/v1/clusters/demo/what-if", rawJSON(`{"scenarios":[{"changes":[{"what":"contract","contract":"three-year","value":"0"}]}]}`), &w)
	press(t, ctx, "Show as table")
	until(t, ctx, fmt.Sprintf(`document.querySelector("table.data tbody tr td:nth-child(5)")?.innerText.trim() === "%g"`, w.Scenarios[0].VMs.Total))
}

// walkLongCurve stops a sweep in the middle and continues it.
func walkLongCurve(t *testing.T, s *server, browser context.Context) {
	s.many(t, "many", 400)
	ctx := s.tab(t, browser)
	s.open(t, ctx, "/c/many/curves?x=demand&n=5000&from=50&to=200")
	until(t, ctx, `/^Running, [1-9]\d* of 5000/.test(document.querySelector(".asking")?.textContent)`)
	until(t, ctx, `location.search.includes("run=")`)
	until(t, ctx, `document.querySelector("h1").textContent.startsWith("Best") && document.querySelector(".axes path.line")`) // before its end
	if !value[bool](t, ctx, `document.querySelector(".asking") !== null`) {
		t.Error("the points came when all of them were there")
	}
	until(t, ctx, `[...document.querySelectorAll("header .chip")].some((c) => /^1 run, \d+ %$/.test(c.textContent))`)
	press(t, ctx, "Cancel")
	until(t, ctx, `/^Stopped at \d+ of 5000: it was cancelled\. The \d+ points are shown\./.test(document.querySelector(".banner")?.textContent)`)
	looks(t, ctx, "curves-stopped")
	until(t, ctx, `document.querySelector(".chip:not(.good)") === null`)

	// The address shows the same again.
	stopped := value[string](t, ctx, `document.querySelector(".banner").textContent`)
	do(t, ctx, chromedp.Reload())
	until(t, ctx, fmt.Sprintf(`document.querySelector(".banner")?.textContent === %q`, stopped))
	press(t, ctx, "Go on")
	until(t, ctx, `document.querySelector(".asking")`)
	if !long() {
		until(t, ctx, `/^Running, [1-9]/.test(document.querySelector(".asking")?.textContent)`)
		press(t, ctx, "Cancel")
		until(t, ctx, `document.querySelector(".banner")?.textContent.startsWith("Stopped at ")`)
		shown := `Number(/The (\d+) points/.exec(document.querySelector(".banner").textContent)[1])`
		var before int
		if _, err := fmt.Sscanf(stopped[strings.Index(stopped, "The "):], "The %d points", &before); err != nil || value[int](t, ctx, shown) <= before {
			t.Errorf("after it has gone on %q, before %q", value[string](t, ctx, `document.querySelector(".banner").textContent`), stopped)
		}
		press(t, ctx, "Discard")
		until(t, ctx, `!document.querySelector(".banner") && document.querySelector("h1").textContent === "There is no curve yet."`)
		return
	}
	until(t, ctx, `!document.querySelector(".asking")`)
	value[bool](t, ctx, saved)
	press(t, ctx, "Show as table")
	press(t, ctx, "CSV")
	until(t, ctx, `window.saved !== ""`)
	if theirs := s.text(t, http.MethodPost, "/v1/clusters/many/sweeps?format=csv", `{"vary":[{"what":"demand","from":"0.5","to":"2","steps":200}]}`); !strings.HasPrefix(value[string](t, ctx, `window.saved`), strings.SplitN(theirs, "\n", 3)[0]+"\n"+strings.SplitN(theirs, "\n", 3)[1]) {
		t.Errorf("the file begins otherwise than the service's: %.300s", theirs)
	}
	if rows := strings.Count(value[string](t, ctx, `window.saved`), "\n"); rows != 5001 {
		t.Errorf("%d rows", rows)
	}
}

// walkGrid goes through a grid with keys and opens a point in What if.
func walkGrid(t *testing.T, s *server, browser context.Context) {
	ctx := s.tab(t, browser)
	s.open(t, ctx, "/c/demo/curves?x=deadline&y="+url.QueryEscape("contract:three-year")+"&from=25&to=200&n=8&yfrom=0&yto=80&yn=5")
	until(t, ctx, `document.querySelectorAll(".heat td[data-at]").length === 40`)
	var a sweepAnswer
	s.send(t, http.MethodPost, "/v1/clusters/demo/sweeps", rawJSON(`{"vary":[{"what":"deadline","from":"0.25","to":"2","steps":8},{"what":"contract","contract":"three-year","by":"value","from":0,"to":80,"steps":5}]}`), &a)
	impossible := 0
	for _, p := range a.Points {
		if p.Status == "infeasible" {
			impossible++
		}
	}
	if got := value[int](t, ctx, `document.querySelectorAll(".heat td.impossible").length`); got != impossible || impossible == 0 {
		t.Errorf("%d cells say no, the service says so of %d", got, impossible)
	}
	calm(t, ctx, "curves-grid")
	looks(t, ctx, "curves-grid")
	do(t, ctx, chromedp.Focus(chromedp.CSS(`.heat td[tabindex="0"]`)), chromedp.KeyEvent(kb.End), chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.ArrowDown))
	until(t, ctx, `document.activeElement.dataset.at === "1 6" && document.querySelector(".readout").textContent.startsWith("175 %, 20 VMs · VM bill $")`)
	total := a.Points[6*5+1].Cost.Total
	do(t, ctx, chromedp.KeyEvent(kb.Enter))
	until(t, ctx, `location.pathname === "/c/demo/explore" && document.querySelector("#answer")`)
	if got := value[[]string](t, ctx, `new URLSearchParams(location.search).getAll("ch")`); !slices.Equal(got, []string{"deadline:*:x1.75", "contract:three-year:=20"}) {
		t.Errorf("What if is opened with %v", got)
	}
	var w struct {
		Scenarios []struct{ Cost struct{ Total string } }
	}
	s.send(t, http.MethodPost, "/v1/clusters/demo/what-if", rawJSON(`{"scenarios":[{"changes":[{"what":"deadline","factor":1.75},{"what":"contract","contract":"three-year","value":"20"}]}]}`), &w)
	if w.Scenarios[0].Cost.Total != total {
		t.Errorf("the cell's point costs %s, the scenario %s", total, w.Scenarios[0].Cost.Total)
	}
}

// text returns the service's answer as text.
func (s *server) text(t *testing.T, method, path, body string, headers ...string) string {
	t.Helper()
	r, err := http.NewRequest(method, s.address+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode >= 300 {
		t.Fatalf("%s %s: %s (%v)\n%s", method, path, answer.Status, err, said)
	}
	return string(said)
}

// many creates a cluster with many classes, whose plans take a while.
func (s *server) many(t *testing.T, name string, classes int) {
	t.Helper()
	doc := map[string]any{
		"cluster":  map[string]any{"name": name, "currency": "USD"},
		"vm_types": []any{map[string]any{"name": "m", "in_use": true}},
		"prices":   []any{map[string]any{"vm_type": "m", "price": "0.384", "from": "2026-01-01T00:00:00Z"}},
		"profiles": []any{map[string]any{"name": "etl", "version": 1, "profile": map[string]any{"map_tasks": 300, "reduce_tasks": 40, "map_avg_s": 30, "map_max_s": 60, "first_shuffle_avg_s": 12, "first_shuffle_max_s": 20, "shuffle_avg_s": 40, "shuffle_max_s": 90, "reduce_avg_s": 20, "reduce_max_s": 50, "overhead_s": 11}}},
	}
	var all []any
	for i := range classes {
		all = append(all, map[string]any{"name": fmt.Sprintf("class %d", i), "profile": map[string]any{"name": "etl", "version": 1}, "deadline_s": 1800 + 37*i, "slots_per_vm": map[string]any{"map": 4, "reduce": 4},
			"jobs": map[string]any{"min": 1, "max": 5 + i%9}, "penalty": fmt.Sprintf("%d.%02d", 1+i%4, i%100)})
	}
	doc["classes"] = all
	body, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	s.text(t, http.MethodPut, "/v1/clusters/"+name+"/document", string(body), "If-None-Match", "*")
}
