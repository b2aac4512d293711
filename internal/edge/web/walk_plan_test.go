package web_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// walkPlan reads the first page of a cluster of thirty classes: its lines, the panel beside them, and the days.
func walkPlan(t *testing.T, s *server, browser context.Context) {
	s.crowd(t, "thirty", 30)
	ctx := s.tab(t, browser)
	s.open(t, ctx, "/c/thirty/plan")
	do(t, ctx, chromedp.EmulateViewport(1440, 900))
	until(t, ctx, `document.querySelector(".days svg .blocks") && document.querySelectorAll("table.classes tbody tr").length >= 30`)
	fold := value[int](t, ctx, painted+`.then(() => [...document.querySelectorAll("table.classes tbody tr")].filter((r) => r.getBoundingClientRect().bottom <= innerHeight).length)`)
	tallest := value[float64](t, ctx, `Math.max(...[...document.querySelectorAll("table.classes tbody tr")].map((r) => r.getBoundingClientRect().height))`)
	t.Logf("%d of 30 classes stand above the fold, the tallest line has %g pixels", fold, tallest)
	if fold < 12 || tallest > 36 {
		t.Errorf("%d classes stand above the fold at 1440 × 900, want 12 at least; a line has %g pixels, want 36 at most", fold, tallest)
	}

	// J and K go along the lines; the panel stands beside them, and Escape leads back.
	line := func(i int) string {
		return value[string](t, ctx, fmt.Sprintf(`document.querySelectorAll("table.classes tbody tr a")[%d].title`, i))
	}
	opened := func(name string) {
		t.Helper()
		until(t, ctx, fmt.Sprintf(`new URLSearchParams(location.search).get("class") === %q && document.querySelector(".panel").ariaLabel === "Class " + %q && document.querySelector("tr.chosen a").title === %q`, name, name, name))
	}
	do(t, ctx, chromedp.KeyEvent("j"))
	opened(line(0))
	do(t, ctx, chromedp.KeyEvent("j"), chromedp.KeyEvent("j"), chromedp.KeyEvent("k"))
	opened(line(1))
	if beside := value[bool](t, ctx, `document.querySelector(".panel").getBoundingClientRect().left >= document.querySelector("table.classes").getBoundingClientRect().right`); !beside {
		t.Error("the panel does not stand beside the lines")
	}
	calm(t, ctx, "plan-panel")
	calmInTheDark(t, ctx, "plan-panel")
	looks(t, ctx, "plan-panel")
	do(t, ctx, chromedp.EmulateViewport(1440, 900), chromedp.KeyEvent("\u001b"))
	until(t, ctx, `!document.querySelector(".panel") && !location.search.includes("class=")`)
	do(t, ctx, chromedp.Navigate(s.address+"/c/thirty/plan?class="+line(4))) // a link opens the same class
	until(t, ctx, `document.querySelector(".panel .reason")`)

	s.readDays(t, ctx, "thirty")
	calm(t, ctx, "plan")
}

// readDays compares the days ahead with the service's, reads them by pointer and keys, and looks closer.
func (s *server) readDays(t *testing.T, ctx context.Context, cluster string) {
	t.Helper()
	until(t, ctx, `document.querySelector(".days svg .blocks")`)
	from := time.Now().UTC().Truncate(time.Hour).Add(time.Hour)
	var ahead struct {
		Periods []struct {
			VMs struct {
				Reserved float64
				OnDemand float64 `json:"on_demand"`
			}
			Refused float64
		}
	}
	s.send(t, http.MethodPost, "/v1/clusters/"+cluster+"/horizons", map[string]any{"from": from, "until": from.AddDate(0, 0, 7), "detail": "periods"}, &ahead)
	toggle := `document.querySelector(".days .foot [aria-expanded]").click(), true`
	value[bool](t, ctx, toggle)
	until(t, ctx, `document.querySelector(".days tbody")`)
	shown := value[[][]string](t, ctx, `[...document.querySelectorAll(".days tbody tr")].map((r) => [...r.cells].map((c) => c.lastChild.textContent))`)
	behind := 0
	for behind < len(shown) && shown[behind][6] != "forecast" {
		behind++
	}
	if behind == 0 || len(shown)-behind != len(ahead.Periods) {
		t.Fatalf("the table has %d rows, of which %d are behind; ahead are %d", len(shown), behind, len(ahead.Periods))
	}
	for i, p := range ahead.Periods {
		got := shown[behind+i]
		if want := fmt.Sprintf("%g %g %g", p.VMs.Reserved, p.VMs.OnDemand, p.Refused); strings.Join([]string{got[2], got[3], got[5]}, " ") != want {
			t.Errorf("row %d ahead reads %q, want %s", i, got, want)
		}
	}
	value[bool](t, ctx, toggle)
	until(t, ctx, `document.querySelector(".days svg .blocks")`)

	point := func(kind string, part float64) {
		t.Helper()
		value[bool](t, ctx, fmt.Sprintf(`(() => { const r = document.querySelector(".days .axes").getBoundingClientRect(); return document.querySelector(".days .axes").dispatchEvent(new %s(%q, {bubbles: true, button: 0, clientX: r.left + r.width * %g, clientY: r.top + 60})); })()`, map[bool]string{true: "MouseEvent", false: "PointerEvent"}[kind == "dblclick"], kind, part))
	}
	point("pointermove", 0.8)
	until(t, ctx, `/reserved, .* on demand · bill \$[\d,.]+ an hour.* · forecast$/.test(document.querySelector(".days .readout").textContent)`)
	point("pointerdown", 0.6)
	point("pointermove", 0.8)
	until(t, ctx, `document.querySelector(".days .drawn")`)
	point("pointerup", 0.8)
	until(t, ctx, `location.search.includes("days=") && [...document.querySelectorAll(".days button")].some((b) => b.textContent === "Show all")`)
	do(t, ctx, chromedp.Reload()) // the address holds the part that is seen
	until(t, ctx, `document.querySelector(".days svg .blocks") && [...document.querySelectorAll(".days button")].some((b) => b.textContent === "Show all")`)
	point("dblclick", 0.5)
	until(t, ctx, `!location.search.includes("days=")`)
}

// walkPlaces follows every address of former times to its place, of which the list has six.
func walkPlaces(t *testing.T, s *server, browser context.Context) {
	ctx := s.tab(t, browser)
	s.open(t, ctx, "/overview")
	for _, a := range [][2]string{
		{"/c/demo", "/c/demo/plan"},
		{"/c/demo/now?per=hour", "/c/demo/plan?per=hour"},
		{"/c/demo/classes", "/c/demo/plan/classes"},
		{"/c/demo/classes/nightly-etl", "/c/demo/plan/classes/nightly-etl"},
		{"/c/demo/classes/import", "/c/demo/plan/classes/import"},
		{"/c/demo/history", "/c/demo/plan/history"},
		{"/c/demo/what-if?ch=price:on_demand:%3D0.5&base=1", "/c/demo/explore?ch=price:on_demand:%3D0.5&base=1"},
		{"/c/demo/curves?x=demand&from=80", "/c/demo/explore?x=demand&from=80"},
		{"/c/demo/explore/curves", "/c/demo/explore?x=deadline"},
		{"/c/demo/contracts?tab=months", "/c/demo/commitments?tab=months"},
		{"/c/demo/batch", "/c/demo/operate/batch"},
		{"/c/demo/live", "/c/demo/operate"},
	} {
		do(t, ctx, chromedp.Navigate(s.address+a[0]))
		until(t, ctx, fmt.Sprintf(`decodeURIComponent(location.pathname + location.search).startsWith(decodeURIComponent(%q)) && document.querySelector("main h1")`, a[1]))
		if got := value[[]string](t, ctx, `[...document.querySelectorAll("nav a:not(.within)")].map((a) => a.textContent)`); strings.Join(got, " ") != "Overview Plan Explore Commitments Operate Settings" {
			t.Errorf("at %s the places are %q", a[0], got)
		}
		if got := value[int](t, ctx, `document.querySelectorAll("nav [aria-current=page]").length`); got != 1 {
			t.Errorf("at %s the list says %d times where one is", a[0], got)
		}
	}
	do(t, ctx, chromedp.Navigate(s.address+"/c/demo/nowhere"))
	until(t, ctx, `document.querySelector("main h1")?.textContent === "There is no page at this address."`)
}

// walkPalette finds a cluster, a class and a plan by typing, and asks a question.
func walkPalette(t *testing.T, s *server, browser context.Context) {
	s.past(t, "found")
	ctx := s.tab(t, browser)
	s.open(t, ctx, "/c/demo/plan")
	until(t, ctx, `document.querySelector(".days")`)
	open := func(text string) {
		t.Helper()
		value[bool](t, ctx, `document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "k", ctrlKey: true, bubbles: true})), true`)
		until(t, ctx, `document.activeElement.matches("dialog [role=combobox]")`)
		do(t, ctx, chromedp.KeyEvent(text))
	}
	take := func(text, there string) {
		t.Helper()
		open(text)
		do(t, ctx, chromedp.KeyEvent("\r"))
		until(t, ctx, there)
	}
	take("found", `location.pathname === "/c/found/plan" && document.querySelector("h1").textContent.includes("at once")`)
	take("plan 2", `location.pathname === "/c/found/plan/history/1..2"`)
	take("compare 1 3", `location.pathname === "/c/found/plan/history/1..3"`)
	take("yesterday", `location.pathname === "/c/found/plan/history/yesterday" && document.querySelector("h1").textContent.startsWith("From plan 1 to plan 3 ")`)
	take("next week", `location.pathname === "/c/found/commitments" && /^From \d+ \w+ \d+ to \d+ \w+ \d+ the VM bill is /.test(document.querySelector("h1").textContent)`)
	take("demo", `location.pathname === "/c/demo/plan" && document.querySelector("h1").textContent.includes("at once")`)
	take("nightly", `location.pathname === "/c/demo/plan" && document.querySelector(".panel")?.ariaLabel === "Class nightly-etl"`)
	take("what if price 0.25", `location.pathname === "/c/demo/explore" && new URLSearchParams(location.search).get("ch") === "price:on_demand:=0.25" && document.querySelector("#answer")`)
	take("what if deadline of nightly-etl 90 min", `new URLSearchParams(location.search).get("ch") === "deadline:nightly-etl:=5400"`)
	take("what if jobs +20 %", `new URLSearchParams(location.search).get("ch") === "demand:*:x1.2"`)
	take("batch", `location.pathname === "/c/demo/operate/batch"`)
	take("dark", `document.documentElement.dataset.theme === "dark" && !document.querySelector("dialog")`)

	press(t, ctx, "Search Ctrl K")
	until(t, ctx, `document.querySelectorAll("dialog [role=option]").length > 3`)
	calm(t, ctx, "palette")
	calmInTheDark(t, ctx, "palette")
	looks(t, ctx, "palette")
	do(t, ctx, chromedp.KeyEvent("xyzzy"))
	until(t, ctx, `document.querySelector("dialog").textContent.includes("Nothing is called so.")`)
	do(t, ctx, chromedp.KeyEvent("\u001b"), chromedp.KeyEvent("\u001b")) // the first empties the field
	until(t, ctx, `!document.querySelector("dialog")`)
	do(t, ctx, chromedp.KeyEvent("?"))
	until(t, ctx, `document.querySelector("dialog h2")?.textContent === "Keys" && document.querySelectorAll("dialog kbd").length > 5`)
	calm(t, ctx, "keys")
}
