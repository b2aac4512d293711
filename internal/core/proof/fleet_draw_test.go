package proof

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// drawnFleet draws a problem with more than one price of capacity, or with a budget. It has one type with a budget,
// one type with spot VMs, or several types; all integralities, and both ways of sharing.
func drawnFleet(r *rand.Rand) capacity.Problem {
	pick := r.IntN
	cents := func(maximum int) money.Amount {
		return money.Amount{Decimal: decimal.New(int64(pick(maximum*100)), -2)}
	}
	round := func(x float64) float64 { return math.Round(x*100) / 100 }
	p := capacity.Problem{Currency: "EUR", PeriodSeconds: []int64{3600, 3600, 900, 1000}[pick(4)], Options: capacity.DefaultOptions()}
	p.Options.Engine = capacity.EngineExact
	p.Options.Integrality = []capacity.Integrality{capacity.Relaxed, capacity.Integer, capacity.Executable, capacity.Executable}[pick(4)]
	formulas := []capacity.Bound{capacity.LowerBound, capacity.AverageBound, capacity.UpperBound}
	p.Options.Bound = append(formulas, capacity.CalibratedBound)[pick(4)]
	p.Options.OneSlotPerJob = pick(3) > 0
	if pick(3) == 0 {
		p.Options.Sharing = capacity.Dedicated
	}
	var names []string
	kinds := pick(4) // 0: one kind without a name
	for v := range max(1, kinds) {
		t := capacity.VMTypeSupply{OnDemand: capacity.OnDemand{Price: cents(3)}}
		for k := range pick(3) {
			c := capacity.Contract{Name: fmt.Sprintf("contract-%d-%d", v, k), VMs: int64(pick(9)), Price: cents(2), Billing: capacity.BilledUsed}
			if pick(4) == 0 {
				c.Billing = capacity.BilledAlways
			}
			t.Contracts = append(t.Contracts, c)
		}
		if pick(2) == 0 {
			quota := int64(pick(14))
			t.OnDemand.Quota = &quota
		}
		if pick(3) == 0 {
			t.Spot = &capacity.Spot{Price: cents(1), MaxShare: []float64{0, 0.25, 0.3, 0.5, 1.0 / 3, 0.9, 1}[pick(7)]}
		}
		if kinds == 0 {
			p.Supply.Contracts, p.Supply.OnDemand, p.Supply.Spot = t.Contracts, t.OnDemand, t.Spot
			continue
		}
		t.Name = []string{"small", "large", "odd"}[v]
		names = append(names, t.Name)
		p.Supply.VMTypes = append(p.Supply.VMTypes, t)
	}
	if pick(2) == 0 {
		p.Budget = &capacity.Budget{}
		if amount := cents(25); pick(3) > 0 {
			p.Budget.VMCost = &amount
		}
		if amount := cents(90); pick(3) == 0 {
			p.Budget.Total = &amount
		}
	}
	for i := range 1 + pick(4) {
		c := capacity.Class{Name: fmt.Sprintf("class-%d", i), Penalty: cents(12)}
		low := float64(pick(3) * pick(2))
		c.Jobs = capacity.JobRange{Min: low, Max: low + float64(pick(5))}
		if p.Options.Integrality == capacity.Relaxed && pick(2) == 0 {
			c.Jobs.Max += 0.5
		}
		slots := func() capacity.SlotsPerVM {
			return capacity.SlotsPerVM{Map: int64(1 + pick(4)), Reduce: int64(1 + pick(4))}
		}
		c.DeadlineSeconds = round(200 + 1000*r.Float64())
		switch pick(4) {
		case 0:
			gamma := decimal.New(int64(pick(300)), -2)
			c.VMsPerJob, c.DeadlineSeconds = &gamma, 0
		case 1:
			c.Demand = &capacity.Demand{MapWorkSeconds: round(900 * r.Float64() * float64(pick(5)) / 4), ReduceWorkSeconds: round(500 * r.Float64() * float64(pick(5)) / 4), FixedSeconds: round(100 * r.Float64())}
		default:
			top := func(limit float64) (avg, high float64) {
				high = round(1 + limit*r.Float64())
				return round(high * (0.5 + 0.5*r.Float64())), high
			}
			f := capacity.Profile{MapTasks: int64(2 + pick(40)), OverheadSeconds: float64(pick(12))}
			f.MapAvgSeconds, f.MapMaxSeconds = top(40)
			if pick(5) > 0 {
				f.ReduceTasks = int64(2 + pick(20))
				f.FirstShuffleAvgSeconds, f.FirstShuffleMaxSeconds = top(20)
				f.ShuffleAvgSeconds, f.ShuffleMaxSeconds = top(20)
				f.ReduceAvgSeconds, f.ReduceMaxSeconds = top(30)
			}
			if pick(4) == 0 {
				f = capacity.Profile{OverheadSeconds: f.OverheadSeconds}
				for range 1 + pick(4) {
					s := capacity.Stage{Tasks: int64(2 + pick(20))}
					s.AvgSeconds, s.MaxSeconds = top(30)
					f.Stages = append(f.Stages, s)
				}
			}
			c.Profile = &f
			if pick(2) == 0 {
				c.Calibration = &capacity.Calibration{Bound: formulas[pick(3)], Factor: 0.5 + 1.5*r.Float64()}
			}
		}
		if c.VMsPerJob == nil {
			c.SlotsPerVM = slots()
			if len(names) > 1 && pick(3) == 0 {
				c.SlotsPerVM = capacity.SlotsPerVM{ByType: map[string]capacity.SlotsPerVM{}}
				for _, n := range names {
					if pick(4) > 0 {
						c.SlotsPerVM.ByType[n] = slots()
					}
				}
			}
		}
		if len(names) > 0 && pick(2) == 0 {
			c.Speed = capacity.Speed{}
			for _, n := range names {
				c.Speed[n] = []float64{0, 0.5, 1, 1.5, 2, 3, 0.7}[pick(7)]
			}
		}
		p.Classes = append(p.Classes, c)
	}
	return p
}

// long returns the number of trials, more with HEADROOM_LONG=1.
func long(usual, more int) int {
	if os.Getenv("HEADROOM_LONG") != "" {
		return more
	}
	return usual
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
