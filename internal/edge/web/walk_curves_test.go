package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
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

// lead is the sentence above a curve.
const lead = `document.querySelector("[aria-labelledby=curve] > p.strong")?.textContent`

// walkCurves draws a curve, reads its points with keys and saves them as files.
func walkCurves(t *testing.T, s *server, browser context.Context) {
	ctx := s.tab(t, browser)
	s.open(t, ctx, "/c/demo/curves")
	until(t, ctx, lead+`?.startsWith("Best at 1")`)
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
	until(t, ctx, fmt.Sprintf(lead+`?.endsWith("Below %.4g %% no plan keeps every promise.")`, zone.Curve.Least*100))
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

	// A change that is in force applies to every point: where the knob stands the curve has the answer's VMs.
	s.open(t, ctx, "/c/demo/curves?x=demand&from=100&to=100&n=2&show=vms&ch="+url.QueryEscape("contract:three-year:=0"))
	var w struct {
		Scenarios []struct{ VMs struct{ Total float64 } }
	}
	s.send(t, http.MethodPost, "/v1/clusters/demo/what-if", rawJSON(`{"scenarios":[{"changes":[{"what":"contract","contract":"three-year","value":"0"}]}]}`), &w)
	until(t, ctx, `document.querySelector("[aria-labelledby=curve] .axes svg")`)
	value[bool](t, ctx, `[...document.querySelectorAll("[aria-labelledby=curve] button")].find((b) => b.textContent === "Show as table").click(), true`)
	until(t, ctx, fmt.Sprintf(`document.querySelector("table.data tbody tr td:nth-child(5)")?.innerText.trim() === "%g"`, w.Scenarios[0].VMs.Total))
}

// walkAxes makes knobs the axes of a curve and of a grid by a click each, with the changes in force. It tries points by
// the keyboard, looks closer and back, and reads charts above each other with one cursor.
func walkAxes(t *testing.T, s *server, browser context.Context) {
	ctx := s.tab(t, browser)
	s.open(t, ctx, "/c/demo/explore?ch="+url.QueryEscape("price:on_demand:=0.5"))
	until(t, ctx, `document.querySelector("#answer")`)
	knob := func(label string) string {
		return fmt.Sprintf(`[...document.querySelectorAll(".knob")].find((k) => k.querySelector('[aria-label="%s"]'))`, label)
	}
	turn := func(label, text string) {
		t.Helper()
		button := fmt.Sprintf(`[...%s.querySelectorAll("button")].find((b) => b.textContent === %q)`, knob(label), text)
		until(t, ctx, button)
		value[bool](t, ctx, button+`.focus(), true`)
		do(t, ctx, chromedp.KeyEvent("\r"))
	}
	axes := func(want string) {
		t.Helper()
		until(t, ctx, fmt.Sprintf(`((q) => q.getAll("x") + " " + q.getAll("y") === %q && q.get("ch").startsWith("price:on_demand:=0.5"))(new URLSearchParams(location.search))`, want))
	}
	turn("Jobs of all classes", "draw a curve over this")
	axes("demand ")
	until(t, ctx, lead+`?.startsWith("Best at 50 %") && document.querySelector(".axes path.line")`)
	turn("VMs in three-year", "draw a grid over this too")
	axes("demand contract:three-year")
	until(t, ctx, `document.querySelectorAll(".heat td[data-at]").length === 49 && document.querySelectorAll(".heat th .now").length === 2`)
	turn("Jobs of all classes", "take it out of the grid")
	axes("contract:three-year ")
	until(t, ctx, `!document.querySelector(".heat") && document.querySelector(".axes path.line")`)
	turn("On-demand price", "draw a grid over this too")
	turn("Jobs of all classes", "draw a grid over this too") // in the place of the second
	axes("contract:three-year demand")
	turn("VMs in three-year", "take it out of the grid")
	axes("demand ")

	// A point is tried with the keyboard, and marked where its knob stands; undone it is not.
	until(t, ctx, lead+`?.startsWith("Best at 50 %") && document.querySelector(".axes path.line")`)
	do(t, ctx, chromedp.Focus(chromedp.CSS("[aria-labelledby=curve] .plot")), chromedp.KeyEvent(kb.End))
	until(t, ctx, `document.querySelector("[aria-labelledby=curve] .readout").textContent.startsWith("200 % · ") && document.querySelector(".axes .cross")`)
	do(t, ctx, chromedp.KeyEvent("\r"))
	until(t, ctx, `new URLSearchParams(location.search).getAll("ch").includes("demand:*:x2") && [...document.querySelectorAll(".axes .word")].some((w) => w.textContent === "what if")`)
	if text := value[string](t, ctx, knob("Jobs of all classes")+`.querySelector("input[type=text]").value`); text != "200" {
		t.Errorf("the knob stands at %s", text)
	}
	press(t, ctx, "Undo")
	until(t, ctx, `![...document.querySelectorAll(".axes .word")].some((w) => w.textContent === "what if")`)

	// What is drawn over is seen closer, with as many points of its own, and Back or a double click lead out.
	draw := func(kind string, part float64) {
		t.Helper()
		value[bool](t, ctx, fmt.Sprintf(`((e) => { const r = e.getBoundingClientRect(); e.dispatchEvent(new PointerEvent(%q, {bubbles: true, button: 0, pointerType: "mouse", clientX: r.left + %g * r.width, clientY: r.top + 100})); return true; })(document.querySelector("[aria-labelledby=curve] .axes"))`, kind, part))
	}
	draw("pointermove", 0.5)
	until(t, ctx, `document.querySelector(".tip")?.textContent === document.querySelector("[aria-labelledby=curve] .readout").textContent`)
	draw("pointerdown", 0.4)
	draw("pointermove", 0.6)
	until(t, ctx, `document.querySelector(".axes .drawn")`)
	draw("pointerup", 0.6)
	until(t, ctx, `((q) => q.get("from") > 50 && q.get("to") < 200 && q.get("n") === "61")(new URLSearchParams(location.search))`)
	until(t, ctx, `[...document.querySelectorAll("[aria-labelledby=curve] button")].some((b) => b.textContent === "Show all")`)
	do(t, ctx, chromedp.NavigateBack())
	until(t, ctx, `!new URLSearchParams(location.search).has("from") && ![...document.querySelectorAll("[aria-labelledby=curve] button")].some((b) => b.textContent === "Show all")`)

	// Four charts above each other have one axis, and one cursor.
	do(t, ctx, chromedp.Click(chromedp.CSS("[aria-labelledby=curve] .segments label:last-child")))
	until(t, ctx, `document.querySelectorAll("[aria-labelledby=curve] .axes svg").length === 4`)
	do(t, ctx, chromedp.Focus(chromedp.CSS("[aria-labelledby=curve] .plot")), chromedp.KeyEvent(kb.Home), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
	until(t, ctx, `((all) => all.length === 4 && new Set(all.map((c) => c.getAttribute("x1"))).size === 1)([...document.querySelectorAll(".axes .cross")])`)
	calm(t, ctx, "explore-axes")
	calmInTheDark(t, ctx, "explore-axes")
	looks(t, ctx, "explore-axes")

	// A knob that is no knob is told, and the rest is drawn.
	s.open(t, ctx, "/c/demo/explore?x=deadlin&y=demand")
	banner(t, ctx, "Part of this link could not be read: x=deadlin. The rest was applied.")
	until(t, ctx, `document.querySelector(".axes path.line")`)
}

// walkApply applies what was tried: the difference is shown before, and so are the ways to take it along.
func walkApply(t *testing.T, s *server, browser context.Context) {
	var document map[string]any
	s.get(t, "/v1/clusters/demo/document", &document)
	document["cluster"].(map[string]any)["name"] = "applied"
	s.apply(t, "applied", document)
	s.planned(t, "applied", 1)
	ctx := s.tab(t, browser)
	commandSays(t, ctx, s, url.Values{"ch": {"deadline:nightly-etl:=3000", "contract:three-year:x0.5", "contract_price:one-year:=0.3", "demand:*:x1.5", "quota:on_demand:=90", "budget:vm_month:=20000"}})
	keys := url.Values{"ch": {"deadline:nightly-etl:=3000", "contract:three-year:x0.5", "demand:*:x1.5", "penalty:dashboards:=2.5", "price:on_demand:=0.25", "quota:on_demand:=90", "budget:vm_month:=20000", "bound:*:=upper"}}
	s.open(t, ctx, "/c/applied/explore?"+keys.Encode())
	until(t, ctx, `document.querySelector("#answer")`)
	var bill string
	{
		var w struct {
			Scenarios []struct{ Cost struct{ Bill string } }
		}
		s.send(t, http.MethodPost, "/v1/clusters/applied/what-if", rawJSON(`{"scenarios":[{"changes":[{"what":"demand","factor":1.5},{"what":"bound","bound":"upper"},{"what":"budget","value":"27.397260274"},{"what":"contract","contract":"three-year","factor":0.5},
			{"what":"deadline","class":"nightly-etl","value":"3000"},{"what":"penalty","class":"dashboards","value":"2.5"},{"what":"price","purchase":"on_demand","value":"0.25"},{"what":"quota","value":90}]}]}`), &w)
		bill = w.Scenarios[0].Cost.Bill
	}
	value[bool](t, ctx, keepCopied)
	press(t, ctx, "Apply …")
	until(t, ctx, `document.querySelectorAll("dialog table.data tbody tr").length >= 9`)
	until(t, ctx, `((said) => said.includes("\tdeadline\t45 min\t50 min") && said.includes("\tlimit of the VM bill\tno limit\t$20,000 a month"))(document.querySelector("dialog table.data").innerText)`)
	until(t, ctx, `document.activeElement.id === "dialog"`) // not on Close
	press(t, ctx, "Copy the what-if as a command")
	until(t, ctx, `window.copied?.startsWith("echo '{") && window.copied.endsWith("| headroom whatif --cluster applied --scenario -")`)
	if told := s.copied(t, ctx); told != bill {
		t.Errorf("the command says %s, and the bill is %s", told, bill)
	}
	value[bool](t, ctx, `window.copied = "", true`)
	press(t, ctx, "Copy the cluster as YAML")
	until(t, ctx, `window.copied`)
	apply := exec.Command(filepath.Join(filepath.Dir(os.Getenv("HEADROOM_SOLVER")), "headroom"), "apply", "-f", "-", "--dry-run")
	apply.Env = append(os.Environ(), "HEADROOM_URL="+s.address, "HEADROOM_API_KEY="+s.key)
	apply.Stdin = strings.NewReader(value[string](t, ctx, `window.copied`))
	if said, err := apply.CombinedOutput(); err != nil || !strings.Contains(string(said), "nightly-etl") {
		t.Errorf("the document is not applied: %v\n%s\n%s", err, said, value[string](t, ctx, `window.copied`))
	}
	calm(t, ctx, "apply")
	looks(t, ctx, "apply")

	// Somebody else is faster: that is said, and the difference is made anew.
	document["cluster"].(map[string]any)["description"] = "by somebody else"
	s.put(t, "/v1/clusters/applied/document", document, s.etag(t, "/v1/clusters/applied/document"))
	value[bool](t, ctx, `[...document.querySelectorAll("dialog button.main")].find((b) => b.textContent === "Apply").click(), true`)
	until(t, ctx, `document.querySelector("dialog [role=status]").textContent.endsWith("The difference is shown anew.")`)
	until(t, ctx, `(() => { const b = [...document.querySelectorAll("dialog button.main")].find((b) => b.textContent === "Apply"); b?.click(); return !document.querySelector("dialog"); })()`)
	until(t, ctx, `document.querySelector("main").textContent.includes("Applied.") && !location.search.includes("ch=")`)
	until(t, ctx, `[...document.querySelectorAll(".actions button")].find((b) => b.textContent === "Undo").disabled`)
	s.planned(t, "applied", 2)
	var now struct {
		Plan struct{ Cost struct{ Bill string } }
	}
	s.get(t, "/v1/clusters/applied/plans/2", &now)
	if now.Plan.Cost.Bill != bill {
		t.Errorf("the plan costs %s, and was said to cost %s", now.Plan.Cost.Bill, bill)
	}
	until(t, ctx, `document.querySelector(".headed").textContent.includes("Compared with plan 2")`)
}

// keepCopied keeps what is copied in window.copied.
const keepCopied = `Object.defineProperty(navigator, "clipboard", {value: {writeText: async (text) => { window.copied = text; }}}), true`

// commandSays checks that the command of changes says the bill that the page shows.
func commandSays(t *testing.T, ctx context.Context, s *server, keys url.Values) {
	t.Helper()
	s.open(t, ctx, "/c/applied/explore?per=hour&"+keys.Encode())
	until(t, ctx, `document.querySelector("#answer") && document.querySelector(".decisions")`)
	value[bool](t, ctx, keepCopied)
	shown := value[string](t, ctx, `document.querySelector(".strip").textContent`)
	press(t, ctx, "Apply …")
	press(t, ctx, "Copy the what-if as a command")
	until(t, ctx, `window.copied?.startsWith("headroom whatif --cluster applied --demand '*=x1.5' ")`)
	if told := amountOf(t, s.copied(t, ctx), big.NewRat(1, 1), true); !strings.Contains(shown, told+" what if") {
		t.Errorf("the command says %s, the page %s", told, shown)
	}
}

// copied runs the command that was copied, and returns the bill that it says.
func (s *server) copied(t *testing.T, ctx context.Context) string {
	t.Helper()
	command := exec.Command("sh", "-c", strings.Replace(value[string](t, ctx, `window.copied`), "headroom ", filepath.Join(filepath.Dir(os.Getenv("HEADROOM_SOLVER")), "headroom")+" ", 1)+" -o json")
	command.Env = append(os.Environ(), "HEADROOM_URL="+s.address, "HEADROOM_API_KEY="+s.key)
	said, err := command.Output()
	var told struct {
		Scenarios []struct{ Cost struct{ Bill string } }
	}
	if err != nil || json.Unmarshal(said, &told) != nil {
		t.Fatalf("%s: %v\n%s", command.Args, err, said)
	}
	return told.Scenarios[0].Cost.Bill
}

// walkLongCurve stops a sweep in the middle and continues it. It has so many classes that no machine answers it at once.
func walkLongCurve(t *testing.T, s *server, browser context.Context) {
	s.many(t, "many", 1600)
	ctx := s.tab(t, browser)
	s.open(t, ctx, "/c/many/curves?x=demand&n=5000&from=50&to=200")
	until(t, ctx, `/^Running, [1-9]\d* of 5000/.test(document.querySelector(".asking")?.textContent)`)
	until(t, ctx, `location.search.includes("run=")`)
	until(t, ctx, lead+`?.startsWith("Best") && document.querySelector(".axes path.line")`) // before its end
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
		until(t, ctx, `!document.querySelector(".banner") && `+lead+` === "There is no curve yet."`)
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

// walkGrid goes through a grid with keys and tries a point.
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
	until(t, ctx, `new URLSearchParams(location.search).getAll("ch").length === 2`)
	if got := value[[]string](t, ctx, `new URLSearchParams(location.search).getAll("ch")`); !slices.Equal(got, []string{"deadline:*:x1.75", "contract:three-year:=20"}) {
		t.Errorf("%v is tried", got)
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
