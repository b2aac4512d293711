package timetables_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/recheck/timetables"
	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/test/mutation"
	"example.org/headroom/internal/test/plantest"
)

// comparedUnder returns a drawn question without contracts and the same with prices on demand times a factor, both with their schedules.
func comparedUnder(t *testing.T, vms float64, factor string) (under, asItIs timetable.Question, w horizon.WithWaiting) {
	t.Helper()
	asItIs = readSchedule(t, scheduleOf(study.DrawCluster(1, 12, 4, vms, 6)))
	asItIs.Contracts = nil
	under = asItIs
	under.Periods = slices.Clone(asItIs.Periods)
	for i := range under.Periods {
		price := *under.Periods[i].OnDemandPrice
		price.Decimal = price.Mul(decimal.RequireFromString(factor)).Round(6)
		under.Periods[i].OnDemandPrice = &price
	}
	var both [2]timetable.Answer
	for i, q := range []timetable.Question{under, asItIs} {
		var err error
		if both[i], err = timetable.Plan(t.Context(), q, nil); err != nil {
			t.Fatal(err)
		}
	}
	w.Compare(both[0].Waiting(), both[1].Waiting())
	return under, asItIs, w
}

// What a scenario does where jobs wait passes the check of another program. A price that rises much is known to raise the cost, and
// one that hardly changes is within the gaps.
func TestScenariosWhereJobsWait(t *testing.T) {
	for _, of := range []struct {
		factor                string
		dearer, cheaper, same bool
	}{{"3", true, false, false}, {"0.3", false, true, false}, {"1.0001", false, false, true}} {
		under, asItIs, w := comparedUnder(t, 60, of.factor)
		c := w.Compared
		for _, f := range timetables.CheckCompared(under, asItIs, c) {
			t.Errorf("times %s: %s %s", of.factor, f.Pointer, f.Detail)
		}
		t.Logf("times %s: %s, from %s to %s", of.factor, c.Total, c.Least, c.Most)
		a := horizon.Answer{Currency: "EUR", Total: horizon.SpanTotal{Hours: 1}}
		a.Wait(w, asItIs.Start(), asItIs.End())
		for part, want := range map[string]bool{"and raises them by ": of.dearer, "and lowers them by ": of.cheaper, "which is within the gaps of the two schedules": of.same} {
			if strings.Contains(a.Explanation, part) != want {
				t.Errorf("times %s, from %s to %s: %q is not said as it should be: %s", of.factor, c.Least, c.Most, part, a.Explanation)
			}
		}
		if c.Least.IsPositive() != of.dearer || c.Most.IsNegative() != of.cheaper || c.Least.GreaterThan(c.Total.Decimal) || c.Most.LessThan(c.Total.Decimal) {
			t.Errorf("times %s it costs %s more, from %s to %s", of.factor, c.Total, c.Least, c.Most)
		}
	}
}

// A change of any figure of a comparison is found, but for other prices that prove as much and a lower bound.
func TestChangedComparisonsAreFound(t *testing.T) {
	under, asItIs, w := comparedUnder(t, 5, "1.5")
	text, err := json.Marshal(w.Compared)
	if err != nil {
		t.Fatal(err)
	}
	tried, found, every := 0, 0, plantest.Trials(3, 1)
	for i, m := range mutation.Of(t, text) {
		var changed horizon.WaitingCompared
		if i%every != 0 || json.Unmarshal(m.Text(), &changed) != nil {
			continue
		}
		tried++
		if again, err := json.Marshal(changed); err == nil && string(again) == string(text) || len(timetables.CheckCompared(under, asItIs, &changed)) > 0 {
			found++
			continue
		}
		if said := !strings.HasSuffix(m.Path(), "/refused") || m.How != "removed"; said && !uncheckedPurchase.MatchString(m.Path()) && m.How != "null for no entry" && m.How != "a billionth" {
			t.Errorf("this passes: %s", m)
		}
	}
	t.Logf("%d of %d changes are found", found, tried)
	for at, change := range map[string]func(*horizon.WaitingCompared){
		"/least":                   func(w *horizon.WaitingCompared) { w.Least = w.Most },
		"/most":                    func(w *horizon.WaitingCompared) { w.Most = w.Least },
		"/total":                   func(w *horizon.WaitingCompared) { w.Total = w.UnderScenario.Total },
		"/as_it_is/bound":          func(w *horizon.WaitingCompared) { w.AsItIs.Bound.Decimal = w.AsItIs.Total.Add(decimal.New(1, 0)) },
		"/under_scenario/bill":     func(w *horizon.WaitingCompared) { w.UnderScenario, w.AsItIs = w.AsItIs, w.UnderScenario },
		"/as_it_is/schedule":       func(w *horizon.WaitingCompared) { w.AsItIs.Schedule = w.AsItIs.Schedule[1:] },
		"/under_scenario/prices":   func(w *horizon.WaitingCompared) { w.UnderScenario.Prices = nil },
		"/under_scenario/prices/0": func(w *horizon.WaitingCompared) { w.UnderScenario.Prices[0].Decimal = decimal.New(-1, 0) },
	} {
		var changed horizon.WaitingCompared
		if err := json.Unmarshal(text, &changed); err != nil {
			t.Fatal(err)
		}
		change(&changed)
		found := timetables.CheckCompared(under, asItIs, &changed)
		if !slices.ContainsFunc(found, func(f fault.Finding) bool { return f.Pointer == at }) {
			t.Errorf("a fault in %s is not found: %v", at, found)
		}
	}
}
