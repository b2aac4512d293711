package web_test

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// forget deletes a cluster.
func (s *server) forget(t *testing.T, cluster string) {
	t.Helper()
	r, err := http.NewRequest("DELETE", s.address+"/v1/clusters/"+cluster, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("If-Match", `"1"`)
	answer, err := http.DefaultClient.Do(r)
	if err != nil || answer.StatusCode != 204 {
		t.Fatalf("the cluster %s is not deleted: %v %v", cluster, answer, err)
	}
	_ = answer.Body.Close()
}

// walkFirstPlan leads from an empty server to a plan, with keys alone, then by each of the other ways.
func walkFirstPlan(t *testing.T, _ *server, b context.Context) {
	s := serve(t)
	s.forget(t, "demo")
	ctx := s.tab(t, b)
	s.signIn(t, ctx, "/")
	until(t, ctx, `location.pathname === "/welcome" && document.querySelector(".beginnings")`)
	calm(t, ctx, "welcome")
	looks(t, ctx, "welcome")

	// Tab moves along until the wanted element has the focus.
	reach := func(what string) {
		t.Helper()
		for range 40 {
			if value[bool](t, ctx, fmt.Sprintf(`(document.activeElement?.textContent.trim() === %q || document.activeElement?.id === %q) && document.activeElement.matches(":focus-visible")`, what, what)) {
				return
			}
			do(t, ctx, chromedp.KeyEvent("\t"))
		}
		t.Fatalf("Tab does not lead to %s; the focus is on %s", what, value[string](t, ctx, `document.activeElement.outerHTML`))
	}
	began := time.Now()
	reach("Type one class")
	do(t, ctx, chromedp.KeyEvent("\r"))
	until(t, ctx, `document.querySelector("#field-figures-map-tasks")`)
	for id, text := range map[string]string{"field-figures-map-tasks": "300", "field-class-deadline-s": "18 min"} {
		value[bool](t, ctx, `document.activeElement.blur(), true`)
		reach(id)
		do(t, ctx, chromedp.KeyEvent(text))
	}
	calm(t, ctx, "welcome, one class")
	looks(t, ctx, "welcome-class")
	reach("See the plan")
	do(t, ctx, chromedp.KeyEvent("\r"))
	until(t, ctx, `location.pathname === "/c/first/plan" && document.querySelector("h1")?.textContent.includes("at once on")`)
	t.Logf("from Welcome to a plan by keys alone in %.1f s", time.Since(began).Seconds())
	var class struct {
		Deadline float64 `json:"deadline_s"`
	}
	if s.get(t, "/v1/clusters/first/classes/first-class", &class); math.Abs(class.Deadline-1080) > 1e-9 {
		t.Errorf("the deadline that was typed is %g s", class.Deadline)
	}

	// A demo, in one click.
	do(t, ctx, chromedp.Navigate(s.address+"/welcome"))
	began = time.Now()
	press(t, ctx, "See a demo")
	until(t, ctx, `location.pathname === "/c/demo/plan" && document.querySelector("h1")?.textContent.includes("at once on")`)
	took := time.Since(began)
	t.Logf("a demo in %.2f s", took.Seconds())
	for path, shown := range map[string]string{"/c/demo/batch": `document.querySelectorAll(".gantt rect.job").length === 5`, "/c/demo/contracts?tab=months": `document.body.innerText.includes("Every class has a forecast")`} {
		s.open(t, ctx, path)
		until(t, ctx, shown)
	}
	if took > 15*time.Second || long() && took > 3*time.Second {
		t.Errorf("the demo took %.1f s, want 3 at most on a machine at rest", took.Seconds())
	}

	// A pasted problem: mistakes refer to the problem.
	text, err := os.ReadFile("../../../openapi/examples/several-classes.json")
	if err != nil {
		t.Fatal(err)
	}
	do(t, ctx, chromedp.Navigate(s.address+"/welcome?way=paste"))
	paste := func(text string) {
		t.Helper()
		until(t, ctx, `document.querySelector("#problem")`)
		value[bool](t, ctx, fmt.Sprintf(`(() => { const e = document.querySelector("#problem"); e.value = %q; e.dispatchEvent(new Event("input", {bubbles: true})); return true; })()`, text))
		press(t, ctx, "See the plan")
	}
	paste(strings.Replace(string(text), `"deadline_s"`, `"dedline_s"`, 1))
	until(t, ctx, `document.querySelector(".banner.error")?.innerText.includes("dedline_s")`)
	calm(t, ctx, "welcome, a problem")
	looks(t, ctx, "welcome-paste")
	value[bool](t, ctx, `window.EventSource = class { addEventListener() {} close() {} }, true`) // no stream says that there is a plan
	paste(string(text))
	until(t, ctx, `location.pathname === "/c/pasted/plan" && document.querySelector("h1")?.textContent.includes("at once on")`)
	const want = "on 99 VMs" // as README has it of the same file
	if h1 := value[string](t, ctx, `document.querySelector("h1").textContent`); !strings.Contains(h1, want) {
		t.Errorf("the pasted problem's plan is %q, want %q", h1, want)
	}

	// A history.
	do(t, ctx, chromedp.Navigate(s.address+"/welcome?way=history"))
	until(t, ctx, `document.querySelector("main form, main button")`)
	calm(t, ctx, "welcome, a history")
	looks(t, ctx, "welcome-history")
	write(t, ctx, "#field-vm-types-0-name", "m5.xlarge")
	write(t, ctx, "#field-prices-0-price", "0.192")
	give(t, ctx, file(t, "history.csv", "job,execution,task,kind,start,finish\nreports,1,a,map,1700000000000,1700000009000\nreports,1,b,map,1700000000000,1700000019000\nreports,2,a,map,1700086400000,1700086410000\n"))
	press(t, ctx, "Import")
	press(t, ctx, "Make 1 class")
	until(t, ctx, `location.pathname === "/c/first-2/plan" && document.querySelector("h1")?.textContent.includes("at once on")`)
}
