package proof

import (
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof/exact"
)

// capacity checks that the classes' needs fit the rented VMs.
func (m *model) capacity(pl capacity.Plan, a answer) []string {
	var f faults
	need, slack, shares := zero(), zero(), zero()
	if !m.dedicated {
		slack = add(slack, m.spare(-1))
	}
	for i, x := range a {
		if m.dedicated {
			need.Add(need, m.roundUp(i, x))
		} else {
			need.Add(need, x.need)
			slack.Add(slack, x.noise)
		}
		shares.Add(shares, number(pl.Classes[i].VMs))
	}
	total := number(pl.VMs.Total)
	if m.integrality == capacity.Relaxed {
		slack = add(slack, mul(relative, add(whole(1), need)))
	}
	slack = add(slack, m.hair)
	if less(add(total, slack), need) {
		f.addf("The classes need %s VMs and %v are rented.", moreThan(need, total), pl.VMs.Total)
	}
	rounding := number(pl.VMs.Rounding)
	if !near(rounding, sub(total, shares), add(whole(1), add(total, shares))) {
		f.addf("Rounding is the %v VMs rented minus the classes' %s, not %v.", pl.VMs.Total, short(shares), pl.VMs.Rounding)
	}
	return f
}

// rental checks the sources of the VMs.
func (m *model) rental(pl capacity.Plan) []string {
	var f faults
	slack := zero()
	if m.integrality == capacity.Relaxed {
		slack = mul(relative, add(whole(1), abs(number(pl.VMs.Total))))
	}
	taken := func(name string, vms float64) *exact.Rat {
		x := number(vms)
		if x.Sign() < 0 || m.integrality != capacity.Relaxed && !x.IsInt() {
			f.addf("%v VMs cannot be rented from %s.", vms, name)
		}
		return x
	}
	contracts := m.problem.Supply.Contracts
	if len(pl.VMs.Contracts) != len(contracts) {
		f.addf("The problem has %s, the plan %d.", count(len(contracts), "contract", "contracts"), len(pl.VMs.Contracts))
		return f
	}
	used := make(map[string]*exact.Rat, len(contracts))
	reserved := zero()
	for k, u := range pl.VMs.Contracts {
		if u.Name != contracts[k].Name {
			f.addf("In place %d stands contract %s, not %s.", k, u.Name, contracts[k].Name)
		}
		if used[u.Name] != nil {
			f.addf("Contract %s stands there twice.", u.Name)
		}
		used[u.Name] = taken("contract "+u.Name, u.Used)
		reserved.Add(reserved, used[u.Name])
	}
	order := make([]*exact.Rat, 0, len(m.supply)) // in the order of m.supply, cheapest first
	for _, s := range m.supply {
		if s.contract < 0 {
			order = append(order, taken("on-demand", pl.VMs.OnDemand))
			continue
		}
		c := contracts[s.contract]
		if used[c.Name] == nil {
			f.addf("Contract %s is missing.", c.Name)
			return f
		}
		order = append(order, used[c.Name])
	}
	for _, u := range pl.VMs.Contracts {
		for _, c := range contracts {
			if c.Name == u.Name && number(u.VMs).Cmp(whole(c.VMs)) != 0 {
				f.addf("Contract %s has %d VMs, not %v.", c.Name, c.VMs, u.VMs)
			}
		}
	}
	room := -1 // the first source with room
	for k, s := range m.supply {
		if !s.unlimited && less(add(s.vms, slack), order[k]) {
			f.addf("%s VMs are taken from %s, which has %s.", short(order[k]), m.sourceName(s), short(s.vms))
		}
		if room >= 0 && slack.Cmp(order[k]) < 0 && less(m.supply[room].price, s.price) {
			f.addf("%s has room while VMs are taken from %s, which is dearer.", m.sourceName(m.supply[room]), m.sourceName(s))
		}
		if room < 0 && (s.unlimited || less(order[k], sub(s.vms, slack))) {
			room = k
		}
	}
	total, stated := taken("everywhere", pl.VMs.Total), number(pl.VMs.Reserved)
	if abs(sub(stated, reserved)).Cmp(slack) > 0 {
		f.addf("The contracts add up to %s reserved VMs, not %v.", short(reserved), pl.VMs.Reserved)
	}
	if abs(sub(total, add(reserved, number(pl.VMs.OnDemand)))).Cmp(slack) > 0 {
		f.addf("%v VMs are not the %s reserved and %v on demand together.", pl.VMs.Total, short(reserved), pl.VMs.OnDemand)
	}
	return f
}

func (m *model) sourceName(s source) string {
	if s.contract < 0 {
		return "on-demand"
	}
	return "contract " + m.problem.Supply.Contracts[s.contract].Name
}

// rent returns the cost of the cheapest n VMs a period, including contracts billed always; false if there are not
// that many.
func (m *model) rent(n *exact.Rat) (*exact.Rat, bool) {
	cost, left := new(exact.Rat).Set(m.fixed), new(exact.Rat).Set(n)
	for _, s := range m.supply {
		if left.Sign() <= 0 {
			break
		}
		take := left
		if !s.unlimited {
			take = smaller(left, s.vms)
		}
		cost.Add(cost, mul(take, s.price))
		left = sub(left, take)
	}
	return cost, left.Sign() <= 0
}

// existing returns the number of VMs; false if it is unlimited.
func (m *model) existing() (*exact.Rat, bool) {
	sum := zero()
	for _, s := range m.supply {
		if s.unlimited {
			return nil, false
		}
		sum.Add(sum, s.vms)
	}
	return sum, true
}
