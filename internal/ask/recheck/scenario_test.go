package recheck

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"example.org/headroom/internal/ask/goal"
	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/test/plantest"
)

const problemText = `{"currency": "USD", "period_s": 3600,
	"supply": {"contracts": [{"name": "own", "vms": 3, "price": "0.07", "billing": "used"}, {"name": "paid", "vms": 2, "price": "0.11", "billing": "always"}], "on_demand": {"price": "0.31", "quota": 14}},
	"classes": [
	  {"name": "a", "vms_per_job": "1.3", "jobs": {"min": 2, "max": 7}, "penalty": "0.9"},
	  {"name": "b", "demand": {"map_work_s": 9000, "reduce_work_s": 2500, "fixed_s": 30}, "deadline_s": 1800, "slots_per_vm": {"map": 2, "reduce": 2}, "jobs": {"min": 0, "max": 3}, "penalty": "0.55"}]}`

const fleetText = `{"currency": "USD", "period_s": 1800,
	"supply": {"vm_types": [{"name": "small", "contracts": [{"name": "own", "vms": 3, "price": "0.07", "billing": "used"}], "on_demand": {"price": "0.31"}, "spot": {"price": "0.1", "max_share": 0.5}},
	  {"name": "large", "on_demand": {"price": "0.5", "quota": 4}}]},
	"classes": [
	  {"name": "a", "vms_per_job": "1.3", "speed": {"large": 2}, "jobs": {"min": 2, "max": 5}, "penalty": "0.9"},
	  {"name": "b", "vms_per_job": "0.7", "jobs": {"min": 0, "max": 4}, "penalty": "0.15"}]}`

func solve(ctx context.Context, p capacity.Problem) (capacity.Plan, error) {
	p.Options.Engine = capacity.EngineExact
	return plan.Solve(ctx, p, nil)
}

func answerWhatIf(t *testing.T, question string) (asked, answer []byte) {
	t.Helper()
	q, err := whatif.ReadWhatIf([]byte(question), capacity.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	var scenarios []whatif.Scenario
	for _, s := range q.Scenarios {
		scenarios = append(scenarios, s.Scenario())
	}
	a, err := whatif.CompareScenarios(t.Context(), q.Problem, scenarios, q.Detail == whatif.DetailFull, solve)
	if err != nil {
		t.Fatal(err)
	}
	if answer, err = json.Marshal(a); err != nil {
		t.Fatal(err)
	}
	return []byte(question), answer
}

const scenariosText = `, "scenarios": [
	{"name": "dear", "changes": [{"what": "price", "factor": 1.5}, {"what": "penalty", "class": "a", "value": "1.1"}]},
	{"name": "more", "changes": [{"what": "demand", "factor": 1.33}, {"what": "quota", "value": "20"}]},
	{"name": "tight", "changes": [{"what": "contract", "contract": "own", "value": "0"}, {"what": "quota", "value": "0"}, {"what": "promised", "class": "a", "value": "5"}]},
	{"name": "bought", "changes": [{"what": "add_contract", "add": {"contract": {"name": "new", "vms": 4, "price": "0.09", "billing": "always"}}}]}]}`

// The short form changes every fifth place of the answer, the long one every second.
func TestWhatIf(t *testing.T) {
	for _, c := range []struct {
		name, question string
		but            []string
	}{
		{"summary", `{"detail": "summary", "problem": ` + problemText + scenariosText, []string{"/conflicts/"}},
		{"full", `{"detail": "full", "problem": ` + problemText + scenariosText, []string{"/conflicts/", "/plan/"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			q, a := answerWhatIf(t, c.question)
			if r := verified(t, q, a); r.Outcome != proof.OK {
				t.Fatalf("%s\n%s", r, a)
			}
			allMutationsFail(t, q, a, plantest.Trials(23, 2), c.but...)
		})
	}
}

func answerSweep(t *testing.T, question string) (asked, answer []byte) {
	t.Helper()
	q, err := whatif.ReadSweep([]byte(question), capacity.DefaultLimits())
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
	if answer, err = json.Marshal(a); err != nil {
		t.Fatal(err)
	}
	return []byte(question), answer
}

// otherFacts are the places of facts that no check looks at, and their words.
func otherFacts(t *testing.T, answer []byte) []string {
	var a struct{ Facts []capacity.Fact }
	if err := json.Unmarshal(answer, &a); err != nil {
		t.Fatal(err)
	}
	places := []string{"/answer:", "/explanation", "/claim", "/kind", "/subject", "/unit", "/figures/0/name", "/figures/1/name", "/figures/2/name", "/figures/3/name"}
	looked := 0
	for i, f := range a.Facts {
		switch f.Kind {
		case "most_for_budget", "spent", "value_refused", "effect_of_the_budget", "cost_of_all", "bill_per_month", "one_more_costs", "plans_compared",
			"refusal_is_valued", "earliest_at_the_cost", "no_earlier_deadline", "earliest_deadline", "points", "least_bill", "greatest_bill":
			looked++
		default:
			places = append(places, fmt.Sprintf("/facts/%d/", i))
		}
	}
	if looked == 0 && !strings.Contains(string(answer), `"status":"infeasible"`) {
		t.Fatalf("no fact of the answer is looked at: %v", a.Facts)
	}
	return places
}

func TestSweep(t *testing.T) {
	for _, question := range []string{
		`{"problem": ` + problemText + `, "vary": [{"what": "price", "from": "0.5", "to": "3", "steps": 4, "spacing": "geometric"}, {"what": "promised", "class": "a", "by": "value", "from": "0", "to": "7", "steps": 3}]}`,
		`{"problem": ` + strings.Replace(problemText, `, "quota": 14`, "", 1) + `, "vary": [{"what": "penalty", "from": "0.1", "to": "3", "steps": 4}], "curve": true}`,
	} {
		q, a := answerSweep(t, question)
		if r := verified(t, q, a); r.Outcome != proof.OK {
			t.Fatalf("%s\n%s", r, a)
		}
		allMutationsFail(t, q, a, plantest.Trials(3, 1), append(otherFacts(t, a), "/exact", "/margin")...)
	}
}

func answerGoal(t *testing.T, question string) (asked, answer []byte) {
	t.Helper()
	q, err := goal.ReadQuestion([]byte(question), capacity.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	a, err := goal.Ask(t.Context(), q.Problem, q.Question, solve)
	if err != nil {
		t.Fatal(err)
	}
	if answer, err = json.Marshal(a); err != nil {
		t.Fatal(err)
	}
	return []byte(question), answer
}

func TestGoal(t *testing.T) {
	worth := strings.Replace(problemText, `"penalty": "0.55"`, `"penalty": "3.55"`, 1)
	for _, c := range []struct{ problem, question string }{
		{problemText, `"question": "most_for_budget", "budget": {"amount": "700", "per": "month"}`},
		{problemText, `"question": "most_for_budget", "budget": {"amount": "0.1"}`},
		{fleetText, `"question": "most_for_budget", "budget": {"amount": "2.5", "of": "total", "per": "period"}`},
		{problemText, `"question": "cheapest_for_all"`},
		{worth, `"question": "cheapest_for_all"`},
		{problemText, `"question": "one_more_job", "class": "a"`},
		{fleetText, `"question": "one_more_job", "class": "b"`},
		{worth, `"question": "cheapest_deadline", "class": "b", "extra_percent": 5`},
		{worth, `"question": "cheapest_deadline"`},
	} {
		t.Run(c.question, func(t *testing.T) {
			q, a := answerGoal(t, `{"problem": `+c.problem+`, `+c.question+`}`)
			if r := verified(t, q, a); r.Outcome != proof.OK {
				t.Fatalf("%s\n%s", r, a)
			}
			allMutationsFail(t, q, a, plantest.Trials(3, 1), append(otherFacts(t, a), "/conflicts/", "/vms:")...)
		})
	}
}
