package question

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/service/plans/solving"
)

// twoMonths is the end of a month and the begin of another, with a contract, a class that is promised and arrivals or jobs.
func twoMonths(t *testing.T, counts string) horizon.HorizonQuestion {
	t.Helper()
	period := func(start string, hours int, jobs string) string {
		return fmt.Sprintf(`{"start": "2026-%s:00:00Z", "hours": %d, "%s": %s}`, start, hours, counts, jobs)
	}
	text := fmt.Sprintf(`{"problem": {"currency": "USD", "supply": {"on_demand": {"price": "0.3333", "quota": 40}}, "options": {"engine": "exact", "integrality": "integer"},
		"classes": [
		  {"name": "kept", "demand": {"map_work_s": 9000, "reduce_work_s": 2500, "fixed_s": 30}, "deadline_s": 5400, "slots_per_vm": {"map": 2, "reduce": 2}, "jobs": {"min": 1, "max": 5}, "penalty": "9"},
		  {"name": "etl", "demand": {"map_work_s": 5000, "reduce_work_s": 1500, "fixed_s": 30}, "deadline_s": 3600, "slots_per_vm": {"map": 2, "reduce": 2}, "jobs": {"min": 0, "max": 9}, "penalty": "0.31"}]},
		"contracts": [{"name": "signed", "vms": 2, "price": "0.1234567", "upfront": "7.77", "from": "2026-01-31T21:00:00Z", "until": "2026-03-01T00:00:00Z"}],
		"periods": [%s, %s, %s]}`, period("01-31T20", 3, "[3, 4]"), period("01-31T23", 5, "[1, 7]"), period("02-01T04", 11, "[2, 2]"))
	q, err := horizon.ReadHorizon([]byte(text), capacity.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func laidOver(q horizon.HorizonQuestion, changes ...whatif.ScenarioChange) AskedMonths {
	q.Scenario = &whatif.AskedScenario{Name: "peak", Changes: changes}
	return AskedMonths{HorizonQuestion: q}
}

// asked answers at once, in so many places.
func asked(t *testing.T, places int, q AskedMonths) *horizon.Answer {
	t.Helper()
	d := &Desk{Solver: solving.New(nil, places, 0, nil)}
	_, a, err := Months.atOnce(t.Context(), d, Request{}, func() (AskedMonths, error) { return q, q.Check() })
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func textOf(t *testing.T, x any) string {
	t.Helper()
	text, err := json.MarshalIndent(x, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What stands beside a scenario is the answer to the same question without it, and the rest that to the changed horizon, to the
// last decimal and in any number of places. Differences are those of the two.
func TestAsItIsIsTheAnswerWithoutTheScenario(t *testing.T) {
	half, twice := 0.5, 2.0
	for _, counts := range []string{"jobs", "arrivals"} {
		q := twoMonths(t, counts)
		for name, change := range map[string]whatif.ScenarioChange{"price": {What: whatif.ChangePrice, Factor: &half}, "jobs": {What: whatif.ChangeDemand, Factor: &twice},
			"fewer VMs": {What: whatif.ChangeContract, Contract: "signed", Factor: &half}, "worth less": {What: whatif.ChangePenalty, Class: "etl", Factor: &half}} {
			got := asked(t, 3, laidOver(q, change))
			was := asked(t, 1, AskedMonths{HorizonQuestion: q})
			changed, err := q.Under(whatif.Scenario{Changes: []whatif.ScenarioChange{change}}, false)
			if err != nil {
				t.Fatal(err)
			}
			with := asked(t, 1, AskedMonths{HorizonQuestion: horizon.HorizonQuestion{Horizon: changed, Detail: q.Detail}})
			if was.Show(horizon.DetailSummary); textOf(t, got.AsItIs) != textOf(t, was) {
				t.Errorf("%s, %s: as it is (-want +got)\n%s", counts, name, cmp.Diff(textOf(t, was), textOf(t, got.AsItIs)))
			}
			for i := range got.Months {
				d := got.Months[i].Difference
				if want := with.Months[i].Cost.Bill.Sub(was.Months[i].Cost.Bill.Decimal); !d.Bill.Equal(want) {
					t.Errorf("%s, %s: month %d differs by %s, want %s", counts, name, i, d.Bill, want)
				}
				if want := with.Months[i].Cost.Penalties.Sub(was.Months[i].Cost.Penalties.Decimal); !d.ValueRefused.Equal(want) {
					t.Errorf("%s, %s: the value of month %d differs by %s, want %s", counts, name, i, d.ValueRefused, want)
				}
			}
			if want := with.Total.Cost.Bill.Sub(was.Total.Cost.Bill.Decimal); !got.Total.Difference.Bill.Equal(want) || want.IsZero() && name != "worth less" {
				t.Errorf("%s, %s: all differs by %s, want %s and not 0", counts, name, got.Total.Difference.Bill, want)
			}
			plain := *got // without what stands beside it
			plain.Scenario, plain.AsItIs, plain.Total.Difference = nil, nil, nil
			for _, list := range [][]horizon.SpanTotal{plain.Months, plain.Days} {
				for i := range list {
					list[i].Difference = nil
				}
			}
			if plain = plain.Retold(changed.Start(), changed.End()); textOf(t, &plain) != textOf(t, with) {
				t.Errorf("%s, %s: under the scenario (-want +got)\n%s", counts, name, cmp.Diff(textOf(t, with), textOf(t, &plain)))
			}
		}
	}
}

// endingSolver ends the work after so many plans.
type endingSolver struct {
	Solver
	left int
}

var errEnded = errors.New("ended")

func (s *endingSolver) PlanLike(base capacity.Problem) (plan.Planner, error) {
	solve, err := s.Solver.PlanLike(base)
	return func(ctx context.Context, p capacity.Problem) (capacity.Plan, error) {
		if s.left--; s.left < 0 {
			return capacity.Plan{}, errEnded
		}
		return solve(ctx, p)
	}, err
}

// Where the work of a run is ended before the time as it is is planned, the answer lacks it and says so. It has no zeros.
func TestMonthsEndedBeforeTheTimeAsItIs(t *testing.T) {
	factor := 0.5
	q := laidOver(twoMonths(t, "jobs"), whatif.ScenarioChange{What: whatif.ChangePrice, Factor: &factor})
	if err := q.Check(); err != nil {
		t.Fatal(err)
	}
	const situations = 4 // of either, for a contract begins within the first period
	for plans := 1; plans <= 2*situations; plans++ {
		b := Alone(&endingSolver{solving.New(nil, 1, 0, nil), plans}, 1, func(int64, int64) {})
		b.Partial = true
		a, err := workMonths(t.Context(), b, q)
		if a == nil {
			t.Fatalf("after %d plans: %v", plans, err)
		}
		whole := plans == 2*situations
		if (err == nil) != whole || a.Complete != (plans >= situations) || (a.AsItIs != nil) != whole || (a.Total.Difference != nil) != whole || *a.Scenario != "peak" {
			t.Errorf("after %d plans: %v, complete %t, as it is %v, difference %v", plans, err, a.Complete, a.AsItIs, a.Total.Difference)
		}
		if said := strings.Contains(a.Explanation, "What the time comes to as it is was not planned, because the work was ended before."); said == whole {
			t.Errorf("after %d plans it says: %s", plans, a.Explanation)
		}
		if text := textOf(t, a); !whole && (strings.Contains(text, `"as_it_is"`) || strings.Contains(text, `"difference"`)) {
			t.Errorf("after %d plans: %s", plans, text)
		}
	}
	b := Alone(&endingSolver{solving.New(nil, 1, 0, nil), situations}, 1, func(int64, int64) {})
	if a, err := workMonths(t.Context(), b, q); a != nil || !errors.Is(err, errEnded) {
		t.Errorf("somebody who waits gets %v, %v", a, err)
	}
}
