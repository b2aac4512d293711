package plan

import (
	"math"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/words"
)

// plan writes the decision down.
func (d *fleetDecision) plan() capacity.Plan {
	pl := capacity.Plan{
		Warnings: append([]capacity.Warning{}, d.warnings...), Conflicts: []fault.Finding{},
		Classes: make([]capacity.ClassPlan, len(d.classes)),
	}
	own := make([]capacity.Plan, len(d.types)) // each type's part
	for v := range d.types {
		own[v] = d.types[v].priced(d.part(v))
	}
	var penalties, avoided money.Tally
	for i := range d.classes {
		c := &d.classes[i]
		pl.Classes[c.index] = d.class(i, own)
		penalties.Add(c.Penalty, c.Jobs.Max-pl.Classes[c.index].Admitted)
		avoided.Add(c.Penalty, pl.Classes[c.index].Admitted)
	}
	hourly := d.rentAll(&pl, own)
	pl.Cost, pl.Objective = d.cost(hourly, penalties.Value(), avoided.Value())
	pl.Proof = &capacity.Proof{Method: d.method, Engine: d.second.engine, Agreed: d.second.agreed}
	pl.Proof.Bound, pl.Proof.Gap = gapOf(&pl, d.gap)
	d.grade(&pl, d.cut)
	pl.Relaxed = d.relaxedSummary(d.relaxed)
	d.price(&pl)
	for v, layout := range d.layouts {
		for _, l := range layout {
			if d.named() {
				l.VMType = d.types[v].name
			}
			pl.Layout = append(pl.Layout, l)
		}
	}
	if pl.VMs.Spot > 0 {
		pl.Warnings = append(pl.Warnings, words.Interrupted(pl.VMs.Spot))
	}
	return pl
}

// named says that the plan tells VM types apart.
func (f *fleet) named() bool { return len(f.Supply.VMTypes) > 0 }

// part returns the part of a plan on one type, as a plan of that type alone.
func (d *fleetDecision) part(v int) answer {
	t := &d.types[v]
	a := newAnswer(len(t.classes), d.vms[v])
	for i := range t.classes {
		c, h := &t.classes[i], d.jobs[i][v]
		a.admitted[i] = h
		switch {
		case !c.slotted:
		case h == 0 || d.Options.Integrality != capacity.Executable:
			if h > 0 {
				a.giveSlots(i, c.realSlots(h))
			} else {
				a.giveSlots(i, capacity.Slots{})
			}
		default:
			mapSlots, redSlots := c.shape.whole(int64(h))
			a.giveSlots(i, capacity.Slots{Map: float64(mapSlots), Reduce: float64(redSlots)})
		}
		switch {
		case h == 0:
		case d.Options.Sharing == capacity.Dedicated && d.Options.Integrality != capacity.Relaxed:
			a.shares[i] = float64(t.loads.Units(i, int64(h)))
		case d.Options.Integrality == capacity.Executable && c.slotted:
			a.shares[i] = c.shape.size(a.slots[i].Map, a.slots[i].Reduce)
		default:
			a.shares[i] = c.gamma * h
		}
	}
	return a
}

// class puts a class's parts together.
func (d *fleetDecision) class(i int, own []capacity.Plan) capacity.ClassPlan {
	c := &d.classes[i]
	out := capacity.ClassPlan{Name: c.Name, Promise: c.PromiseOf()}
	slots := capacity.Slots{}
	for _, v := range d.on[i] {
		part := &own[v].Classes[c.index]
		if part.Admitted == 0 {
			continue
		}
		out.Admitted += part.Admitted
		out.VMs += part.VMs
		out.VMsPerJob += part.VMsPerJob * part.Admitted
		if part.Slots != nil {
			slots.Map += part.Slots.Map
			slots.Reduce += part.Slots.Reduce
		}
		if out.Time == nil || part.Time != nil && longer(part.Time.Average, out.Time.Average) {
			out.Time = part.Time
		}
		if d.named() {
			out.Types = append(out.Types, capacity.ClassOnType{
				VMType: d.types[v].name, Admitted: part.Admitted, VMs: part.VMs, VMsPerJob: part.VMsPerJob, Slots: part.Slots, Time: part.Time,
			})
		}
	}
	if out.Admitted > 0 {
		out.VMsPerJob /= out.Admitted
	} else if kind, _ := d.cheapestOn(i, d.relaxed.nu); kind >= 0 {
		out.VMsPerJob = d.types[kind].classes[i].gamma
	}
	if c.slotted {
		out.Slots = &slots
	}
	out.Refused = c.Jobs.Max - out.Admitted
	out.Verdict = verdict(c, out.Admitted)
	return out
}

func longer(a, b *float64) bool { return a != nil && (b == nil || *a > *b) }

// rentAll fills in the VMs and answers what they cost per hour.
func (d *fleetDecision) rentAll(pl *capacity.Plan, own []capacity.Plan) (hourly hourlyCost) {
	pl.VMs.Contracts = []capacity.ContractUse{}
	for v := range d.types {
		t := &d.types[v]
		rented := t.rented(d.vms[v], d.Options.Integrality != capacity.Relaxed)
		hourly = hourly.add(t.hourly(rented))
		for _, c := range rented.Contracts {
			if d.named() {
				c.VMType = t.name
			}
			pl.VMs.Contracts = append(pl.VMs.Contracts, c)
		}
		rounding := own[v].VMs.Rounding
		pl.VMs.Total += rented.Total
		pl.VMs.Reserved += rented.Reserved
		pl.VMs.OnDemand += rented.OnDemand
		pl.VMs.Spot += rented.Spot
		pl.VMs.Rounding += rounding
		if d.named() {
			pl.VMs.Types = append(pl.VMs.Types, capacity.TypeVMs{
				Name: t.name, Total: rented.Total, Reserved: rented.Reserved, OnDemand: rented.OnDemand, Spot: rented.Spot, Rounding: rounding,
			})
		}
	}
	return hourly
}

// rented splits a number of VMs of the type into contracts, on-demand and spot VMs.
func (t *vmType) rented(n float64, whole bool) capacity.VMs {
	spot := 0.0
	switch {
	case t.rental.Spot == nil:
	case whole:
		spot = float64(t.rental.SpotOf(int64(n)))
	default:
		_, cheap := t.rental.Supply.Below(t.rental.Spot.Price)
		spot = min(t.rental.Spot.Share*n, max(0, n-float64(cheap), n-float64(t.rental.Supply.Most())))
	}
	v := t.vms(n - spot)
	v.Total, v.Spot = n, spot
	return v
}

// alikePrices is by which share prices of types may differ through rounding alone.
const alikePrices = 1e-7

// price fills in prices, break-even penalties, flips and reasons, from the linear program.
func (d *fleetDecision) price(pl *capacity.Plan) {
	r := d.relaxed
	prices := &capacity.Prices{Contracts: []capacity.ContractWorth{}}
	least := 0 // the type with the lowest price; the first of several
	for v := range d.types {
		t := &d.types[v]
		p := capacity.CapacityPrice{Low: money.Round(r.nuLow[v]), High: money.Finite(r.nuHigh[v])}
		if v == 0 || r.nuLow[v] < r.nuLow[least]*(1-alikePrices) {
			prices.Capacity, least = p, v
		}
		if d.named() {
			prices.Types = append(prices.Types, capacity.TypePrice{Name: t.name, CapacityPrice: p})
		}
		for _, c := range t.Supply.Contracts {
			nu, mu, paid, price := r.nuLow[v], r.mu, true, c.Price.Float()*d.hours
			if !math.IsInf(d.budget, 1) {
				nu, mu, paid = d.prepaid(r, v, price)
			}
			worth := t.rental.Steady(nu, mu) - price*(1+mu)
			if c.Billing != capacity.BilledAlways { // one that is not used costs nothing
				worth = max(0, worth)
				if !paid {
					worth = 0
				}
			}
			prices.Contracts = append(prices.Contracts, capacity.ContractWorth{Name: c.Name, Worth: money.Round(worth)})
		}
	}
	if !math.IsInf(d.budget, 1) {
		prices.Budget = money.Finite(r.budgetWorth)
	}
	pl.Prices = prices
	places := make([]words.Where, len(d.classes))
	for i := range d.classes {
		c := &d.classes[i]
		places[c.index] = d.whereOf(i)
		out := &pl.Classes[c.index]
		kind, more := d.cheapestOn(i, r.nuHigh)
		_, less := d.cheapestOn(i, r.nuLow)
		if kind >= 0 && !c.impossible {
			out.BreakEvenPenalty = money.Finite(more)
			switch jobs := d.total(r.jobs[i]); {
			case c.high <= c.low:
			case jobs >= c.high:
				out.Flips.Penalty = money.Finite(less)
			case jobs <= c.low:
				out.Flips.Penalty = money.Finite(more)
			}
		}
		if d.Options.Integrality != capacity.Relaxed && !c.impossible {
			besideRelaxed(out, more, less)
		}
		if d.beside != nil {
			d.beside.tell(i, out)
		}
	}
	if d.beside != nil {
		pl.Stays = d.beside.plan
	}
	said, facts := words.InFleet(d.Problem, pl, func(class int) words.Where { return places[class] })
	for i := range said {
		pl.Classes[i].Reason = said[i]
	}
	pl.Facts = facts
}

func (d *fleetDecision) total(jobs []float64) (sum float64) {
	for _, h := range jobs {
		sum += h
	}
	return sum
}

// whereOf tells on which types the class runs: what a job costs there and on the next best type.
func (d *fleetDecision) whereOf(i int) (where words.Where) {
	if d.Options.Integrality != capacity.Relaxed || !d.named() || len(d.on[i]) < 2 || d.total(d.jobs[i]) == 0 {
		return where
	}
	cost := func(v int, nu []float64) float64 { return nu[v] * d.types[v].classes[i].gamma }
	least := math.Inf(1)
	for _, v := range d.on[i] {
		if d.jobs[i][v] > 0 {
			where.Here = append(where.Here, words.JobOn{VMType: d.types[v].name, Amount: words.Cents(cost(v, d.relaxed.nu))})
		} else if x := cost(v, d.relaxed.nuHigh); x < least { // one more VM there
			least, where.Other = x, &words.JobOn{VMType: d.types[v].name, Amount: words.Cents(x)}
		}
	}
	return where
}
