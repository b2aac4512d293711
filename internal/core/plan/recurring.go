package plan

import (
	"context"
	"math"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan/integer"
)

// Recurring plans the classes of a problem again and again, with other jobs and other VMs of one type each time, and
// tells only what that costs. Several goroutines may use it at once.
type Recurring struct{ model *model }

// NewRecurring prepares a problem whose classes have the most jobs that will be asked for.
func NewRecurring(p *capacity.Problem) (*Recurring, error) {
	m, err := newModel(p)
	if err != nil {
		return nil, err
	}
	m.keepWholeSlots()
	return &Recurring{m}, nil
}

// ClassDemand is the jobs of a class in a demand, and what refusing one of them counts with.
type ClassDemand struct {
	capacity.JobRange
	Penalty money.Amount
}

// Worths returns what the jobs of each demand are worth, classes in the order of the problem.
func (r *Recurring) Worths(ctx context.Context, demands [][]ClassDemand) ([]Worth, error) {
	hulls, worths := newHulls(r.model), make([]Worth, 0, len(demands))
	for _, jobs := range demands {
		if err := capacity.Pause(ctx); err != nil {
			return nil, err
		}
		worths = append(worths, hulls.worth(jobs))
	}
	return worths, nil
}

// Tiers returns the VMs of a supply of one type in the order in which plans rent them, and what its contracts cost in
// any case, both per period.
func (r *Recurring) Tiers(s capacity.Supply) (tiers []integer.Tier, committed float64) {
	m := model{Problem: &capacity.Problem{Supply: s}, hours: r.model.hours}
	m.addSupply()
	return slices.DeleteFunc(m.tiers, func(t integer.Tier) bool { return t.VMs == 0 }), m.committed()
}

// Spent holds the cost of VMs and refused jobs per period, the part paid for VMs, and the gap to the true cost. Cost is
// +Inf if the promised jobs do not fit.
type Spent struct{ Cost, VMs, Gap float64 }

// Least returns what a demand costs at least with the VMs of some tiers, cheapest first. Jobs of classes whose deadline
// is impossible are left out.
func (r *Recurring) Least(ctx context.Context, jobs []ClassDemand, tiers []integer.Tier) Spent {
	m := *r.model
	m.tiers = tiers
	m.classes = slices.Clone(m.classes)
	for k := range m.classes {
		if c := &m.classes[k]; !c.impossible {
			of := &jobs[c.index]
			c.low, c.high, c.penalty = of.Min, of.Max, of.Penalty.Float()
		}
	}
	return m.least(ctx)
}

// least returns the cost of the VMs and refused jobs of the model as the core plans them, without a plan; +Inf if nothing
// fits. They are added up from its jobs and VMs, because its objective is a difference that large penalties drown.
func (m *model) least(ctx context.Context) Spent {
	target := m.target()
	var r integer.Result
	switch {
	case m.Options.Integrality == capacity.Relaxed:
		relaxed, _ := newRelaxation(m)
		if relaxed == nil {
			return Spent{Cost: math.Inf(1)}
		}
		vms := relaxed.supply.CostReal(relaxed.capacity)
		return Spent{Cost: m.refusing(vms, func(i int) float64 { return relaxed.jobs[i] }), VMs: vms}
	case m.wholeLoads():
		r, _ = integer.Solve(ctx, m.newOptions(m.Options.Integrality == capacity.Executable), target)
	default:
		r, _ = integer.Solve(ctx, integer.NewLinear(m.instance()), target)
	}
	if !r.Feasible {
		return Spent{Cost: math.Inf(1)}
	}
	vms := integer.NewSupply(m.tiers).Cost(r.VMs)
	return Spent{m.refusing(vms, func(i int) float64 { return float64(r.Jobs[i]) }), vms, r.Gap}
}

// refusing adds the penalties of the jobs that are not admitted to what VMs cost.
func (m *model) refusing(vms float64, admitted func(class int) float64) float64 {
	sum := money.Sum{}
	sum.Add(vms)
	for i := range m.classes {
		sum.Add(m.classes[i].penalty * (m.classes[i].high - admitted(i)))
	}
	return sum.Value()
}

// wholeKept bounds the answers that keepWholeSlots works out.
const wholeKept = 1 << 20

// keepWholeSlots works out the slots of all job counts once, where thousands of stages ask for the same.
func (m *model) keepWholeSlots() {
	if m.Options.Integrality != capacity.Executable {
		return
	}
	room := int64(wholeKept)
	for i := range m.classes {
		c := &m.classes[i]
		most := int64(c.high)
		if room -= most; !c.slotted || c.impossible || room < 0 {
			continue
		}
		all := make([]wholeSlots, most+1)
		for jobs := int64(1); jobs <= most; jobs++ {
			all[jobs].jobs = jobs
			all[jobs].mapSlots, all[jobs].redSlots = c.shape.cheapestWhole(jobs)
		}
		c.shape.all = all
	}
}
