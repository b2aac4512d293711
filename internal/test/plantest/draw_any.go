package plantest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// DrawAny draws a valid problem of every kind the product plans: contracts of both billings,
// quotas, profiles, demands and ratios, all integralities, both ways of sharing.
func DrawAny(r *rand.Rand) capacity.Problem {
	money := func(most int) money.Amount {
		return money.Amount{Decimal: decimal.New(int64(r.IntN(most*100)), -2)}
	}
	pick := func(n int) int { return r.IntN(n) }
	p := capacity.Problem{Currency: "EUR", PeriodSeconds: []int64{3600, 3600, 900, 1000, 86400}[pick(5)], Options: capacity.DefaultOptions()}
	p.Options.Engine = capacity.EngineExact
	p.Options.Integrality = []capacity.Integrality{capacity.Relaxed, capacity.Integer, capacity.Executable, capacity.Executable}[pick(4)]
	p.Options.Bound = []capacity.Bound{capacity.LowerBound, capacity.AverageBound, capacity.UpperBound, capacity.CalibratedBound}[pick(4)]
	p.Options.OneSlotPerJob = pick(3) > 0
	if pick(4) == 0 {
		p.Options.Sharing = capacity.Dedicated
	}
	for k := range pick(4) {
		c := capacity.Contract{Name: fmt.Sprintf("contract-%d", k), VMs: int64(pick(40)), Price: money(2), Billing: capacity.BilledUsed}
		if pick(4) == 0 {
			c.Billing = capacity.BilledAlways
		}
		p.Supply.Contracts = append(p.Supply.Contracts, c)
	}
	p.Supply.OnDemand.Price = money(3)
	if pick(2) == 0 {
		quota := int64(pick(120))
		p.Supply.OnDemand.Quota = &quota
	}
	round := func(x float64) float64 { return math.Round(x*100) / 100 }
	for i := range 1 + pick(6) {
		c := capacity.Class{Name: fmt.Sprintf("class-%d", i), Penalty: money(20)}
		low := float64(pick(4) * pick(2))
		c.Jobs = capacity.JobRange{Min: low, Max: low + float64(pick(9))}
		if p.Options.Integrality == capacity.Relaxed && pick(2) == 0 {
			c.Jobs.Max += 0.5
		}
		c.SlotsPerVM = capacity.SlotsPerVM{Map: int64(1 + pick(5)), Reduce: int64(1 + pick(5))}
		c.DeadlineSeconds = round(200 + 1500*r.Float64())
		switch pick(4) {
		case 0:
			gamma := decimal.New(int64(pick(900)), -2)
			c.VMsPerJob = &gamma
		case 1:
			c.Demand = &capacity.Demand{MapWorkSeconds: round(8000 * r.Float64() * float64(pick(5)) / 4), ReduceWorkSeconds: round(3000 * r.Float64() * float64(pick(5)) / 4), FixedSeconds: round(100 * r.Float64())}
		default:
			top := func(most float64) (avg, high float64) {
				high = round(1 + most*r.Float64())
				return round(high * (0.5 + 0.5*r.Float64())), high
			}
			f := capacity.Profile{MapTasks: int64(2 + pick(200)), OverheadSeconds: float64(pick(12))}
			f.MapAvgSeconds, f.MapMaxSeconds = top(60)
			if pick(5) > 0 {
				f.ReduceTasks = int64(2 + pick(40))
				f.FirstShuffleAvgSeconds, f.FirstShuffleMaxSeconds = top(20)
				f.ShuffleAvgSeconds, f.ShuffleMaxSeconds = top(60)
				f.ReduceAvgSeconds, f.ReduceMaxSeconds = top(40)
			}
			if pick(4) == 0 {
				f = capacity.Profile{OverheadSeconds: f.OverheadSeconds}
				for range 1 + pick(6) {
					s := capacity.Stage{Tasks: int64(2 + pick(60))}
					s.AvgSeconds, s.MaxSeconds = top(30)
					f.Stages = append(f.Stages, s)
				}
			}
			c.Profile = &f
			if pick(2) == 0 {
				c.Calibration = &capacity.Calibration{Bound: []capacity.Bound{capacity.LowerBound, capacity.AverageBound, capacity.UpperBound}[pick(3)], Factor: round(0.5 + r.Float64())}
			}
		}
		p.Classes = append(p.Classes, c)
	}
	return p
}
