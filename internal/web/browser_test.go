package web_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestWalks walks through the page as people do, in one server and one browser; each walk has a tab of its
// own. Those that stop the server or the database start another.
func TestWalks(t *testing.T) {
	s, b := serve(t), browser(t)
	for _, w := range []struct {
		name string
		walk func(t *testing.T, s *server, browser context.Context)
	}{
		{"now", walkNow},
		{"what if", walkWhatIf},
		{"scenarios", walkScenarios},
		{"a saved scenario", walkSavedScenario},
		{"many classes", walkManyClasses},
		{"states", walkStates},
		{"history", walkHistory},
		{"batch", walkBatch},
		{"live", walkLive},
		{"curves", walkCurves},
		{"long curve", walkLongCurve},
		{"grid", walkGrid},
		{"contracts", walkContracts},
		{"classes", walkClasses},
		{"two people", walkTwo},
		{"import", walkImport},
		{"settings", walkSettings},
	} {
		t.Run(w.name, func(t *testing.T) { w.walk(t, s, b) })
	}
}

func walkNow(t *testing.T, s *server, browser context.Context) {
	ctx := s.tab(t, browser)
	s.signIn(t, ctx)
	until(t, ctx, `document.querySelector("h1")?.textContent.includes("at once")`)
	var plan struct {
		VMs      int    `json:"vms"`
		Admitted int    `json:"admitted"`
		Refused  int    `json:"refused"`
		Currency string `json:"currency"`
	}
	s.get(t, "/v1/clusters/demo/plans/current", &plan)
	if got, want := value[string](t, ctx, `document.querySelector("h1").textContent`), fmt.Sprintf("%d jobs run at once on %d VMs. %d jobs are refused", plan.Admitted, plan.VMs, plan.Refused); !strings.HasPrefix(got, want) {
		t.Errorf("the page leads with %q, want %q", got, want)
	}
	calm(t, ctx, "now")
	looks(t, ctx, "now")
}

func walkWhatIf(t *testing.T, s *server, browser context.Context) {
	ctx := s.tab(t, browser)
	s.open(t, ctx, "/c/demo/now")
	do(t, ctx, chromedp.Click(chromedp.CSS(`nav a[href="/c/demo/what-if"]`)))
	until(t, ctx, `document.querySelector("#answer")`)
	median, slowest := quick(value[[]float64](t, ctx, paced))
	t.Logf("a move is answered and painted in %.0f ms (median), %.0f ms (slowest of 50)", median, slowest)
	if median > 1000 {
		t.Errorf("the median move took %.0f ms", median)
	}
	until(t, ctx, `location.search.includes("demand") && location.search.includes("base=1")`)
	link := value[string](t, ctx, `location.href`)
	shown := value[string](t, ctx, `document.querySelector("#answer").closest("section").querySelector(".big").textContent`)
	do(t, ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(link))
	until(t, ctx, fmt.Sprintf(`document.querySelector("#answer")?.closest("section").querySelector(".big")?.textContent === %q`, shown))
	calm(t, ctx, "what-if")
	looks(t, ctx, "what-if")
	do(t, ctx, chromedp.EmulateViewport(1280, 900))
	press(t, ctx, "Start over")
	until(t, ctx, `document.querySelector("#answer").closest("section").querySelector(".big").textContent === "no change"`)
}
