package recheck

import (
	"encoding/json"
	"strings"
	"testing"

	"headroom/internal/ask/horizon"
	"headroom/internal/core/proof"
)

// arrivalsText has jobs that go on into later periods, at the end as well.
const arrivalsText = `{"problem": {"currency": "USD", "period_s": 3600, "supply": {"on_demand": {"price": "0.31"}},
	"classes": [{"name": "a", "vms_per_job": "1.3", "deadline_s": 9000, "jobs": {"min": 0, "max": 20}, "penalty": "5"},
	  {"name": "b", "demand": {"map_work_s": 9000, "reduce_work_s": 2500, "fixed_s": 30}, "deadline_s": 1800, "slots_per_vm": {"map": 2, "reduce": 2}, "jobs": {"min": 0, "max": 9}, "penalty": "0.55"}]},
	"periods": [
	  {"start": "2026-01-31T20:00:00Z", "hours": 3, "arrivals": [8, 1]},
	  {"start": "2026-01-31T23:00:00Z", "hours": 2, "arrivals": [0, 6]},
	  {"start": "2026-02-01T01:00:00Z", "seconds": 5000, "arrivals": [2.5, 0]}]}`

// open says that an answer is accepted, that only its plans are left open, and that the report lists what is not checked.
func open(t *testing.T, question, answer []byte) {
	t.Helper()
	r := verified(t, question, answer)
	if plans, _ := r.Find(PlansCheck); r.Outcome != proof.NotProved || plans.Outcome != proof.NotProved || !r.Accepted() || r.NotChecked[0] != notFollowed {
		t.Fatalf("%s\n%s", r, answer)
	}
}

func TestMonthsWithArrivals(t *testing.T) {
	for _, detail := range []horizon.Detail{horizon.DetailClasses, horizon.DetailPeriods, horizon.DetailSummary} {
		q, a := answerMonths(t, arrivalsText, detail)
		open(t, q, a)
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

// first is the first period of an answer.
func first(x map[string]any) map[string]any { return x["periods"].([]any)[0].(map[string]any) }

func TestPurchaseWithArrivals(t *testing.T) {
	q, a := answerPurchase(t, arrivalsText[:len(arrivalsText)-1]+`, "factors": [1, 1.3],
		"offers": [{"name": "day", "price": "0.05", "upfront": "0.3", "billing": "always", "term_hours": 20, "max": 9}]}`)
	open(t, q, a)
	for _, assume := range []horizon.Assumption{horizon.FlatDemand, horizon.DemandEnds} {
		q, a := answerPurchase(t, arrivalsText[:len(arrivalsText)-1]+`, "factors": [1], "assume": "`+string(assume)+`",
			"offers": [{"name": "day", "price": "0.05", "billing": "always", "term_hours": 48, "max": 9}]}`)
		open(t, q, a)
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
				allMutationsFail(t, q, a, 40, notInPurchases...)
			}
		})
	}
}
