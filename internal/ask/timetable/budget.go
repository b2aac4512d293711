package timetable

import (
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/strict"
)

// takesBudget reports whether schedules can keep to a problem's budget: one for the VMs of an hour, where there is one kind of them
// without spot, and a start costs nothing. There it bounds the VMs of an hour, as a quota does.
func takesBudget(p *capacity.Problem) bool {
	types := p.Supply.Types()
	return p.Budget.VMCost != nil && p.Budget.Total == nil && len(types) == 1 && types[0].Spot == nil && types[0].Start == nil && p.PeriodSeconds == 3600
}

// overdrawn is an hour whose contracts alone cost more than the budget.
type overdrawn struct {
	hour int
	cost decimal.Decimal
}

// keepBudget leaves so many VMs in an hour as the budget pays for, those that are used first before others.
func (g *grid) keepBudget(hour int) {
	b := g.horizon.Problem.Budget
	if b == nil || b.VMCost == nil {
		return
	}
	sources, cost := g.sources[hour], g.paid[hour]
	for i := range sources {
		if s := &sources[i]; s.always {
			cost = cost.Add(s.price.Mul(decimal.NewFromInt(s.vms)))
		}
	}
	left := b.VMCost.Sub(cost)
	if left.IsNegative() {
		if g.overdrawn == nil {
			g.overdrawn = &overdrawn{hour, cost}
		}
		left = decimal.Zero
	}
	for i := range sources {
		s := &sources[i]
		if s.always || !s.price.IsPositive() {
			continue
		}
		if paid, _ := left.QuoRem(s.price, 0); paid.LessThan(decimal.NewFromInt(s.vms)) {
			s.vms = paid.IntPart()
		}
		left = left.Sub(s.price.Mul(decimal.NewFromInt(s.vms)))
	}
}

// checkBudget refuses a budget that contracts alone are above.
func (g *grid) checkBudget(c *strict.Checker) {
	if g.overdrawn == nil {
		return
	}
	c.Enter("problem")
	c.Enter("budget")
	least := g.overdrawn.cost
	c.Found("vm_cost", "range", fmt.Sprintf("In the hour from %s contracts that are always billed cost %s, which is more than the budget.", g.at(g.overdrawn.hour).Format(time.RFC3339), least),
		c.Hint("vm_cost", least, "Give %s or more, or end contracts.", least))
	c.Leave()
	c.Leave()
}
