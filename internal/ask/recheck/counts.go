package recheck

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof"
)

// settled is a situation's plan as the answer states it, and its exact rates.
type settled struct {
	row       *horizon.PeriodAnswer
	seconds   int64 // of the row
	classes   []horizon.ClassShare
	none      bool
	onDemand  *big.Rat   // per hour; nil where the answer does not say of which type
	spot      *big.Rat   // likewise
	used      []*big.Rat // per hour by contract, in force or not
	idle      []*big.Rat
	penalties []*big.Rat // per period of the problem by class; nil where the answer does not say
	cost      *big.Rat   // per period, all together
	off       *big.Rat   // of cost
	gap       *big.Rat   // per period
	yardstick *big.Rat
}

// settle reads the plan of each situation, and checks its counts; nil where rows and situations do not fit the horizon.
func (c *checking) settle(at string, k *calendar, a horizon.Answer) []settled {
	last := k.cells[len(k.cells)-1]
	cases := 0
	for _, x := range k.cells {
		cases = max(cases, x.situation+1)
	}
	if len(a.Periods) != last.row+1 {
		c.wrong(at+"/periods", "are %d, and the periods and contracts make %d", len(a.Periods), last.row+1)
		return nil
	}
	if detailed := a.Detail == horizon.DetailClasses; detailed && len(a.Situations) != cases || !detailed && len(a.Situations) > 0 {
		c.wrong(at+"/situations", "are %d, and there are %d", len(a.Situations), cases)
		return nil
	}
	plans := make([]settled, cases)
	lengths := k.lengths()
	for i, x := range k.cells {
		if i > 0 && k.cells[i-1].row == x.row {
			continue
		}
		row, where := &a.Periods[x.row], fmt.Sprintf("%s/periods/%d", at, x.row)
		if row.Situation != x.situation {
			c.wrong(where+"/situation", "is %d, and %d follows from the question", row.Situation, x.situation)
			return nil
		}
		if len(row.Used) != len(k.contracts) {
			c.wrong(where+"/used", "has %d contracts, and there are %d", len(row.Used), len(k.contracts))
			return nil
		}
		s := &plans[x.situation]
		if f := s.row; f != nil {
			if f.Status != row.Status || f.VMs != row.VMs || !slices.Equal(f.Used, row.Used) || f.Admitted != row.Admitted ||
				f.Refused != row.Refused || f.Gap != row.Gap || f.Conflict != row.Conflict {
				c.wrong(where, "is planned otherwise than other times of the same situation")
			}
		}
		if s.row != nil && s.seconds >= lengths[x.row] {
			continue
		}
		*s = settled{row: row, seconds: lengths[x.row]} // the longest, whose amounts are the most exact
		var types []capacity.TypeVMs
		if a.Detail == horizon.DetailClasses {
			s.classes, types = a.Situations[x.situation].Classes, a.Situations[x.situation].Types
		}
		if !c.rates(where, k, &k.cases[x.situation], s, types, a.Detail == horizon.DetailClasses) {
			return nil
		}
	}
	return plans
}

// lengths are the seconds of the rows.
func (k *calendar) lengths() []int64 {
	all := make([]int64, k.rows)
	for _, x := range k.cells {
		all[x.row] += x.seconds
	}
	return all
}

// rates checks the counts of a plan and prices them.
func (c *checking) rates(at string, k *calendar, x *situation, s *settled, types []capacity.TypeVMs, detailed bool) bool {
	p, row := &x.problem, s.row
	n := len(k.contracts)
	s.none = row.Status == capacity.InfeasibleStatus
	s.used, s.idle = make([]*big.Rat, n), make([]*big.Rat, n)
	if s.none {
		figures := append(slices.Clone(row.Used), row.VMs.Total, row.VMs.Reserved, row.VMs.OnDemand, row.VMs.Spot, row.Admitted, row.Refused, row.Gap)
		if slices.ContainsFunc(figures, func(x float64) bool { return x != 0 }) || len(s.classes)+len(types) > 0 {
			c.wrong(at, "has no plan, and figures of one")
		}
		if row.Conflict == "" {
			c.wrong(at+"/conflict", "is missing where there is no plan")
		} else if !x.unpromised {
			c.conflict(at, p, row.Conflict)
		}
		return true
	}
	if row.Conflict != "" || row.Status != capacity.Optimal && row.Status != capacity.Feasible {
		c.wrong(at+"/status", "is %q, and the conflict %q", row.Status, row.Conflict)
	}
	supply := p.Supply.Types()
	if len(p.Supply.VMTypes) == 0 {
		types = []capacity.TypeVMs{{Total: row.VMs.Total, Reserved: row.VMs.Reserved, OnDemand: row.VMs.OnDemand, Spot: row.VMs.Spot}}
	} else if detailed && len(types) != len(supply) {
		c.wrong(at, "has %d types of VMs, and there are %d", len(types), len(supply))
		return false
	}
	if v := &row.VMs; min(v.Reserved, v.OnDemand, v.Spot) < 0 || !proof.Alike(v.Reserved+v.OnDemand+v.Spot, v.Total) {
		c.wrong(at+"/vms", "are not the sum of those that are reserved, on demand and spot")
	}
	hours := big.NewRat(p.PeriodSeconds, 3600)
	if detailed || len(p.Supply.VMTypes) == 0 {
		s.onDemand, s.spot = new(big.Rat), new(big.Rat)
		sum := capacity.TypeVMs{}
		for v, t := range types {
			c.rented(at, k, x, &supply[v], &t, row.Used)
			s.onDemand.Add(s.onDemand, mul(supply[v].OnDemand.Price.Rat(), number(t.OnDemand)))
			if supply[v].Spot != nil {
				s.spot.Add(s.spot, mul(supply[v].Spot.Price.Rat(), number(t.Spot)))
			}
			sum.Total, sum.Reserved, sum.OnDemand, sum.Spot = sum.Total+t.Total, sum.Reserved+t.Reserved, sum.OnDemand+t.OnDemand, sum.Spot+t.Spot
		}
		v := &row.VMs
		if !proof.Alike(sum.Total, v.Total) || !proof.Alike(sum.Reserved, v.Reserved) || !proof.Alike(sum.OnDemand, v.OnDemand) || !proof.Alike(sum.Spot, v.Spot) {
			c.wrong(at+"/vms", "are not the sums of the VM types'")
		}
	}
	for v := range types {
		shares := 0.0
		for i := range s.classes {
			if v < len(s.classes[i].VMs) {
				shares += s.classes[i].VMs[v]
			}
		}
		if shares > types[v].Total*(1+1e-9)+1e-6 {
			c.wrong(at, "has %v VMs of type %q, and its classes %v", types[v].Total, types[v].Name, shares)
		}
	}
	for i, signed := range k.contracts {
		s.used[i], s.idle[i] = new(big.Rat), new(big.Rat)
		if used := number(row.Used[i]); x.inForce[i] {
			if s.used[i] = mul(signed.Price.Rat(), used); signed.Billing == capacity.BilledAlways {
				s.idle[i] = mul(signed.Price.Rat(), sub(whole(signed.VMs), used))
			}
		} else if row.Used[i] != 0 {
			c.wrong(fmt.Sprintf("%s/used/%d", at, i), "is %v of a contract that is not in force", row.Used[i])
		}
	}
	return c.served(at, p, s, detailed, hours)
}

// rented checks the VMs of one type.
func (c *checking) rented(at string, k *calendar, x *situation, of *capacity.VMTypeSupply, t *capacity.TypeVMs, used []float64) {
	reserved := 0.0
	for i, s := range k.contracts {
		if s.vmType != of.Name {
			continue
		}
		reserved += used[i]
		if used[i] < 0 || used[i] > float64(s.VMs)*(1+1e-9) {
			c.wrong(fmt.Sprintf("%s/used/%d", at, i), "is %v of %d VMs", used[i], s.VMs)
		}
	}
	q := of.OnDemand.Quota
	switch whole := x.problem.Options.Integrality != capacity.Relaxed; {
	case !proof.Alike(reserved, t.Reserved) || !proof.Alike(t.Reserved+t.OnDemand+t.Spot, t.Total) || t.Name != of.Name:
		c.wrong(at+"/vms", "do not add up, of type %q", of.Name)
	case t.OnDemand < 0 || q != nil && t.OnDemand > float64(*q)*(1+1e-9) || t.Spot < 0 || of.Spot == nil && t.Spot > 0 ||
		of.Spot != nil && t.Spot > of.Spot.MaxShare*t.Total*(1+1e-9)+1e-9:
		c.wrong(at+"/vms", "are more than there are: %v on demand and %v as spot", t.OnDemand, t.Spot)
	case whole && (t.OnDemand != math.Trunc(t.OnDemand) || t.Spot != math.Trunc(t.Spot) || reserved != math.Trunc(reserved)):
		c.wrong(at+"/vms", "are not whole")
	}
}

// served checks the jobs of a plan, and adds its cost up.
func (c *checking) served(at string, p *capacity.Problem, s *settled, detailed bool, hours *big.Rat) bool {
	row, most, refusing := s.row, new(big.Rat), new(big.Rat)
	for i := range p.Classes {
		jobs := number(p.Classes[i].Jobs.Max)
		most.Add(most, jobs)
		refusing.Add(refusing, mul(jobs, p.Classes[i].Penalty.Rat()))
	}
	if all := row.Admitted + row.Refused; !proof.Alike(all, float(most)) || row.Admitted < 0 || row.Refused < -1e-9 {
		c.wrong(at, "has %v admitted and %v refused jobs, and %s are asked for", row.Admitted, row.Refused, trimmed(most))
	}
	penalties := new(big.Rat)
	s.off = new(big.Rat)
	if !detailed {
		part := big.NewRat(p.PeriodSeconds, s.seconds)
		penalties = mul(row.Cost.Penalties.Rat(), part)
		s.off = mul(big.NewRat(s.seconds/86_400+2, 1e9), part)
	} else if len(s.classes) != len(p.Classes) {
		c.wrong(at, "has shares of %d classes, and there are %d", len(s.classes), len(p.Classes))
		return false
	} else {
		admitted, refused, shares := 0.0, 0.0, 0.0
		for i, x := range s.classes {
			jobs := &p.Classes[i].Jobs
			few := x.Admitted < jobs.Min-1e-9*(1+jobs.Min) || x.Refused < -1e-9
			if few || !proof.Alike(x.Admitted+x.Refused, jobs.Max) || len(x.VMs) != len(p.Supply.Types()) {
				c.wrong(at, "has %v admitted and %v refused jobs of %s", x.Admitted, x.Refused, p.Classes[i].Name)
				return false
			}
			s.penalties = append(s.penalties, mul(number(x.Refused), p.Classes[i].Penalty.Rat()))
			penalties.Add(penalties, s.penalties[i])
			admitted, refused = admitted+x.Admitted, refused+x.Refused
			for _, vms := range x.VMs {
				shares += vms
			}
		}
		if !proof.Alike(admitted, row.Admitted) || !proof.Alike(refused, row.Refused) || shares > row.VMs.Total*(1+1e-9)+1e-6 {
			c.wrong(at, "has %v admitted and %v refused jobs on %v VMs, and its classes %v and %v on %v",
				row.Admitted, row.Refused, row.VMs.Total, admitted, refused, shares)
		}
	}
	rate := new(big.Rat)
	if s.onDemand != nil {
		rate.Add(s.onDemand, s.spot)
	} else { // several types, and nothing says which
		rate = quo(add(row.Cost.OnDemand.Rat(), row.Cost.Spot.Rat()), big.NewRat(s.seconds, 3600))
		s.off.Add(s.off, mul(big.NewRat(2*(s.seconds/86_400+2), 1e9), big.NewRat(p.PeriodSeconds, s.seconds)))
	}
	for i := range s.used {
		rate.Add(rate, add(s.used[i], s.idle[i]))
	}
	s.cost = add(mul(rate, hours), penalties)
	s.yardstick, s.gap = spread(row.Gap, s.cost, refusing, mul(rate, hours))
	c.allowed(at, p, row.Status, row.Gap, s.gap, s.yardstick)
	return true
}

// allowed checks that a plan which is called optimal has no larger gap than its problem allows.
func (c *checking) allowed(at string, p *capacity.Problem, status capacity.Status, gap float64, amount, yardstick *big.Rat) {
	most := add(big.NewRat(2, 1e8), mul(add(number(p.Options.Gap), big.NewRat(1, 1e9)), yardstick))
	if gap < 0 || status == capacity.Optimal && (amount.Cmp(most) > 0 || gap > p.Options.Gap+1e-6) || status == capacity.Feasible && gap <= p.Options.Gap {
		c.wrong(at+"/gap", "is %v, and the plan is called %s", gap, status)
	}
}

// spread is the amount that a relative gap stands for, and what it is a share of: the objective, or the whole cost where
// that is less, or the VMs' where both are nothing.
func spread(gap float64, cost, refusing, vms *big.Rat) (yardstick, amount *big.Rat) {
	yardstick = least(abs(sub(cost, refusing)), cost)
	if cents(yardstick).Sign() == 0 {
		yardstick = vms
	}
	return yardstick, mul(number(gap), yardstick)
}

func float(x *big.Rat) float64 { f, _ := x.Float64(); return f }
