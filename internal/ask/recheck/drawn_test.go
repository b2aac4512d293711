package recheck

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"example.org/headroom/internal/ask/goal"
	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/test/plantest"
)

// drawn draws a problem of some kind: of one kind of VM or of two, with spot, quotas and budgets at times.
func drawn(t *testing.T, r *rand.Rand, simple bool) capacity.Problem {
	integrality := []capacity.Integrality{capacity.Executable, capacity.Integer, capacity.Relaxed}[r.IntN(3)]
	p := plantest.Sample{Classes: 3, Width: 4, Slots: 4, Integrality: integrality, Sharing: []capacity.Sharing{capacity.Shared, capacity.Dedicated}[r.IntN(4)/3]}.Problem(r)
	for i := range p.Classes { // at every fifth value, so that what is drawn besides stays as it is
		if c := &p.Classes[i]; plantest.Millionths(c.Penalty.Decimal)/100%5 == 0 {
			c.Jobs.All = true
			c.Jobs = c.Jobs.Of(c.Jobs.Max)
		}
	}
	p.PeriodSeconds = []int64{3600, 1800, 5400}[r.IntN(3)]
	if simple {
		return p
	}
	if r.IntN(4) == 0 {
		p.Supply.Spot = &capacity.Spot{Price: plantest.Hundredths(r.IntN(30)), MaxShare: float64(r.IntN(5)) / 4}
	}
	if s := p.Supply; r.IntN(4) == 0 && p.Options.Sharing == capacity.Shared {
		p.Supply = capacity.Supply{VMTypes: []capacity.VMTypeSupply{{Name: "x", Contracts: s.Contracts, OnDemand: s.OnDemand, Spot: s.Spot},
			{Name: "y", OnDemand: capacity.OnDemand{Price: plantest.Hundredths(20 + r.IntN(40))}}}}
		for i := range p.Classes {
			if r.IntN(2) == 0 {
				p.Classes[i].Speed = capacity.Speed{"y": 1.5}
			}
		}
	}
	if r.IntN(5) == 0 {
		p.Budget = &capacity.Budget{VMCost: new(plantest.Hundredths(r.IntN(600)))}
	}
	if r.IntN(8) == 0 {
		p.Budget = &capacity.Budget{Total: new(plantest.Hundredths(r.IntN(2500)))}
	}
	if p.Validate() != nil {
		return drawn(t, r, simple)
	}
	return p
}

func drawnHorizon(t *testing.T, r *rand.Rand, simple bool) horizon.Horizon {
	h := horizon.Horizon{Problem: drawn(t, r, simple)}
	types := h.Problem.Supply.Types()
	at := time.Date(2026, 1, 31, 20, 0, 0, 0, time.UTC)
	start := at
	for range 2 + r.IntN(5) {
		p := horizon.HorizonPeriod{Start: at, Hours: 1 + r.Int64N(5)}
		if r.IntN(5) == 0 {
			p.Hours, p.Seconds = 0, 1+r.Int64N(10000)
			if p.Seconds%3600 == 0 {
				p.Seconds++
			}
		}
		if r.IntN(3) > 0 {
			for _, c := range h.Problem.Classes {
				p.Jobs = append(p.Jobs, float64(r.IntN(int(c.Jobs.Max)+2)))
			}
		}
		if r.IntN(3) == 0 && len(h.Problem.Supply.VMTypes) == 0 {
			p.OnDemandPrice = new(plantest.Hundredths(r.IntN(60)))
		}
		h.Periods = append(h.Periods, p)
		at = at.Add(time.Duration(3600*p.Hours+p.Seconds) * time.Second)
	}
	for k := range r.IntN(3) {
		from := start.Add(time.Duration(r.IntN(40)-10) * 30 * time.Minute)
		h.Contracts = append(h.Contracts, horizon.TermContract{VMType: types[r.IntN(len(types))].Name, Upfront: plantest.Hundredths(r.IntN(500)), From: from,
			Until: from.Add(time.Duration(1+r.IntN(30)) * time.Hour), Contract: capacity.Contract{Name: fmt.Sprintf("signed-%d", k), VMs: r.Int64N(5),
				Price: plantest.Hundredths(r.IntN(40)), Billing: []capacity.Billing{capacity.BilledUsed, capacity.BilledAlways}[r.IntN(2)]}})
	}
	if h.Validate() != nil {
		return drawnHorizon(t, r, simple)
	}
	return h
}

// arrive lets jobs arrive in a drawn horizon. False says that it is not valid with them.
func arrive(r *rand.Rand, h *horizon.Horizon) bool {
	for i := range h.Problem.Classes {
		if c := &h.Problem.Classes[i]; c.DeadlineSeconds == 0 {
			c.DeadlineSeconds = float64(1800 * (1 + r.IntN(9)))
		}
	}
	crowd := 1 + 5*r.IntN(2)
	arrivals := func() (all []float64) {
		for range h.Problem.Classes {
			all = append(all, float64(crowd*r.IntN(9))/2)
		}
		return all
	}
	for i := range h.Periods {
		h.Periods[i].Jobs, h.Periods[i].Arrivals = nil, arrivals()
	}
	if r.IntN(3) == 0 {
		h.Earlier = []horizon.HorizonPeriod{{Start: h.Start().Add(-2 * time.Hour), Hours: 1, Arrivals: arrivals()}}
	}
	return h.Validate() == nil
}

// judged counts what is said of true answers.
type judged map[proof.Outcome]int

func (j judged) answer(t *testing.T, question, answer any) {
	t.Helper()
	report := verified(t, marshalled(question), marshalled(answer))
	if j[report.Outcome]++; !report.Accepted() {
		t.Errorf("%s\n%s\n%s", report, marshalled(question), marshalled(answer))
	}
}

func answerDrawnMonths(t *testing.T, r *rand.Rand, h horizon.Horizon, say func(question, answer any)) {
	q := horizon.HorizonQuestion{Horizon: h, Detail: []horizon.Detail{horizon.DetailSummary, horizon.DetailPeriods, horizon.DetailClasses}[r.IntN(3)]}
	a, err := horizon.Plan(t.Context(), q.Horizon, nil, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	a.Show(q.Detail)
	say(q, a)
}

func answerDrawnPurchase(t *testing.T, r *rand.Rand, h horizon.Horizon, say func(question, answer any)) {
	q := horizon.PurchaseQuestion{Horizon: h, Detail: horizon.DetailPeriods, Factors: []float64{0.7, 1}}
	if carriedOver(&h) {
		q.Assume = []horizon.Assumption{"", horizon.FlatDemand, horizon.DemandEnds}[r.IntN(3)]
	}
	for k := range 1 + r.IntN(2) {
		o := capacity.Offer{Name: fmt.Sprintf("offer-%d", k), Price: plantest.Hundredths(1 + r.IntN(40)), Upfront: plantest.Hundredths(r.IntN(200)),
			Billing: []capacity.Billing{capacity.BilledUsed, capacity.BilledAlways}[r.IntN(2)], TermHours: 1 + r.Int64N(60), Max: r.Int64N(4)}
		if carriedOver(&h) && r.IntN(3) == 0 {
			from := h.Start().Add(time.Duration(r.IntN(200)) * time.Minute)
			o.From = &from
		}
		q.Offers = append(q.Offers, o)
	}
	if q.Check() != nil {
		return
	}
	a, err := horizon.Purchase(t.Context(), q, nil, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	a.Horizon.Show(q.Detail)
	say(q, a)
}

// drawnAnswers draws questions of each kind and says them with their answers.
var drawnAnswers = map[string]func(t *testing.T, r *rand.Rand, say func(question, answer any)){
	"months": func(t *testing.T, r *rand.Rand, say func(question, answer any)) {
		answerDrawnMonths(t, r, drawnHorizon(t, r, false), say)
	},
	"months with arrivals": func(t *testing.T, r *rand.Rand, say func(question, answer any)) {
		if h := drawnHorizon(t, r, false); arrive(r, &h) {
			answerDrawnMonths(t, r, h, say)
		}
	},
	"purchase": func(t *testing.T, r *rand.Rand, say func(question, answer any)) {
		answerDrawnPurchase(t, r, drawnHorizon(t, r, true), say)
	},
	"purchase with arrivals": func(t *testing.T, r *rand.Rand, say func(question, answer any)) {
		if h := drawnHorizon(t, r, true); arrive(r, &h) {
			answerDrawnPurchase(t, r, h, say)
		}
	},
	"what-if": func(t *testing.T, r *rand.Rand, say func(question, answer any)) {
		q := whatif.WhatIfQuestion{Problem: drawn(t, r, false), Detail: []whatif.Detail{whatif.DetailFull, whatif.DetailSummary}[r.IntN(2)]}
		var scenarios []whatif.Scenario
		for range 3 {
			s := whatif.Scenario{Changes: drawnChanges(r, &q.Problem)}
			if _, err := s.Apply(q.Problem); err == nil {
				scenarios = append(scenarios, s)
				q.Scenarios = append(q.Scenarios, whatif.AskedScenario{Changes: s.Changes})
			}
		}
		if len(scenarios) == 0 {
			return
		}
		a, err := whatif.CompareScenarios(t.Context(), q.Problem, scenarios, q.Detail == whatif.DetailFull, solve)
		if err != nil {
			t.Fatal(err)
		}
		say(q, a)
	},
	"sweep": func(t *testing.T, r *rand.Rand, say func(question, answer any)) {
		ch := drawnChanges(r, &whatIfProblem)[0]
		q := whatif.SweepQuestion{Problem: drawn(t, r, false)}
		q.Vary = []whatif.Vary{{What: ch.What, By: whatif.ByFactor, From: plantest.Number(0.3), To: plantest.Number(2.1), Steps: 5, Spacing: []whatif.Spacing{whatif.Linear, whatif.Geometric}[r.IntN(2)]}}
		if !slices.Contains([]whatif.What{whatif.ChangeDeadline, whatif.ChangeDemand, whatif.ChangePenalty, whatif.ChangePrice, whatif.ChangeQuota}, ch.What) {
			return
		}
		for _, curve := range []bool{true, false} {
			if q.Curve = curve; whatif.CheckVaried(q.Vary, curve) == nil && q.Check() == nil {
				s := whatif.NewSweep(q)
				if err := s.Work(t.Context(), solve, solve); err != nil {
					t.Fatal(err)
				}
				if a, err := s.Answer(); err == nil {
					say(q, a)
				}
			}
		}
	},
	"goal": func(t *testing.T, r *rand.Rand, say func(question, answer any)) {
		p := drawn(t, r, false)
		for _, q := range []goal.Question{
			{Question: goal.AskMostForBudget, Budget: &goal.AskedBudget{Amount: plantest.Hundredths(r.IntN(900))}}, {Question: goal.AskCheapestForAll},
			{Question: goal.AskOneMoreJob, Class: p.Classes[r.IntN(len(p.Classes))].Name}, {Question: goal.AskCheapestDeadline}} {
			asked := goal.ProblemQuestion{Problem: p, Question: q}
			if asked.Question.Check() != nil || asked.Question.CheckFor(&p) != nil {
				continue
			}
			a, err := goal.Ask(t.Context(), p, asked.Question, solve)
			if fault.Findings(err) != nil {
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			say(asked, a)
		}
	},
}

func TestDrawnAnswersAreRight(t *testing.T) {
	for name, ask := range drawnAnswers {
		t.Run(name, func(t *testing.T) {
			r, j := rand.New(rand.NewPCG(27, 104)), judged{}
			for i := 0; i < plantest.Trials(5, 1000) && !t.Failed(); i++ {
				ask(t, r, func(question, answer any) { j.answer(t, question, answer) })
			}
			t.Logf("%v", j)
			if j[proof.OK] < 4*j[proof.NotProved] {
				t.Errorf("too much is left open: %v", j)
			}
		})
	}
}

var whatIfProblem = func() (p capacity.Problem) {
	_ = json.Unmarshal([]byte(`{"classes": [{"name": "a"}]}`), &p)
	return p
}()

// drawnChanges draws one or two changes of a problem.
func drawnChanges(r *rand.Rand, p *capacity.Problem) (all []whatif.ScenarioChange) {
	for range 1 + r.IntN(2) {
		factor, value := float64(50+r.IntN(100))/100, money.Amount{Decimal: plantest.Hundredths(100 * r.IntN(12)).Decimal}
		class := []string{"", p.Classes[0].Name}[r.IntN(2)]
		half := factor / 2
		all = append(all, []whatif.ScenarioChange{
			{What: whatif.ChangeDeadline, Class: class, Factor: &factor}, {What: whatif.ChangeDemand, Class: class, Factor: &factor},
			{What: whatif.ChangePenalty, Class: class, Factor: &factor}, {What: whatif.ChangePrice, Factor: &factor},
			{What: whatif.ChangeQuota, Value: &value}, {What: whatif.ChangePromised, Class: class, Factor: &half},
			{What: whatif.ChangeBudget, Value: &value}, {What: whatif.ChangeBound, Bound: capacity.UpperBound},
			{What: whatif.AddContract, Add: &whatif.AddedSupply{Contract: &capacity.Contract{Name: "added", VMs: 3, Price: plantest.Hundredths(9), Billing: capacity.BilledAlways}}},
			{What: whatif.AddVMType, Add: &whatif.AddedSupply{VMType: &capacity.VMTypeSupply{Name: "z", OnDemand: capacity.OnDemand{Price: plantest.Hundredths(15)}}, Speed: map[string]float64{p.Classes[0].Name: 1.2}}},
		}[r.IntN(10)])
	}
	return all
}
