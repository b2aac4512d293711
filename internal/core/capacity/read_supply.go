package capacity

import "fmt"

var (
	supplyShape   = newShape("the supply", nil, "contracts", "on_demand", "spot", "vm_types")
	vmTypeShape   = newShape("a VM type", []string{"name", "on_demand"}, "contracts", "spot")
	contractShape = newShape("a contract", []string{"name", "vms", "price"}, "billing")
	onDemandShape = newShape("on-demand supply", []string{"price"}, "quota")
	spotShape     = newShape("spot supply", []string{"price", "max_share"})
	budgetShape   = newShape("the budget", nil, "vm_cost", "total")
)

// supply reads either form: one kind of VM, or vm_types and then nothing else.
func (r *reader) supply(s *Supply, limits Limits) {
	isObject := r.space() == '{'
	had := r.object(supplyShape, func(name string) {
		switch name {
		case "contracts":
			s.Contracts = list(r, "of contracts", limits.Contracts, r.contract)
		case "on_demand":
			r.onDemand(&s.OnDemand)
		case "spot":
			s.Spot = new(Spot)
			r.spot(s.Spot)
		case "vm_types":
			r.vmTypes(s, limits)
		}
	})
	switch {
	case !isObject:
	case had.has(supplyShape, "vm_types"):
		for _, name := range [...]string{"contracts", "on_demand", "spot"} {
			if had.has(supplyShape, name) {
				r.enter(name)
				r.found("not_here", besideTypes(name), nil)
				r.leave()
			}
		}
	case !had.has(supplyShape, "on_demand"):
		r.missing("on_demand", "the supply")
	}
}

// besideTypes is the sentence about a member of the supply that belongs into its types.
func besideTypes(name string) string {
	return fmt.Sprintf("With \"vm_types\" every type has its own %q; move this one into the type it is for.", name)
}

func (r *reader) vmTypes(s *Supply, limits Limits) {
	isArray := r.space() == '['
	s.VMTypes = list(r, "of VM types", limits.VMTypes, func(t *VMTypeSupply) { r.vmType(t, limits) })
	if isArray && len(s.VMTypes) == 0 {
		r.found("missing", "There is no VM type; give at least one.", nil)
	}
	contracts := 0
	for _, t := range s.VMTypes {
		contracts += len(t.Contracts)
	}
	r.tooMany("contracts", contracts, limits.Contracts)
}

func (r *reader) vmType(t *VMTypeSupply, limits Limits) {
	r.object(vmTypeShape, func(name string) {
		switch name {
		case "name":
			t.Name, _ = r.text()
		case "contracts":
			t.Contracts = list(r, "of contracts", limits.Contracts, r.contract)
		case "on_demand":
			r.onDemand(&t.OnDemand)
		case "spot":
			t.Spot = new(Spot)
			r.spot(t.Spot)
		}
	})
}

func (r *reader) contract(c *Contract) {
	c.Billing = BilledUsed
	r.object(contractShape, func(name string) { r.contractMember(name, c) })
}

func (r *reader) contractMember(name string, c *Contract) {
	switch name {
	case "name":
		c.Name, _ = r.text()
	case "vms":
		r.whole(&c.VMs)
	case "price":
		r.money(&c.Price)
	case "billing":
		word(r, &c.Billing, billings)
	}
}

func (r *reader) onDemand(o *OnDemand) {
	r.object(onDemandShape, func(name string) {
		switch name {
		case "price":
			r.money(&o.Price)
		case "quota":
			if r.sees("null") { // unlimited
				r.skip()
				return
			}
			o.Quota = new(int64)
			r.whole(o.Quota)
		}
	})
}

func (r *reader) spot(s *Spot) {
	r.object(spotShape, func(name string) {
		if name == "price" {
			r.money(&s.Price)
		} else {
			r.float(&s.MaxShare)
		}
	})
}

func (r *reader) budget(b *Budget) {
	r.object(budgetShape, func(name string) {
		if r.sees("null") { // unlimited
			r.skip()
			return
		}
		amount := new(Money)
		r.money(amount)
		if name == "vm_cost" {
			b.VMCost = amount
		} else {
			b.Total = amount
		}
	})
}

// slotsPerVM reads either form: slots, or slots by type.
func (r *reader) slotsPerVM(s *SlotsPerVM) {
	if r.holdsObjects() {
		s.ByType = named(r, "of slots per VM by VM type", "VM type", MaxVMTypes, r.slotsOnVM)
		return
	}
	r.slotsOnVM(s)
}

func (r *reader) slotsOnVM(s *SlotsPerVM) {
	r.object(slotsShape, func(name string) {
		if name == "map" {
			r.whole(&s.Map)
		} else {
			r.whole(&s.Reduce)
		}
	})
}

// holdsObjects looks ahead whether the value is an object whose first member is one.
func (r *reader) holdsObjects() bool {
	ahead := reader{data: r.data, at: r.at}
	if ahead.space() != '{' {
		return false
	}
	ahead.at++
	if ahead.space() != '"' {
		return false
	}
	for ahead.at++; ahead.at < len(r.data) && r.data[ahead.at] != '"'; ahead.at++ {
		if r.data[ahead.at] == '\\' {
			ahead.at++
		}
	}
	ahead.at++ // the closing quote; a text that is cut off here has no more
	if ahead.space() != ':' {
		return false
	}
	ahead.at++
	return ahead.space() == '{'
}

// UnmarshalJSON reads either form, strictly.
func (s *SlotsPerVM) UnmarshalJSON(text []byte) error {
	r := &reader{data: text}
	*s = SlotsPerVM{}
	r.slotsPerVM(s)
	return r.result(func(*checker) {})
}
