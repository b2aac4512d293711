package recheck

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/core/words"
	"example.org/headroom/internal/test/plantest"
)

// missable are the kinds of facts that may be missing, as not_checked says: about the next job, the budget, some contracts, and what a
// time limit has left open. Those about VMs may be where there are several types.
var missable = []string{"contract_that_binds", "budget_worth", "no_more_vms", "vm_price", "vm_worth", "next_to_be_refused", "next_to_be_served",
	"marginal", "uncertainty", "gap"}

// withoutFacts are the documents that lack one fact, and its sentence wherever it stands.
func withoutFacts(document any, try func(kind string, text []byte)) {
	var walk func(x any)
	walk = func(x any) {
		switch x := x.(type) {
		case []any:
			for _, y := range x {
				walk(y)
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(x)) {
				facts, _ := x["facts"].([]any)
				if name != "facts" {
					walk(x[name])
					continue
				}
				for i := range facts {
					fact, _ := facts[i].(map[string]any)
					kind, _ := fact["kind"].(string)
					claim, _ := fact["claim"].(string)
					x["facts"] = slices.Delete(slices.Clone(facts), i, i+1)
					try(kind, marshalled(unsaidIn(document, claim)))
					x["facts"] = facts
				}
			}
		}
	}
	walk(document)
}

// unsaidIn is a copy of a document without a sentence.
func unsaidIn(x any, sentence string) any {
	switch x := x.(type) {
	case string:
		return strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll(x, sentence, ""), "  ", " "))
	case []any:
		of := make([]any, len(x))
		for i := range x {
			of[i] = unsaidIn(x[i], sentence)
		}
		return of
	case map[string]any:
		of := map[string]any{}
		for name, y := range x {
			of[name] = unsaidIn(y, sentence)
		}
		return of
	}
	return x
}

// A fact that is taken away together with its sentence is missed.
func TestMissingFactsAreFound(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 12))
	tried, passed := map[string]int{}, map[string]int{}
	for _, kind := range slices.Sorted(maps.Keys(drawnAnswers)) {
		for range plantest.Trials(2, 60) {
			drawnAnswers[kind](t, r, func(question, answer any) {
				asked, known := marshalled(question), map[string]proof.Least{}
				withoutFacts(tree(marshalled(answer)), func(fact string, text []byte) {
					report, err := check(asked, text, Options{Limits: capacity.DefaultLimits(), Looks: 3000}, known)
					if tried[fact]++; err != nil || !report.Accepted() {
						return
					}
					if passed[fact]++; !slices.Contains(missable, fact) {
						t.Errorf("%s: without the fact %s this passes:\n%s\n%s", kind, fact, asked, text)
					}
				})
			})
		}
	}
	if 2*passed["vm_price"] > tried["vm_price"] || 3*passed["contract_that_binds"] > 2*tried["contract_that_binds"] {
		t.Errorf("most facts about VMs and contracts can be missing: %v of %v", passed, tried)
	}
	for _, kind := range []string{"quota_that_binds", "bill", "cost_of_all", "points", "buy", "proved_best"} {
		if tried[kind] == 0 {
			t.Errorf("no fact %s was drawn", kind)
		}
	}
	t.Log(fmt.Sprint(tried), passed)
}

// At both ends of a range the quota is used up, and either fact is missed.
func TestMissingQuotasOfARangeAreFound(t *testing.T) {
	text := `{"problem": {"currency": "EUR", "period_s": 3600, "supply": {"on_demand": {"price": "0.20", "quota": 4}},
		"classes": [{"name": "a", "vms_per_job": "1", "jobs": {"min": 2, "max": 9}, "penalty": "3"}]},
		"vary": [{"what": "price", "by": "factor", "from": "0.50", "to": "1.50", "steps": 3}]}`
	q, err := whatif.ReadSweep([]byte(text), capacity.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	s := whatif.NewSweep(q)
	if err := s.Work(t.Context(), solve, solve); err != nil {
		t.Fatal(err)
	}
	a, err := s.Answer()
	if err != nil {
		t.Fatal(err)
	}
	if r := verified(t, []byte(text), marshalled(a)); r.Outcome != proof.OK {
		t.Fatal(r)
	}
	tried := 0
	withoutFacts(tree(marshalled(a)), func(fact string, without []byte) {
		if fact != words.QuotaBinds {
			return
		}
		tried++
		if r := verified(t, []byte(text), without); !strings.Contains(r.String(), "do not say that the quota of 4 VMs on demand is used up at price factor") {
			t.Errorf("%s\n%s", r, without)
		}
	})
	if tried != 2 {
		t.Errorf("the quota is named at %d ends", tried)
	}
}

// A warning that the question does not call for is found wherever it stands, whatever it says.
func TestPlantedWarningsAreFound(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 13))
	planted := []any{map[string]any{"code": words.SpotInterruptions, "pointer": "/supply", "detail": "Buy 500 VMs of m-res: that saves 9000 USD a month."},
		map[string]any{"code": "forecasts_end", "pointer": "/assume", "detail": "The forecasts end at 2026-02-01T00:00:00Z, before the horizon does: " + horizon.SayWhatFollows}}
	tried := map[string]int{}
	for _, kind := range slices.Sorted(maps.Keys(drawnAnswers)) {
		for range plantest.Trials(2, 20) {
			drawnAnswers[kind](t, r, func(question, answer any) {
				asked, document := marshalled(question), tree(marshalled(answer))
				var walk func(x any)
				walk = func(x any) {
					switch x := x.(type) {
					case []any:
						for _, y := range x {
							walk(y)
						}
					case map[string]any:
						for name, y := range x {
							walk(y)
							list, ok := y.([]any)
							if name != "warnings" || !ok {
								continue
							}
							for _, w := range planted {
								tried[kind]++
								x[name] = append(slices.Clone(list), w)
								report, err := check(asked, marshalled(document), Options{Limits: capacity.DefaultLimits(), Looks: 3000}, map[string]proof.Least{})
								if err == nil && report.Accepted() {
									t.Errorf("%s: a planted warning passes:\n%s\n%s", kind, asked, marshalled(document))
								}
							}
							x[name] = list
						}
					}
				}
				walk(document)
			})
		}
	}
	for _, kind := range []string{"months", "months with arrivals", "purchase", "purchase with arrivals", "what-if"} {
		if tried[kind] == 0 {
			t.Errorf("%s: no list of warnings", kind)
		}
	}
	t.Log(tried)
}
