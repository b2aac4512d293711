package plan

import (
	"fmt"
	"math"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/words"
)

// Curve is the linear program's cost over one parameter. Between two of its points the cost is a straight
// line, where Exact says so; nothing is sampled.
type Curve struct {
	Shape  string       `json:"shape"` // convex, concave
	Exact  bool         `json:"exact"` // false: the points are those of the range, and between them nothing is known
	Points []CurvePoint `json:"points"`

	// Least is the smallest number at which the promised jobs can be served, where the range begins below
	// it; the curve begins there. Of deadlines it is never reached: Asymptote, below which no number of slots
	// helps, is the largest share that the start-up times take of a promised deadline.
	Least     *float64 `json:"least"`
	Asymptote *float64 `json:"asymptote"`
	Conflict  string   `json:"conflict"` // why there are no points, if there are none
}

// CurvePoint is one end of a straight line.
type CurvePoint struct {
	At     float64       `json:"at"`
	Cost   money.Amount  `json:"cost"`   // total, with penalties, per period
	Slope  *money.Amount `json:"slope"`  // from here on, per unit of the parameter; null at the end
	Margin string        `json:"margin"` // what changes from here on: a class, a contract, on_demand; "" is nothing
}

// Parameter names the figure of a problem that a curve follows, and the numbers it takes.
type Parameter struct {
	Figure   Figure
	Class    string // of Penalties and Deadlines; "" stands for every class
	Contract string // of ContractVMs
	Absolute bool   // the numbers are new figures; otherwise they multiply the figure of the problem
	From, To float64
	Numbers  []money.Amount // of Deadlines: the points of the curve

	// With returns the problem with the figure changed to, or multiplied by, a number.
	With func(p capacity.Problem, number money.Amount) (capacity.Problem, error)
}

// Figure is a kind of figure that a curve can follow.
type Figure int

// The figures that curves follow.
const (
	Deadlines Figure = iota
	Penalties
	OnDemandPrice
	ContractVMs
	VMBudget
)

// NewCurve follows a parameter through the linear program of a problem with one kind of VM and no other
// budget (spec 5.6). The parameter must fit the problem: it names a class or a contract that is there.
func NewCurve(p capacity.Problem, v Parameter) (Curve, error) {
	p.Options.Integrality = capacity.Relaxed
	var spend money.Amount
	if p.Budget != nil && p.Budget.VMCost != nil {
		spend = *p.Budget.VMCost
	}
	p.Budget = nil
	from, to := min(v.From, v.To), max(v.From, v.To)
	c := curving{problem: p, vary: v, from: from, to: to, unit: 1, spend: spend}
	switch v.Figure {
	case ContractVMs:
		return c.contract()
	case OnDemandPrice:
		return c.price()
	case Penalties:
		return c.penalty()
	case VMBudget:
		return c.budget()
	}
	return c.deadline()
}

// curving holds a curve while it is computed. A number of the parameter times unit is a figure of the program.
type curving struct {
	problem  capacity.Problem
	vary     Parameter
	from, to float64
	unit     float64
	spend    money.Amount // the budget for VMs
	curve    Curve
}

// curveNoise is the smallest relative distance of two numbers of a parameter.
const curveNoise = 1e-12

// piece is a straight part of a curve: its length in the program's unit, its slope, and what changes there.
type piece struct {
	length, slope float64
	margin        string
}

// lay puts pieces end to end from a number on, where the cost is known. The last piece is followed to the
// end of the range; neighbours of one slope become one.
func (c *curving) lay(at, cost float64, pieces []piece) {
	end := c.to * c.unit
	position, sum := at, money.Sum{}
	sum.Add(cost)
	var points []CurvePoint
	slope := math.NaN()
	for k := 0; position < end; k++ {
		now := piece{length: math.Inf(1)}
		if k < len(pieces) {
			now = pieces[k]
		}
		if !(now.length > curveNoise*max(1, position)) { // two ends that rounding alone keeps apart
			continue
		}
		length := min(now.length, end-position)
		if now.slope != slope {
			slope = now.slope
			each := money.Round(slope * c.unit)
			points = append(points, CurvePoint{At: position / c.unit, Cost: money.Round(sum.Value()), Slope: &each, Margin: now.margin})
		}
		sum.Add(slope * length)
		if position += length; length < now.length {
			break
		}
	}
	c.curve.Points = append(points, CurvePoint{At: position / c.unit, Cost: money.Round(sum.Value())})
}

// beginning says where the curve begins if the promised jobs need at least so much; false where that is
// beyond the range.
func (c *curving) beginning(least float64) (at float64, ok bool) {
	at = c.from * c.unit
	if least <= at {
		return at, true
	}
	number := least / c.unit
	c.curve.Least = &number
	if number > c.to {
		c.curve.Points, c.curve.Conflict = []CurvePoint{}, fmt.Sprintf("The promised jobs need %s at least.", number3(number))
		return 0, false
	}
	return least, true
}

func number3(x float64) string { return words.Number(words.Rounded(x, 3)) }

// stretch is a part of the demand above the promised jobs that meets one price: so many VMs, worth theta
// each, at price each.
type stretch struct {
	length, theta, price float64
	class                int
}

// demand holds the jobs that ask for VMs, dearest first.
type demand struct {
	*model
	rank      []int
	theta     []float64
	floor     float64 // VMs of the promised jobs
	penalties float64 // of all jobs but the promised ones, where they are not free to serve
}

func newDemand(m *model) demand {
	r := &relaxation{classes: m.classes, theta: make([]float64, len(m.classes))}
	var floor, penalties money.Sum
	for i := range m.classes {
		c := &m.classes[i]
		if c.gamma > 0 {
			r.theta[i] = c.penalty / c.gamma
		}
		if c.gamma > 0 || c.impossible {
			penalties.Add(c.penalty * (c.Jobs.Max - c.low))
		}
		floor.Add(c.gamma * c.low)
	}
	r.ranked()
	return demand{m, r.rank, r.theta, floor.Value(), penalties.Value()}
}

func (d *demand) span(i int) float64 {
	c := &d.classes[i]
	return c.gamma * (c.high - c.low)
}

// source is a supply of VMs at one price.
type source struct {
	vms, price float64
	name       string
}

// sources is all of them but one, cheapest first.
func (m *model) sources(without int) (all []source) {
	for k, t := range m.tiers {
		if at := m.source[k]; at != without {
			name := "on_demand"
			if at != onDemand {
				name = m.Supply.Contracts[at].Name
			}
			all = append(all, source{float64(t.VMs), t.Price, name})
		}
	}
	return all
}

// rentUpTo returns the cost of so many VMs from the sources, and the rest of the sources.
func rentUpTo(all []source, vms float64) (cost float64, rest []source) {
	rest = slices.Clone(all)
	for len(rest) > 0 && vms > 0 {
		take := min(vms, rest[0].vms)
		cost += take * rest[0].price
		vms -= take
		if rest[0].vms -= take; rest[0].vms > 0 {
			break
		}
		rest = rest[1:]
	}
	return cost, rest
}

// stretches is all demand above the promised jobs, cut where the price changes, as far as there are VMs.
func (d *demand) stretches(rest []source) (all []stretch) {
	rest = slices.Clone(rest)
	for _, i := range d.rank {
		for left := d.span(i); left > 0 && len(rest) > 0; {
			take := min(left, rest[0].vms)
			if take > 0 {
				all = append(all, stretch{take, d.theta[i], rest[0].price, i})
			}
			left -= take
			if rest[0].vms -= take; rest[0].vms <= 0 {
				rest = rest[1:]
			}
		}
	}
	return all
}
