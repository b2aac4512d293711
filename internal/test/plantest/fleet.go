package plantest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// bruteFleet is a problem of several types made ready for trying every mix of every class: money in
// whole millionths, slots worked out anew for each type (see Brute).
type bruteFleet struct {
	low, high, Penalty []int64
	load               [][][]float64 // of a class on a type for so many jobs; nil where it does not run there
	cost               [][]int64     // of so many VMs of a type at the margin; there are len-1 at most
	fixed              int64
	budget, Total      int64 // -1: none
	short              bool
}

func NewBruteFleet(p capacity.Problem) *bruteFleet {
	b := &bruteFleet{budget: -1, Total: -1}
	types := p.Supply.Types()
	most := make([]float64, len(types))
	for i := range p.Classes {
		c := &p.Classes[i]
		low, high := int64(c.Jobs.Min), int64(c.Jobs.Max)
		loads := make([][]float64, len(types))
		possible := false
		for v, t := range types {
			if !c.RunsOn(t.Name) {
				continue
			}
			own := bruteOn(*c, t.Name)
			x := (&Brute{}).class(&own, p.Options)
			if len(x.Load) == 0 || c.VMsPerJob == nil && x.slots == nil {
				continue
			}
			possible = true
			loads[v] = x.Load
			most[v] += x.Load[len(x.Load)-1]
		}
		if !possible {
			b.short = b.short || low > 0
			low, high = 0, 0
		}
		b.low, b.high, b.Penalty = append(b.low, low), append(b.high, high), append(b.Penalty, Millionths(c.Penalty.Decimal))
		b.load = append(b.load, loads)
	}
	for v, t := range types {
		b.addType(t, p.PeriodSeconds, int64(most[v])+1)
	}
	if p.Budget != nil && p.Budget.VMCost != nil {
		b.budget = Millionths(p.Budget.VMCost.Decimal)
	}
	if p.Budget != nil && p.Budget.Total != nil {
		b.Total = Millionths(p.Budget.Total.Decimal)
	}
	return b
}

// bruteOn is a class on one type, its times divided by hand.
func bruteOn(c capacity.Class, name string) capacity.Class {
	speed := 1.0
	if s, named := c.Speed[name]; named {
		speed = s
	}
	if c.SlotsPerVM.ByType != nil {
		c.SlotsPerVM = c.SlotsPerVM.ByType[name]
	}
	c.Jobs.Min = 0
	if c.VMsPerJob != nil {
		g := c.VMsPerJob.Div(decimal.NewFromFloat(speed))
		c.VMsPerJob = &g
	}
	if c.Demand != nil {
		c.Demand = &capacity.Demand{MapWorkSeconds: c.Demand.MapWorkSeconds / speed, ReduceWorkSeconds: c.Demand.ReduceWorkSeconds / speed, FixedSeconds: c.Demand.FixedSeconds / speed}
	}
	if p := c.Profile; p != nil {
		c.Profile = &capacity.Profile{
			MapTasks: p.MapTasks, ReduceTasks: p.ReduceTasks, MapAvgSeconds: p.MapAvgSeconds / speed, MapMaxSeconds: p.MapMaxSeconds / speed,
			FirstShuffleAvgSeconds: p.FirstShuffleAvgSeconds / speed, FirstShuffleMaxSeconds: p.FirstShuffleMaxSeconds / speed,
			ShuffleAvgSeconds: p.ShuffleAvgSeconds / speed, ShuffleMaxSeconds: p.ShuffleMaxSeconds / speed,
			ReduceAvgSeconds: p.ReduceAvgSeconds / speed, ReduceMaxSeconds: p.ReduceMaxSeconds / speed, OverheadSeconds: p.OverheadSeconds,
		}
		for _, s := range p.Stages {
			c.Profile.Stages = append(c.Profile.Stages, capacity.Stage{Tasks: s.Tasks, AvgSeconds: s.AvgSeconds / speed, MaxSeconds: s.MaxSeconds / speed})
		}
	}
	return c
}

// addType tries every number of spot VMs for every number of VMs.
func (b *bruteFleet) addType(t capacity.VMTypeSupply, period, most int64) {
	plain := Brute{cost: []int64{0}}
	plain.addSupply(capacity.Problem{PeriodSeconds: period, Supply: capacity.Supply{Contracts: t.Contracts, OnDemand: t.OnDemand}}, most)
	b.fixed += plain.Fixed
	cost := []int64{}
	for n := int64(0); n <= most; n++ {
		least := int64(-1)
		share := int64(0)
		if t.Spot != nil {
			share = decimal.NewFromFloat(t.Spot.MaxShare).Mul(decimal.NewFromInt(n)).IntPart()
		}
		for s := int64(0); s <= share; s++ {
			if int(n-s) >= len(plain.cost) {
				continue
			}
			x := plain.cost[n-s]
			if s > 0 {
				x += s * Millionths(t.Spot.Price.Decimal) * period / 3600
			}
			if least < 0 || x < least {
				least = x
			}
		}
		if least < 0 {
			break
		}
		cost = append(cost, least)
	}
	b.cost = append(b.cost, cost)
}

// Best is the lowest objective; false if there is no plan.
func (b *bruteFleet) Best() (objective int64, jobs [][]int64, feasible bool) {
	if b.short {
		return 0, nil, false
	}
	types := len(b.cost)
	load := make([]float64, types)
	now := make([][]int64, len(b.low))
	for i := range now {
		now[i] = make([]int64, types)
	}
	wanted := int64(0)
	for i := range b.high {
		wanted += b.Penalty[i] * b.high[i]
	}
	var choose func(i, v int, left, taken, worth int64)
	choose = func(i, v int, left, taken, worth int64) {
		if i == len(b.low) {
			spend := b.fixed
			for v, x := range load {
				n := int(math.Ceil(x - wholeNoise))
				if n >= len(b.cost[v]) {
					return
				}
				spend += b.cost[v][n]
			}
			if b.budget >= 0 && spend > b.budget {
				return
			}
			if cost := spend - worth; !feasible || cost < objective {
				objective, feasible = cost, true
				jobs = make([][]int64, len(now))
				for i := range now {
					jobs[i] = slices.Clone(now[i])
				}
			}
			return
		}
		if v == types {
			if taken >= b.low[i] {
				next := int64(0)
				if i+1 < len(b.low) {
					next = b.high[i+1]
				}
				choose(i+1, 0, next, 0, worth+b.Penalty[i]*taken)
			}
			return
		}
		for h := int64(0); h <= left; h++ {
			if h > 0 && b.load[i][v] == nil {
				break
			}
			before := load[v]
			if h > 0 {
				load[v] += b.load[i][v][h]
			}
			now[i][v] = h
			choose(i, v+1, left-h, taken+h, worth)
			now[i][v] = 0
			load[v] = before
		}
	}
	choose(0, 0, b.high[0], 0, 0)
	return objective, jobs, feasible
}

// FleetKind lists the features of the problems of a family.
type FleetKind struct {
	Types                                    int
	Spot, Quota, Contracts, budgets, Spreads bool
}

var FleetKinds = map[string]FleetKind{
	"budget":   {Types: 0, budgets: true, Contracts: true, Quota: true},
	"quota":    {Types: 2, Quota: true},
	"contract": {Types: 2, Contracts: true},
	"spot":     {Types: 0, Spot: true, Contracts: true, Quota: true},
	"types":    {Types: 3, Spreads: true},
	"mixed":    {Types: 3, Spot: true, Quota: true, Contracts: true, budgets: true, Spreads: true},
}

// DrawFleet draws a small problem of a kind; types 0 is one kind of VM without a name.
func DrawFleet(r *rand.Rand, k FleetKind, classes, width int) capacity.Problem {
	d := Sample{Classes: classes, Width: width, Slots: 4, Integrality: capacity.Executable, Sharing: capacity.Shared}
	if r.IntN(2) == 0 {
		d.Integrality = capacity.Integer
	}
	if r.IntN(4) == 0 {
		d.Sharing = capacity.Dedicated
	}
	p := d.Problem(r)
	if k.Types == 0 {
		s := k.drawType(r, "")
		p.Supply = capacity.Supply{Contracts: s.Contracts, OnDemand: s.OnDemand, Spot: s.Spot}
	} else {
		p.Supply = capacity.Supply{}
		for v := range 1 + r.IntN(k.Types) {
			p.Supply.VMTypes = append(p.Supply.VMTypes, k.drawType(r, fmt.Sprintf("type-%d", v)))
		}
	}
	if k.Spreads {
		spreadClasses(r, &p)
	}
	if k.budgets {
		drawBudget(r, &p)
	}
	return p
}

// drawType draws the supply of one VM type.
func (k FleetKind) drawType(r *rand.Rand, name string) capacity.VMTypeSupply {
	s := capacity.VMTypeSupply{Name: name, OnDemand: capacity.OnDemand{Price: Hundredths(1 + r.IntN(60))}}
	if k.Contracts {
		for n := range r.IntN(3) {
			c := capacity.Contract{Name: fmt.Sprintf("%s-contract-%d", name, n), VMs: r.Int64N(8), Price: Hundredths(1 + r.IntN(60)), Billing: capacity.BilledUsed}
			if r.IntN(4) == 0 {
				c.Billing = capacity.BilledAlways
			}
			s.Contracts = append(s.Contracts, c)
		}
	}
	if k.Quota && r.IntN(3) > 0 {
		quota := r.Int64N(9)
		s.OnDemand.Quota = &quota
	}
	if k.Spot && r.IntN(4) > 0 {
		s.Spot = &capacity.Spot{Price: Hundredths(r.IntN(40)), MaxShare: []float64{0.1, 0.25, 0.3, 0.5, 0.7, 1, 0}[r.IntN(7)]}
	}
	return s
}

// spreadClasses gives classes speeds and slots by VM type.
func spreadClasses(r *rand.Rand, p *capacity.Problem) {
	for i := range p.Classes {
		c := &p.Classes[i]
		c.Speed = capacity.Speed{}
		by := map[string]capacity.SlotsPerVM{}
		for _, t := range p.Supply.VMTypes {
			if r.IntN(2) == 0 {
				c.Speed[t.Name] = []float64{0.5, 2, 1.25, 1}[r.IntN(4)]
			}
			by[t.Name] = capacity.SlotsPerVM{Map: 1 + r.Int64N(4), Reduce: 1 + r.Int64N(4)}
		}
		if r.IntN(5) == 0 && len(by) > 1 {
			delete(by, p.Supply.VMTypes[0].Name)
		}
		if c.VMsPerJob == nil && r.IntN(2) == 0 {
			c.SlotsPerVM = capacity.SlotsPerVM{ByType: by}
		}
	}
}

// drawBudget draws budgets around the cost of the best plan.
func drawBudget(r *rand.Rand, p *capacity.Problem) {
	p.Budget = &capacity.Budget{}
	b := NewBruteFleet(*p)
	objective, _, ok := b.Best()
	if !ok {
		return
	}
	spend := objective
	for i := range b.high {
		spend += b.Penalty[i] * b.high[i]
	}
	amount := func() *money.Amount {
		x := money.Amount{Decimal: decimal.New(int64(float64(spend)*(0.4+0.8*r.Float64())), -6)}
		return &x
	}
	if r.IntN(4) > 0 {
		p.Budget.VMCost = amount()
	}
	if r.IntN(3) == 0 {
		p.Budget.Total = amount()
	}
}
