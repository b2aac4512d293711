package plan

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/core/words"
	"example.org/headroom/internal/test/plantest"
)

// Where one more job does not fit into a budget, the budget that is told lets it in, and a cent less than that does not.
// Problems are priced in whole cents.
func TestBudgetThatIsToldLetsOneMoreIn(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 11))
	told := map[string]int{}
	for trial := 0; trial < plantest.Trials(750, 20_000); trial++ {
		p := tightProblem(r)
		if trial%3 == 0 {
			p = plantest.DrawFleet(r, plantest.FleetKinds[[]string{"mixed", "quota", "spot", "budget"}[r.IntN(4)]], 3, 4)
		}
		kind := []string{"vm_cost", "total"}[r.IntN(2)]
		budget := &money.Amount{Decimal: decimal.New(1+r.Int64N(1500), -2)}
		if p.Budget = (&capacity.Budget{VMCost: budget}); kind == "total" {
			p.Budget = &capacity.Budget{Total: budget}
		}
		pl := answered(t, p)
		if pl.Status == capacity.InfeasibleStatus {
			continue
		}
		for i := range pl.Classes {
			c := &pl.Classes[i]
			if c.OneMore == nil || c.OneMore.Fits || !c.OneMore.Exact || p.Classes[i].Jobs.Max == 0 {
				continue
			}
			least := c.OneMore.Budget
			if names := strings.Contains(c.Reason, "budget"); least == nil {
				if names && !strings.Contains(c.Reason, ". No larger budget is known to do.") {
					t.Fatalf("trial %d: %q tells no cure\n%s", trial, c.Reason, plantest.Text(p))
				}
				told["none"]++
				continue
			}
			told[kind]++
			if report := proof.Verify(p, pl, proof.Options{}); report.Outcome == proof.Failed {
				t.Fatalf("trial %d: %s\n%s", trial, report, plantest.Text(p))
			}
			if told[kind] <= 30 && !isFleet(&p) {
				anotherBudgetIsFound(t, p, i)
			}
			more := money.Amount{Decimal: least.Sub(budget.Decimal)}
			if said := least.String() + " " + p.Currency + " " + words.PerPeriod(p.PeriodSeconds) + ", " + more.String() + " more, would do."; !strings.Contains(c.Reason, said) {
				t.Fatalf("trial %d: %q does not say %q\n%s", trial, c.Reason, said, plantest.Text(p))
			}
			q := plantest.Copied(p)
			q.Classes[i].Jobs.Min = c.Admitted + 1
			q.Classes[i].Jobs.Max = max(q.Classes[i].Jobs.Max, q.Classes[i].Jobs.Min)
			cheapest := lowestOf(q, kind)
			for _, by := range []decimal.Decimal{decimal.Zero, decimal.New(-1, -2)} {
				limit := least.Add(by)
				if fits := cheapest != nil && cheapest.LessThanOrEqual(limit.Add(decimal.New(2, -9))); fits != by.IsZero() {
					t.Fatalf("trial %d: %q; with %v it fits: %v; the least is %v\n%s", trial, c.Reason, limit, fits, cheapest, plantest.Text(p))
				}
			}
		}
	}
	t.Log(told)
	if told["vm_cost"] < 20 || told["total"] < plantest.Trials(5, 15) {
		t.Errorf("told %v", told)
	}
}

// anotherBudgetIsFound plants a cent more or less in the budget that a class's reason tells, its sentence included.
func anotherBudgetIsFound(t *testing.T, p capacity.Problem, class int) {
	m, err := newModel(&p)
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range []int64{1, -1} {
		pl := answered(t, p)
		more := pl.Classes[class].OneMore
		more.Budget = new(plus(*more.Budget, decimal.New(by, -2)))
		m.tellReasons(&pl)
		if report := proof.Verify(p, pl, proof.Options{}); report.Outcome != proof.Failed {
			t.Errorf("%q passes: %s\n%s", pl.Classes[class].Reason, report, plantest.Text(p))
		}
	}
}

// lowestOf is the least bill of all plans of a problem, or the least total, by enumeration; nil where there is none.
func lowestOf(p capacity.Problem, kind string) *decimal.Decimal {
	p.Budget = nil
	refused := decimal.Zero
	for i := range p.Classes {
		if kind == "vm_cost" {
			p.Classes[i].Penalty = money.Amount{}
		}
		refused = refused.Add(p.Classes[i].Penalty.Mul(decimal.NewFromFloat(p.Classes[i].Jobs.Max)))
	}
	objective, feasible := int64(0), false
	if isFleet(&p) {
		objective, _, feasible = plantest.NewBruteFleet(p).Best()
	} else {
		objective, _, feasible = plantest.NewBrute(p).Best()
	}
	if !feasible {
		return nil
	}
	return new(decimal.New(objective, -6).Add(refused))
}
