package plan

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/test/plantest"
)

// plantedFault is a fault that the code of what would change a plan could have. It changes the figures, or reports that
// the plan has none that it would get wrong. The sentences and facts are then made of the wrong figures, as they would be.
type plantedFault struct {
	name  string
	plant func(p *capacity.Problem, pl *capacity.Plan) bool
}

// eachChange gives the costs of a job more or less to a fault.
func eachChange(of func(c *capacity.ClassPlan) *capacity.JobChange, wrong func(p *capacity.Problem, pl *capacity.Plan, i int, x *capacity.JobChange) bool) func(*capacity.Problem, *capacity.Plan) bool {
	return func(p *capacity.Problem, pl *capacity.Plan) (planted bool) {
		for i := range pl.Classes {
			if x := of(&pl.Classes[i]); x.Told() && wrong(p, pl, i, x) {
				planted = true
			}
		}
		return planted
	}
}

func oneMore(c *capacity.ClassPlan) *capacity.JobChange { return c.OneMore }
func oneLess(c *capacity.ClassPlan) *capacity.JobChange { return c.OneLess }

// setTo changes an amount, and reports whether it did by more than a cent.
func setTo(x **money.Amount, to money.Amount) bool {
	if *x == nil || (*x).Sub(to.Decimal).Abs().LessThan(decimal.New(1, -2)) {
		return false
	}
	*x = &to
	return true
}

func plus(x money.Amount, y decimal.Decimal) money.Amount { return money.Amount{Decimal: x.Add(y)} }

// fits selects changes that a plan serves.
func fits(wrong func(p *capacity.Problem, pl *capacity.Plan, i int, x *capacity.JobChange) bool) func(*capacity.Problem, *capacity.Plan, int, *capacity.JobChange) bool {
	return func(p *capacity.Problem, pl *capacity.Plan, i int, x *capacity.JobChange) bool {
		return x.Fits && wrong(p, pl, i, x)
	}
}

// eachRange gives the ranges of penalties or deadlines to a fault.
func eachRange(wrong func(p *capacity.Problem, pl *capacity.Plan, i int, s *capacity.Stays) bool) func(*capacity.Problem, *capacity.Plan) bool {
	return func(p *capacity.Problem, pl *capacity.Plan) (planted bool) {
		for i := range pl.Classes {
			if s := pl.Classes[i].Stays; s != nil && wrong(p, pl, i, s) {
				planted = true
			}
		}
		return planted
	}
}

var plantedFaults = []plantedFault{
	{"a cost of one more with the wrong sign", eachChange(oneMore, fits(func(_ *capacity.Problem, _ *capacity.Plan, _ int, x *capacity.JobChange) bool {
		return setTo(&x.Amount, money.Amount{Decimal: x.Amount.Neg()})
	}))},
	{"a saving of one less with the wrong sign", eachChange(oneLess, fits(func(_ *capacity.Problem, _ *capacity.Plan, _ int, x *capacity.JobChange) bool {
		return setTo(&x.Amount, money.Amount{Decimal: x.Amount.Neg()})
	}))},
	{"the bill for bill and value", eachChange(oneMore, fits(func(_ *capacity.Problem, _ *capacity.Plan, _ int, x *capacity.JobChange) bool {
		return setTo(&x.Amount, *x.Bill)
	}))},
	{"bill and value for the bill", eachChange(oneMore, fits(func(_ *capacity.Problem, _ *capacity.Plan, _ int, x *capacity.JobChange) bool {
		return setTo(&x.Bill, *x.Amount)
	}))},
	{"bill and value exchanged", eachChange(oneMore, fits(func(_ *capacity.Problem, _ *capacity.Plan, _ int, x *capacity.JobChange) bool {
		if x.Bill.Sub(x.ValueRefused.Decimal).Abs().LessThan(decimal.New(1, -2)) {
			return false
		}
		x.Bill, x.ValueRefused = x.ValueRefused, x.Bill
		return true
	}))},
	{"the value refused left out", eachChange(oneMore, fits(func(_ *capacity.Problem, _ *capacity.Plan, _ int, x *capacity.JobChange) bool {
		return setTo(&x.ValueRefused, money.Amount{})
	}))},
	{"the relaxation's cost said to be exact", func(p *capacity.Problem, pl *capacity.Plan) (planted bool) {
		if len(p.Supply.VMTypes) > 0 || pl.Prices.Capacity.High == nil {
			return false
		}
		for i := range pl.Classes {
			if c := &pl.Classes[i]; c.OneMore.Told() && c.OneMore.Fits && setTo(&c.OneMore.Amount, money.Round(c.VMsPerJob*pl.Prices.Capacity.High.Float())) {
				c.OneMore.Bill, c.OneMore.ValueRefused, planted = c.OneMore.Amount, &money.Amount{}, true
			}
		}
		return planted
	}},
	{"one class's cost told of the next", func(_ *capacity.Problem, pl *capacity.Plan) (planted bool) {
		for i := len(pl.Classes) - 1; i > 0; i-- {
			a, b := pl.Classes[i-1].OneMore, pl.Classes[i].OneMore
			if a.Told() && b.Told() && a.Fits && b.Fits && a.Amount.Sub(b.Amount.Decimal).Abs().GreaterThan(decimal.New(1, -2)) {
				pl.Classes[i].OneMore, planted = a, true
			}
		}
		return planted
	}},
	{"the penalty of the job itself counted in", eachChange(oneMore, fits(func(p *capacity.Problem, _ *capacity.Plan, i int, x *capacity.JobChange) bool {
		return setTo(&x.Amount, plus(*x.Amount, p.Classes[i].Penalty.Decimal)) && setTo(&x.ValueRefused, plus(*x.ValueRefused, p.Classes[i].Penalty.Decimal))
	}))},
	{"the penalty of the job that goes counted in", eachChange(oneLess, fits(func(p *capacity.Problem, _ *capacity.Plan, i int, x *capacity.JobChange) bool {
		return setTo(&x.Amount, plus(*x.Amount, p.Classes[i].Penalty.Neg())) && setTo(&x.ValueRefused, plus(*x.ValueRefused, p.Classes[i].Penalty.Neg()))
	}))},
	{"the cost of a VM more, rounded up", eachChange(oneMore, fits(func(p *capacity.Problem, pl *capacity.Plan, _ int, x *capacity.JobChange) bool {
		more := p.Supply.OnDemand.Price.Mul(decimal.NewFromInt(p.PeriodSeconds)).Div(decimal.NewFromInt(3600))
		*x.VMs++
		return setTo(&x.Amount, plus(*x.Amount, more)) && setTo(&x.Bill, plus(*x.Bill, more))
	}))},
	{"an hour's cost for a period's", eachChange(oneMore, fits(func(p *capacity.Problem, _ *capacity.Plan, _ int, x *capacity.JobChange) bool {
		scale := decimal.NewFromInt(3600).Div(decimal.NewFromInt(2 * p.PeriodSeconds))
		bill, value := money.Amount{Decimal: x.Bill.Mul(scale).Round(money.Places)}, money.Amount{Decimal: x.ValueRefused.Mul(scale).Round(money.Places)}
		if !setTo(&x.Amount, plus(bill, value.Decimal)) {
			return false
		}
		x.Bill, x.ValueRefused = &bill, &value
		return true
	}))},
	{"one less told for one more", func(_ *capacity.Problem, pl *capacity.Plan) (planted bool) {
		for i := range pl.Classes {
			c := &pl.Classes[i]
			if c.OneMore.Told() && c.OneLess.Told() && c.OneMore.Fits && c.OneLess.Fits && c.OneMore.Amount.Sub(c.OneLess.Amount.Decimal).Abs().GreaterThan(decimal.New(1, -2)) {
				c.OneMore, planted = c.OneLess, true
			}
		}
		return planted
	}},
	{"two jobs' cost for one's", eachChange(oneMore, fits(func(_ *capacity.Problem, _ *capacity.Plan, _ int, x *capacity.JobChange) bool {
		double := func(m *money.Amount) money.Amount { return plus(*m, m.Decimal) }
		bill, value := double(x.Bill), double(x.ValueRefused)
		*x.VMs *= 2
		if !setTo(&x.Amount, double(x.Amount)) {
			return false
		}
		x.Bill, x.ValueRefused = &bill, &value
		return true
	}))},
	{"a job that does not fit said to be for nothing", func(_ *capacity.Problem, pl *capacity.Plan) (planted bool) {
		for i := range pl.Classes {
			if x := pl.Classes[i].OneMore; x.Told() && !x.Fits {
				*x, planted = capacity.JobChange{Exact: true, Fits: true, Amount: &money.Amount{}, Bill: &money.Amount{}, ValueRefused: &money.Amount{}, VMs: new(0.0)}, true
			}
		}
		return planted
	}},
	{"a job that fits said not to fit", eachChange(oneMore, fits(func(_ *capacity.Problem, _ *capacity.Plan, _ int, x *capacity.JobChange) bool {
		*x = capacity.JobChange{Exact: true}
		return true
	}))},
	{"half the VMs that are missing", eachChange(oneMore, func(_ *capacity.Problem, _ *capacity.Plan, _ int, x *capacity.JobChange) bool {
		if x.Fits || x.VMs == nil || *x.VMs < 2 {
			return false
		}
		*x.VMs /= 2
		return true
	})},
	{"VMs counted as money", eachChange(oneMore, fits(func(_ *capacity.Problem, _ *capacity.Plan, _ int, x *capacity.JobChange) bool {
		vms := money.Round(*x.VMs)
		return setTo(&x.Bill, vms)
	}))},
	{"penalties in which it stays the best, too wide above", eachRange(func(_ *capacity.Problem, _ *capacity.Plan, _ int, s *capacity.Stays) bool {
		return s.Penalty != nil && s.Penalty.High != nil && setTo(&s.Penalty.High, plus(*s.Penalty.High, s.Penalty.High.Add(decimal.New(1, 0))))
	})},
	{"penalties in which it stays the best, too narrow above", eachRange(func(p *capacity.Problem, _ *capacity.Plan, i int, s *capacity.Stays) bool {
		return s.Penalty != nil && s.Penalty.High != nil && setTo(&s.Penalty.High, money.Amount{Decimal: s.Penalty.High.Add(p.Classes[i].Penalty.Decimal).Div(decimal.NewFromInt(2)).Round(money.Places)})
	})},
	{"penalties in which it stays the best, too wide below", eachRange(func(_ *capacity.Problem, _ *capacity.Plan, _ int, s *capacity.Stays) bool {
		return s.Penalty != nil && s.Penalty.Low != nil && setTo(&s.Penalty.Low, money.Amount{Decimal: s.Penalty.Low.Div(decimal.NewFromInt(2)).Round(money.Places)})
	})},
	{"penalties in which it stays the best, too narrow below", eachRange(func(p *capacity.Problem, _ *capacity.Plan, i int, s *capacity.Stays) bool {
		return s.Penalty != nil && s.Penalty.Low != nil && setTo(&s.Penalty.Low, money.Amount{Decimal: s.Penalty.Low.Add(p.Classes[i].Penalty.Decimal).Div(decimal.NewFromInt(2)).Round(money.Places)})
	})},
	{"no end of penalties where there is one", eachRange(func(_ *capacity.Problem, _ *capacity.Plan, _ int, s *capacity.Stays) bool {
		if s.Penalty == nil || s.Penalty.High == nil {
			return false
		}
		s.Penalty.High = nil
		return true
	})},
	{"an end of penalties where there is none", eachRange(func(p *capacity.Problem, _ *capacity.Plan, i int, s *capacity.Stays) bool {
		if s.Penalty == nil || s.Penalty.High != nil {
			return false
		}
		s.Penalty.High = new(plus(p.Classes[i].Penalty, p.Classes[i].Penalty.Add(decimal.New(1, 0))))
		return true
	})},
	{"one class's penalties told of the next", func(p *capacity.Problem, pl *capacity.Plan) (planted bool) {
		for i := len(pl.Classes) - 1; i > 0; i-- {
			a, b := pl.Classes[i-1].Stays, pl.Classes[i].Stays
			if a == nil || b == nil || a.Penalty == nil || b.Penalty == nil || a.Penalty.Low == nil || b.Penalty.Low == nil {
				continue
			}
			if a.Penalty.Low.Sub(b.Penalty.Low.Decimal).Abs().GreaterThan(decimal.New(1, -2)) {
				b.Penalty, planted = a.Penalty, true
			}
		}
		return planted
	}},
	{"deadlines in which it stays the best, too late", eachRange(func(_ *capacity.Problem, _ *capacity.Plan, _ int, s *capacity.Stays) bool {
		if s.DeadlineSeconds == nil || s.DeadlineSeconds.High == nil {
			return false
		}
		*s.DeadlineSeconds.High *= 1.5
		return true
	})},
	{"deadlines in which it stays the best, too early", eachRange(func(_ *capacity.Problem, _ *capacity.Plan, _ int, s *capacity.Stays) bool {
		if s.DeadlineSeconds == nil || s.DeadlineSeconds.Low == nil {
			return false
		}
		*s.DeadlineSeconds.Low *= 0.6
		return true
	})},
	{"deadlines in which it stays the best, not late enough", eachRange(func(p *capacity.Problem, _ *capacity.Plan, i int, s *capacity.Stays) bool {
		if s.DeadlineSeconds == nil || s.DeadlineSeconds.High == nil {
			return false
		}
		now := p.Classes[i].DeadlineSeconds
		if *s.DeadlineSeconds.High < 1.02*now {
			return false
		}
		*s.DeadlineSeconds.High = (now + *s.DeadlineSeconds.High) / 2
		return true
	})},
	{"prices on demand in which it stays the best, too wide", func(_ *capacity.Problem, pl *capacity.Plan) bool {
		if pl.Stays == nil || pl.Stays.OnDemandPrice == nil || pl.Stays.OnDemandPrice.High == nil {
			return false
		}
		high := pl.Stays.OnDemandPrice.High
		return setTo(&pl.Stays.OnDemandPrice.High, plus(*high, high.Add(decimal.New(1, 0))))
	}},
	{"prices on demand per period for per hour", func(p *capacity.Problem, pl *capacity.Plan) bool {
		if pl.Stays == nil || pl.Stays.OnDemandPrice == nil || pl.Stays.OnDemandPrice.Low == nil {
			return false
		}
		low := pl.Stays.OnDemandPrice.Low
		return setTo(&pl.Stays.OnDemandPrice.Low, money.Amount{Decimal: low.Div(decimal.NewFromInt(24)).Round(money.Places)})
	}},
}

// Faults of the code that tells what would change a plan are found by the check, also where sentences and facts agree
// with the wrong figures.
func TestPlantedFaultsInFactsAreFound(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 2))
	tried, missed := make([]int, len(plantedFaults)), make([]int, len(plantedFaults))
	enough := plantest.Trials(3, 60)
	for trial := 0; slices.Min(tried) < enough && trial < 400*enough; trial++ {
		p := plantest.DrawProblem(t, r, 1+r.IntN(4), []capacity.Integrality{capacity.Integer, capacity.Executable}[r.IntN(2)])
		p.Options.Gap = 0
		if p.Validate() != nil {
			continue
		}
		solve := func() capacity.Plan {
			pl, err := Solve(context.Background(), p, nil)
			if err != nil {
				t.Fatal(err)
			}
			return pl
		}
		sound := solve()
		if sound.Status != capacity.Optimal || !proof.Verify(p, sound, proof.Options{}).Accepted() {
			continue
		}
		m, err := newModel(&p)
		if err != nil {
			t.Fatal(err)
		}
		for i, fault := range plantedFaults {
			if tried[i] >= enough {
				continue
			}
			pl := solve()
			if !fault.plant(&p, &pl) {
				continue
			}
			m.tellReasons(&pl)
			tried[i]++
			if proof.Verify(p, pl, proof.Options{}).Accepted() {
				missed[i]++
				t.Logf("%s is not found: %s\n%s", fault.name, plantest.Text(p), capacity.AppendPlan(nil, pl))
			}
		}
	}
	for i, fault := range plantedFaults {
		if tried[i] < enough || missed[i] > 0 {
			t.Errorf("%s: planted in %d plans, not found in %d", fault.name, tried[i], missed[i])
		}
	}
}
