package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// ofHoursLater makes the schedule that plans follow that of a cluster whose jobs have waited for some hours already: all of those
// that wait arrived before, and two of each class run. Three ask for a place, and two cannot end in time.
const ofHoursLater = `{ const real = window.fetch;
	window.fetch = async (...of) => {
		const answer = await real(...of);
		if (!String(of[0]).endsWith("/schedules/current") || !answer.ok) return answer;
		const f = await answer.json();
		const [first, before] = [f.question.periods[0].start, new Date(Date.parse(f.question.periods[0].start) - 3600000).toISOString()];
		const waits = f.answer.classes.filter((c) => c.waits).map((c) => c.name);
		for (const s of f.answer.schedule) if (waits.includes(s.class) && s.start > first) s.arrived = before;
		f.question.before = {...f.question.before, leases: [{class: waits[0], hour: before, started: 0, running: 0, waiting: 3, missed: 2}], running: waits.map((c) => ({class: c, arrived: before, start: before, run_s: 3601, jobs: 2, map_slots: 0, reduce_slots: 0}))};
		return new Response(JSON.stringify(f), {status: 200, headers: {"Content-Type": "application/json", "Date": answer.headers.get("Date")}});
	};
}`

// asksOf counts the requests of a page at addresses that end so.
func asksOf(t *testing.T, ctx context.Context, end string) int {
	t.Helper()
	return value[int](t, ctx, fmt.Sprintf(`performance.getEntriesByType("resource").filter((e) => e.name.endsWith(%q)).length`, end))
}

// waiting creates a cluster whose price is lowest in three hours, with one class that may wait until then and one that may not. Other
// types of VMs have one price.
func (s *server) waiting(t *testing.T, cluster, class string, others ...string) {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Hour)
	at := func(hours int) string { return now.Add(time.Duration(hours) * time.Hour).Format(time.RFC3339) }
	price := func(amount, from string, until any) map[string]any {
		return map[string]any{"vm_type": "m", "price": amount, "from": from, "until": until}
	}
	forecasts := []any{}
	for hour := range 30 {
		forecasts = append(forecasts, map[string]any{"class": class, "hour": at(hour), "arrivals": []int{1200, 3, 1}[min(hour, 2)]}, map[string]any{"class": "web", "hour": at(hour), "arrivals": 2})
	}
	none := map[string]any{"min": 0, "max": 0}
	types, prices := []any{map[string]any{"name": "m", "in_use": true}}, []any{price("4", at(-24), at(3)), price("1", at(3), at(4)), price("3", at(4), nil)}
	for _, other := range others {
		types = append(types, map[string]any{"name": other, "in_use": true})
		prices = append(prices, map[string]any{"vm_type": other, "price": "2", "from": at(-24)})
	}
	s.apply(t, cluster, map[string]any{
		"cluster":  map[string]any{"name": cluster, "currency": "USD", "time_zone": "UTC"},
		"vm_types": types,
		"prices":   prices,
		"classes": []any{
			map[string]any{"name": class, "vms_per_job": "2", "deadline_s": 3600, "due_s": 21600, "jobs": none, "penalty": "50"},
			map[string]any{"name": "web", "vms_per_job": "1", "deadline_s": 7200, "jobs": none, "penalty": "50"},
		},
		"forecasts": forecasts,
	})
	s.planned(t, cluster, 1)
}

// walkWait sees what the plans of a cluster do with jobs that may wait, what schedules of other times would do, and what is said
// where the plans follow none.
func walkWait(t *testing.T, s *server, browser context.Context) {
	const cluster = "may-wait"
	class := strings.Repeat("w", 63)
	s.waiting(t, cluster, class)
	var f struct {
		Question struct{ Periods []struct{ Start time.Time } }
		Answer   struct {
			Schedule []struct {
				Class string
				Start time.Time
				Jobs  int64
			}
		}
	}
	s.get(t, "/v1/clusters/"+cluster+"/schedules/current", &f)
	var next time.Time
	first, starts, later := f.Question.Periods[0].Start, int64(0), int64(0)
	for _, x := range f.Answer.Schedule {
		switch {
		case x.Class != class || !x.Start.After(first):
			continue
		case next.IsZero() || x.Start.Before(next):
			next, starts = x.Start, x.Jobs
		case x.Start.Equal(next):
			starts += x.Jobs
		}
		later += x.Jobs
	}
	if starts < 1200 || later <= starts {
		t.Fatalf("of %d jobs %d start at %s", later, starts, next)
	}
	hour := func(at time.Time) string { // as the page writes it now
		if now := time.Now().UTC(); at.UTC().Day() == now.Day() {
			return at.UTC().Format("15:04")
		} else if at.UTC().Year() != now.Year() {
			return at.UTC().Format("2 Jan 2006, 15:04")
		}
		return at.UTC().Format("2 Jan, 15:04")
	}
	said := func(waiting string) string {
		on := "at"
		if strings.Contains(hour(next), ",") {
			on = "on"
		}
		return fmt.Sprintf("%s, up to 1,%d start %s %s", waiting, starts-1000, on, hour(next))
	}
	shown := func(ctx context.Context, name string) {
		t.Helper()
		for _, width := range []int64{320, 1440} {
			do(t, ctx, chromedp.EmulateViewport(width, 900))
			for _, what := range value[[]string](t, ctx, painted+".then(() => ["+spilled+", "+disturbed+"].flat())") {
				t.Errorf("%s at %d pixels: %s", name, width, what)
			}
			picture(t, ctx, fmt.Sprintf("%s-%d", name, width))
		}
	}
	once := func(ctx context.Context, name string, current, questions int) {
		t.Helper()
		if c, q := asksOf(t, ctx, "/schedules/current"), asksOf(t, ctx, "/schedules"); c != current || q != questions {
			t.Errorf("%s asks %d times for the schedule that plans follow and %d times for another, want %d and %d", name, c, q, current, questions)
		}
	}
	cells := func(ctx context.Context, want ...string) {
		t.Helper()
		do(t, ctx, chromedp.EmulateViewport(1440, 900))
		text, _ := json.Marshal(append([]string{class}, want...))
		until(t, ctx, fmt.Sprintf(`JSON.stringify([...document.querySelectorAll('[aria-labelledby="standing"] tbody tr')].map((r) => [...r.cells].map((c, i) => i ? c.innerText.trim() : c.querySelector(".hidden").textContent))) === %q`, "["+string(text)+"]"))
	}
	choose := func(ctx context.Context, word string) {
		t.Helper()
		value[bool](t, ctx, fmt.Sprintf(`(() => { const e = document.querySelector(".headed select"); e.value = %q; return e.dispatchEvent(new Event("change", {bubbles: true})); })()`, word))
	}
	const noStanding = `document.querySelector("main figure .axes svg") && !document.querySelector("#standing")`

	ctx := s.tab(t, browser)
	s.open(t, ctx, "/c/"+cluster+"/commitments?tab=wait")
	cells(ctx, "0", "0", hour(next), fmt.Sprint(starts))
	once(ctx, "Wait", 1, 0)
	shown(ctx, "wait-followed")
	calm(t, ctx, "wait-followed")
	if entries := value[[]string](t, ctx, `[...document.querySelectorAll(".headed option")].map((e) => e.textContent + (e.selected ? "!" : "") + (e.disabled ? "?" : ""))`); !slices.Equal(entries, []string{"what plans follow!", "one week", "two weeks", "four weeks"}) {
		t.Errorf("Ahead has %q", entries)
	}
	choose(ctx, "1")
	until(t, ctx, `location.search.includes("weeks=1") && `+noStanding)
	once(ctx, "Wait for a week", 1, 1)
	choose(ctx, "")
	cells(ctx, "0", "0", hour(next), fmt.Sprint(starts))
	once(ctx, "Wait as before", 2, 1)

	// What longer and shorter waiting comes to is computed when asked for.
	do(t, ctx, chromedp.Click(`[aria-labelledby="worth"] button`))
	until(t, ctx, `document.querySelector('[aria-labelledby="worth"] figure')?.innerText.includes("Least within 4 hours")`)
	until(t, ctx, `document.querySelectorAll('[aria-labelledby="worth"] svg .dot').length === 6`)
	shown(ctx, "wait-worth")

	s.open(t, ctx, "/c/"+cluster+"/plan")
	line := fmt.Sprintf(`[...document.querySelectorAll("table.classes tbody tr")].find((r) => r.querySelector("a")?.title === %q)?.innerText.replace(/\s+/g, " ")`, class)
	until(t, ctx, fmt.Sprintf(`%s?.includes(%q)`, line, said("none waits")))
	until(t, ctx, `/Jobs that may wait count there as they arrive|by the plan of this hour, the month's last/.test(document.body.innerText) && document.body.innerText.includes("Jobs that may wait count as they arrive.")`)
	if text := value[string](t, ctx, line); strings.Contains(text, "0 of 0") || !strings.Contains(text, "Starts later") {
		t.Errorf("the line says %q", text)
	}
	once(ctx, "Plan", 1, 0)
	shown(ctx, "plan-waits")
	s.open(t, ctx, "/c/"+cluster+"/plan?class="+class)
	until(t, ctx, fmt.Sprintf(`document.querySelector(".panel .reason")?.innerText.startsWith(%q)`, "None runs in this hour: "+said("none waits")+"."))
	once(ctx, "Plan with its panel", 1, 0)
	shown(ctx, "plan-waits-panel")
	press(t, ctx, "The schedule that plans follow")
	cells(ctx, "0", "0", hour(next), fmt.Sprint(starts))

	then := s.tab(t, browser)
	do(t, then, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: ofHoursLater})
		return err
	}))
	s.open(t, then, "/c/"+cluster+"/commitments?tab=wait")
	cells(then, "2", fmt.Sprint(later), hour(next), fmt.Sprint(starts), "3", "2")
	shown(then, "wait-later")
	s.open(t, then, "/c/"+cluster+"/plan")
	until(t, then, fmt.Sprintf(`%s?.includes(%q)`, line, said(fmt.Sprintf("1,%d wait", later-1000))))
	shown(then, "plan-waits-later")

	// On several types of VMs each hour and each start tell theirs.
	other := strings.Repeat("x", 63)
	s.waiting(t, "wait-types", class, other)
	s.open(t, ctx, "/c/wait-types/commitments?tab=wait")
	until(t, ctx, `document.querySelector('[aria-labelledby="moves"] thead')?.innerText.includes("VM type") && document.querySelector('[aria-labelledby="moves"] tbody tr').lastElementChild.innerText.trim() === "m"`)
	press(t, ctx, "Show as table")
	until(t, ctx, fmt.Sprintf(`document.querySelector("main figure").innerText.includes("VMs of %s")`, other))
	shown(ctx, "wait-types")

	// Without classes that may wait, and where they cannot be scheduled, the page shows what a week would be, or why not.
	const since = "2026-01-01T00:00:00Z"
	classes := []any{map[string]any{"name": "a", "vms_per_job": "1", "deadline_s": 3600, "jobs": map[string]any{"min": 0, "max": 3}, "penalty": "9"}}
	document := func(name string, types ...string) map[string]any {
		d := map[string]any{"cluster": map[string]any{"name": name, "currency": "USD"}, "classes": classes}
		of, prices := []any{}, []any{}
		for _, t := range types {
			of, prices = append(of, map[string]any{"name": t, "in_use": true}), append(prices, map[string]any{"vm_type": t, "price": "1", "from": since})
		}
		d["vm_types"], d["prices"] = of, prices
		return d
	}
	s.apply(t, "never-waits", document("never-waits", "m"))
	classes[0].(map[string]any)["due_s"] = 36000
	unscheduled := document("unscheduled", "m")
	unscheduled["cluster"].(map[string]any)["options"] = map[string]any{"sharing": "dedicated"}
	s.apply(t, "unscheduled", unscheduled)
	s.planned(t, "never-waits", 1)
	s.planned(t, "unscheduled", 1)
	const howTo = "A class may wait whose runs may end long after they arrive."
	for _, x := range []struct{ cluster, shown, says, leaves string }{
		{"never-waits", noStanding, howTo, "follow no schedule"},
		{"unscheduled", `document.querySelector("main").innerText.includes("follow no schedule")`, "The plans follow no schedule: The cluster keeps VMs for each class", howTo},
	} {
		s.open(t, ctx, "/c/"+x.cluster+"/commitments?tab=wait")
		until(t, ctx, x.shown)
		settled(t, ctx)
		once(ctx, x.cluster, 1, 1)
		shown(ctx, "wait-"+x.cluster)
		text := value[string](t, ctx, `document.querySelector("main").innerText`)
		if times := strings.Count(text, "keeps VMs for each class"); !strings.Contains(text, x.says) || strings.Contains(text, x.leaves) || times > 1 {
			t.Errorf("%s says %q", x.cluster, text)
		}
		if ahead := value[string](t, ctx, `document.querySelector(".headed select").selectedOptions[0].textContent`); ahead != "one week" {
			t.Errorf("%s looks ahead %q", x.cluster, ahead)
		}
		s.open(t, ctx, "/c/"+x.cluster+"/plan")
		until(t, ctx, `document.querySelector("table.classes tbody tr")`)
		settled(t, ctx)
		once(ctx, "Plan of "+x.cluster, 0, 0)
	}
}
