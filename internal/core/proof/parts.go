package proof

import (
	"math"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof/exact"
)

// Plans of arrivals divide a job into a power of two of parts. Each has a slot of every kind that the job uses, or a quarter
// of a VM where the class says VMs per job.
const (
	mostParts   = 64
	partsOfAVM  = 4
	partsNearby = 1e-9 // of a slot, which a part may lack through rounding
)

// Parts returns into how many equal parts plans of arrivals divide the jobs of a class.
func Parts(p *capacity.Problem, class int) int64 {
	c := &p.Classes[class]
	if p.Options.Integrality == capacity.Relaxed || c.Profile != nil && c.Profile.OverheadSeconds > 0 && c.Speed != nil {
		return 1
	}
	slots := math.Inf(1)
	for _, t := range p.Supply.Types() {
		if len(p.Supply.VMTypes) == 0 || c.RunsOn(t.Name) {
			slots = min(slots, slotsOfAJob(c, t.Name, p.Options))
		}
	}
	parts := int64(1)
	for 2*parts <= mostParts && float64(2*parts) <= slots*(1+partsNearby) && isMoney(quo(amount(c.Penalty.Decimal), whole(2*parts))) &&
		(c.VMsPerJob == nil || isMoney(quo(amount(*c.VMsPerJob), whole(2*parts)))) {
		parts *= 2
	}
	return parts
}

// isMoney reports whether an amount of money says a fraction exactly.
func isMoney(x *exact.Rat) bool { return amount(amountOf(x).Decimal).Cmp(x) == 0 }

// slotsOfAJob returns the fewest slots of any kind that one job uses on the least VMs. With κ = √(A/c_M) + √(B/c_R) those are
// √(A·c_M)·κ/slack map slots and √(B·c_R)·κ/slack reduce slots.
func slotsOfAJob(c *capacity.Class, vmType string, o capacity.Options) float64 {
	if c.VMsPerJob != nil {
		return partsOfAVM * float(quo(amount(*c.VMsPerJob), number(c.Speed.On(vmType))))
	}
	at := newClassAt(c, c.SlotsPerVM.On(vmType), number(c.Speed.On(vmType)), o.Bound, o.OneSlotPerJob)
	least, slack := math.Inf(1), float(at.slack)
	perMap, perReduce := float64(at.perMap), float64(at.perReduce)
	a, b := float(at.plan.a), float(at.plan.b)
	kappa := math.Sqrt(a/perMap) + math.Sqrt(b/perReduce)
	if a > 0 {
		least = min(least, math.Sqrt(a*perMap)*kappa/slack)
	}
	if b > 0 {
		least = min(least, math.Sqrt(b*perReduce)*kappa/slack)
	}
	return least
}

// InParts returns a class whose jobs are equal parts of a class's jobs: they take as long and need a part of the slots.
func InParts(c capacity.Class, parts int64, o capacity.Options) capacity.Class {
	if parts == 1 {
		return c
	}
	by := whole(parts)
	if c.VMsPerJob != nil {
		c.VMsPerJob = new(amountOf(quo(amount(*c.VMsPerJob), by)).Decimal)
	} else {
		each := capacity.SlotsPerVM{Map: 1, Reduce: 1} // on which the work does not depend, and which may differ by type
		plan := newClassAt(&c, each, whole(1), o.Bound, o.OneSlotPerJob).plan
		c.Demand = &capacity.Demand{MapWorkSeconds: float(quo(plan.a, by)), ReduceWorkSeconds: float(quo(plan.b, by)), FixedSeconds: float(plan.c)}
		c.Profile, c.Calibration, c.Target, c.Confidence, c.Promise = nil, nil, 0, 0, nil
	}
	c.Penalty = amountOf(quo(amount(c.Penalty.Decimal), by))
	c.Jobs.Min, c.Jobs.Max = c.Jobs.Min*float64(parts), c.Jobs.Max*float64(parts)
	return c
}
