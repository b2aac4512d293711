package plan

import (
	"math"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan/integer"
	"example.org/headroom/internal/core/words"
)

// conflictsMost bounds the classes named in one conflict; the ones that take most come first.
const conflictsMost = 10

// conflicts returns the reasons why no plan can exist, each with a cure; it returns none if a plan exists. It needs no
// solver: the promised jobs fit or they do not.
func (m *model) conflicts() []fault.Finding {
	var found []fault.Finding
	for i := range m.classes {
		if c := &m.classes[i]; c.impossible && c.Jobs.Min > 0 {
			found = append(found, m.impossible(i))
		}
	}
	most := integer.NewSupply(m.tiers).Most()
	if most >= integer.Unlimited { // newModel has seen to it that not even all jobs need so many
		return found
	}
	need := m.promised(m.classes)
	if need <= float64(most) && !m.overspent {
		return found
	}
	return append(found, m.shortage(need, most)...)
}

// infeasible is the answer to a problem with conflicts.
func (m *model) infeasible(conflicts []fault.Finding) capacity.Plan {
	return capacity.Plan{
		Status: capacity.InfeasibleStatus, Conflicts: conflicts,
		Warnings: append([]capacity.Warning{}, m.warnings...), Classes: []capacity.ClassPlan{},
		VMs:  capacity.VMs{Contracts: []capacity.ContractUse{}},
		Cost: capacity.Cost{Currency: m.Currency, PeriodSeconds: m.PeriodSeconds},
	}
}

// promised is the VMs that the promised jobs need, whole where the plan's must be.
func (m *model) promised(classes []class) float64 {
	if m.Options.Integrality == capacity.Relaxed {
		var floor money.Sum
		for i := range classes {
			floor.Add(classes[i].gamma * classes[i].low)
		}
		sum := floor.Value()
		if whole := math.Round(sum); math.Abs(sum-whole) < m.lack(sum, false) {
			return whole
		}
		return sum
	}
	floor := *m
	floor.classes = slices.Clone(classes)
	low := make([]int64, len(classes))
	for i := range low {
		low[i] = int64(classes[i].low)
	}
	if m.Options.Integrality == capacity.Integer && m.Options.Sharing == capacity.Shared {
		return float64(integer.VMsFor(integer.NewLinear(floor.instance()), low))
	}
	need := integer.VMsFor(floor.newOptions(m.Options.Integrality == capacity.Executable), low)
	if m.Options.Integrality == capacity.Executable {
		need = max(need, (&decision{model: &floor}).vmsFor(low))
	}
	return float64(need)
}

// impossible is a promised class whose deadline no number of slots meets.
func (m *model) impossible(i int) fault.Finding {
	c := &m.classes[i]
	least := c.shape.work.FixedSeconds
	f := fault.Finding{
		Pointer: c.pointer("deadline_s"), Code: words.CodeImpossible,
		Detail: words.TooLongAlone(c.Name, least, c.DeadlineSeconds),
	}
	if deadline, ok := m.cureByDeadline(i); ok {
		f.Hint = &fault.Hint{Detail: words.AllowSeconds(deadline), Pointer: f.Pointer, Value: deadline}
	}
	return f
}

// shortage is promised jobs that do not fit into all VMs there are.
func (m *model) shortage(need float64, most int64) []fault.Finding {
	var found []fault.Finding
	if m.budgeted || m.overspent {
		found = append(found, m.overBudget(need))
		if m.overspent {
			return found
		}
	} else {
		quota := *m.Supply.OnDemand.Quota + int64(math.Ceil(need-float64(most)))
		f := fault.Finding{
			Pointer: "/supply/on_demand/quota", Code: words.CodeShortage,
			Detail: words.NeedsVMs(need, most),
		}
		if m.paysWithQuota(quota, need) {
			f.Hint = &fault.Hint{Detail: words.RaiseQuota("", quota), Pointer: f.Pointer, Value: quota}
		}
		found = append(found, f)
	}
	order := make([]int, 0, len(m.classes))
	for i := range m.classes {
		if c := &m.classes[i]; c.low > 0 && c.gamma > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := m.classes[a].gamma*m.classes[a].low, m.classes[b].gamma*m.classes[b].low
		switch {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	for _, i := range order[:min(len(order), conflictsMost)] {
		c := &m.classes[i]
		f := fault.Finding{Pointer: c.promise(), Code: words.CodeShortage, Detail: words.PromisedAlone(c.Name, c.low, c.gamma)}
		if jobs, ok := m.cureByJobs(i, most); ok {
			f.Hint = c.fewer(jobs)
		}
		found = append(found, f)
		if deadline, ok := m.cureByDeadline(i); ok {
			found = append(found, fault.Finding{
				Pointer: c.pointer("deadline_s"), Code: words.CodeShortage,
				Detail: words.MustFinish(c.Name, c.DeadlineSeconds),
				Hint:   &fault.Hint{Detail: words.AllowSeconds(deadline), Pointer: c.pointer("deadline_s"), Value: deadline},
			})
		}
	}
	return found
}

// promise is the place of a class's promise. Where all jobs are promised it is that of the demand.
func (c *class) promise() string {
	if c.Jobs.All {
		return c.pointer("jobs/max")
	}
	return c.pointer("jobs/min")
}

// fewer is the hint to promise fewer jobs of a class.
func (c *class) fewer(jobs float64) *fault.Hint {
	detail := words.PromiseAtMost(jobs)
	if c.Jobs.All {
		detail = words.AskAtMost(jobs)
	}
	return &fault.Hint{Detail: detail, Pointer: c.promise(), Value: jobs}
}

// cureByJobs is the most jobs the class may be promised so that everything fits; false if even
// none does not help.
func (m *model) cureByJobs(i int, most int64) (float64, bool) {
	fits := func(jobs float64) bool {
		classes := slices.Clone(m.classes)
		classes[i].low = jobs
		return m.promised(classes) <= float64(most)
	}
	if !fits(0) {
		return 0, false
	}
	low, high := 0.0, math.Floor(m.classes[i].low)
	for low < high {
		if middle := math.Ceil((low + high) / 2); fits(middle) {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low, true
}

// cureByDeadline is the earliest whole second by which everything fits if this class alone may be
// later; false if no deadline helps.
func (m *model) cureByDeadline(i int) (float64, bool) {
	if !m.classes[i].slotted {
		return 0, false
	}
	most := float64(integer.NewSupply(m.tiers).Most())
	fits := func(deadline float64) bool {
		classes := slices.Clone(m.classes)
		c := &classes[i]
		changed := *c.Class
		changed.DeadlineSeconds = deadline
		shape, possible := newShape(&changed, c.shape.work, m.Options.OneSlotPerJob)
		if !possible {
			return false
		}
		c.shape, c.impossible, c.low, c.high = shape, false, c.Jobs.Min, c.Jobs.Max
		c.gamma = shape.gamma()
		return c.gamma*c.high <= integer.MostVMs && m.promised(classes) <= most
	}
	low, high := 0.0, math.Max(1, math.Ceil(m.classes[i].DeadlineSeconds))
	for !fits(high) {
		if low, high = high, 2*high; high > capacity.MaxSeconds {
			return 0, false
		}
	}
	for low+1 < high {
		if middle := math.Floor((low + high) / 2); fits(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high, true
}
