package machines

import (
	"testing"

	"example.org/headroom/internal/ask/pool"
	"example.org/headroom/internal/core/money"
)

// rightPool is a small problem and a plan for it in order: five core instances and two accelerators for an hour.
func rightPool() (pool.PoolProblem, pool.PoolPlan) {
	large, medium := money.Round(0.34), money.Round(0.17)
	p := pool.DefaultPool()
	p.Currency, p.Hours, p.Storage = "USD", 4, pool.PoolStorage{DataGB: 4250, Replication: 1, Fill: 1}
	p.Types = []pool.PoolType{
		{Name: "large", PerHour: &large, DiskGB: 850, Slots: 1, ComputeUnits: 4, Core: true},
		{Name: "medium", PerHour: &medium, Slots: 1, ComputeUnits: 5, Accelerator: true},
	}
	p.Jobs = []pool.PoolJob{{Name: "case", Work: 90}}
	end := 4.0
	return p, pool.PoolPlan{Status: pool.PoolOptimal, LowerBound: money.Round(7.14), PoolOutcome: pool.PoolOutcome{
		Cost: money.Round(7.14), CoreCost: money.Round(6.8), AcceleratorCost: money.Round(0.34), Hours: &end, NeededGB: 4250, DiskGB: 4250,
		Mix: pool.PoolMix{Core: []pool.PoolCore{{Type: "large", Count: 5, Cost: money.Round(6.8)}}, Accelerators: []pool.PoolAccelerator{{Type: "medium", Count: 2, Hours: 1, Cost: money.Round(0.34)}}},
		Jobs: []pool.PoolJobDone{{Name: "case", DeadlineHours: 4, FinishHours: &end, On: []pool.PoolWorkOn{
			{Type: "large", Rate: 4, Imputed: true, InstanceHours: 20}, {Type: "medium", Rate: 5, Imputed: true, InstanceHours: 2}}}},
	}}
}

func TestWrongPoolsAreRefused(t *testing.T) {
	if p, a := rightPool(); len(Pool(p, a)) > 0 {
		t.Fatal(Pool(p, a))
	}
	late := 4.1
	for name, spoil := range map[string]func(p *pool.PoolProblem, a *pool.PoolPlan){
		"another price": func(p *pool.PoolProblem, _ *pool.PoolPlan) {
			m := money.Round(0.18)
			p.Types[1].PerHour = &m
		},
		"more work": func(p *pool.PoolProblem, _ *pool.PoolPlan) { p.Jobs[0].Work = 90.001 },
		"less work": func(p *pool.PoolProblem, _ *pool.PoolPlan) { p.Jobs[0].Work = 89 },
		"an earlier deadline": func(p *pool.PoolProblem, a *pool.PoolPlan) {
			p.Jobs[0].DeadlineHours, a.Jobs[0].DeadlineHours = 3.9, 3.9
		},
		"a slower type":      func(p *pool.PoolProblem, _ *pool.PoolPlan) { p.Types[0].ComputeUnits = 3.99 },
		"no memory":          func(p *pool.PoolProblem, _ *pool.PoolPlan) { p.Jobs[0].MemoryGiBPerTask = 1 },
		"a start-up":         func(p *pool.PoolProblem, _ *pool.PoolPlan) { p.StartupHours = 0.1 },
		"more data":          func(p *pool.PoolProblem, _ *pool.PoolPlan) { p.Storage.DataGB++ },
		"a limit":            func(p *pool.PoolProblem, _ *pool.PoolPlan) { one := int64(1); p.Types[1].Most = &one },
		"no core":            func(p *pool.PoolProblem, _ *pool.PoolPlan) { p.Types[0].Core = false },
		"a bound above it":   func(_ *pool.PoolProblem, a *pool.PoolPlan) { a.LowerBound = money.Round(7.2) },
		"a gap unsaid":       func(_ *pool.PoolProblem, a *pool.PoolPlan) { a.LowerBound = money.Round(7) },
		"another sum":        func(_ *pool.PoolProblem, a *pool.PoolPlan) { a.Cost = money.Round(7.13) },
		"more hours of work": func(_ *pool.PoolProblem, a *pool.PoolPlan) { a.Jobs[0].On[0].InstanceHours = 21 },
		"fewer accelerators": func(_ *pool.PoolProblem, a *pool.PoolPlan) {
			a.Mix.Accelerators[0].Count = 1
			a.Mix.Accelerators[0].Cost = money.Round(0.17)
		},
		"hours after a round":  func(_ *pool.PoolProblem, a *pool.PoolPlan) { a.Mix.Accelerators[0].Hours = 5 },
		"another end":          func(_ *pool.PoolProblem, a *pool.PoolPlan) { a.Jobs[0].FinishHours = &late },
		"no end":               func(_ *pool.PoolProblem, a *pool.PoolPlan) { a.Hours = nil },
		"a rate of its own":    func(_ *pool.PoolProblem, a *pool.PoolPlan) { a.Jobs[0].On[1].Rate = 6 },
		"infeasible, no cause": func(_ *pool.PoolProblem, a *pool.PoolPlan) { a.Status = pool.PoolInfeasible },
	} {
		p, a := rightPool()
		spoil(&p, &a)
		if len(Pool(p, a)) == 0 {
			t.Errorf("%s: nothing is found", name)
		}
	}
}
