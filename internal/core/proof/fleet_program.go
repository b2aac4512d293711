package proof

import (
	"math"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof/exact"
)

// program is the minimisation over a fleet, in the form of the price method:
//
//	sum of VM costs - penalties avoided,  each type's load within its VMs,  VM costs within the purse.
//
// For prices nu of a VM of each type and mu of money, both at least 0, and any plan,
//
//	cost >= sum over classes of min over mixes (nu·load - penalties avoided)
//	      + sum over types of min over N ((1+mu)·rent(N) - nu·N) - nu·spare - mu·purse.
//
// So any prices give a bound; only its quality depends on them.
type program struct {
	*fleet
	linear  bool // fractional jobs and VMs: the linear program; else whole ones
	aim     aim
	purse   *exact.Rat
	low     []*exact.Rat // jobs
	high    []*exact.Rat
	gamma   [][]*exact.Rat // [class][type] smallest number of VMs per job; nil where it cannot run
	rented  [][]line       // [type] the cost of VMs
	spare   []*exact.Rat   // [type] VMs that may be lacking
	floats  floats
	weights [][][]*option // [class][type][jobs], if whole jobs are weighed one by one
	counted [][]float64   // [type][VMs] the cost of whole VMs; nil if they are too many
}

// floats is the program in floating point.
type floats struct {
	low, high, penalty []float64
	gamma              [][]float64
	length, price      [][]float64
	spare              []float64
	weight             [][][]float64
	slack              []float64 // [type] VMs that classes known by their gamma alone may lack
	purse              float64
}

func float(x *exact.Rat) float64 { f := x.Float(); return f }

// aim is the objective of a program.
type aim int

const (
	objective aim = iota // VM costs less penalties avoided
	spending             // VM costs of the promised jobs alone
	missing              // VMs that the promised jobs need beyond the existing ones, which cost nothing
)

func (f *fleet) newProgram(linear bool, aim aim) *program {
	p := &program{fleet: f, linear: linear, aim: aim}
	if aim == objective {
		p.purse = f.purse
	}
	need := make([]*exact.Rat, len(f.types))
	for v := range need {
		need[v] = whole(1)
	}
	for i := range f.classes {
		c := f.classes[i]
		low, high := c.min, c.max
		if aim != objective {
			high = c.min
		}
		if c.impossible {
			low, high = zero(), zero()
		}
		p.low, p.high = append(p.low, low), append(p.high, high)
		gammas := make([]*exact.Rat, len(f.types))
		for v := range f.types {
			on := f.types[v].classes[i]
			if on.impossible {
				continue
			}
			gammas[v] = f.lightest(on, linear)
			highest := add(mul(larger(on.high, on.highest), high), whole(4)) // and whole slots, and whole VMs
			need[v] = add(need[v], highest)
		}
		p.gamma = append(p.gamma, gammas)
	}
	for v := range f.types {
		t := &f.types[v]
		p.rented = append(p.rented, p.lines(t, need[v]))
		spared := zero()
		if !linear && !f.dedicated {
			spared = t.spare(-1)
		}
		p.spare = append(p.spare, spared)
	}
	p.inFloats()
	if !linear {
		p.count(need)
	}
	return p
}

// lightest returns the smallest number of VMs per job on a type, with tolerances used up.
func (f *fleet) lightest(c *class, linear bool) *exact.Rat {
	switch {
	case linear || c.given:
		return c.low
	case f.integrality == capacity.Executable:
		return smaller(c.lowest, c.gamma(c.plan.a, c.plan.b, c.tolerant(), false))
	}
	return c.lowest
}

// lines returns the program's cost of a type's VMs, up to the largest need.
func (p *program) lines(t *vmType, need *exact.Rat) (lines []line) {
	left := new(exact.Rat).Set(need)
	for _, l := range t.lines() {
		n := left
		if l.length != nil {
			n = smaller(left, l.length)
		}
		if left = sub(left, n); n.Sign() <= 0 {
			continue
		}
		price := l.price
		if p.aim == missing {
			price = zero()
		}
		lines = append(lines, line{n, price})
	}
	if p.aim == missing {
		lines = append(lines, line{left, whole(1)})
	}
	return lines
}

func (p *program) inFloats() {
	f := &p.floats
	if f.purse = math.Inf(1); p.purse != nil {
		f.purse = float(p.purse)
	}
	for i := range p.classes {
		f.low, f.high = append(f.low, float(p.low[i])), append(f.high, float(p.high[i]))
		f.penalty = append(f.penalty, float(p.worth(i)))
		gammas := make([]float64, len(p.types))
		for v, g := range p.gamma[i] {
			if gammas[v] = math.Inf(1); g != nil {
				gammas[v] = float(g)
			}
		}
		f.gamma = append(f.gamma, gammas)
	}
	for v := range p.types {
		var lengths, prices []float64
		for _, l := range p.rented[v] {
			lengths, prices = append(lengths, float(l.length)), append(prices, float(l.price))
		}
		f.length, f.price = append(f.length, lengths), append(f.price, prices)
		f.spare = append(f.spare, float(p.spare[v]))
		f.slack = append(f.slack, 0)
	}
}

// worth returns the penalty that an admitted job avoids.
func (p *program) worth(i int) *exact.Rat {
	if p.aim != objective {
		return zero()
	}
	return p.classes[i].penalty
}

const (
	maxWeighed = 10_000 // largest number of job counts that one plan weighs one by one
	maxMixed   = 300    // largest number of jobs of a class whose mixes are all tried
	maxCounted = 20_000 // largest number of VMs of a type that are counted one by one
)

// count weighs whole jobs and prices whole VMs one by one, unless they are too many. The rest keeps to the straight
// lines below.
func (p *program) count(need []*exact.Rat) {
	p.weights = make([][][]*option, len(p.classes))
	p.floats.weight = make([][][]float64, len(p.classes))
	left := maxWeighed
	for i := range p.classes {
		p.rest()
		jobs := int(p.high[i].Num().Int64())
		on := 0
		for v := range p.types {
			if p.gamma[i][v] != nil {
				on++
			}
		}
		if !p.high[i].Num().IsInt64() || jobs > maxMixed || jobs*on > left || !p.weigh(i, jobs) {
			p.weights[i] = nil
			for v := range p.types {
				if p.dedicated {
					p.floats.slack[v] += float(p.types[v].spare(i))
				}
			}
			continue
		}
		left -= jobs * on
	}
	for v := range p.types {
		t := &p.types[v]
		n := need[v].Ceil()
		if !n.IsInt64() || n.Int64() > maxCounted {
			p.counted = append(p.counted, nil)
			continue
		}
		var costs []float64
		for k := range n.Int64() + 1 {
			p.rest()
			cost, ok := p.rent(t, whole(k))
			if !ok {
				break
			}
			costs = append(costs, float(cost))
		}
		p.counted = append(p.counted, costs)
	}
}

// weigh finds the smallest load of every number of a class's jobs on every type.
func (p *program) weigh(i, jobs int) bool {
	p.weights[i] = make([][]*option, len(p.types))
	p.floats.weight[i] = make([][]float64, len(p.types))
	for v := range p.types {
		if p.gamma[i][v] == nil {
			continue
		}
		for h := range jobs + 1 {
			p.rest()
			low, high, slots, ok := p.types[v].needs(i, int64(h))
			if !ok {
				return false
			}
			p.weights[i][v] = append(p.weights[i][v], &option{jobs: int64(h), low: low, high: high, slots: slots})
			p.floats.weight[i][v] = append(p.floats.weight[i][v], float(low))
		}
	}
	return true
}

// rent returns the cost of whole VMs of a type in this program; false if there are not that many.
func (p *program) rent(t *vmType, n *exact.Rat) (*exact.Rat, bool) {
	there := t.limit(n)
	if p.aim == missing {
		return sub(n, there), true
	}
	if less(there, n) {
		return nil, false
	}
	return t.cheapest(n)
}
