package plan

import (
	"math"
	"slices"

	"example.org/headroom/internal/core/plan/integer"
)

// enumerateMost bounds the combinations of mixes that are looked at for one part of the tree; for all
// of a problem of few classes it is worth more.
const (
	enumerateMost    = 30_000
	enumerateMostFew = 2_000_000
)

// enumeration is all combinations of mixes that could be better than the best plan, class by class.
type enumeration struct {
	*field
	order       []int
	least, most [][]int64    // of each type, what the classes from here on load
	beyond      []typeExcess // of each type
	jobs        [][]int64    // chosen so far
	loads       []int64      // of those
	plan        fleetPlan
	left        int
}

// enumerate tries all combinations of mixes that could be better than the best plan; false if they
// were too many.
func (d *field) enumerate(n *treeNode) bool {
	e := &enumeration{
		field: d, order: make([]int, len(d.lists)), jobs: make([][]int64, len(d.lists)), loads: make([]int64, len(d.types)),
		plan: fleetPlan{vms: make([]int64, len(d.types))}, left: enumerateMost,
	}
	if n == d.root && len(d.lists) <= fewClasses {
		e.left = enumerateMostFew
	}
	tried := e.left
	for i := range e.order {
		e.order[i] = i
	}
	slices.SortStableFunc(e.order, func(a, b int) int { return len(d.lists[a]) - len(d.lists[b]) })
	e.ranges()
	if e.beyond = d.excesses; e.beyond == nil {
		e.beyond = d.excessesOf(&n.box)
	}
	complete := e.visit(0, 0, 0)
	d.work += 10 * (tried - max(0, e.left))
	return complete
}

// ranges computes the smallest and largest load of the remaining classes on each type.
func (e *enumeration) ranges() {
	types := len(e.types)
	e.least, e.most = make([][]int64, len(e.order)+1), make([][]int64, len(e.order)+1)
	e.least[len(e.order)], e.most[len(e.order)] = make([]int64, types), make([]int64, types)
	for k := len(e.order) - 1; k >= 0; k-- {
		e.least[k], e.most[k] = slices.Clone(e.least[k+1]), slices.Clone(e.most[k+1])
		list := e.lists[e.order[k]]
		for v := range types {
			least, most := int64(math.MaxInt64), int64(0)
			for a := range list {
				least, most = min(least, list[a].loads[v]), max(most, list[a].loads[v])
			}
			e.least[k][v] += least
			e.most[k][v] += most
		}
	}
}

// hopelessly says that whatever the classes from k on choose, it is no better than the best plan.
func (e *enumeration) hopelessly(k int, extra float64) bool {
	if e.best == nil {
		return false
	}
	above := e.bound + extra
	for v := range e.types {
		g := &e.types[v].loads.Grid
		low, high := e.loads[v]+e.least[k][v], e.loads[v]+e.most[k][v]
		above += e.beyond[v].between(integer.CeilDiv(max(0, low-g.Tolerance), g.PerVM), integer.CeilDiv(max(0, high-g.Tolerance), g.PerVM))
	}
	return above >= e.best.cost
}

func (e *enumeration) visit(k int, extra, avoided float64) bool {
	if e.left--; e.left < 0 {
		return false
	}
	if k == len(e.order) {
		if e.rent(&e.plan, e.loads) {
			cost := -avoided
			for v, n := range e.plan.vms {
				cost += e.types[v].rental.Cost(n)
			}
			if e.best == nil || cost < e.best.cost+1e-9*math.Abs(e.best.cost) {
				e.consider(e.jobs)
			}
		}
		return true
	}
	if e.hopelessly(k, extra) {
		return true
	}
	i := e.order[k]
	for a := range e.lists[i] {
		x := &e.lists[i][a]
		if e.best != nil && extra+x.extra+e.bound >= e.best.cost {
			break
		}
		e.jobs[i] = x.jobs
		for v, load := range x.loads {
			e.loads[v] += load
		}
		ok := e.visit(k+1, extra+x.extra, avoided+e.penalty[i]*float64(x.total))
		for v, load := range x.loads {
			e.loads[v] -= load
		}
		if !ok {
			return false
		}
	}
	return true
}

// typeExcess bounds the cost of so many VMs of a type above their part of the bound: at least upTo[n] for n or fewer,
// and at least from[n] for n or more.
type typeExcess struct{ upTo, from []float64 }

// excessMost bounds the VMs of a type whose excess is written down; more are not looked at.
const excessMost = 4096

// excessesOf is the excess of each type.
func (d *field) excessesOf(b *box) (list []typeExcess) {
	for v := range d.types {
		list = append(list, d.excessOf(b, v))
	}
	return list
}

func (d *field) excessOf(b *box, v int) (e typeExcess) {
	low, high := b.low[v], min(b.high[v], d.types[v].rental.Limit)
	if high > excessMost {
		return e
	}
	price := 1 + d.mu
	start, line := d.line(b, v, nil)
	least := price*start - d.nu[v]*float64(low)
	for _, s := range line {
		least += min(0, price*s.Price-d.nu[v]) * s.Length
	}
	noise := 1e-9 * (1 + math.Abs(least))
	e.upTo, e.from = make([]float64, high+1), make([]float64, high+2)
	smallest := math.Inf(1)
	for n := range high + 1 {
		x := math.Inf(1)
		if n >= low {
			x = max(0, price*d.types[v].rental.Cost(n)-d.nu[v]*float64(n)-least-noise)
		}
		smallest = min(smallest, x)
		e.upTo[n], e.from[n] = smallest, x
	}
	e.from[high+1] = math.Inf(1)
	for n := high; n >= 0; n-- {
		e.from[n] = min(e.from[n], e.from[n+1])
	}
	return e
}

// between returns the smallest cost above the bound of any number of VMs in a range.
func (e *typeExcess) between(low, high int64) float64 {
	if e.from == nil {
		return 0
	}
	return max(e.from[min(low, int64(len(e.from))-1)], e.upTo[min(high, int64(len(e.upTo))-1)])
}
