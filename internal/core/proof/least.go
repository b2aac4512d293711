package proof

import (
	"cmp"
	"math/big"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof/exact"
)

// Least brackets what the cheapest plan of a problem costs in a period, penalties included. The answers of other
// questions rest on many such plans: sums of brackets bound their sums.
type Least struct {
	None  bool     // there is certainly no plan
	Low   *big.Rat // no plan costs less; nil where that is not known
	High  *big.Rat // there is a plan for so much; nil where none was found
	Slack *big.Rat // by how much an amount may miss them, from rounding
	Looks int      // searches made
}

// Figures of how the cheapest plan is looked for where nothing says what it costs.
const (
	mostDescents = 12 // searches for a cheaper plan
	mostClimbs   = 24 // searches for the first plan, each with more room
)

// Cheapest brackets the cost of a problem's cheapest plan. It looks first just above near and just below near - gap,
// the cost that a plan states and its gap. Without near it looks further until both sides meet.
func Cheapest(p capacity.Problem, near, gap *big.Rat, o Options) Least {
	o.Nodes = cmp.Or(max(o.Nodes, 0), manyNodes)
	d := descent{slack: zero(), budget: p.Budget}
	if len(readable(p)) > 0 {
		return d.least()
	}
	r := &Report{pause: o.Pause}
	if isFleet(p) {
		f := newFleet(p, o.Pause)
		d.refusing = f.refusals()
		there, _ := f.promised(o.Nodes, true)
		if d.none = there == no || len(f.impossible()) > 0; d.none {
			return d.least()
		}
		d.look = func(threshold *exact.Rat) finding { found, _ := f.look(threshold, o.Nodes); return found }
		d.step = f.dearest()
	} else {
		m := newModel(p, o.Pause)
		d.refusing = m.refusals()
		s := m.shortage()
		if d.none = m.overspent || len(s.impossible) > 0 || s.short(); d.none {
			return d.least()
		}
		lp := m.relax(zero())
		if !lp.feasible {
			return d.least()
		}
		d.look = func(threshold *exact.Rat) finding { found, _ := r.look(m, lp, threshold, o); return found }
		d.step = m.dearest()
	}
	d.run(exact.Of(near), exact.Of(gap))
	return d.least()
}

// descent looks for the cheapest plan.
type descent struct {
	none     bool
	low      *exact.Rat
	high     *exact.Rat
	slack    *exact.Rat
	looks    int
	look     func(threshold *exact.Rat) finding // of objectives
	refusing *exact.Rat                         // what refusing all jobs costs
	step     *exact.Rat                         // about what a VM costs
	budget   *capacity.Budget
}

func (d *descent) least() Least {
	return Least{None: d.none, Low: d.low.Rat(), High: d.high.Rat(), Slack: d.slack.Rat(), Looks: d.looks}
}

// try looks for a plan that costs less than an amount, and learns from what is found.
func (d *descent) try(below *exact.Rat) (found bool) {
	d.looks++
	f := d.look(sub(below, d.refusing))
	if f.bound != nil {
		low := add(f.bound, d.refusing)
		if d.low != nil {
			low = smaller(low, below) // the search leaves out what only dearer plans can use
		}
		if d.low == nil || less(d.low, low) {
			d.low = low
		}
	}
	if f.better == nil {
		return false
	}
	if high := add(f.better.objective, d.refusing); d.high == nil || less(high, d.high) {
		d.high = high
	}
	return true
}

// off returns the error of a cost, from rounding.
func (d *descent) off(cost *exact.Rat) *exact.Rat {
	size := smaller(abs(sub(cost, d.refusing)), abs(cost))
	return add(add(smallest, smallest), add(mul(relative, size), mul(digits, d.refusing)))
}

func (d *descent) run(near, gap *exact.Rat) {
	d.try(whole(-1)) // less than anything costs, so that nothing is searched
	if near != nil {
		d.slack = d.off(near)
		if d.try(add(near, d.slack)) {
			d.try(sub(sub(near, gap), d.slack))
		}
	}
	if d.high == nil {
		d.climb()
		for k := 0; near == nil && d.high != nil && k < mostDescents; k++ {
			d.slack = d.off(d.high)
			if !d.try(sub(d.high, d.slack)) {
				break
			}
		}
	}
	if b := d.budget; b != nil && b.Total != nil && d.low != nil {
		highest := amount(b.Total.Decimal)
		d.none = less(add(highest, add(d.slack, roundings)), d.low)
		if d.high != nil && less(highest, sub(d.high, d.slack)) {
			d.high = nil // that is a plan without the budget alone
		}
	}
}

// climb looks for any plan, each time with more room.
func (d *descent) climb() {
	if d.low == nil {
		return
	}
	room := d.step
	for k := 0; d.high == nil && k < mostClimbs; k++ {
		d.try(add(d.low, room))
		room = mul(room, whole(4))
	}
	if d.high != nil {
		d.slack = d.off(d.high)
	}
}

// dearest returns the highest price of a VM in a period, or a little where VMs are free.
func (m *model) dearest() *exact.Rat {
	price := exact.New(1, 1000)
	for _, s := range m.supply {
		price = larger(price, s.price)
	}
	return price
}

func (f *fleet) dearest() *exact.Rat {
	price := zero()
	for v := range f.types {
		price = larger(price, f.types[v].dearest())
	}
	return price
}

// Holds says whether a plan for a cost can exist and none is cheaper by more than a gap; a nil gap claims nothing
// about cheaper ones.
func (l Least) Holds(cost, gap *big.Rat) Outcome {
	low, high, slack, at, within := exact.Of(l.Low), exact.Of(l.High), exact.Of(l.Slack), exact.Of(cost), exact.Of(gap)
	switch {
	case l.None:
		return Failed
	case low != nil && less(add(at, slack), low):
		return Failed
	case within != nil && high != nil && less(add(high, slack), sub(at, within)):
		return Failed
	case low == nil || high == nil || less(add(at, slack), high):
		return NotProved
	case within != nil && less(add(low, slack), sub(at, within)):
		return NotProved
	}
	return OK
}

// Add adds a bracket that counts so many times.
func (l *Least) Add(x Least, times *big.Rat) {
	if l.Slack == nil {
		*l = Least{Low: new(big.Rat), High: new(big.Rat), Slack: new(big.Rat)}
	}
	l.None = l.None || x.None
	more := func(to, from *big.Rat) *big.Rat {
		if to == nil || from == nil {
			return nil
		}
		part := new(big.Rat).Mul(from, times)
		return part.Add(part, to)
	}
	l.Low, l.High, l.Slack = more(l.Low, x.Low), more(l.High, x.High), more(l.Slack, x.Slack)
	l.Looks += x.Looks
}

// Relaxation returns the linear program's cost of a problem of one kind of VM, penalties included, or nil without an
// answer. It also returns the price of one VM of capacity, one less and one more. The latter is nil if there is no more.
func Relaxation(p capacity.Problem) (cost, low, high *big.Rat) {
	if isFleet(p) || len(readable(p)) > 0 {
		return nil, nil, nil
	}
	m := newModel(p, nil)
	lp := m.relax(zero())
	if !lp.feasible {
		return nil, nil, nil
	}
	return add(lp.objective, m.refusals()).Rat(), lp.low.Rat(), lp.high.Rat()
}

// Record adds a check of an answer to a report: failed with faults, not proved with doubts alone.
func (r *Report) Record(name string, faults, doubts []string, fine string) {
	if len(faults) == 0 && len(doubts) > 0 {
		r.note(name, NotProved, listed(doubts))
		return
	}
	r.add(name, faults, fine)
}

// PriceFaults lists what is wrong with the price of one VM of capacity of a problem. With several types it is that of the
// cheapest one by what a VM less costs, the first of several: the first of which that is certain ends the search.
func PriceFaults(p capacity.Problem, price capacity.CapacityPrice) []string {
	if len(readable(p)) > 0 {
		return nil
	}
	if isFleet(p) {
		f := newFleet(p, nil)
		lp := f.newProgram(true, objective).sides()
		var all faults
		for v := range f.types {
			if all = nil; lp.high != nil {
				f.priceOf(&all, v, price, lp)
			}
			if len(all) == 0 {
				return nil
			}
			if lp.high != nil && f.costs(v, price.Low, lp) {
				return all
			}
		}
		return all
	}
	m := newModel(p, nil)
	m.problem.Supply.Contracts = nil // their VMs are in the supply already; what they are worth is not asked
	return m.prices(capacity.Prices{Capacity: price}, m.relax(zero()))
}
