package recheck

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/test/plantest"
)

// arrivalsText has jobs that go on into later periods, at the end as well.
const arrivalsText = `{"problem": {"currency": "USD", "period_s": 3600, "supply": {"on_demand": {"price": "0.31"}},
	"classes": [{"name": "a", "vms_per_job": "1.3", "deadline_s": 9000, "jobs": {"min": 0, "max": 20}, "penalty": "5"},
	  {"name": "b", "demand": {"map_work_s": 9000, "reduce_work_s": 2500, "fixed_s": 30}, "deadline_s": 1800, "slots_per_vm": {"map": 2, "reduce": 2}, "jobs": {"min": 0, "max": 9}, "penalty": "0.55"}]},
	"periods": [
	  {"start": "2026-01-31T20:00:00Z", "hours": 3, "arrivals": [8, 1]},
	  {"start": "2026-01-31T23:00:00Z", "hours": 2, "arrivals": [0, 6]},
	  {"start": "2026-02-01T01:00:00Z", "seconds": 5000, "arrivals": [2.5, 0]}]}`

// narrowText has arrivals beside two contracts that begin and end, a price that changes, earlier arrivals, and
// hours in which fewer jobs run than are promised.
const narrowText = `{"problem": {"currency": "USD", "period_s": 3600,
	"supply": {"contracts": [{"name": "own", "vms": 3, "price": "0.07", "billing": "used"}], "on_demand": {"price": "0.31", "quota": 14}},
	"classes": [{"name": "a", "vms_per_job": "1.3", "deadline_s": 9000, "jobs": {"min": 14, "max": 20}, "penalty": "0.2"},
	  {"name": "b", "demand": {"map_work_s": 9000, "reduce_work_s": 2500, "fixed_s": 30}, "deadline_s": 1800, "slots_per_vm": {"map": 2, "reduce": 2}, "jobs": {"min": 0, "max": 9}, "penalty": "0.55"}]},
	"contracts": [
	  {"name": "half", "vms": 2, "price": "0.113", "billing": "always", "upfront": "100", "from": "2026-01-31T21:00:00Z", "until": "2026-03-30T00:00:00Z"},
	  {"name": "late", "vms": 4, "price": "0.2", "billing": "used", "upfront": "7", "from": "2026-01-31T22:00:00Z", "until": "2026-02-01T01:00:00Z"}],
	"earlier": [{"start": "2026-01-31T18:00:00Z", "hours": 2, "arrivals": [3, 0]}],
	"periods": [
	  {"start": "2026-01-31T20:00:00Z", "hours": 3, "arrivals": [24, 1]},
	  {"start": "2026-01-31T23:00:00Z", "hours": 2, "arrivals": [0, 36], "on_demand_price": "0.37"},
	  {"start": "2026-02-01T01:00:00Z", "seconds": 5000, "arrivals": [2.5, 0]}]}`

// sound says that all of an answer is proved.
func sound(t *testing.T, question, answer []byte) {
	t.Helper()
	if r := verified(t, question, answer); r.Outcome != proof.OK {
		t.Fatalf("%s\n%s", r, answer)
	}
}

// openMonths are places of months with arrivals at which changes may pass: a summary does not say which plans have a gap.
var openMonths = map[horizon.Detail][]string{
	horizon.DetailPeriods: {"/classes/0/asked_vm_hours", "/classes/1/asked_vm_hours"},
	horizon.DetailSummary: {"/classes/0/asked_vm_hours", "/classes/1/asked_vm_hours"},
}

func TestMonthsWithArrivals(t *testing.T) {
	for _, detail := range []horizon.Detail{horizon.DetailClasses, horizon.DetailPeriods, horizon.DetailSummary} {
		q, a := answerMonths(t, arrivalsText, detail)
		sound(t, q, a)
		narrow, planned := answerMonths(t, narrowText, detail)
		sound(t, narrow, planned)
		allMutationsFail(t, q, a, plantest.Trials(5, 1), openMonths[detail]...)
		allMutationsFail(t, narrow, planned, plantest.Trials(5, 1), openMonths[detail]...)
		fewer := strings.Replace(string(a), `"work_vm_hours":`, `"work_vm_hours":1`, 1)
		if detail == horizon.DetailClasses && verified(t, q, []byte(fewer)).Accepted() {
			t.Error("other work passes")
		}
		if detail == horizon.DetailSummary {
			continue
		}
		for what, damage := range map[string]func(x map[string]any){
			"no periods":      func(x map[string]any) { x["periods"] = []any{} },
			"no last period":  func(x map[string]any) { p := x["periods"].([]any); x["periods"] = p[:len(p)-1] },
			"another status":  func(x map[string]any) { x["status"] = "optimalx" },
			"no VMs":          func(x map[string]any) { first(x)["vms"].(map[string]any)["total"] = 0 },
			"no jobs":         func(x map[string]any) { first(x)["admitted"] = 0 },
			"another start":   func(x map[string]any) { first(x)["start"] = "2026-01-31T19:00:00Z" },
			"other hours":     func(x map[string]any) { first(x)["hours"] = 0.5 },
			"another line":    func(x map[string]any) { first(x)["cost"].(map[string]any)["on_demand"] = "999.00" },
			"any conflict":    func(x map[string]any) { first(x)["conflict"] = "The VMs are asleep." },
			"a period's word": func(x map[string]any) { first(x)["status"] = "optimalx" },
		} {
			var x map[string]any
			if err := json.Unmarshal(a, &x); err != nil {
				t.Fatal(err)
			}
			damage(x)
			damaged, err := json.Marshal(x)
			if err != nil {
				t.Fatal(err)
			}
			if verified(t, q, damaged).Accepted() {
				t.Errorf("%s, %s: it passes", detail, what)
			}
		}
	}
}

// Answers to drawn arrivals are accepted. With half of the VMs on demand at the same bill they are not.
func TestDrawnArrivals(t *testing.T) {
	r, planned, none, refusing := rand.New(rand.NewPCG(27, 11)), 0, 0, 0
	for range plantest.Trials(40, 3000) {
		h := drawnHorizon(t, r, r.IntN(2) == 0)
		if !arrive(r, &h) {
			continue
		}
		a, err := horizon.Plan(t.Context(), h, nil, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		q := horizon.HorizonQuestion{Horizon: h, Detail: []horizon.Detail{horizon.DetailSummary, horizon.DetailPeriods, horizon.DetailClasses}[r.IntN(3)]}
		a.Show(q.Detail)
		question := marshalled(q)
		if report := verified(t, question, marshalled(a)); !report.Accepted() {
			t.Fatalf("%s\n%s\n%s", report, question, marshalled(a))
		}
		switch {
		case a.Status == capacity.InfeasibleStatus:
			none++
			continue
		case a.Total.RefusedHours > 0:
			refusing++
		}
		if planned++; a.Total.Cost.OnDemand.IsZero() {
			continue
		}
		for i := range a.Periods {
			v := &a.Periods[i].VMs
			v.Total, v.OnDemand = v.Total-v.OnDemand/2, v.OnDemand/2
		}
		spans := []*horizon.SpanTotal{&a.Total}
		for i := range a.Months {
			spans = append(spans, &a.Months[i])
		}
		for i := range a.Days {
			spans = append(spans, &a.Days[i])
		}
		for _, x := range spans {
			x.VMHours, x.OnDemandHours = x.VMHours-x.OnDemandHours/2, x.OnDemandHours/2
		}
		vague := q.Detail != horizon.DetailClasses && len(h.Problem.Supply.VMTypes) > 0 || q.Detail == horizon.DetailSummary &&
			slices.ContainsFunc(h.Periods, func(p horizon.HorizonPeriod) bool { return p.OnDemandPrice != nil })
		if verified(t, question, marshalled(a)).Accepted() && !vague { // types of VMs, or times, at which they are rented are not told
			t.Fatalf("half of the VMs pass:\n%s\n%s", question, marshalled(a))
		}
	}
	if none < plantest.Trials(3, 5) || planned < plantest.Trials(25, 50) || refusing < plantest.Trials(5, 10) {
		t.Errorf("%d without a plan, %d planned, %d of them refuse jobs", none, planned, refusing)
	}
	t.Log(none, planned, refusing)
}

// first is the first period of an answer.
func first(x map[string]any) map[string]any { return x["periods"].([]any)[0].(map[string]any) }

func TestPurchaseWithArrivals(t *testing.T) {
	q, a := answerPurchase(t, arrivalsText[:len(arrivalsText)-1]+`, "factors": [1, 1.3],
		"offers": [{"name": "day", "price": "0.05", "upfront": "0.3", "billing": "always", "term_hours": 20, "max": 9}]}`)
	sound(t, q, a)
	for _, assume := range []horizon.Assumption{horizon.FlatDemand, horizon.DemandEnds} {
		q, a := answerPurchase(t, arrivalsText[:len(arrivalsText)-1]+`, "factors": [1], "assume": "`+string(assume)+`",
			"offers": [{"name": "day", "price": "0.05", "billing": "always", "term_hours": 48, "max": 9}]}`)
		sound(t, q, a)
	}
}

// Where demand is assumed after the forecast, all is checked with it.
func TestPurchaseWithAssumedDemand(t *testing.T) {
	question := strings.Replace(purchaseText, `"hours": 2200,`, `"hours": 700,`, 1)
	question = strings.Replace(question, `"term_years": 1`, `"term_hours": 1500`, 1)
	for _, assume := range []horizon.Assumption{horizon.LastWeekRepeats, horizon.LastMonthRepeats, horizon.FlatDemand, horizon.DemandEnds} {
		t.Run(string(assume), func(t *testing.T) {
			q, a := answerPurchase(t, question[:len(question)-1]+`, "assume": "`+string(assume)+`"}`)
			if r := verified(t, q, a); r.Outcome != proof.OK {
				t.Fatalf("%s\n%s", r, a)
			}
			if assume == horizon.LastWeekRepeats {
				allMutationsFail(t, q, a, plantest.Trials(101, 40), notInPurchases...)
			}
		})
	}
}

// Answers that were right and were refused, for what rounding leaves of sums.
func TestAnswersThatWereRefusedForRounding(t *testing.T) {
	// Of the second class little work is left, for most of its jobs are refused.
	q, a := answerPurchase(t, `{"problem": {"currency": "EUR", "supply": {"contracts": [{"name": "c", "vms": 3, "price": "0.05"}], "on_demand": {"price": "0.333333333"}},
		"classes": [{"name": "a", "jobs": {"min": 2, "max": 5}, "penalty": "7", "vms_per_job": "1.25", "deadline_s": 3600},
			{"name": "b", "jobs": {"min": 0, "max": 5}, "penalty": "1", "deadline_s": 100, "slots_per_vm": {"map": 1, "reduce": 2},
			"demand": {"map_work_s": 250, "reduce_work_s": 300, "fixed_s": 0}}], "options": {"integrality": "integer"}}, "periods": [
		{"start": "2026-03-01T00:00:00Z", "hours": 1, "arrivals": [1, 8.35]}, {"start": "2026-03-01T01:00:00Z", "hours": 1, "arrivals": [5, 1]},
		{"start": "2026-03-01T02:00:00Z", "hours": 5, "arrivals": [5, 2]}, {"start": "2026-03-01T07:00:00Z", "hours": 744, "arrivals": [8.94, 7.73]}],
		"contracts": [{"name": "k", "vms": 4, "price": "0.15", "billing": "always", "upfront": "100", "from": "2026-03-01T00:00:00Z", "until": "2026-03-01T10:00:00Z"}],
		"offers": [{"name": "o", "price": "0", "upfront": "50", "billing": "always", "term_hours": 2000, "max": 1}], "assume": "flat"}`)
	if r := verified(t, q, a); r.Outcome == proof.Failed {
		t.Errorf("work: %s", r)
	}
	// In a hundred hours as many jobs run at once, up to the rounding of a sum over all of them.
	q, a = answerPurchase(t, `{"problem": {"currency": "EUR", "supply": {"on_demand": {"price": "0"}}, "classes": [
		{"name": "a", "jobs": {"min": 0, "max": 5}, "penalty": "1", "deadline_s": 60, "slots_per_vm": {"map": 1, "reduce": 1},
			"demand": {"map_work_s": 1000, "reduce_work_s": 300, "fixed_s": 0}}]},
		"periods": [{"start": "2026-01-28T22:00:00Z", "hours": 100, "arrivals": [1]}], "earlier": [{"start": "2026-01-28T20:00:00Z", "hours": 2, "arrivals": [1]}],
		"offers": [{"name": "o", "price": "0.1", "billing": "always", "term_hours": 100, "max": 5}], "assume": "ends"}`)
	if r := verified(t, q, a); r.Outcome == proof.Failed {
		t.Errorf("situations: %s", r)
	}
	// Fifteen minutes of arrivals are a sum over a contract's two thousand hours.
	q, a = answerPurchase(t, `{"problem": {"currency": "EUR", "supply": {"on_demand": {"price": "0.1"}}, "classes": [
		{"name": "a", "jobs": {"min": 2, "max": 2}, "penalty": "0", "deadline_s": 60, "slots_per_vm": {"map": 1, "reduce": 4},
			"demand": {"map_work_s": 777, "reduce_work_s": 40, "fixed_s": 0}}]}, "periods": [
		{"start": "2026-12-28T00:00:00Z", "seconds": 900, "arrivals": [5]}, {"start": "2026-12-28T00:15:00Z", "hours": 5, "arrivals": [1]},
		{"start": "2026-12-28T05:15:00Z", "hours": 24, "arrivals": [1]}],
		"offers": [{"name": "o", "price": "0.1", "upfront": "50", "billing": "used", "term_hours": 2000, "max": 1}], "assume": "ends"}`)
	if r := verified(t, q, a); r.Outcome == proof.Failed {
		t.Errorf("a long time: %s", r)
	}
	// The bound counts a hundred hours of an empty plan that is rounded once.
	q, a = answerPurchase(t, `{"problem": {"currency": "EUR", "supply": {"on_demand": {"price": "0.1"}}, "classes": [
		{"name": "a", "jobs": {"min": 1, "max": 3}, "penalty": "0.3", "vms_per_job": "0.3"}, {"name": "c", "jobs": {"min": 0, "max": 2}, "penalty": "7", "vms_per_job": "1"},
		{"name": "b", "jobs": {"min": 0, "max": 2}, "penalty": "2.25", "demand": {"map_work_s": 1000, "reduce_work_s": 90.5, "fixed_s": 20},
			"deadline_s": 150, "slots_per_vm": {"map": 4, "reduce": 4}}], "options": {"sharing": "dedicated"}},
		"periods": [{"start": "2026-01-28T22:00:00Z", "hours": 5, "jobs": [1, 1, 0]}],
		"contracts": [{"name": "k", "vms": 5, "price": "0.15", "billing": "used", "from": "2026-01-29T01:00:00Z", "until": "2026-01-29T02:00:00Z"}],
		"offers": [{"name": "o", "price": "0.04", "upfront": "50", "billing": "used", "term_hours": 100, "max": 2},
			{"name": "p", "price": "0.04", "upfront": "50", "billing": "used", "term_hours": 100, "max": 1}], "assume": "ends"}`)
	if r := verified(t, q, a); r.Outcome == proof.Failed {
		t.Errorf("empty hours: %s", r)
	}
}

// Nothing is bought, so that nothing more is served, though jobs without a value are refused in some hours only.
func TestJobsWithoutAValue(t *testing.T) {
	q, a := answerPurchase(t, `{"problem": {"currency": "EUR", "supply": {"contracts": [{"name": "c", "vms": 4, "price": "0.2", "billing": "always"}],
		"on_demand": {"price": "0.333333333"}}, "classes": [{"name": "a", "jobs": {"min": 2, "max": 5}, "penalty": "1.5", "vms_per_job": "1.25"},
			{"name": "b", "jobs": {"min": 1, "max": 5}, "penalty": "0", "vms_per_job": "2"},
			{"name": "c", "jobs": {"min": 0, "max": 1}, "penalty": "0.5", "demand": {"map_work_s": 1000, "reduce_work_s": 40, "fixed_s": 20},
				"deadline_s": 60, "slots_per_vm": {"map": 4, "reduce": 4}}], "options": {"integrality": "integer"}},
		"periods": [{"start": "2026-12-01T05:00:00Z", "hours": 24, "jobs": [1, 3, 1]}],
		"contracts": [{"name": "k", "vms": 4, "price": "0.05", "billing": "always", "from": "2026-12-01T05:00:00Z", "until": "2026-12-01T15:00:00Z"}],
		"offers": [{"name": "o", "price": "0.04", "upfront": "5", "billing": "used", "term_hours": 24, "max": 1}]}`)
	if r := verified(t, q, a); r.Outcome == proof.Failed {
		t.Errorf("%s", r)
	}
}

// Jobs that are done before their deadline count until then. An answer that counts the time on their VMs fails, in any detail.
func TestEarlyJobsCountUntilTheirDeadline(t *testing.T) {
	const early = `{"problem": {"currency": "USD", "period_s": 3600, "supply": {"contracts": [], "on_demand": {"price": "0.20", "quota": 1}},
		"classes": [{"name": "tiny", "demand": {"map_work_s": 10, "reduce_work_s": 0, "fixed_s": 0}, "deadline_s": 36,
		"slots_per_vm": {"map": 4, "reduce": 4}, "jobs": {"min": 0, "max": 100}, "penalty": "0.01"}]},
		"periods": [{"start": "2026-01-01T00:00:00Z", "hours": 20, "arrivals": [20]}]}`
	for _, detail := range []horizon.Detail{horizon.DetailClasses, horizon.DetailPeriods, horizon.DetailSummary} {
		q, text := answerMonths(t, early, detail)
		sound(t, q, text)
		var a horizon.Answer
		if err := json.Unmarshal(text, &a); err != nil {
			t.Fatal(err)
		}
		if hours := a.Total.RefusedHours; math.Abs(hours-20*36.0/3600) > 1e-3 || math.Abs(0.01*hours-a.Total.Cost.Penalties.Float()) > 1e-6 {
			t.Errorf("%s: %v job-hours are refused, valued at %s", detail, hours, a.Total.Cost.Penalties)
		}
		for _, x := range append(append([]horizon.SpanTotal{}, a.Months...), a.Days...) {
			if math.Abs(0.01*x.RefusedHours-x.Cost.Penalties.Float()) > 1e-6 {
				t.Errorf("%s: %v job-hours are refused, valued at %s", detail, x.RefusedHours, x.Cost.Penalties)
			}
		}
		on := 10.0 / 36 // of the time until the deadline
		a.Total.RefusedHours, a.Classes[0].RefusedHours = on*a.Total.RefusedHours, on*a.Classes[0].RefusedHours
		for _, spans := range [][]horizon.SpanTotal{a.Months, a.Days} {
			for i := range spans {
				spans[i].RefusedHours *= on
			}
		}
		for i := range a.Periods {
			a.Periods[i].Refused *= on
		}
		for i := range a.Situations {
			a.Situations[i].Classes[0].Refused *= on
		}
		if verified(t, q, marshalled(a.Retold(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 1, 1, 20, 0, 0, 0, time.UTC)))).Accepted() {
			t.Errorf("%s: job-hours on VMs pass beside their value until the deadline", detail)
		}
	}
}
