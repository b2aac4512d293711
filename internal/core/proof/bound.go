package proof

import (
	"math"
	"math/big"
	"slices"

	"example.org/headroom/internal/core/proof/exact"
)

// choices is the whole-numbered problem for a search: each class takes exactly one of its options, and the VMs for
// their weights are rented cheapest first. Weights are in units of a VM, and money in units fine enough to fit 64
// bits. Numbers that do not fit exactly are rounded so that every cost found is a lower bound.
type choices struct {
	unit     int64      // weight of one VM
	spare    int64      // weight that needs no VM
	scale    *exact.Rat // money units in one unit of currency
	classes  []choice
	steps    []step
	nu       *exact.Rat // price of one weight unit, in money units shifted by fraction bits
	bound    *exact.Rat // no selection costs less, in currency; without fixed costs
	rootCost int64      // bound in money units, rounded down
}

// choice holds one class's options.
type choice struct {
	class   int
	options []option
}

// option is a number of jobs.
type option struct {
	jobs      int64
	low, high *exact.Rat // VMs, at least and at most
	slots     slotting
	weight    int64 // low, in units
	cost      int64 // minus the penalties avoided
	regret    int64 // cost with VMs at nu, above the class's smallest
}

// step is a source of VMs in units.
type step struct {
	vms       int64 // math.MaxInt64: unlimited
	price     int64
	exact     *exact.Rat
	unlimited bool
}

const (
	fraction  = 80      // binary places of nu
	maxWeight = 1 << 61 // of all classes together
	maxMoney  = 1 << 57 // of all amounts together
	maxUnit   = 1e12    // finest unit of a VM that is tried
	coarse    = 1e9     // unit if no finer one is exact
	maxChoice = 60_000  // largest number of options; beyond it the linear bound must do
	noEnd     = 1 << 62 // VMs of an unlimited source
	keepGoing = 200     // complete selections tried before a better plan is given up
	bisection = 60      // steps towards the best nu
)

// choices lists the options that a plan better than threshold can use. A deviation from the linear program's jobs at
// their bounds has a known price, and better plans cannot pay more than threshold minus the linear bound. It returns
// nil and the reason if there are too many.
func (m *model) choices(lp relaxed, threshold *exact.Rat) (*choices, string) {
	s := &choices{}
	budget := sub(threshold, lp.objective)
	options := int64(0)
	for i := range m.classes {
		m.rest()
		c := m.classes[i]
		from, _ := c.min.Int64()
		to, _ := c.max.Int64()
		if c.impossible {
			to = 0
		}
		gain := sub(c.penalty, mul(lp.low, c.low))
		if loss := abs(gain); less(budget, mul(loss, whole(to-from))) {
			steps := int64(0)
			if !less(budget, loss) {
				steps = quo(budget, loss).Floor().Int64()
			}
			if gain.Sign() > 0 {
				from = to - steps
			} else {
				to = from + steps
			}
		}
		if options += to - from + 1; options > maxChoice {
			return nil, "the classes leave more open than is looked at one by one"
		}
		ch := choice{class: i}
		for h := from; h <= to; h++ {
			low, high, slots, ok := m.needs(i, h)
			if !ok {
				return nil, "the slots of " + m.problem.Classes[i].Name + " take too long to choose"
			}
			ch.options = append(ch.options, option{jobs: h, low: low, high: high, slots: slots})
		}
		s.classes = append(s.classes, ch)
	}
	lacking, _ := m.lacking()
	s.weigh(lacking)
	s.price(m)
	s.relax(lp)
	return s, ""
}

// weigh chooses the unit of weight: the smallest in which all weights are whole, or a coarser one.
func (s *choices) weigh(lacking *exact.Rat) {
	unit, highest, fits := big.NewInt(1), zero(), true
	include := func(x *exact.Rat) {
		if fits {
			refine(unit, x)
			fits = unit.Cmp(big.NewInt(maxUnit)) <= 0
		}
	}
	include(lacking)
	for _, ch := range s.classes {
		heaviest := zero()
		for k := range ch.options {
			heaviest = larger(heaviest, ch.options[k].high)
			include(ch.options[k].low)
		}
		highest.Add(highest, heaviest)
	}
	if !fits {
		unit.SetInt64(coarse)
	}
	if limit := quo(whole(maxWeight), add(whole(1), highest)).Floor(); limit.Cmp(unit) < 0 {
		unit.Set(limit)
	}
	s.unit = max(1, unit.Int64())
	per := whole(s.unit)
	s.spare = mul(lacking, per).Ceil().Int64()
	for _, ch := range s.classes {
		for k := range ch.options {
			o := &ch.options[k]
			o.weight = mul(o.low, per).Floor().Int64()
		}
	}
}

// refine multiplies the units in one until x is a whole number of them.
func refine(unit *big.Int, x *exact.Rat) {
	if !mul(x, new(exact.Rat).SetInt(unit)).IsInt() {
		d := x.Denom()
		unit.Mul(unit, new(big.Int).Div(d, new(big.Int).GCD(nil, nil, unit, d)))
	}
}

// price chooses the unit of money and converts sources and options to it, rounded down.
func (s *choices) price(m *model) {
	unit, highest, vms, dearest := big.NewInt(1), zero(), whole(1), zero()
	for _, ch := range s.classes {
		c := m.classes[ch.class]
		refine(unit, c.penalty)
		highest.Add(highest, mul(c.penalty, c.max))
		heaviest := zero()
		for k := range ch.options {
			heaviest = larger(heaviest, ch.options[k].high)
		}
		vms.Add(vms, heaviest)
	}
	for _, src := range m.supply {
		refine(unit, src.price)
		dearest = larger(dearest, src.price)
	}
	highest.Add(highest, add(whole(1), mul(dearest, vms)))
	s.scale = new(exact.Rat).SetInt(unit)
	limit := quo(whole(maxMoney), highest)
	for half := quo(limit, whole(2)); s.scale.Cmp(half) <= 0; {
		s.scale.Mul(s.scale, whole(2)) // regrets are rounded down to this unit: the finer the better
	}
	if limit.Cmp(s.scale) < 0 {
		s.scale = limit
	}
	for _, src := range m.supply {
		st := step{vms: noEnd, price: mul(src.price, s.scale).Floor().Int64(), exact: src.price, unlimited: src.unlimited}
		if n := src.vms.Num(); !src.unlimited && n.IsInt64() {
			st.vms = min(noEnd, n.Int64())
		}
		s.steps = append(s.steps, st)
	}
	for _, ch := range s.classes {
		per := mul(m.classes[ch.class].penalty, s.scale)
		for k := range ch.options {
			o := &ch.options[k]
			o.cost = -mul(per, whole(o.jobs)).Ceil().Int64()
		}
	}
}

// rent returns the cost of the cheapest n VMs, in units; false if there are not that many.
func (s *choices) rent(n int64) (int64, bool) {
	cost := int64(0)
	for _, st := range s.steps {
		take := min(n, st.vms)
		cost += take * st.price
		if n -= take; n == 0 {
			return cost, true
		}
	}
	return cost, n == 0
}

// relax finds a price of weight, nu, with a high value of the bound
//
//	sum over classes of min over options (cost + nu·weight) + min over N of (rent(N) - nu·unit·N)
//
// less nu·spare. Any nu gives a bound, since a selection's weight never exceeds unit·N + spare. So nu may come from
// floating point, and the bound is still exact.
func (s *choices) relax(lp relaxed) {
	low, high := 0.0, 0.0 // of nu, per VM in money units
	for _, ch := range s.classes {
		for _, o := range ch.options {
			if o.weight > 0 {
				high = max(high, -float64(o.cost)/float64(o.weight)*float64(s.unit))
			}
		}
	}
	for _, st := range s.steps {
		high = max(high, float64(st.price))
	}
	for range bisection {
		nu := (low + high) / 2
		if s.excess(nu) > 0 {
			low = nu
		} else {
			high = nu
		}
	}
	scale := s.scale.Float()
	candidates := []float64{low, high}
	for _, st := range s.steps {
		candidates = append(candidates, float64(st.price))
	}
	for _, x := range []*exact.Rat{lp.low, lp.high} {
		if x != nil {
			f := x.Float()
			candidates = append(candidates, f*scale)
		}
	}
	slices.Sort(candidates)
	var best *exact.Rat
	for _, f := range slices.Compact(candidates) {
		if nu := s.shifted(f); nu != nil {
			if value := s.value(nu); best == nil || value.Cmp(best) > 0 {
				best, s.nu = value, nu
			}
		}
	}
	s.rootCost = down(best)
	s.bound = quo(new(exact.Rat).SetFrac(best.Num(), one.Num()), s.scale)
	for i := range s.classes {
		options := s.classes[i].options
		if len(options) == 1 {
			continue // without regret
		}
		lowest := s.cheapest(options, s.nu)
		for k := range options {
			options[k].regret = min(down(sub(options[k].at(s.nu), lowest)), math.MaxInt64/4)
		}
	}
}

// excess returns the weight that the classes want beyond the sources' offer, with VMs at nu money units.
func (s *choices) excess(nu float64) float64 {
	sum := 0.0
	for _, ch := range s.classes {
		best, weight := math.Inf(1), 0.0
		for _, o := range ch.options {
			w := float64(o.weight)
			if v := float64(o.cost) + nu*w/float64(s.unit); v < best {
				best, weight = v, w
			}
		}
		sum += weight
	}
	for _, st := range s.steps {
		if float64(st.price) < nu {
			sum -= float64(st.vms) * float64(s.unit)
		}
	}
	return sum
}

// shifted returns nu as a whole number, clipped where an unlimited source would make the bound useless.
func (s *choices) shifted(perVM float64) *exact.Rat {
	if !(perVM >= 0) || math.IsInf(perVM, 0) {
		return nil
	}
	nu := quo(mul(new(exact.Rat).SetFloat64(perVM), one), whole(s.unit))
	for _, st := range s.steps {
		if st.unlimited {
			nu = smaller(nu, quo(mul(whole(st.price), one), whole(s.unit)))
		}
	}
	return new(exact.Rat).SetInt(nu.Floor())
}

// one is a money unit, shifted by fraction bits.
var one = new(exact.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), fraction))

// down returns shifted money in whole units, rounded down.
func down(shifted *exact.Rat) int64 {
	units := shifted.Num()
	switch units.Rsh(units, fraction); {
	case units.IsInt64():
		return units.Int64()
	case units.Sign() > 0:
		return math.MaxInt64
	}
	return math.MinInt64
}

// at returns the option's cost with its weight priced at nu.
func (o *option) at(nu *exact.Rat) *exact.Rat {
	return add(mul(nu, whole(o.weight)), mul(one, whole(o.cost)))
}

func (s *choices) cheapest(options []option, nu *exact.Rat) *exact.Rat {
	lowest := options[0].at(nu)
	for k := range options[1:] {
		lowest = smaller(lowest, options[1+k].at(nu))
	}
	return lowest
}

// value returns the bound at nu.
func (s *choices) value(nu *exact.Rat) *exact.Rat {
	decided := option{weight: -s.spare} // the options of classes without a choice, together
	sum := zero()
	for _, ch := range s.classes {
		if len(ch.options) == 1 {
			decided.weight += ch.options[0].weight
			decided.cost += ch.options[0].cost
		} else {
			sum.Add(sum, s.cheapest(ch.options, nu))
		}
	}
	sum.Add(sum, decided.at(nu))
	for _, st := range s.steps {
		if loss := sub(mul(one, whole(st.price)), mul(nu, whole(s.unit))); loss.Sign() < 0 { // not for an unlimited one: nu is clipped
			sum.Add(sum, mul(loss, whole(st.vms)))
		}
	}
	return sum
}
