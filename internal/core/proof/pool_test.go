package proof

import (
	"testing"

	"headroom/internal/core/capacity"
)

// rightPool returns a small problem and a right plan for it: five core instances and two accelerators for an hour.
func rightPool() (capacity.PoolProblem, capacity.PoolPlan) {
	large, medium := capacity.RoundMoney(0.34), capacity.RoundMoney(0.17)
	p := capacity.DefaultPool()
	p.Currency, p.Hours, p.Storage = "USD", 4, capacity.PoolStorage{DataGB: 4250, Replication: 1, Fill: 1}
	p.Types = []capacity.PoolType{
		{Name: "large", PerHour: &large, DiskGB: 850, Slots: 1, ComputeUnits: 4, Core: true},
		{Name: "medium", PerHour: &medium, Slots: 1, ComputeUnits: 5, Accelerator: true},
	}
	p.Jobs = []capacity.PoolJob{{Name: "case", Work: 90}}
	end := 4.0
	return p, capacity.PoolPlan{Status: capacity.PoolOptimal, LowerBound: capacity.RoundMoney(7.14), PoolOutcome: capacity.PoolOutcome{
		Cost: capacity.RoundMoney(7.14), CoreCost: capacity.RoundMoney(6.8), AcceleratorCost: capacity.RoundMoney(0.34), Hours: &end, NeededGB: 4250, DiskGB: 4250,
		Mix: capacity.PoolMix{Core: []capacity.PoolCore{{Type: "large", Count: 5, Cost: capacity.RoundMoney(6.8)}}, Accelerators: []capacity.PoolAccelerator{{Type: "medium", Count: 2, Hours: 1, Cost: capacity.RoundMoney(0.34)}}},
		Jobs: []capacity.PoolJobDone{{Name: "case", DeadlineHours: 4, FinishHours: &end, On: []capacity.PoolWorkOn{
			{Type: "large", Rate: 4, Imputed: true, InstanceHours: 20}, {Type: "medium", Rate: 5, Imputed: true, InstanceHours: 2}}}},
	}}
}

func TestWrongPoolsAreRefused(t *testing.T) {
	if p, a := rightPool(); len(Pool(p, a)) > 0 {
		t.Fatal(Pool(p, a))
	}
	late := 4.1
	for name, spoil := range map[string]func(p *capacity.PoolProblem, a *capacity.PoolPlan){
		"another price": func(p *capacity.PoolProblem, _ *capacity.PoolPlan) {
			m := capacity.RoundMoney(0.18)
			p.Types[1].PerHour = &m
		},
		"more work": func(p *capacity.PoolProblem, _ *capacity.PoolPlan) { p.Jobs[0].Work = 90.001 },
		"less work": func(p *capacity.PoolProblem, _ *capacity.PoolPlan) { p.Jobs[0].Work = 89 },
		"an earlier deadline": func(p *capacity.PoolProblem, a *capacity.PoolPlan) {
			p.Jobs[0].DeadlineHours, a.Jobs[0].DeadlineHours = 3.9, 3.9
		},
		"a slower type":      func(p *capacity.PoolProblem, _ *capacity.PoolPlan) { p.Types[0].ComputeUnits = 3.99 },
		"no memory":          func(p *capacity.PoolProblem, _ *capacity.PoolPlan) { p.Jobs[0].MemoryGiBPerTask = 1 },
		"a start-up":         func(p *capacity.PoolProblem, _ *capacity.PoolPlan) { p.StartupHours = 0.1 },
		"more data":          func(p *capacity.PoolProblem, _ *capacity.PoolPlan) { p.Storage.DataGB++ },
		"a limit":            func(p *capacity.PoolProblem, _ *capacity.PoolPlan) { one := int64(1); p.Types[1].Most = &one },
		"no core":            func(p *capacity.PoolProblem, _ *capacity.PoolPlan) { p.Types[0].Core = false },
		"a bound above it":   func(_ *capacity.PoolProblem, a *capacity.PoolPlan) { a.LowerBound = capacity.RoundMoney(7.2) },
		"a gap unsaid":       func(_ *capacity.PoolProblem, a *capacity.PoolPlan) { a.LowerBound = capacity.RoundMoney(7) },
		"another sum":        func(_ *capacity.PoolProblem, a *capacity.PoolPlan) { a.Cost = capacity.RoundMoney(7.13) },
		"more hours of work": func(_ *capacity.PoolProblem, a *capacity.PoolPlan) { a.Jobs[0].On[0].InstanceHours = 21 },
		"fewer accelerators": func(_ *capacity.PoolProblem, a *capacity.PoolPlan) {
			a.Mix.Accelerators[0].Count = 1
			a.Mix.Accelerators[0].Cost = capacity.RoundMoney(0.17)
		},
		"hours after a round":  func(_ *capacity.PoolProblem, a *capacity.PoolPlan) { a.Mix.Accelerators[0].Hours = 5 },
		"another end":          func(_ *capacity.PoolProblem, a *capacity.PoolPlan) { a.Jobs[0].FinishHours = &late },
		"no end":               func(_ *capacity.PoolProblem, a *capacity.PoolPlan) { a.Hours = nil },
		"a rate of its own":    func(_ *capacity.PoolProblem, a *capacity.PoolPlan) { a.Jobs[0].On[1].Rate = 6 },
		"infeasible, no cause": func(_ *capacity.PoolProblem, a *capacity.PoolPlan) { a.Status = capacity.PoolInfeasible },
	} {
		p, a := rightPool()
		spoil(&p, &a)
		if len(Pool(p, a)) == 0 {
			t.Errorf("%s: nothing is found", name)
		}
	}
}
