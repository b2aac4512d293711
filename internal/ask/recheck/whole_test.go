package recheck

import (
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof"
)

// Jobs of three and of five VMs arrive, some of which are refused beyond the quota.
const wholeText = `{"problem": {"currency": "USD", "period_s": 3600, "supply": {"on_demand": {"price": "0.50", "quota": 16}},
	"classes": [{"name": "three", "deadline_s": 5400, "vms_per_job": "3", "jobs": {"max": 100}, "penalty": "4"},
		{"name": "five", "deadline_s": 1800, "vms_per_job": "5", "jobs": {"max": 100}, "penalty": "9"}]},
	"contracts": [{"name": "year", "vms": 2, "price": "0.10", "billing": "always", "from": "2026-01-31T00:00:00Z", "until": "2026-02-02T00:00:00Z", "upfront": "3.00"}],
	"periods": [{"start": "2026-01-31T21:00:00Z", "hours": 6, "arrivals": [7, 8]}, {"start": "2026-02-01T03:00:00Z", "hours": 4, "arrivals": [9, 1], "on_demand_price": "0.70"}]}`

// What plans of single hours come to is checked by plans of whole jobs, whatever the sums and sentences say.
func TestBillsInWholeJobs(t *testing.T) {
	for _, detail := range []horizon.Detail{horizon.DetailClasses, horizon.DetailSummary} {
		question, answer := answerMonths(t, wholeText, detail)
		if r := verified(t, question, answer); r.Outcome != proof.OK {
			t.Fatalf("%s\n%s", r, answer)
		}
		var a horizon.Answer
		decoded(t, answer, &a)
		if a.Total.InWholeJobs == nil || !a.Total.InWholeJobs.Bill.GreaterThan(a.Total.Cost.Bill.Decimal) || !strings.Contains(a.Explanation, "rented as they are made") {
			t.Fatalf("nothing is to be told: %+v, %q", a.Total, a.Explanation)
		}
		q, err := horizon.ReadHorizon(question, capacity.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		one := money.Amount{Decimal: decimal.NewFromInt(1)}
		for name, change := range map[string]func(of *horizon.WholeJobs){
			"a bill that is lower":      func(of *horizon.WholeJobs) { of.Bill.Decimal = of.Bill.Sub(one.Decimal) },
			"a bill that is higher":     func(of *horizon.WholeJobs) { of.Bill.Decimal = of.Bill.Add(one.Decimal) },
			"more refused":              func(of *horizon.WholeJobs) { of.ValueRefused.Decimal = of.ValueRefused.Add(one.Decimal) },
			"an hour without such plan": func(of *horizon.WholeJobs) { of.InfeasibleHours++ },
			"no figure":                 nil,
		} {
			var a horizon.Answer
			decoded(t, answer, &a)
			for _, of := range []*horizon.SpanTotal{&a.Total, &a.Months[0], &a.Days[0]} { // so that sums close
				if change == nil {
					of.InWholeJobs = nil
				} else {
					change(of.InWholeJobs)
				}
			}
			a = a.Retold(q.Start(), q.End())
			if r := verified(t, question, marshalled(a)); !strings.Contains(r.String(), "in_whole_jobs") {
				t.Errorf("this passes: %s\n%s", name, r)
			}
		}
		mutations(t, answer, func(at string, mutated []byte) {
			if !strings.Contains(at, "/in_whole_jobs/") || strings.Contains(at, "/days/") && detail != horizon.DetailSummary {
				return
			}
			if r, err := Answer(question, mutated, Options{Limits: capacity.DefaultLimits()}); err == nil && r.Accepted() {
				t.Errorf("this passes: %s", at)
			}
		})
	}
}

// Hours without a plan that do not add up are found, also where jobs are refused.
func TestHoursWithoutAPlanAddUp(t *testing.T) {
	text := strings.NewReplacer(`"quota": 16`, `"quota": 1`, `"jobs": {"max": 100}, "penalty": "9"`, `"jobs": {"max": 100, "all": true}, "penalty": "9"`, `"arrivals": [9, 1]`, `"arrivals": [9, 0]`).Replace(wholeText)
	question, answer := answerMonths(t, text, horizon.DetailClasses)
	if r := verified(t, question, answer); !r.Accepted() {
		t.Fatalf("%s\n%s", r, answer)
	}
	var a horizon.Answer
	decoded(t, answer, &a)
	if len(a.Infeasible) == 0 || a.Total.InfeasibleHours == a.Total.Hours {
		t.Fatalf("%v of %v hours have no plan", a.Total.InfeasibleHours, a.Total.Hours)
	}
	for _, by := range []float64{-0.25, 1} {
		decoded(t, answer, &a)
		a.Infeasible[0].Hours += by
		if r := verified(t, question, marshalled(a)); r.Accepted() {
			t.Errorf("hours that are off by %v pass", by)
		}
	}
}
