package plan

import (
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan/integer"
	"example.org/headroom/internal/core/words"
)

// shortages returns the reasons why the promised jobs of a fleet cannot all run, each with a cure that works alone. A
// cure is offered only after it has been tried; if the time runs out the others are not.
func (f *fleet) shortages(ctx context.Context) []fault.Finding {
	found := f.supplyConflicts(ctx)
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
		finding := fault.Finding{Pointer: c.promise(), Code: words.CodeShortage, Detail: words.PromisedAtLeast(c.Name, c.low, need(i))}
		jobs, ok := f.cure(ctx, 1, int64(math.Floor(c.low)), func(p *capacity.Problem, fewer int64) {
			p.Classes[c.index].Jobs.Min = math.Floor(c.low) - float64(fewer)
		})
		if ok {
			finding.Hint = c.fewer(math.Floor(c.low) - float64(jobs))
		}
		found = append(found, finding)
		if !c.slotted {
			continue
		}
		if hint := f.deadlineCure(ctx, i); hint != nil {
			found = append(found, fault.Finding{
				Pointer: c.pointer("deadline_s"), Code: words.CodeShortage,
				Detail: words.MustFinish(c.Name, c.DeadlineSeconds),
				Hint:   hint,
			})
		}
	}
	return found
}

// deadlineCure offers a deadline of a class at which all promised jobs can run; nil if there is none.
func (f *fleet) deadlineCure(ctx context.Context, class int) *fault.Hint {
	c := &f.classes[class]
	deadline, ok := f.cure(ctx, earliest(c.DeadlineSeconds), capacity.MaxSeconds, func(p *capacity.Problem, seconds int64) {
		p.Classes[c.index].DeadlineSeconds = float64(seconds)
	})
	if !ok {
		return nil
	}
	return allow(c, deadline)
}

// allow is the hint to give a class a later deadline.
func allow(c *class, deadline int64) *fault.Hint {
	return &fault.Hint{Detail: words.AllowSeconds(float64(deadline)), Pointer: c.pointer("deadline_s"), Value: float64(deadline)}
}

// supplyConflicts is the quotas and the budget that keep the promised jobs from running.
func (f *fleet) supplyConflicts(ctx context.Context) (found []fault.Finding) {
	var others []fault.Finding // quotas that do not help alone
	for v, s := range f.Supply.Types() {
		if s.OnDemand.Quota == nil {
			continue
		}
		pointer := "/supply/on_demand/quota"
		if f.named() {
			pointer = "/supply/vm_types/" + strconv.Itoa(v) + "/on_demand/quota"
		}
		more, ok := f.cure(ctx, 1, f.types[v].rental.Need, func(p *capacity.Problem, more int64) {
			quota := min(*s.OnDemand.Quota+more, capacity.MaxVMs)
			if f.named() {
				p.Supply.VMTypes[v].OnDemand.Quota = &quota
			} else {
				p.Supply.OnDemand.Quota = &quota
			}
		})
		most := f.types[v].rental.MostVMs
		finding := fault.Finding{
			Pointer: pointer, Code: words.CodeShortage,
			Detail: words.DoesNotFitInto(float64(most), most >= capacity.MaxVMs, s.Name, *s.OnDemand.Quota),
		}
		if ok {
			quota := *s.OnDemand.Quota + more
			finding.Hint = &fault.Hint{Detail: words.RaiseQuota(s.Name, quota), Pointer: pointer, Value: quota}
			found = append(found, finding)
		} else {
			others = append(others, finding)
		}
	}
	if f.Budget == nil || f.Budget.VMCost == nil {
		return append(found, others...)
	}
	finding := fault.Finding{
		Pointer: "/budget/vm_cost", Code: words.CodeShortage,
		Detail: words.VMsOverBudget(*f.Budget.VMCost),
	}
	if least, ok := f.leastSpend(ctx); ok {
		finding.Hint = &fault.Hint{Detail: words.RaiseBudget(least), Pointer: finding.Pointer, Value: least.String()}
		return append(found, finding)
	}
	if len(found) > 0 {
		return found
	}
	free := promisedAlone(f.copied())
	free.Supply.OnDemand.Quota = nil
	for v := range free.Supply.VMTypes {
		free.Supply.VMTypes[v].OnDemand.Quota = nil
	}
	if pl, err := solveFleet(ctx, free, nil, true); err == nil && pl.Status == capacity.InfeasibleStatus {
		others = append(others, finding) // no quota helps
	}
	return others
}

// leastSpend is the smallest budget for VMs that pays for the promised jobs: the cost of the cheapest
// plan of them alone that is found in the time there is.
func (f *fleet) leastSpend(ctx context.Context) (money.Amount, bool) {
	pl, ok := withoutBudget(ctx, promisedAlone(f.copied()))
	if !ok {
		return money.Amount{}, false
	}
	vms := []float64{pl.VMs.Total}
	for v := range pl.VMs.Types {
		vms = append(vms[:v], pl.VMs.Types[v].Total)
	}
	least := f.spend(vms).Mul(decimal.NewFromInt(f.PeriodSeconds)).Div(decimal.NewFromInt(3600))
	return money.Amount{Decimal: least.RoundCeil(money.Places)}, true
}

// withoutBudget is the cheapest plan of a problem that no budget limits, if one is found in the time there is.
func withoutBudget(ctx context.Context, p *capacity.Problem) (capacity.Plan, bool) {
	p.Budget, p.Options.Engine, p.Options.Near = nil, capacity.EngineExact, nil
	pl, err := NewSeries(*p, nil).brief(ctx, p)
	return pl, err == nil && pl.Status != capacity.InfeasibleStatus
}

// copied is the problem with classes and supply that can be changed.
func (m *model) copied() *capacity.Problem {
	p := *m.Problem
	p.Classes = slices.Clone(p.Classes)
	p.Supply.VMTypes = slices.Clone(p.Supply.VMTypes)
	return &p
}

// promisedAlone is a problem with the promised jobs and no others: it has a plan exactly where the
// problem itself does, because fewer jobs never take more.
func promisedAlone(p *capacity.Problem) *capacity.Problem {
	for i := range p.Classes {
		c := &p.Classes[i]
		c.Jobs.Max, c.Penalty = c.Jobs.Min, money.Amount{}
	}
	return p
}

// cure is the smallest number in a range with which the promised jobs can run, if they can with the
// largest; whatever will do goes on doing. The linear program says quickly below which number they
// cannot; from there on plans are looked for.
func (f *fleet) cure(ctx context.Context, low, high int64, change func(p *capacity.Problem, to int64)) (int64, bool) {
	done := integer.Expired(ctx)
	with := func(x int64) *fleet {
		if done() {
			return nil
		}
		p := f.copied()
		change(p, x)
		g, err := newFleet(promisedAlone(p))
		if err != nil || len(g.impossiblePromises()) > 0 {
			return nil
		}
		g.trial = true
		return g
	}
	least, ok := leastThat(low, high, func(x int64) bool {
		g := with(x)
		if g == nil {
			return false
		}
		_, _, ok := g.linearly()
		return ok
	})
	low = least
	holds := func(x int64) bool {
		g := with(x)
		return g != nil && g.promisesHold(ctx)
	}
	for step := int64(1); ok; step *= 2 {
		if holds(least) {
			least, ok = leastThat(low, least, holds)
			return least, ok && !done()
		}
		low = least + 1
		if ok = low <= high && !done(); ok {
			least = min(high, least+step)
		}
	}
	return 0, false
}

// promisesHold says for certain that promised jobs, of a fleet without others, can run.
func (f *fleet) promisesHold(ctx context.Context) bool {
	p, _, ok := f.linearly()
	if !ok || f.Options.Integrality == capacity.Relaxed {
		return ok
	}
	s := f.search(ctx, func(float64) float64 { return math.Inf(1) }, p.Nu)
	if s.best == nil || f.Options.Integrality != capacity.Executable {
		return s.best != nil
	}
	_, short := (&fleetDecision{fleet: f}).layOut(s.best)
	return short == shortNone
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

// earliest is the whole seconds from a deadline on.
func earliest(deadline float64) int64 { return int64(math.Max(1, math.Ceil(deadline))) }
