package plan

import (
	"fmt"
	"math"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/money"
)

// certify re-checks a fleet's finished plan from its own figures. Each type's part is a program of its own (see
// model.certify). Then come the bonds between the types: the classes' jobs, the share of spot VMs, the budgets and all
// the money, summed once more in exact decimals.
func (f *fleet) certify(pl *capacity.Plan) error {
	whole := f.Options.Integrality != capacity.Relaxed
	hourly := hourlyCost{}
	contracts := pl.VMs.Contracts
	for v := range f.types {
		t := &f.types[v]
		part := capacity.Plan{Classes: make([]capacity.ClassPlan, len(f.classes))}
		rented := capacity.TypeVMs{Name: t.name, Total: pl.VMs.Total, Reserved: pl.VMs.Reserved, OnDemand: pl.VMs.OnDemand, Spot: pl.VMs.Spot}
		if f.named() {
			rented = pl.VMs.Types[v]
		}
		own := len(t.Supply.Contracts)
		part.VMs = capacity.VMs{Total: rented.Total, OnDemand: rented.OnDemand, Spot: rented.Spot, Contracts: contracts[:own]}
		contracts = contracts[own:]
		sum := rented.OnDemand + rented.Spot
		for i, c := range part.VMs.Contracts {
			sum += c.Used
			if c.Used > float64(t.Supply.Contracts[i].VMs) {
				return fmt.Errorf("the plan uses %g VMs of contract %q, which has %d", c.Used, c.Name, t.Supply.Contracts[i].VMs)
			}
		}
		if math.Abs(sum-rented.Total) > 1e-9*(1+sum) || whole && sum != rented.Total {
			return fmt.Errorf("the plan rents %g VMs of type %q, and its parts add up to %g", rented.Total, t.name, sum)
		}
		if err := t.spotShare(rented, whole); err != nil {
			return err
		}
		for i := range f.classes {
			c := &f.classes[i]
			part.Classes[c.index] = f.partOf(&pl.Classes[c.index], t)
		}
		p, x, err := t.certificate(&part)
		if err != nil {
			return fmt.Errorf("on type %q: %w", t.name, err)
		}
		value := 0.0
		for j, c := range p.Cost {
			value += c * x[j]
		}
		if err := lp.Check(p, x, value); err != nil {
			return fmt.Errorf("on type %q: %w", t.name, err)
		}
		hourly = hourly.add(t.hourly(part.VMs))
	}
	return f.certifyWhole(pl, hourly)
}

// partOf is the part of a class that the plan says runs on a type.
func (f *fleet) partOf(said *capacity.ClassPlan, t *vmType) capacity.ClassPlan {
	if !f.named() {
		return *said
	}
	for _, on := range said.Types {
		if on.VMType == t.name {
			return capacity.ClassPlan{Name: said.Name, Admitted: on.Admitted, VMs: on.VMs, VMsPerJob: on.VMsPerJob, Slots: on.Slots}
		}
	}
	return capacity.ClassPlan{Name: said.Name, Slots: &capacity.Slots{}}
}

// spotShare checks that no more than the share of a type's VMs is spot.
func (t *vmType) spotShare(rented capacity.TypeVMs, whole bool) error {
	if rented.Spot == 0 {
		return nil
	}
	if t.Supply.Spot == nil {
		return fmt.Errorf("the plan rents spot VMs of type %q, which offers none", t.name)
	}
	most := decimal.NewFromFloat(t.Supply.Spot.MaxShare).Mul(decimal.NewFromFloat(rented.Total))
	if !whole {
		most = most.Mul(decimal.NewFromFloat(1 + 1e-9))
	}
	if decimal.NewFromFloat(rented.Spot).GreaterThan(most) {
		return fmt.Errorf("the plan rents %g spot VMs of type %q, and %s is the most", rented.Spot, t.name, most)
	}
	return nil
}

// certifyWhole checks what the types have in common.
func (f *fleet) certifyWhole(pl *capacity.Plan, hourly hourlyCost) error {
	penalties, avoided := decimal.Zero, decimal.Zero
	for i := range f.classes {
		c := &f.classes[i]
		out := &pl.Classes[c.index]
		if f.named() {
			sum := 0.0
			for _, on := range out.Types {
				sum += on.Admitted
			}
			if math.Abs(sum-out.Admitted) > 1e-9*(1+sum) {
				return fmt.Errorf("class %q has %g jobs, and %g on all types", c.Name, out.Admitted, sum)
			}
		}
		slack := 0.0
		if f.Options.Integrality == capacity.Relaxed {
			slack = 1e-9 * (1 + c.high)
		}
		if !(out.Admitted >= c.low-slack && out.Admitted <= c.high+slack) {
			return fmt.Errorf("class %q has %g jobs, outside %g to %g", c.Name, out.Admitted, c.low, c.high)
		}
		penalties = penalties.Add(c.Penalty.Mul(decimal.NewFromFloat(c.Jobs.Max).Sub(decimal.NewFromFloat(out.Admitted))))
		avoided = avoided.Add(c.Penalty.Mul(decimal.NewFromFloat(out.Admitted)))
	}
	cost, objective := f.cost(hourly, penalties, avoided)
	noise := decimal.New(1, -8).Add(cost.Total.Abs().Add(avoided.Abs()).Mul(moneyNoise)) // fractions of jobs are float64
	near := func(a, b money.Amount) bool {
		return a.Sub(b.Decimal).Abs().LessThanOrEqual(noise)
	}
	if !near(cost.Total, pl.Cost.Total) || !near(objective, pl.Objective) {
		return fmt.Errorf("the plan says it costs %v with an objective of %v, and it adds up to %v and %v", pl.Cost.Total, pl.Objective, cost.Total, objective)
	}
	if f.Budget == nil {
		return nil
	}
	if !f.Budget.PaysForVMs(f.lenient(hourly.sum()), f.PeriodSeconds) {
		return fmt.Errorf("the plan's VMs cost more than the budget of %v", f.Budget.VMCost)
	}
	if most := f.Budget.Total; most != nil && pl.Cost.Total.GreaterThan(most.Decimal) {
		return fmt.Errorf("the plan costs %v, more than the budget of %v", pl.Cost.Total, most)
	}
	return nil
}

// moneyNoise is the relative difference that sums of the same amounts in other orders may have.
var moneyNoise = decimal.New(1, -15)

// lenient leaves a relaxed plan, whose VMs are fractions, the noise of float64: a share of what it spends, and the
// smallest amount there is.
func (f *fleet) lenient(hourly decimal.Decimal) decimal.Decimal {
	if f.Options.Integrality == capacity.Relaxed {
		return hourly.Mul(decimal.NewFromFloat(1 - 1e-9)).Sub(decimal.NewFromFloat(1e-9 / f.hours))
	}
	return hourly
}
