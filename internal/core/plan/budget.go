package plan

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan/integer"
	"example.org/headroom/internal/core/words"
)

// keepWithin cuts the tiers at the most VMs that the budget pays for: since VMs are rented cheapest first,
// a budget for them is a quota.
func (m *model) keepWithin(budget *capacity.Budget) {
	pays := func(n int64) bool {
		return budget.PaysForVMs(m.hourly(m.vms(float64(n))).sum(), m.PeriodSeconds)
	}
	if !pays(0) { // not even for the contracts that are paid in any case
		m.overspent = true
	}
	unlimited := integer.NewSupply(m.tiers).Most()
	low, high := int64(0), min(unlimited, int64(integer.MostVMs)+1)
	if pays(high) {
		return
	}
	for low < high {
		if middle := low + (high-low+1)/2; pays(middle) {
			low = middle
		} else {
			high = middle - 1
		}
	}
	m.budgeted = true
	for k := range m.tiers {
		m.tiers[k].VMs = min(m.tiers[k].VMs, low)
		low -= m.tiers[k].VMs
	}
}

// budgetWorth returns the saving by one more unit of money for VMs, at the margin of the linear program. It is nil
// without a budget.
func (m *model) budgetWorth(r *relaxation) *money.Amount {
	if m.Budget == nil || m.Budget.VMCost == nil {
		return nil
	}
	worth := 0.0
	if m.budgeted && r.capacity >= float64(r.supply.Most())-1 { // it is used up but for a VM's price
		next := math.Inf(1)
		for k, t := range m.tiers {
			if full := m.fullTier(k); t.VMs < full {
				next = min(next, t.Price)
			}
		}
		if next > 0 && !math.IsInf(next, 1) {
			worth = max(0, r.nuLow-next) / next
		}
	}
	return money.Finite(worth)
}

// fullTier is a tier's VMs without the budget.
func (m *model) fullTier(k int) int64 {
	if at := m.source[k]; at != onDemand {
		return m.Supply.Contracts[at].VMs
	}
	if quota := m.Supply.OnDemand.Quota; quota != nil {
		return *quota
	}
	return integer.Unlimited
}

// overBudget returns the conflict of promised jobs that need more VMs than the budget pays for. The cure is the cost
// of so many VMs.
func (m *model) overBudget(need float64) fault.Finding {
	f := fault.Finding{
		Pointer: "/budget/vm_cost", Code: words.CodeShortage,
		Detail: words.NeedsBudget(need, *m.Budget.VMCost, integer.NewSupply(m.tiers).Most()),
	}
	if m.overspent {
		f.Detail = words.FixedOverBudget(*m.Budget.VMCost)
	}
	free := *m.Problem
	free.Budget = nil
	all := &model{Problem: &free, hours: m.hours}
	all.addSupply()
	if float64(integer.NewSupply(all.tiers).Most()) >= need {
		hourly := all.hourly(all.vms(math.Ceil(need))).sum()
		period, hour := decimal.NewFromInt(m.PeriodSeconds), decimal.NewFromInt(3600)
		least := money.Amount{Decimal: hourly.Mul(period).Div(hour).RoundCeil(money.Places)}
		f.Hint = &fault.Hint{Detail: words.RaiseBudget(least), Pointer: f.Pointer, Value: least.String()}
	}
	return f
}

// paysWithQuota says whether the budget pays for so many VMs under another quota.
func (m *model) paysWithQuota(quota int64, need float64) bool {
	wider := *m.Problem
	wider.Supply.OnDemand.Quota = &quota
	all := &model{Problem: &wider, hours: m.hours}
	all.addSupply()
	return m.Budget.PaysForVMs(all.hourly(all.vms(math.Ceil(need))).sum(), m.PeriodSeconds)
}

// spend returns the cost of so many VMs of each type per hour, idle contracts included, exactly.
func (f *fleet) spend(vms []float64) decimal.Decimal {
	sum := decimal.Zero
	for v := range f.types {
		t := &f.types[v]
		sum = sum.Add(t.hourly(t.rented(vms[v], f.Options.Integrality != capacity.Relaxed)).sum())
	}
	return sum
}

// overspends says that fractions of VMs cost more than the budget for them. The linear program takes shortages for none
// that cost little VMs and much money.
func (f *fleet) overspends(vms []float64) bool {
	return !f.Budget.PaysForVMs(f.lenient(f.spend(vms)), f.PeriodSeconds)
}

// affordable says whether the budget pays for so many VMs; in decimals where floats could not say.
func (f *fleet) affordable(vms []int64) bool {
	if math.IsInf(f.budget, 1) {
		return true
	}
	spend, rented := 0.0, make([]float64, len(vms))
	for v, n := range vms {
		spend, rented[v] = spend+f.types[v].rental.Cost(n), float64(n)
	}
	if noise := 1e-9 * (1 + math.Abs(f.budget) + f.committed()); math.Abs(spend-f.budget) > noise {
		return spend < f.budget
	}
	return f.Budget.PaysForVMs(f.spend(rented), f.PeriodSeconds)
}

// target is the gap at which the search may stop: the options', and where the plan costs hardly more than the
// budget for everything, one that tells whether a better plan could cost less.
func (f *fleet) target() func(objective float64) float64 {
	fixed, wanted, gap := f.committed(), f.wanted(), max(f.Options.Gap, integer.ProofResolution/10)
	return func(objective float64) float64 {
		allowed := gap * integer.Yardstick(objective+fixed, wanted)
		if f.Budget != nil && f.Budget.Total != nil {
			if over := objective + fixed + wanted - f.Budget.Total.Float(); over > 0 {
				allowed = min(allowed, over*(1-1e-6))
			}
		}
		return allowed
	}
}

// wanted is the penalties of all jobs together: P2's objective plus this is the whole cost.
func (m *model) wanted() (sum float64) {
	for i := range m.classes {
		sum += m.classes[i].penalty * m.classes[i].Jobs.Max
	}
	return sum
}

// likelihood grades the belief that every plan costs more than the budget.
type likelihood int

const (
	no likelihood = iota
	perhaps
	certainly
)

// overTotal compares a plan, and its bound, with the budget for everything.
func overTotal(p *capacity.Problem, pl *capacity.Plan) (fault.Finding, likelihood) {
	if p.Budget == nil || p.Budget.Total == nil || pl.Cost.Total.LessThanOrEqual(p.Budget.Total.Decimal) {
		return fault.Finding{}, no
	}
	f := fault.Finding{
		Pointer: "/budget/total", Code: words.CodeOverBudget,
		Detail: words.TotalOverBudget(pl.Cost.Total, *p.Budget.Total),
		Hint:   &fault.Hint{Detail: words.RaiseBudget(pl.Cost.Total), Pointer: "/budget/total", Value: pl.Cost.Total.String()},
	}
	if open := pl.Objective.Sub(pl.Proof.Bound.Decimal); pl.Cost.Total.Sub(open).LessThanOrEqual(p.Budget.Total.Decimal) {
		return f, perhaps
	}
	return f, certainly
}

// openBudget is the answer where a plan costs more than the budget for everything, and a cheaper one is
// not ruled out. Where that is not for lack of time, the penalties that a plan avoids are so large that
// what is left of the cost drowns in them.
func openBudget(ctx context.Context, pl *capacity.Plan, over fault.Finding) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	open, avoided := pl.Objective.Sub(pl.Proof.Bound.Decimal), pl.Objective.Abs()
	objective, wanted := pl.Objective.Float(), pl.Cost.Total.Sub(pl.Objective.Decimal).InexactFloat64()
	if open.InexactFloat64() > 1.01*max(integer.ProofResolution*integer.Yardstick(objective, wanted), integer.GapNoise*wanted) {
		return fmt.Errorf("the %s, and whether another plan is within it was not decided in the time there was; allow more by options.max_solve_ms, or raise the budget: %w", words.BestOverTotal(pl.Cost), fault.Busy)
	}
	over.Code = "range"
	over.Detail = fmt.Sprintf("The %s, and whether another is within it cannot be told: a plan avoids penalties of %s, and beside those amounts below %.2g are lost in rounding.",
		words.BestOverTotal(pl.Cost), avoided.StringFixed(2), open.InexactFloat64())
	over.Hint.Detail = fmt.Sprintf("Raise the budget to %s, or state smaller penalties.", pl.Cost.Total)
	return &fault.InputError{Findings: []fault.Finding{over}}
}
