package study

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/money"
)

// Fleet draws problems of several VM types as an independent comparison draws them: classes by VMs per job, from a tenth
// of a VM to twenty, on types of other speeds, beside contracts. Each mark adds one difficulty.
type Fleet struct {
	Classes, Types, Contracts            int
	Quota, Spot, Budget, Equal, Promised bool
}

func (d Fleet) String() string {
	name := ""
	for _, mark := range []struct {
		on   bool
		name string
	}{{d.Equal, "near-equal"}, {d.Quota, "quota"}, {d.Spot, "spot"}, {d.Budget, "budget"}, {d.Promised, "promised"}} {
		if mark.on {
			name += "+" + mark.name
		}
	}
	if name == "" {
		return "plain"
	}
	return name[1:]
}

// Fleets returns all 32 mixtures of the marks. The place of one is the sum of 1 for near-equal prices, 2 for quotas, 4 for
// spot VMs, 8 for a budget and 16 for promised jobs.
func Fleets(classes, types, contracts int) (list []Fleet) {
	for mask := range 32 {
		list = append(list, Fleet{classes, types, contracts, mask&2 != 0, mask&4 != 0, mask&8 != 0, mask&1 != 0, mask&16 != 0})
	}
	return list
}

// Problem draws the problem of a seed.
func (d Fleet) Problem(seed uint64) capacity.Problem {
	r := rand.New(rand.NewPCG(seed, 25))
	within := func(low, high float64) float64 { return low + (high-low)*r.Float64() }
	money := func(x float64) money.Amount { return money.Amount{Decimal: decimal.NewFromFloat(x).Round(5)} }
	p := capacity.Problem{Currency: "USD", PeriodSeconds: 3600, Options: capacity.DefaultOptions()}
	p.Options.Integrality = capacity.Integer
	p.Options.Engine = capacity.EngineAuto
	size := []float64{2, 8, 20}[r.IntN(3)] // VMs of a large job
	worth := []float64{1, 4}[r.IntN(2)]
	demand := 0.0
	for i := range d.Classes {
		gamma := decimal.NewFromFloat(size * math.Pow(within(0.05, 1), 2)).Round(3)
		c := capacity.Class{Name: fmt.Sprintf("class-%04d", i), VMsPerJob: &gamma, Jobs: capacity.JobRange{Max: float64(1 + r.IntN(20))}, Speed: capacity.Speed{}}
		for v := range d.Types {
			c.Speed[fmt.Sprintf("type-%d", v)] = math.Round(within(0.8, 1.25)*1000) / 1000
			if d.Equal {
				c.Speed[fmt.Sprintf("type-%d", v)] = 1
			}
		}
		if d.Promised {
			c.Jobs.Min = math.Floor(c.Jobs.Max * within(0, 0.5))
		}
		g := gamma.InexactFloat64()
		c.Penalty = money(max(0.01, worth*0.2*g*within(0.4, 3)))
		demand += g * c.Jobs.Max
		p.Classes = append(p.Classes, c)
	}
	each := demand / float64(d.Types)
	for v := range d.Types {
		price := 0.2 * within(0.7, 1.4)
		if d.Equal {
			price = 0.2 * within(0.999, 1.001)
		}
		s := capacity.VMTypeSupply{Name: fmt.Sprintf("type-%d", v), OnDemand: capacity.OnDemand{Price: money(price)}}
		for k := range d.Contracts {
			at := price * within(0.4, 0.95)
			if d.Equal {
				at = price * within(0.998, 1)
			}
			s.Contracts = append(s.Contracts, capacity.Contract{Name: fmt.Sprintf("type-%d-contract-%d", v, k), VMs: int64(each * within(0, 0.3)), Price: money(at), Billing: capacity.BilledUsed})
		}
		if d.Quota {
			quota := int64(each * within(0, 0.5))
			s.OnDemand.Quota = &quota
		}
		if d.Spot {
			s.Spot = &capacity.Spot{Price: money(price * within(0.2, 0.9)), MaxShare: math.Round(100*within(0.1, 0.6)) / 100}
		}
		p.Supply.VMTypes = append(p.Supply.VMTypes, s)
	}
	if d.Budget {
		amount := money(demand * 0.2 * within(0.4, 0.7))
		p.Budget = &capacity.Budget{VMCost: &amount}
	}
	return p
}

// FleetProgram writes a drawn fleet as a program in whole numbers, for any solver. It has the VMs of every type first, by
// contract, on demand and spot, and then each class's jobs on every type.
func FleetProgram(p capacity.Problem) *lp.Program {
	var out lp.Program
	unlimited, budget := math.Inf(1), -1
	if p.Budget != nil {
		budget = out.Row(-unlimited, p.Budget.VMCost.Float())
	}
	var loads []int
	for _, s := range p.Supply.VMTypes {
		load := out.Row(-unlimited, 0)
		loads = append(loads, load)
		share := -1
		if s.Spot != nil {
			share = out.Row(-unlimited, 0)
		}
		add := func(price money.Amount, most, ofShare float64) {
			entries := []lp.Entry{{Row: load, Coefficient: -1}}
			if share >= 0 {
				entries = append(entries, lp.Entry{Row: share, Coefficient: ofShare})
			}
			if budget >= 0 {
				entries = append(entries, lp.Entry{Row: budget, Coefficient: price.Float()})
			}
			out.Column(price.Float(), 0, most, true, entries...)
		}
		spot := 0.0
		if s.Spot != nil {
			spot = s.Spot.MaxShare
		}
		for _, c := range s.Contracts {
			add(c.Price, float64(c.VMs), -spot)
		}
		most := unlimited
		if s.OnDemand.Quota != nil {
			most = float64(*s.OnDemand.Quota)
		}
		add(s.OnDemand.Price, most, -spot)
		if s.Spot != nil {
			add(s.Spot.Price, unlimited, 1-spot)
		}
	}
	for i := range p.Classes {
		c := &p.Classes[i]
		jobs := out.Row(c.Jobs.Min, c.Jobs.Max)
		for v, s := range p.Supply.VMTypes {
			gamma := c.OnType(s.Name).VMsPerJob.InexactFloat64()
			out.Column(-c.Penalty.Float(), 0, c.Jobs.Max, true, lp.Entry{Row: loads[v], Coefficient: gamma}, lp.Entry{Row: jobs, Coefficient: 1})
		}
	}
	return &out
}
