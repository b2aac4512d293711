package recheck

import (
	"math/big"
	"slices"
	"strings"

	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/core/words"
)

// limitsNamed checks that the quota and the contracts that are used up are named where that is certain, and that the linear program
// says what a VM is worth.
func (c *checking) limitsNamed(p *capacity.Problem, vms *plan.RentedVMs, facts []capacity.Fact, place string) {
	c.quotaNamed(p, vms.OnDemand, facts, place)
	if p.Options.Integrality != capacity.Relaxed || len(p.Supply.VMTypes) > 0 {
		return
	}
	named := map[string]int{} // by kind, or contract
	for i := range facts {
		f := &facts[i]
		subject, here := strings.CutSuffix(" "+f.Subject, place)
		if !here {
			continue
		}
		switch f.Kind {
		case "vm_price", "vm_worth", "no_more_vms":
			named["price"]++
		case "contract_that_binds":
			named["contract "+strings.TrimPrefix(subject, " ")]++
		}
	}
	if named["price"] != 1 {
		c.wrong("/facts", "say %d times what a VM is worth%s, and each such plan says it once", named["price"], place)
	}
	for _, k := range usedUp(p, vms) {
		if named["contract "+k] != 1 {
			c.wrong("/facts", "do not say once that contract %q is used up%s", k, place)
		}
	}
}

// usedUp are the contracts that are used up beside dearer VMs, of one kind of VM without spot and a budget. Of others it is not certain.
func usedUp(p *capacity.Problem, vms *plan.RentedVMs) (names []string) {
	if p.Supply.Spot != nil || p.Budget != nil {
		return nil
	}
	dearest := new(big.Rat) // that is rented
	if vms.OnDemand > 1e-6 {
		dearest = p.Supply.OnDemand.Price.Rat()
	}
	contracts := slices.Clone(p.Supply.Contracts)
	slices.SortStableFunc(contracts, func(x, y capacity.Contract) int { return marginal(x).Cmp(marginal(y)) })
	left := vms.Reserved
	for _, k := range contracts {
		if left > 1e-6 && marginal(k).Cmp(dearest) > 0 {
			dearest = marginal(k)
		}
		left -= float64(k.VMs)
	}
	for _, k := range contracts {
		if k.VMs > 0 && sub(dearest, k.Price.Rat()).Cmp(big.NewRat(1, 1e6)) > 0 {
			names = append(names, k.Name)
		}
	}
	return names
}

// quotaNamed checks that an answer names the quota on demand once where it is used up, and nowhere else. Of several VM types none is
// named. place follows the subject of facts about one point of several.
func (c *checking) quotaNamed(p *capacity.Problem, onDemand float64, facts []capacity.Fact, place string) {
	quota := p.Supply.OnDemand.Quota
	named := 0
	for i := range facts {
		f := &facts[i]
		if f.Kind != words.QuotaBinds || f.Subject != "on_demand"+place {
			continue
		}
		named++
		if said := parsed(words.FigureOf(f, "quota")); quota == nil || said == nil || said.Cmp(whole(*quota)) != 0 {
			c.wrong("/facts", "tell of a quota of %.20q VMs%s, which is not there", words.FigureOf(f, "quota"), place)
			return
		}
	}
	used := quota != nil && *quota > 0 && len(p.Supply.VMTypes) == 0 && onDemand >= float64(*quota)-1e-9
	switch {
	case used && named == 0:
		c.wrong("/facts", "do not say that the quota of %d VMs on demand is used up%s", *quota, place)
	case named > 1 || named > 0 && !used:
		c.wrong("/facts", "say %d times that the quota on demand is used up%s, and %v VMs on demand are rented", named, place, onDemand)
	}
}

// limitsAtEnds checks which limits are named at the first and the last point of a sweep.
func (c *checking) limitsAtEnds(q *whatif.SweepQuestion, a *whatif.SweepAnswer, numbers [][]*big.Rat) {
	var last string
	for end := range 2 {
		place := " at "
		ends, changes := make([]float64, len(numbers)), make([]whatif.ScenarioChange, len(numbers))
		for k, of := range numbers {
			x := of[end*(len(of)-1)]
			if ends[k], changes[k] = float(x), varied(&q.Vary[k], x); k > 0 {
				place += ", "
			}
			place += named(&q.Vary[k]) + " " + money.Round(ends[k]).Decimal.String()
		}
		if place == last {
			return
		}
		last = place
		there, possible := changed(q.Problem, changes)
		for i := range a.Points {
			p := &a.Points[i]
			same := len(p.Parameters) == len(ends) && possible && p.Status != capacity.InfeasibleStatus
			for k := range ends {
				same = same && proof.Alike(p.Parameters[k], ends[k])
			}
			if same {
				c.limitsNamed(&there, &p.VMs, a.Facts, place)
			}
		}
	}
}

// named is a parameter of a sweep as its facts name it.
func named(v *whatif.Vary) string {
	name := string(v.What)
	for _, of := range []string{v.VMType, v.Contract, v.Class} {
		if of != "" {
			name += " " + of
		}
	}
	if v.Purchase == capacity.PurchaseSpot {
		name += " spot"
	}
	if v.By != whatif.ByValue {
		name += " factor"
	}
	return name
}
