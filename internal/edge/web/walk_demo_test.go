package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"example.org/headroom/internal/test/pgtest"
)

// nothing finds the words with which pages say that there is nothing to show.
const nothing = `[...document.querySelectorAll("main :is(h1, h2, p, td, li)")].map((e) => e.innerText).filter((t) => /^(There (is|are) no|No node|Nothing has|Nobody)|cannot be (packed|planned) yet|has no forecast/.test(t)).join(" | ")`

// walkDemo opens every page of headroom serve --demo. Each shows something, and none reports an error or missing
// data.
func walkDemo(t *testing.T, _ *server, browser context.Context) {
	s := start(t, freeAddress(t), pgtest.Database(t), "--demo")
	s.planned(t, "demo-spot", 1)
	ctx := s.tab(t, browser)
	for _, page := range []struct{ name, path, shown string }{
		{"now", "/c/demo/plan", `document.querySelector("h1").textContent.startsWith("50 jobs run at once on 59 VMs.") && document.querySelectorAll("table.classes td.waits").length === 2 && /to come by (the forecast|the plan of this hour, the month's last)\./.test(document.body.innerText) && document.querySelector(".days .axes .line.without")`},
		{"what-if", "/c/demo/explore", `document.querySelectorAll(".knob").length >= 3`},
		{"explore", "/c/demo/explore?x=deadline:ad-hoc-queries&ch=deadline:ad-hoc-queries:%3D480", `document.querySelector("main h1").textContent.includes(" the VM bill by ") && document.querySelector(".axes path.line") && document.querySelector(".bridge svg")`},
		{"curves", "/c/demo/explore?x=deadline", `document.querySelector(".axes path.line")`},
		{"contracts", "/c/demo/commitments", `document.querySelectorAll("main figure .axes svg").length >= 2`},
		{"buy", "/c/demo/commitments?tab=buy", `/^Buy \d/.test(document.querySelector("h1").textContent) && document.querySelector("main figure .axes svg")`},
		{"months", "/c/demo/commitments?tab=months", `document.querySelector("main figure .axes svg") && document.body.innerText.includes("Every class has a forecast") && !document.body.innerText.includes("has no forecast in")`},
		{"wait", "/c/demo/commitments?tab=wait", `document.querySelector("main figure .axes svg") && / runs that start later /.test(document.querySelector("h1").textContent)`},
		{"classes", "/c/demo/plan/classes", `document.querySelectorAll("table.data tbody tr").length === 5`},
		{"class", "/c/demo/plan/classes/nightly-etl", `document.body.innerText.includes("of 30 runs ended inside the predicted range") && document.body.innerText.includes("plans can count on that")`},
		{"versions", "/c/demo/plan/classes/nightly-etl?tab=versions", `document.querySelector('[aria-label="Versions"]')`},
		{"batch", "/c/demo/operate/batch", `document.querySelectorAll(".gantt rect.job").length === 5 && document.querySelector("h1").textContent.startsWith("The night's 5 jobs end at ")`},
		{"live", "/c/demo/operate", `document.querySelector("h1").textContent.startsWith("4 nodes are alive") && document.querySelectorAll("[data-node] i.busy").length > 0 && [...document.querySelectorAll("[data-node]")].every((n) => n.dataset.node.startsWith("simulated"))`},
		{"pool", "/c/demo/operate/pool", `/^Now \d+ c1\.medium, \d+ cg1\.4xlarge, \d+ m1\.large; 4 rounds until .* cost \$\d+\.\d\d$/.test(document.querySelector("h1").textContent) && document.querySelectorAll("[aria-labelledby=rounds] tbody tr").length === 4`},
		{"history", "/c/demo/plan/history", `document.querySelectorAll("table.data tbody tr").length >= 2`},
		{"difference", "/c/demo/plan/history/1..2", `document.querySelector("main h1")`},
		{"spot-now", "/c/demo-spot/plan", `document.querySelector("h1").textContent.includes("at once on")`},
		{"keys", "/settings/keys", `document.querySelector("main h1")`},
		{"clusters", "/settings/clusters?cluster=demo", `document.querySelector("#field-description")`},
		{"prices", "/settings/prices?cluster=demo-spot", `document.querySelectorAll("table.data tbody tr").length >= 30`},
		{"audit", "/settings/audit?cluster=demo", `document.querySelectorAll("table.data tbody tr").length >= 1`},
		{"about", "/settings/about", `document.querySelector("main h1")`},
	} {
		s.open(t, ctx, page.path)
		until(t, ctx, page.shown)
		if wrong := value[string](t, ctx, `[...document.querySelectorAll("main .banner, main [role=alert]")].map((e) => e.innerText.trim()).filter(Boolean).join(" | ")`); wrong != "" {
			t.Errorf("%s opens on %q", page.name, wrong)
		}
		if none := value[string](t, ctx, nothing); none != "" {
			t.Errorf("%s has nothing to show: %q", page.name, none)
		}
		switch page.name {
		case "wait":
			waits(t, ctx)
		case "pool":
			pools(t, s, ctx)
		}
		if long() || slices.Contains([]string{"pool", "versions"}, page.name) { // other walks see the others
			calm(t, ctx, page.name)
		}
		do(t, ctx, chromedp.EmulateViewport(1280, 900))
		picture(t, ctx, "demo-"+page.name)
		if slices.Contains([]string{"now", "explore", "buy", "class"}, page.name) {
			illustrate(t, ctx, page.name)
		}
	}
}

// waits compares what the page says of jobs that wait with the schedule that it saves: that of another moment, or of a busier
// machine, may be another.
func waits(t *testing.T, ctx context.Context) {
	t.Helper()
	type cost struct {
		Bill         string
		ValueRefused string `json:"value_refused"`
	}
	var a struct {
		Cost     cost
		AtOnce   cost `json:"at_once"`
		Schedule []struct {
			Class          string
			Jobs           int64
			Arrived, Start time.Time
		}
	}
	if followed, asked := asksOf(t, ctx, "/schedules/current"), asksOf(t, ctx, "/schedules"); followed != 1 || asked != 0 {
		t.Errorf("the page asks %d times for the schedule that plans follow and %d times for another, want once and never", followed, asked)
	}
	until(t, ctx, `document.querySelectorAll('[aria-labelledby="standing"] tbody tr').length === 2`)
	value[bool](t, ctx, saved)
	press(t, ctx, "Export ▾")
	press(t, ctx, "JSON")
	until(t, ctx, `window.saved !== ""`)
	if err := json.Unmarshal([]byte(value[string](t, ctx, `window.saved`)), &a); err != nil {
		t.Fatal(err)
	}
	later, rows := int64(0), 0
	for _, x := range a.Schedule {
		if x.Start.Sub(x.Arrived) > time.Hour {
			later, rows = later+x.Jobs, rows+1
		}
	}
	change := func(with, without, what string) string {
		by := new(big.Rat).Sub(amount(t, without), amount(t, with))
		verb := "lower"
		if by.Sign() < 0 {
			verb, by = "raise", by.Neg(by)
		}
		return verb + " " + what + " by " + amountOf(t, by.FloatString(12), big.NewRat(1, 1), false)
	}
	plain := strings.NewReplacer(",", "")
	want := fmt.Sprintf("If no job is refused, %d runs that start later %s", later, change(a.Cost.Bill, a.AtOnce.Bill, "the VM bill"))
	if a.Cost.ValueRefused != a.AtOnce.ValueRefused {
		want += ", and " + change(a.Cost.ValueRefused, a.AtOnce.ValueRefused, "the value refused")
	}
	if got := value[string](t, ctx, `document.querySelector("h1").textContent`); later == 0 || plain.Replace(got) != plain.Replace(want) {
		t.Errorf("the page says %q, want %q", got, want)
	}
	until(t, ctx, fmt.Sprintf(`document.querySelector('[aria-labelledby="moves"]').innerText.replaceAll(",", "").includes("Showing 1 to 20 of %d rows.")`, rows))
}

// pools compares what the page says of the pool with the plan as the service answers it.
func pools(t *testing.T, s *server, ctx context.Context) {
	t.Helper()
	var a struct {
		Plan struct {
			Targets []struct {
				At       time.Time
				Type, As string
				Count    int
			}
			Rounds []struct{ Plan struct{ Cost string } }
		}
	}
	s.send(t, http.MethodGet, "/v1/clusters/demo/pool/plans/current", nil, &a)
	cost, run := new(big.Rat), map[string]int{}
	for _, r := range a.Plan.Rounds {
		cost.Add(cost, amount(t, r.Plan.Cost))
	}
	for _, x := range a.Plan.Targets { // in the order of time
		if !x.At.After(time.Now()) {
			run[x.Type] = x.Count
		}
	}
	said := value[string](t, ctx, `document.querySelector("h1").textContent`)
	if want := " cost " + amountOf(t, cost.FloatString(12), big.NewRat(1, 1), false); !strings.HasSuffix(said, want) {
		t.Errorf("the page says %q, want%s", said, want)
	}
	for name, count := range run {
		if count > 0 && !strings.Contains(said, fmt.Sprintf("%d %s", count, name)) {
			t.Errorf("the page says %q, and %d %s should run", said, count, name)
		}
	}
}
