package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
)

// shortest is the shortest straight part that is told from rounding, in VMs.
const shortest = 1e-9

// contract computes the cost over the VMs of a contract. Each takes the place of the dearest VM in use, or serves the
// refused job that is worth most, whichever is worth more, until neither is worth its price.
func (c *curving) contract() (Curve, error) {
	c.curve = Curve{Shape: "convex", Exact: true}
	at := slices.IndexFunc(c.problem.Supply.Contracts, func(x capacity.Contract) bool { return x.Name == c.vary.Contract })
	contract := c.problem.Supply.Contracts[at]
	if !c.vary.Absolute {
		if c.unit = float64(contract.VMs); c.unit == 0 {
			return c.constant()
		}
	}
	m, err := newModel(&c.problem)
	if err != nil {
		return Curve{}, err
	}
	for i := range m.classes {
		if class := &m.classes[i]; class.impossible && class.Jobs.Min > 0 {
			c.curve.Points, c.curve.Conflict = []CurvePoint{}, m.impossible(i).Detail
			return c.curve, nil
		}
	}
	d, sources, supply := newDemand(m), m.sources(at), 0.0
	for _, s := range sources {
		supply += s.vms
	}
	least := max(0, d.floor-supply) // VMs of the contract that the promised jobs need
	begin, ok := c.beginning(least)
	if !ok {
		return c.curve, nil
	}
	own, fixed := contract.Price.Float()*m.hours, 0.0
	others := m.committed()
	if contract.Billing == capacity.BilledAlways {
		others -= own * float64(contract.VMs)
		own, fixed = 0, own
	}
	cost, rest := rentUpTo(sources, d.floor-least)
	var total money.Sum
	total.Add(cost)
	total.Add((own + fixed) * least)
	total.Add(others)
	total.Add(d.penalties)
	above := 0.0
	for _, s := range d.stretches(rest) {
		if s.theta > s.price {
			total.Add((s.price - s.theta) * s.length)
			above += s.length
		}
	}
	gains := takenFrom(sources, d.floor-least+above)
	for _, i := range d.rank {
		span := d.span(i)
		served := min(span, max(0, above))
		if above -= served; span-served > shortest {
			gains = append(gains, piece{span - served, d.theta[i], d.classes[i].Name})
		}
	}
	slices.SortStableFunc(gains, func(a, b piece) int { return cmp.Compare(b.slope, a.slope) })
	var pieces []piece
	for _, g := range gains {
		if g.slope <= own {
			break
		}
		pieces = append(pieces, piece{g.length, fixed + own - g.slope, g.margin})
	}
	pieces = append(pieces, piece{math.Inf(1), fixed, ""})
	pieces, value := skip(pieces, begin-least, total.Value())
	c.lay(begin, value, pieces)
	return c.curve, nil
}

// takenFrom is the sources as far as so many VMs come from them.
func takenFrom(all []source, vms float64) (taken []piece) {
	for _, s := range all {
		if n := min(vms, s.vms); n > shortest {
			taken = append(taken, piece{n, s.price, s.name})
			vms -= n
		}
	}
	return taken
}

// skip goes a length along pieces, and answers what is left of them and the cost there.
func skip(pieces []piece, length, cost float64) ([]piece, float64) {
	var sum money.Sum
	sum.Add(cost)
	for k := range pieces {
		part := min(length, pieces[k].length)
		sum.Add(part * pieces[k].slope)
		if length -= part; part < pieces[k].length {
			rest := slices.Clone(pieces[k:])
			rest[0].length -= part
			return rest, sum.Value()
		}
	}
	return nil, sum.Value()
}

// solved is the linear program of a changed problem, and its whole cost; false where there is no plan.
func (c *curving) solved(number float64) (r *relaxation, cost float64, ok bool, err error) {
	p, err := c.vary.With(c.problem, money.Round(number))
	if err != nil {
		return nil, 0, false, err
	}
	m, err := newModel(&p)
	if err != nil {
		return nil, 0, false, err
	}
	if conflicts := m.conflicts(); len(conflicts) > 0 {
		c.curve.Conflict = conflicts[0].Detail
		return nil, 0, false, nil
	}
	r, _ = newRelaxation(m)
	return r, r.objective + m.committed() + m.wanted(), true, nil
}

// constant is a curve whose parameter multiplies nothing.
func (c *curving) constant() (Curve, error) {
	_, cost, ok, err := c.solved(c.from)
	c.curve.Points = []CurvePoint{}
	if err == nil && ok {
		c.unit = 1
		c.lay(c.from, cost, nil)
	}
	return c.curve, err
}

// start is the linear program at the beginning of the range, for curves that are feasible everywhere or nowhere.
func (c *curving) start() (r *relaxation, cost float64, ok bool, err error) {
	if r, cost, ok, err = c.solved(c.from); !ok {
		c.curve.Points = []CurvePoint{}
	}
	return r, cost, ok, err
}

// drop is a number at which fewer on-demand VMs are used from then on.
type drop struct {
	at, fewer float64
	name      string
}

// price computes the cost over the price of VMs on demand. Its slope is the number of them in use. That drops where the
// price passes a contract's, or the worth of a class per VM.
func (c *curving) price() (Curve, error) {
	c.curve = Curve{Shape: "concave", Exact: true}
	if !c.vary.Absolute {
		c.unit = c.problem.Supply.OnDemand.Price.Float()
	}
	if c.unit == 0 {
		return c.constant()
	}
	r, cost, ok, err := c.start()
	if err != nil || !ok {
		return c.curve, err
	}
	m, err := newModel(&c.problem)
	if err != nil {
		return Curve{}, err
	}
	from := c.from * c.unit
	need, quota := r.floor, math.Inf(1) // VMs wanted on demand, and how many there are
	if q := c.problem.Supply.OnDemand.Quota; q != nil {
		quota = float64(*q)
	}
	var drops []drop
	note := func(at, fewer float64, name string) {
		if at <= from {
			need -= fewer
		} else {
			drops = append(drops, drop{at, fewer, name})
		}
	}
	for i := range r.classes {
		if span := r.span(i); span > 0 {
			need += span
			note(r.theta[i]/m.hours, span, r.classes[i].Name)
		}
	}
	for k, t := range m.tiers {
		if at := m.source[k]; at != onDemand {
			note(t.Price/m.hours, float64(t.VMs), m.Supply.Contracts[at].Name)
		}
	}
	slices.SortStableFunc(drops, func(a, b drop) int { return cmp.Compare(a.at, b.at) })
	var pieces []piece
	last, name := from, ""
	for _, x := range append(drops, drop{at: math.Inf(1)}) {
		pieces = append(pieces, piece{x.at - last, min(quota, max(0, need)) * m.hours, name})
		last, name = x.at, x.name
		need -= x.fewer
	}
	c.lay(from, cost, pieces)
	return c.curve, nil
}

// penalty computes the cost over a factor of all penalties, or over those of one class. Its slope is the refused jobs.
// A job is served from the number on at which its penalty passes the cost of its VMs.
func (c *curving) penalty() (Curve, error) {
	c.curve = Curve{Shape: "concave", Exact: true}
	if c.vary.Class != "" {
		return c.penaltyOf()
	}
	m, err := newModel(&c.problem)
	if err != nil {
		return Curve{}, err
	}
	if conflicts := m.conflicts(); len(conflicts) > 0 {
		c.curve.Points, c.curve.Conflict = []CurvePoint{}, conflicts[0].Detail
		return c.curve, nil
	}
	d := newDemand(m)
	rent, rest := rentUpTo(m.sources(-2), d.floor)
	var cost, slope money.Sum
	cost.Add(rent + m.committed())
	cost.Add(c.from * d.penalties)
	slope.Add(d.penalties)
	var pieces []piece
	last, name := c.from, ""
	for _, s := range d.stretches(rest) {
		at := math.Inf(1)
		if s.theta > 0 {
			at = s.price / s.theta
		}
		if at <= c.from {
			cost.Add((s.price - c.from*s.theta) * s.length)
		} else if !math.IsInf(at, 1) {
			pieces = append(pieces, piece{at - last, slope.Value(), name})
			last, name = at, m.classes[s.class].Name
		}
		slope.Add(-s.theta * s.length)
		if s.theta == 0 {
			break
		}
	}
	c.lay(c.from, cost.Value(), append(pieces, piece{math.Inf(1), slope.Value(), name}))
	return c.curve, nil
}

func (c *curving) penaltyOf() (Curve, error) {
	at := slices.IndexFunc(c.problem.Classes, func(x capacity.Class) bool { return x.Name == c.vary.Class })
	if !c.vary.Absolute {
		c.unit = c.problem.Classes[at].Penalty.Float()
	}
	if c.unit == 0 {
		return c.constant()
	}
	r, cost, ok, err := c.start()
	if err != nil || !ok {
		return c.curve, err
	}
	i := slices.IndexFunc(r.classes, func(x class) bool { return x.index == at })
	class := &r.classes[i]
	from := c.from * c.unit
	if class.gamma == 0 {
		c.lay(from, cost, []piece{{math.Inf(1), class.Jobs.Max - class.high, class.Name}})
		return c.curve, nil
	}
	own := sort.SearchFloat64s(r.steps, r.theta[i])
	var pieces []piece
	last := from
	for k := 0; k <= len(r.steps); k++ {
		end := math.Inf(1)
		if k < len(r.steps) {
			end = r.steps[k] * class.gamma
		}
		if end <= last {
			continue
		}
		jobs := min(class.high, max(class.low, r.interval(i, k, own)/class.gamma))
		pieces = append(pieces, piece{end - last, class.Jobs.Max - jobs, class.Name})
		last = end
	}
	c.lay(from, cost, pieces)
	return c.curve, nil
}

// budget is the cost over what VMs may cost: money goes first to the promised jobs, then to the job that
// saves most penalties for it, as long as that is more than it costs.
func (c *curving) budget() (Curve, error) {
	c.curve = Curve{Shape: "convex", Exact: true}
	if !c.vary.Absolute {
		c.unit = c.spend.Float()
	}
	m, err := newModel(&c.problem)
	if err != nil {
		return Curve{}, err
	}
	if conflicts := m.conflicts(); len(conflicts) > 0 {
		c.curve.Points, c.curve.Conflict = []CurvePoint{}, conflicts[0].Detail
		return c.curve, nil
	}
	d := newDemand(m)
	rent, rest := rentUpTo(m.sources(-2), d.floor)
	least := rent + m.committed()
	if c.unit == 0 { // a budget of nothing, however often
		c.unit, c.from, c.to = 1, 0, 0
	}
	begin, ok := c.beginning(least)
	if !ok {
		c.curve.Conflict = fmt.Sprintf("The contracts paid in any case and the promised jobs cost %s.", money.Round(least))
		return c.curve, nil
	}
	var cost money.Sum
	cost.Add(least)
	cost.Add(d.penalties)
	var pieces []piece
	for _, s := range d.stretches(rest) {
		switch {
		case s.theta <= s.price:
		case s.price == 0:
			cost.Add(-s.theta * s.length)
		default:
			pieces = append(pieces, piece{s.length * s.price, 1 - s.theta/s.price, m.classes[s.class].Name})
		}
	}
	pieces, value := skip(append(pieces, piece{math.Inf(1), 0, ""}), begin-least, cost.Value())
	c.lay(begin, value, pieces)
	return c.curve, nil
}

// deadline is the cost at each number of the range: a longer deadline never costs more, but between two of
// them the cost is no straight line.
func (c *curving) deadline() (Curve, error) {
	c.curve = Curve{Shape: "decreasing", Points: []CurvePoint{}}
	c.asymptote()
	var infeasible, feasible float64
	known := false
	numbers := slices.Clone(c.vary.Numbers)
	slices.SortFunc(numbers, func(a, b money.Amount) int { return a.Cmp(b.Decimal) })
	for _, x := range numbers {
		_, cost, ok, err := c.feasible(x.Float())
		if err != nil {
			return Curve{}, err
		}
		if !ok {
			infeasible = x.Float()
			continue
		}
		if !known {
			known, feasible = true, x.Float()
		}
		c.curve.Points = append(c.curve.Points, CurvePoint{At: x.Float(), Cost: money.Round(cost)})
	}
	if !known || feasible == numbers[0].Float() {
		return c.curve, nil
	}
	for feasible-infeasible > 1e-9*feasible {
		middle := (feasible + infeasible) / 2
		_, _, ok, err := c.feasible(middle)
		if err != nil {
			return Curve{}, err
		}
		if ok {
			feasible = middle
		} else {
			infeasible = middle
		}
	}
	c.curve.Least, c.curve.Conflict = &feasible, ""
	return c.curve, nil
}

// feasible is solved, where more VMs than can be counted are as good as no plan.
func (c *curving) feasible(number float64) (r *relaxation, cost float64, ok bool, err error) {
	r, cost, ok, err = c.solved(number)
	if input, is := err.(*fault.InputError); is {
		c.curve.Conflict = input.Findings[0].Detail
		return nil, 0, false, nil
	}
	return r, cost, ok, err
}

// asymptote finds the number at which the promised jobs of the changed classes have no time left for their work.
func (c *curving) asymptote() {
	m, err := newModel(&c.problem)
	if err != nil {
		return
	}
	for i := range m.classes {
		class := &m.classes[i]
		if !class.slotted || class.Jobs.Min == 0 || c.vary.Class != "" && class.Name != c.vary.Class {
			continue
		}
		fixed := class.shape.work.FixedSeconds
		if !c.vary.Absolute {
			fixed /= class.DeadlineSeconds
		}
		if c.curve.Asymptote == nil || fixed > *c.curve.Asymptote {
			c.curve.Asymptote = &fixed
		}
	}
}
