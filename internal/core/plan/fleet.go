package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/plan/integer"
	"example.org/headroom/internal/core/plan/mixes"
)

// fleet is a problem with several VM types, or with spot VMs, made ready for planning. Each type is a
// model of its own in which every class may have up to all its jobs; what binds the types together
// are the classes' jobs and the budget.
type fleet struct {
	*model     // its classes have no gamma: that depends on the type
	types      []vmType
	on         [][]int  // per class, the types it can run on
	beyond     []*class // per class, as on the type where it takes least of those where no cluster could carry it
	low, high  []int64
	penalty    []float64
	linear     []bool  // per class: jobs cost the same each, on every type
	budget     float64 // on VMs, without what is paid in any case; +Inf where there is none
	mixScratch mixScratch
	work       int         // done so far, see fleetEffort
	done       func() bool // the time is up; nil where there is no search
	most       int         // work that may be done in the search
	trial      bool        // one of many: whether the promised jobs can run if something is changed
}

// ended says that the time is up, or the work that may be done: what goes on comes to an end at once.
func (f *fleet) ended() bool { return f.done != nil && (f.work > f.most || f.done()) }

// committed returns the certain cost per period of contracts billed always, on all types.
func (f *fleet) committed() (sum float64) {
	for v := range f.types {
		sum += f.types[v].committed()
	}
	return sum
}

// vmType is the problem as if it had this type alone.
type vmType struct {
	*model
	name   string
	loads  *integer.Options // of the classes' jobs on this type
	rental mixes.Rental
}

// isFleet says that a problem is not the paper's: it has more than one kind of VM, or a budget that no
// whole number of VMs stands for.
func isFleet(p *capacity.Problem) bool {
	return len(p.Supply.VMTypes) > 0 || p.Supply.Spot != nil ||
		p.Options.Integrality == capacity.Relaxed && p.Budget != nil && p.Budget.VMCost != nil
}

// onType is a class as it runs on VMs of one type, with nothing promised there.
func onType(c capacity.Class, name string) capacity.Class {
	c = c.OnType(name)
	c.Jobs.Min = 0
	return c
}

func newFleet(p *capacity.Problem) (*fleet, error) {
	n := len(p.Classes)
	f := &fleet{
		model: &model{Problem: p, hours: float64(p.PeriodSeconds) / 3600, classes: make([]class, n)},
		on:    make([][]int, n), low: make([]int64, n), high: make([]int64, n), penalty: make([]float64, n), linear: make([]bool, n), beyond: make([]*class, n),
		budget: math.Inf(1),
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.Classes[a].Name, p.Classes[b].Name) })
	for i, index := range order {
		c := &f.classes[i]
		c.Class, c.index = &p.Classes[index], index
		c.penalty, c.low, c.high = c.Penalty.Float(), c.Jobs.Min, c.Jobs.Max
		c.slotted, c.impossible = c.VMsPerJob == nil, true
	}
	for v, supply := range p.Supply.Types() {
		if err := f.addType(v, supply); err != nil {
			return nil, err
		}
	}
	var findings []fault.Finding
	for i := range f.classes {
		c := &f.classes[i]
		if c.impossible {
			if x := f.beyond[i]; x != nil {
				findings = append(findings, tooLarge(x, x.gamma*x.high))
			}
			c.low, c.high = 0, 0
		} else {
			f.warnings = append(f.warnings, promiseWarnings(c, &p.Options)...)
		}
		f.low[i], f.high[i], f.penalty[i] = int64(c.low), int64(c.high), c.penalty
		f.linear[i] = p.Options.Sharing == capacity.Shared && (p.Options.Integrality != capacity.Executable || !c.slotted)
	}
	if len(findings) > 0 {
		return nil, fault.Refusal(findings, 0)
	}
	if p.Budget != nil && p.Budget.VMCost != nil {
		f.budget = p.Budget.MostForVMs(p.Options.Integrality).InexactFloat64() - f.committed()
	}
	return f, nil
}

// addType adds a type and says which classes can run on it.
func (f *fleet) addType(v int, s capacity.VMTypeSupply) error {
	own := *f.Problem
	own.Supply = capacity.Supply{Contracts: s.Contracts, OnDemand: s.OnDemand, Spot: s.Spot}
	own.Budget = nil
	own.Classes = make([]capacity.Class, len(f.classes))
	t := vmType{model: &model{Problem: &own, hours: f.hours, classes: make([]class, len(f.classes))}, name: s.Name}
	t.addSupply()
	total, demands := 0.0, make([]perf.JobDemands, 0, len(f.classes))
	for i := range f.classes {
		whole, c := &f.classes[i], &t.classes[i]
		t.warnings = t.warnings[:0]
		own.Classes[whole.index] = onType(*whole.Class, s.Name)
		if whole.Class.RunsOn(s.Name) {
			t.addClass(c, whole.index, &demands)
		} else {
			c.Class, c.index, c.impossible = &own.Classes[whole.index], whole.index, true
		}
		if c.impossible {
			c.low, c.high, c.penalty = 0, 0, whole.penalty
			continue
		}
		if c.gamma*c.high > integer.MostVMs { // no cluster could carry it here; elsewhere it may run
			if x := f.beyond[i]; x == nil || c.gamma < x.gamma {
				copied := *c
				f.beyond[i] = &copied
			}
			c.impossible, c.gamma, c.high = true, 0, 0
			continue
		}
		if whole.impossible {
			f.warnings = append(f.warnings, t.warnings...)
		}
		whole.impossible = false
		f.on[i] = append(f.on[i], v)
		total += c.gamma * c.high
	}
	if total > integer.MostVMs {
		return &fault.InputError{Findings: []fault.Finding{{
			Pointer: "/classes", Code: "range",
			Detail: fmt.Sprintf("All classes together need %.3g VMs of type %q; a problem may need at most %.0g. Plan parts of it separately.", total, s.Name, integer.MostVMs),
		}}}
	}
	t.loads = t.newOptions(f.Options.Integrality == capacity.Executable)
	if f.Options.Integrality == capacity.Relaxed {
		t.loads.Grid.Tolerance = 0 // for whole VMs alone
	}
	need := int64(1)
	for i := range t.classes {
		need += int64(t.classes[i].gamma*t.classes[i].high) + mostRounding
	}
	t.rental = mixes.NewRental(t.tiers, s.Spot, f.hours, need)
	f.types = append(f.types, t)
	return nil
}
