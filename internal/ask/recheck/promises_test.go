package recheck

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/test/plantest"
)

// brokenText has four jobs of which two are promised and three fit in, beside jobs that are not promised.
const brokenText = `{"problem": {"currency": "USD", "period_s": 3600, "supply": {"contracts": [], "on_demand": {"price": "1", "quota": 3}},
	"classes": [{"name": "a", "vms_per_job": "1", "deadline_s": 10800, "jobs": {"min": 2, "max": 100}, "penalty": "0.10"},
	  {"name": "b", "vms_per_job": "1", "deadline_s": 7200, "jobs": {"min": 0, "max": 100}, "penalty": "0.05"}]},
	"periods": [{"start": "2026-01-31T20:00:00Z", "hours": 1, "arrivals": [4, 0.5]}, {"start": "2026-01-31T21:00:00Z", "hours": 4, "arrivals": [0, 0.5]}]}`

// Months in which fewer jobs run than are promised are proved: what is said of these hours follows from the jobs that run, or
// lies where jobs can be missing.
func TestBrokenPromisesAreProved(t *testing.T) {
	for _, detail := range []horizon.Detail{horizon.DetailClasses, horizon.DetailPeriods, horizon.DetailSummary} {
		q, a := answerMonths(t, brokenText, detail)
		if r := verified(t, q, a); r.Outcome != proof.OK {
			t.Errorf("%s\n%s", r, a)
		}
		for name, others := range map[string][]any{
			"hours":    {4.5, 0.0, -1.0},
			"first":    {"2026-02-01T00:00:00Z", "2026-01-31T20:30:00Z", "2026-01-30T20:00:00Z"},
			"least":    {2.0, 2.5, -1.0},
			"promised": {1.0, 3.0},
		} {
			if detail == horizon.DetailClasses {
				others = append(others, map[string]any{"hours": 1.0, "first": "2026-01-31T21:00:00Z", "least": 1.4, "promised": 1.9}[name])
			}
			for _, other := range others {
				var x map[string]any
				if err := json.Unmarshal(a, &x); err != nil {
					t.Fatal(err)
				}
				class := x["classes"].([]any)[0].(map[string]any)
				class["arrivals"].(map[string]any)["below_promise"].(map[string]any)[name] = other
				damaged, _ := json.Marshal(x)
				r := verified(t, q, damaged)
				if sums, _ := r.Find(SumsCheck); sums.Outcome != proof.Failed {
					t.Errorf("%s: %s as %v passes: %s", detail, name, other, r)
				}
			}
		}
	}
}

// Most drawn months that break promises are proved.
func TestDrawnBrokenPromises(t *testing.T) {
	r, outcomes := rand.New(rand.NewPCG(27, 120)), judged{}
	for range plantest.Trials(320, 8000) {
		h := drawnHorizon(t, r, true)
		if !arrive(r, &h) {
			continue
		}
		for i := range h.Problem.Classes {
			jobs := &h.Problem.Classes[i].Jobs
			jobs.Min, jobs.All = min(float64(r.IntN(3)), jobs.Max), false
		}
		h.Problem.Supply.OnDemand.Quota = new(2 + r.Int64N(12))
		a, err := horizon.Plan(t.Context(), h, nil, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(a.Classes, belowPromise) || a.Status == capacity.InfeasibleStatus {
			continue
		}
		q := horizon.HorizonQuestion{Horizon: h, Detail: []horizon.Detail{horizon.DetailSummary, horizon.DetailPeriods, horizon.DetailClasses}[r.IntN(3)]}
		a.Show(q.Detail)
		outcomes.answer(t, q, a)
	}
	if t.Log(outcomes); outcomes[proof.OK] < plantest.Trials(4, 10) || outcomes[proof.NotProved] > outcomes[proof.OK]/4 {
		t.Errorf("%v", outcomes)
	}
}
