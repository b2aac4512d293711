package proof

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
)

// This file is a planner of fleets for tests: it tries all mixes of all classes, in plain floating point and without
// the package under test.

// fleetPlanner enumerates; each type is a planner of its own.
type fleetPlanner struct {
	p     capacity.Problem
	types []*planner
	spots []*capacity.Spot
	names []string
	best  [][]int64 // [class][type]
	vms   []int64
	cost  float64
	tried int
}

// onOneType returns a problem as if it had one of its types alone.
func onOneType(p capacity.Problem, t capacity.VMTypeSupply) capacity.Problem {
	p.Supply = capacity.Supply{Contracts: t.Contracts, OnDemand: t.OnDemand}
	p.Budget = nil
	p.Classes = slices.Clone(p.Classes)
	for i := range p.Classes {
		c := &p.Classes[i]
		speed := c.Speed.On(t.Name)
		c.SlotsPerVM, c.Speed = c.SlotsPerVM.On(t.Name), nil
		if speed == 0 {
			continue
		}
		if c.VMsPerJob != nil {
			gamma := c.VMsPerJob.DivRound(decimal.NewFromFloat(speed), 25)
			c.VMsPerJob = &gamma
		}
		if d := c.Demand; d != nil {
			c.Demand = &capacity.Demand{MapWorkSeconds: d.MapWorkSeconds / speed, ReduceWorkSeconds: d.ReduceWorkSeconds / speed, FixedSeconds: d.FixedSeconds / speed}
		}
		if c.Profile != nil {
			f := *c.Profile
			for _, x := range []*float64{&f.MapAvgSeconds, &f.MapMaxSeconds, &f.FirstShuffleAvgSeconds, &f.FirstShuffleMaxSeconds,
				&f.ShuffleAvgSeconds, &f.ShuffleMaxSeconds, &f.ReduceAvgSeconds, &f.ReduceMaxSeconds} {
				*x /= speed
			}
			f.Stages = slices.Clone(f.Stages)
			for k := range f.Stages {
				f.Stages[k].AvgSeconds /= speed
				f.Stages[k].MaxSeconds /= speed
			}
			c.Profile = &f
		}
	}
	return p
}

func newFleetPlanner(p capacity.Problem) *fleetPlanner {
	b := &fleetPlanner{p: p, cost: math.Inf(1)}
	for _, t := range p.Supply.Types() {
		own := onOneType(p, t)
		one := &planner{p: own}
		for i := range own.Classes {
			k := kind{in: &own.Classes[i]}
			if p.Classes[i].RunsOn(t.Name) {
				k = kindOf(&own.Classes[i], p.Options)
			}
			one.kinds = append(one.kinds, k)
		}
		for k := range len(own.Supply.Contracts) + 1 {
			one.order = append(one.order, k)
		}
		slices.SortStableFunc(one.order, func(x, y int) int { return int(math.Copysign(1, one.price(x)-one.price(y)-1e-15)) })
		b.types, b.spots, b.names = append(b.types, one), append(b.spots, t.Spot), append(b.names, t.Name)
	}
	return b
}

// rent tries every number of spot VMs among n.
func (b *fleetPlanner) rent(v int, n int64) (cost float64, spot int64) {
	cost, _ = b.types[v].rent(float64(n))
	if b.spots[v] == nil {
		return cost, 0
	}
	price := b.spots[v].Price.Float() * float64(b.p.PeriodSeconds) / 3600
	highest := decimal.NewFromFloat(b.spots[v].MaxShare).Mul(decimal.NewFromInt(n)).Floor().IntPart()
	for s := int64(1); s <= highest; s++ {
		if steady, _ := b.types[v].rent(float64(n - s)); steady+float64(s)*price < cost-1e-12 {
			cost, spot = steady+float64(s)*price, s
		}
	}
	return cost, spot
}

const maxTried = 60_000

// plan returns the best plan. found is false if there is none, and done is false if there were too many mixes to try.
func (b *fleetPlanner) plan() (pl capacity.Plan, found, done bool) {
	loads := make([]float64, len(b.types))
	mixes := make([][]int64, len(b.p.Classes))
	for i := range mixes {
		mixes[i] = make([]int64, len(b.types))
	}
	b.class(0, loads, 0, mixes)
	if b.tried > maxTried || math.IsInf(b.cost, 1) {
		return pl, false, b.tried <= maxTried
	}
	pl = b.fill()
	if highest := b.p.Budget; highest != nil && highest.Total != nil && pl.Cost.Total.GreaterThan(highest.Total.Decimal) {
		return pl, false, true
	}
	return pl, true, true
}

func (b *fleetPlanner) class(i int, loads []float64, avoided float64, mixes [][]int64) {
	if b.tried > maxTried {
		return
	}
	if i == len(mixes) {
		b.tried++
		b.finish(loads, avoided, mixes)
		return
	}
	low, high := int64(b.p.Classes[i].Jobs.Min), int64(b.p.Classes[i].Jobs.Max)
	var place func(v int, left int64, loads []float64)
	total := low
	place = func(v int, left int64, loads []float64) {
		if v == len(b.types) {
			if left == 0 {
				b.class(i+1, loads, avoided+float64(total)*b.p.Classes[i].Penalty.Float(), mixes)
			}
			return
		}
		k := b.types[v].kinds[i]
		for h := int64(0); h <= left; h++ {
			if h > 0 && !k.possible {
				break
			}
			next := slices.Clone(loads)
			if h > 0 {
				next[v] += b.types[v].need(k, h)
			}
			mixes[i][v] = h
			place(v+1, left-h, next)
		}
		mixes[i][v] = 0
	}
	for ; total <= high; total++ {
		place(0, total, loads)
	}
}

func (b *fleetPlanner) finish(loads []float64, avoided float64, mixes [][]int64) {
	spent := 0.0
	vms := make([]int64, len(loads))
	for v, load := range loads {
		vms[v] = int64(math.Ceil(load - 1e-8))
		cost, _ := b.rent(v, vms[v])
		spent += cost
	}
	if highest := b.p.Budget; highest != nil && highest.VMCost != nil {
		fixed := 0.0
		for _, t := range b.types {
			fixed += t.idleAlways()
		}
		if spent+fixed > highest.VMCost.Float()+1e-10 {
			return
		}
	}
	if cost := spent - avoided; cost < b.cost-1e-9 {
		b.cost, b.vms, b.best = cost, vms, nil
		for _, m := range mixes {
			b.best = append(b.best, slices.Clone(m))
		}
	}
}

// fill writes the plan down, type by type.
func (b *fleetPlanner) fill() capacity.Plan {
	named := len(b.p.Supply.VMTypes) > 0
	pl := capacity.Plan{Status: capacity.Optimal, Warnings: []capacity.Warning{}, Conflicts: []fault.Finding{}}
	var parts []capacity.Plan
	cost := &pl.Cost
	for v, t := range b.types {
		_, spot := b.rent(v, b.vms[v])
		jobs := make([]float64, len(b.best))
		for i := range jobs {
			jobs[i] = float64(b.best[i][v])
		}
		part := t.part(jobs, float64(b.vms[v]-spot))
		part.VMs.Total += float64(spot)
		part.VMs.Rounding += float64(spot)
		part.VMs.Spot = float64(spot)
		if spot > 0 {
			part.Cost.Spot.Decimal = b.spots[v].Price.Mul(decimal.NewFromInt(spot)).Mul(decimal.NewFromInt(b.p.PeriodSeconds)).Div(decimal.NewFromInt(3600))
		}
		if b.p.Options.Integrality == capacity.Executable {
			part.Layout = layOut(t.p, part)
		}
		parts = append(parts, part)
		pl.VMs.Total += part.VMs.Total
		pl.VMs.Reserved += part.VMs.Reserved
		pl.VMs.OnDemand += part.VMs.OnDemand
		pl.VMs.Spot += part.VMs.Spot
		pl.VMs.Rounding += part.VMs.Rounding
		for _, line := range []struct{ to, from *money.Amount }{{&cost.OnDemand, &part.Cost.OnDemand}, {&cost.Spot, &part.Cost.Spot},
			{&cost.Reserved, &part.Cost.Reserved}, {&cost.ReservedIdle, &part.Cost.ReservedIdle}} {
			line.to.Decimal = line.to.Add(line.from.Decimal)
		}
		for _, u := range part.VMs.Contracts {
			u.VMType = b.names[v]
			pl.VMs.Contracts = append(pl.VMs.Contracts, u)
		}
		for _, l := range part.Layout {
			l.VMType = b.names[v]
			pl.Layout = append(pl.Layout, l)
		}
		if named {
			pl.VMs.Types = append(pl.VMs.Types, capacity.TypeVMs{Name: b.names[v], Total: part.VMs.Total, Reserved: part.VMs.Reserved,
				OnDemand: part.VMs.OnDemand, Spot: part.VMs.Spot, Rounding: part.VMs.Rounding})
		}
	}
	for i := range b.best {
		c := b.join(i, parts, named)
		pl.Classes = append(pl.Classes, c)
		cost.Penalties.Decimal = cost.Penalties.Add(b.p.Classes[i].Penalty.Mul(dec(c.Refused)))
		pl.Objective.Decimal = pl.Objective.Sub(b.p.Classes[i].Penalty.Mul(dec(c.Admitted)))
	}
	rented := cost.OnDemand.Add(cost.Spot.Decimal).Add(cost.Reserved.Decimal).Add(cost.ReservedIdle.Decimal)
	cost.Currency, cost.PeriodSeconds = b.p.Currency, b.p.PeriodSeconds
	cost.Bill.Decimal, cost.Total.Decimal = rented, rented.Add(cost.Penalties.Decimal)
	pl.Objective.Decimal = pl.Objective.Add(rented)
	cost.PerHour.Decimal = cost.Total.Mul(decimal.NewFromInt(3600)).Div(decimal.NewFromInt(b.p.PeriodSeconds))
	cost.PerMonth.Decimal = cost.PerHour.Mul(decimal.NewFromInt(730))
	pl.Proof = &capacity.Proof{Bound: pl.Objective, Method: "core", Checked: true}
	return pl
}

// part returns one type's VMs and classes, without penalties.
func (b *planner) part(jobs []float64, steady float64) capacity.Plan {
	full := b.fillCounts(jobs, steady)
	for i := range full.Classes {
		if k := b.kinds[i]; k.in.VMsPerJob == nil && full.Classes[i].Slots == nil {
			full.Classes[i].Slots = &capacity.Slots{}
		}
	}
	return full
}

// join puts a class's parts together.
func (b *fleetPlanner) join(i int, parts []capacity.Plan, named bool) capacity.ClassPlan {
	in := &b.p.Classes[i]
	c := capacity.ClassPlan{Name: in.Name, Refused: in.Jobs.Max}
	if in.VMsPerJob == nil {
		c.Slots = &capacity.Slots{}
	}
	possible := false
	for v := range parts {
		k, on := b.types[v].kinds[i], parts[v].Classes[i]
		if k.possible && !possible {
			possible, c.VMsPerJob = true, k.gamma
		}
		if on.Admitted == 0 {
			continue
		}
		if c.Admitted == 0 {
			c.VMsPerJob = 0
		}
		c.VMsPerJob += on.VMsPerJob * on.Admitted
		c.Admitted += on.Admitted
		c.VMs += on.VMs
		if on.Slots != nil {
			c.Slots.Map += on.Slots.Map
			c.Slots.Reduce += on.Slots.Reduce
		}
		if on.Time != nil && (c.Time == nil || on.Time.Average != nil && (c.Time.Average == nil || *on.Time.Average > *c.Time.Average)) {
			c.Time = on.Time
		}
		if named {
			c.Types = append(c.Types, capacity.ClassOnType{VMType: b.names[v], Admitted: on.Admitted, VMs: on.VMs, VMsPerJob: on.VMsPerJob, Slots: on.Slots, Time: on.Time})
		}
	}
	c.Refused -= c.Admitted
	if c.Admitted > 0 {
		c.VMsPerJob /= c.Admitted
	}
	switch {
	case !possible:
		c.Verdict = capacity.VerdictImpossible
	case c.Refused == 0:
		c.Verdict = capacity.VerdictFull
	case c.Admitted == 0:
		c.Verdict = capacity.VerdictNone
	case c.Admitted == in.Jobs.Min:
		c.Verdict = capacity.VerdictMinimum
	default:
		c.Verdict = capacity.VerdictPartial
	}
	return c
}

// Plans found by trying all mixes are accepted with everything proved, and their absence is confirmed.
func TestFleetsPlannedByTryingAllAreAccepted(t *testing.T) {
	accepted, none := 0, 0
	for trial := range long(300, 6000) {
		p := drawnFleet(rand.New(rand.NewPCG(3, uint64(trial))))
		if p.Options.Integrality == capacity.Relaxed || p.Validate() != nil {
			continue
		}
		for i := range p.Classes { // the planner gives every class map slots
			if d := p.Classes[i].Demand; d != nil && d.MapWorkSeconds == 0 {
				d.MapWorkSeconds = 1
			}
		}
		pl, found, done := newFleetPlanner(p).plan()
		if !done {
			continue
		}
		if !found {
			none++
			if r := Verify(p, capacity.Plan{Status: capacity.InfeasibleStatus}, Options{Brief: true}); outcomeOf(r, InfeasibilityCheck) != OK {
				t.Fatalf("trial %d: there is no plan, and the claim is %s\n%s\n%s", trial, r.Outcome, r, text(p))
			}
			continue
		}
		accepted++
		if r := Verify(p, pl, Options{Brief: true}); r.Outcome != OK {
			t.Fatalf("trial %d: got %s, want ok\n%s\n%s\n%s", trial, r.Outcome, r, text(p), text(pl))
		}
		pl.Status = capacity.InfeasibleStatus
		if r := Verify(p, pl, Options{Brief: true}); outcomeOf(r, InfeasibilityCheck) != Failed {
			t.Fatalf("trial %d: there is a plan, and the claim that there is none is accepted\n%s\n%s", trial, r, text(p))
		}
	}
	t.Logf("%d plans accepted, %d problems without one", accepted, none)
	if accepted < 100 || none < 5 {
		t.Errorf("%d plans accepted and %d problems without one say too little", accepted, none)
	}
}

// outcomeOf is the outcome of one check.
func outcomeOf(r Report, name string) Outcome {
	c, _ := r.Find(name)
	return c.Outcome
}
