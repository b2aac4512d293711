package capacity

import "example.org/headroom/internal/core/money"

// JobChange tells what one job more of a class costs, or what one less saves, per period. One more is promised than is
// served, and one more is asked for only where none is refused. An exact one is the difference of two plans that are
// proved; the other is the relaxation's.
//
//planjson:shape what a job more or less changes
type JobChange struct {
	Exact  bool          `json:"exact"`
	Fits   bool          `json:"fits"`   // false: no plan within the limits has it
	Amount *money.Amount `json:"amount"` // bill and value refused together; null where it does not fit
	// Of an exact one: what the bill changes by, what the jobs are worth that give way for it, and the VMs. Where it does
	// not fit, VMs are those that are missing, if VMs are.
	Bill         *money.Amount `json:"bill,omitempty"`
	ValueRefused *money.Amount `json:"value_refused,omitempty"`
	VMs          *float64      `json:"vms,omitempty"`
	// Budget is the least with which it would fit, where it does not and the problem has one budget. It is nil where no
	// larger one is known to do.
	Budget *money.Amount `json:"budget,omitempty"`
	// Jobs is how many jobs of the class come or go, where that is not exactly one: the VMs have room for them.
	Jobs *float64 `json:"jobs,omitempty"`
	// Of one that is not exact: the exact amount is proved to be no less than Low and, if High is there, no more.
	Low  *money.Amount `json:"low,omitempty"`
	High *money.Amount `json:"high,omitempty"`
}

// Told reports whether the change was found by planning anew and has all its parts.
func (c *JobChange) Told() bool {
	return c != nil && c.Exact && (!c.Fits || c.Amount != nil && c.Bill != nil && c.ValueRefused != nil)
}

// Bounded reports whether the change is not exact, and stands between two proved figures.
func (c *JobChange) Bounded() bool { return c != nil && !c.Exact && c.Low != nil && c.High != nil }

// Stays tells how far figures of a class may move, each alone, while the VMs and the jobs of the plan stay the best.
// A range that was not worked out is null. A deadline's low end is that of the jobs on the VM types that they have.
//
//planjson:shape where the plan stays the best
type Stays struct {
	Penalty         *MoneyRange `json:"penalty"`
	DeadlineSeconds *Range      `json:"deadline_s"`
}

// MoneyRange is a range of amounts; an end is null where the plan stays the best in the whole legal range.
//
//planjson:shape a range
type MoneyRange struct {
	Low  *money.Amount `json:"low"`
	High *money.Amount `json:"high"`
}

// Range is a range of numbers; an end is null where the plan stays the best in the whole legal range.
//
//planjson:shape a range
type Range struct {
	Low  *float64 `json:"low"`
	High *float64 `json:"high"`
}

// Nearest returns the end that is nearer to an amount.
func (r *MoneyRange) Nearest(to money.Amount) *money.Amount {
	if r.Low == nil || r.High != nil && r.High.Sub(to.Decimal).LessThan(to.Sub(r.Low.Decimal)) {
		return r.High
	}
	return r.Low
}

// Nearest returns the end that is nearer to a number.
func (r *Range) Nearest(to float64) *float64 {
	if r.Low == nil || r.High != nil && *r.High-to < to-*r.Low {
		return r.High
	}
	return r.Low
}

// PlanStays tells how far prices and quotas may move, each alone, while the plan's VMs and jobs stay the best. A range
// that was not worked out is null. With several VM types each has its own.
//
//planjson:shape where the plan stays the best
type PlanStays struct {
	OnDemandPrice *MoneyRange `json:"on_demand_price"`
	Quota         *Range      `json:"quota"` // whole numbers
	Types         []TypeStays `json:"types,omitempty"`
}

// TypeStays holds the ranges of one VM type.
//
//planjson:shape where the plan stays the best by a VM type
type TypeStays struct {
	VMType        string      `json:"vm_type"`
	OnDemandPrice *MoneyRange `json:"on_demand_price"`
	Quota         *Range      `json:"quota"`
}
