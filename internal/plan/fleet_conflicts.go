package plan

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"headroom/internal/capacity"
)

// shortages is why the promised jobs of a fleet cannot all run, each with what would cure it alone. A
// cure is offered only after it has been tried.
func (f *fleet) shortages(ctx context.Context) []capacity.Finding {
	holds := func(p *capacity.Problem) bool { return promisesHold(ctx, p) }
	found := f.supplyConflicts(ctx, holds)
	order := make([]int, 0, len(f.classes))
	need := func(i int) float64 {
		least := math.Inf(1)
		for _, v := range f.on[i] {
			least = min(least, f.types[v].classes[i].gamma*f.classes[i].low)
		}
		return least
	}
	for i := range f.classes {
		if f.classes[i].low > 0 && need(i) > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch x, y := need(a), need(b); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	for _, i := range order[:min(len(order), conflictsMost)] {
		c := &f.classes[i]
		finding := capacity.Finding{
			Pointer: c.pointer("jobs/min"), Code: "shortage",
			Detail: fmt.Sprintf("Class %q is promised %s, which take %s VMs at least.", c.Name, jobCount(c.low), number(need(i))),
		}
		jobs, ok := leastThat(0, int64(math.Floor(c.low)), func(fewer int64) bool {
			p := f.copied()
			p.Classes[c.index].Jobs.Min = math.Floor(c.low) - float64(fewer)
			return holds(p)
		})
		if ok {
			most := math.Floor(c.low) - float64(jobs)
			finding.Hint = &capacity.Hint{Detail: fmt.Sprintf("Promise at most %s.", jobCount(most)), Pointer: finding.Pointer, Value: most}
		}
		found = append(found, finding)
		if !c.slotted {
			continue
		}
		if deadline, ok := cureByDeadline(f.copied(), c.index, holds); ok {
			found = append(found, capacity.Finding{
				Pointer: c.pointer("deadline_s"), Code: "shortage",
				Detail: fmt.Sprintf("Class %q must finish within %s s; with more time its jobs need fewer VMs.", c.Name, number(c.DeadlineSeconds)),
				Hint:   &capacity.Hint{Detail: fmt.Sprintf("Allow %s s or more.", number(deadline)), Pointer: c.pointer("deadline_s"), Value: deadline},
			})
		}
	}
	return found
}

// supplyConflicts is the quotas and the budget that keep the promised jobs from running.
func (f *fleet) supplyConflicts(ctx context.Context, holds func(*capacity.Problem) bool) (found []capacity.Finding) {
	for v, s := range f.Supply.Types() {
		if s.OnDemand.Quota == nil {
			continue
		}
		pointer := "/supply/on_demand/quota"
		named := ""
		if f.named() {
			pointer = "/supply/vm_types/" + strconv.Itoa(v) + "/on_demand/quota"
			named = fmt.Sprintf(" of type %q", s.Name)
		}
		more, ok := leastThat(1, int64(mostVMs), func(more int64) bool {
			p := f.copied()
			quota := min(*s.OnDemand.Quota+more, capacity.MaxVMs)
			if f.named() {
				p.Supply.VMTypes[v].OnDemand.Quota = &quota
			} else {
				p.Supply.OnDemand.Quota = &quota
			}
			return holds(p)
		})
		finding := capacity.Finding{
			Pointer: pointer, Code: "shortage",
			Detail: fmt.Sprintf("The promised jobs do not fit into the VMs%s that can be had, of which %d on demand.", named, *s.OnDemand.Quota),
		}
		if ok {
			quota := *s.OnDemand.Quota + more
			finding.Hint = &capacity.Hint{Detail: fmt.Sprintf("Raise the quota%s to %d.", named, quota), Pointer: pointer, Value: quota}
			found = append(found, finding)
		} else if f.Budget == nil || f.Budget.VMCost == nil {
			found = append(found, finding)
		}
	}
	if f.Budget != nil && f.Budget.VMCost != nil {
		finding := capacity.Finding{
			Pointer: "/budget/vm_cost", Code: "shortage",
			Detail: fmt.Sprintf("The VMs that the promised jobs need cost more than the budget of %v.", f.Budget.VMCost),
		}
		if least, ok := f.leastSpend(ctx, holds); ok {
			finding.Hint = &capacity.Hint{Detail: fmt.Sprintf("Raise the budget to %v.", least), Pointer: finding.Pointer, Value: least.String()}
			found = append(found, finding)
		} else if len(found) == 0 {
			found = append(found, finding)
		}
	}
	return found
}

// leastSpend is the smallest budget for VMs that pays for the promised jobs: the cost of the cheapest
// plan of them alone.
func (f *fleet) leastSpend(ctx context.Context, holds func(*capacity.Problem) bool) (capacity.Money, bool) {
	p := promisedAlone(f.copied())
	p.Budget = nil
	p.Options.Engine, p.Options.Near = capacity.EngineExact, nil
	pl, err := solveFleet(ctx, p, nil)
	if err != nil || pl.Status == capacity.InfeasibleStatus {
		return capacity.Money{}, false
	}
	least := capacity.Money{Decimal: pl.Cost.Total.Sub(pl.Cost.Penalties.Decimal).RoundCeil(capacity.MoneyPlaces)}
	q := f.copied()
	q.Budget = &capacity.Budget{VMCost: &least, Total: f.Budget.Total}
	return least, holds(q)
}

// copied is the problem with classes and supply that can be changed.
func (f *fleet) copied() *capacity.Problem {
	p := *f.Problem
	p.Classes = slices.Clone(p.Classes)
	p.Supply.VMTypes = slices.Clone(p.Supply.VMTypes)
	return &p
}

// promisedAlone is a problem with the promised jobs and no others: it has a plan exactly where the
// problem itself does, because fewer jobs never take more.
func promisedAlone(p *capacity.Problem) *capacity.Problem {
	for i := range p.Classes {
		c := &p.Classes[i]
		c.Jobs.Max, c.Penalty = c.Jobs.Min, capacity.Money{}
	}
	return p
}

// promisesHold says for certain that the promised jobs of a problem can run.
func promisesHold(ctx context.Context, p *capacity.Problem) bool {
	q := *p
	q.Classes = slices.Clone(p.Classes)
	f, err := newFleet(promisedAlone(&q))
	if err != nil || len(f.impossiblePromises()) > 0 {
		return false
	}
	relaxed := f.relax()
	if relaxed == nil || q.Options.Integrality == capacity.Relaxed {
		return relaxed != nil
	}
	s := f.search(ctx, func(float64) float64 { return math.Inf(1) }, relaxed.nu)
	return s.best != nil
}

// impossiblePromises is the promised classes that can run on no type.
func (f *fleet) impossiblePromises() (classes []int) {
	for i := range f.classes {
		if c := &f.classes[i]; c.impossible && c.Jobs.Min > 0 {
			classes = append(classes, i)
		}
	}
	return classes
}

// leastThat is the smallest number in a range that will do, if the largest does; whatever will do goes
// on doing.
func leastThat(low, high int64, will func(int64) bool) (int64, bool) {
	if !will(high) {
		return 0, false
	}
	for low < high {
		if middle := low + (high-low)/2; will(middle) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return high, true
}

// cureByDeadline is the earliest whole second by which all is well if this class alone may be later.
func cureByDeadline(p *capacity.Problem, class int, well func(*capacity.Problem) bool) (float64, bool) {
	earliest := int64(math.Max(1, math.Ceil(p.Classes[class].DeadlineSeconds)))
	deadline, ok := leastThat(earliest, capacity.MaxSeconds, func(seconds int64) bool {
		p.Classes[class].DeadlineSeconds = float64(seconds)
		return well(p)
	})
	return float64(deadline), ok
}
