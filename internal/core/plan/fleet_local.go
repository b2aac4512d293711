package plan

import (
	"cmp"
	"math"
	"slices"

	"example.org/headroom/internal/core/plan/integer"
	"example.org/headroom/internal/core/plan/mixes"
)

// listed is the alternatives of all classes together that are kept, and the fewest of one class.
const (
	listedMost  = 2400
	listedLeast = 12
)

// field is the plans near one pair of prices: for every class the mixes that cost little more there
// than the cheapest, and what a plan made of them costs.
type field struct {
	*fleetSearch
	lists  [][]alternative
	all    bool // no plan that could be better is missing
	chosen []int
	load   []int64 // of the chosen, on each type
	extra  float64
	rents  [][]float64 // of each type, so many VMs more than least
	least  []int64
	nu     []float64
	mu     float64
	bound  float64
	worth  float64 // of the cheapest mixes

	excesses []typeExcess // of each type, where they are known; nil otherwise
}

// lookAround looks for plans near the prices of a part of the tree, and says whether it has looked at
// every one there that could be better.
func (s *fleetSearch) lookAround(n *treeNode, p *mixes.Program) (complete bool) {
	first := s.best == nil
	s.round(p)
	if s.settled(n.bound) {
		return false
	}
	if s.glances {
		return false
	}
	d := &field{fleetSearch: s, nu: p.Nu, mu: p.Mu, bound: n.bound, all: true}
	below := s.costOfBest() - n.bound
	if math.IsInf(below, 1) {
		below = s.wide(n)
	}
	d.list(n, below)
	d.start(p)
	if first || len(d.lists) > fewClasses {
		d.improve()
	}
	if s.hopeless(n.bound) {
		return true
	}
	if !d.all || s.costOfBest()-n.bound > below { // mixes that count are not listed
		return false
	}
	return d.enumerate(n)
}

// wide returns the extra cost above the bound that a plan may have if none is known: a few VMs of each type.
func (s *fleetSearch) wide(n *treeNode) float64 {
	sum := 0.0
	for _, x := range n.nu {
		sum += 2 * x
	}
	most := 0.0
	for i, p := range s.penalty {
		most = max(most, p*float64(min(2, s.high[i]-s.low[i])))
	}
	return max(sum, most, 1e-6)
}

// round tries the choices the linear program takes most of.
func (s *fleetSearch) round(p *mixes.Program) {
	jobs := make([][]int64, len(s.penalty))
	var list []mixes.Share
	for i := range jobs {
		list = p.Shares(i, list[:0])
		best := list[0]
		for _, c := range list[1:] {
			if c.Part > best.Part {
				best = c
			}
		}
		jobs[i] = wholeJobs(best.Jobs)
	}
	s.thin(jobs, p.Nu)
	s.consider(jobs)
}

// thin refuses jobs that are not promised, those of least penalty for their VMs first, until the others
// fit the VMs and the budget; it may fail to.
func (s *fleetSearch) thin(jobs [][]int64, nu []float64) {
	loads := make([]int64, len(s.types))
	totals := make([]int64, len(jobs))
	for i, mix := range jobs {
		for v, load := range s.loadsOf(i, mix) {
			loads[v] += load
			totals[i] += mix[v]
		}
	}
	plan := fleetPlan{vms: make([]int64, len(s.types))}
	for range thinnedMost {
		if s.rent(&plan, loads) {
			return
		}
		short := -1
		for v, load := range loads {
			g := &s.types[v].loads.Grid
			if integer.CeilDiv(max(0, load-g.Tolerance), g.PerVM) > s.types[v].rental.MostVMs {
				short = v
			}
		}
		class, kind, least := -1, -1, math.Inf(1)
		for i, mix := range jobs {
			if totals[i] <= s.low[i] {
				continue
			}
			for _, v := range s.on[i] {
				if worth := s.penalty[i] / (s.types[v].classes[i].gamma * (nu[v] + 1e-12)); mix[v] > 0 && (short < 0 || v == short) && worth < least {
					class, kind, least = i, v, worth
				}
			}
		}
		if class < 0 {
			return
		}
		h := jobs[class][kind]
		loads[kind] -= s.types[kind].loads.Units(class, h) - s.types[kind].loads.Units(class, h-1)
		jobs[class][kind]--
		totals[class]--
	}
}

// fewClasses are looked at in full more quickly than improved upon. Of more than these, whose jobs cost the same each, the
// search only glances at parts of the tree and soon splits them: exchanges find the better plans. Whole slots leave few
// good mixes, and looking around finds them.
const fewClasses = 12

// thinnedMost bounds the jobs that thin refuses.
const thinnedMost = 1000

func wholeJobs(jobs []float64) []int64 {
	whole := make([]int64, len(jobs))
	for v, h := range jobs {
		whole[v] = int64(math.Round(h))
	}
	return whole
}

// list lists the mixes of every class that are worth less than below more than its cheapest.
func (d *field) list(n *treeNode, below float64) {
	d.lists = make([][]alternative, len(d.penalty))
	most := max(listedLeast, listedMost/len(d.penalty))
	d.chosen = make([]int, len(d.penalty))
	for i := range d.lists {
		prices := pricing{d.nu, d.penalty[i], n.limits[i]}
		_, _, least, _ := d.cheapest(i, prices)
		all := false
		d.lists[i], all = d.alternatives(i, prices, least, below+1e-12*math.Abs(least), most)
		d.all = d.all && all
		d.worth += least
		if len(d.lists[i]) == 0 { // noise at the limit
			mix, _, _, _ := d.cheapest(i, prices)
			jobs := slices.Clone(mix)
			d.lists[i] = []alternative{{jobs: jobs, loads: d.loadsOf(i, jobs)}}
		}
	}
}

// start begins at the choices that the linear program takes most of, where they are listed.
func (d *field) start(p *mixes.Program) {
	var list []mixes.Share
	for i := range d.lists {
		list = p.Shares(i, list[:0])
		best := list[0]
		for _, c := range list[1:] {
			if c.Part > best.Part {
				best = c
			}
		}
		jobs := wholeJobs(best.Jobs)
		d.chosen[i] = max(0, slices.IndexFunc(d.lists[i], func(a alternative) bool { return slices.Equal(a.jobs, jobs) }))
	}
	d.ready()
}

// ready adds the chosen mixes up and prices VMs near what they need.
func (d *field) ready() {
	d.load = make([]int64, len(d.types))
	d.least = make([]int64, len(d.types))
	d.rents = make([][]float64, len(d.types))
	d.sum()
	for v := range d.types {
		t := &d.types[v]
		middle := integer.CeilDiv(max(0, d.load[v]), t.loads.Grid.PerVM)
		d.least[v] = max(0, middle-rentsMost)
		for n := d.least[v]; n <= middle+rentsMost; n++ {
			d.rents[v] = append(d.rents[v], d.rentOf(v, n))
		}
	}
}

// rentsMost is the number of VMs up and down from the start that are priced in advance.
const rentsMost = 64

// scarce is the factor by which a VM or an amount of money that is not there costs more than it is worth. Local search
// may pass there, but does not stay.
const scarce = 4

func (d *field) rentOf(v int, n int64) float64 {
	r := &d.types[v].rental
	if most := r.MostVMs; n > most {
		return r.Cost(most) + scarce*(slices.Max(d.nu)+1e-9)*float64(n-most)
	}
	return r.Cost(n)
}

// sum adds the chosen mixes up.
func (d *field) sum() {
	d.extra = 0
	for v := range d.load {
		d.load[v] = -d.types[v].loads.Grid.Tolerance
	}
	for i, k := range d.chosen {
		d.extra += d.lists[i][k].extra
		for v, load := range d.lists[i][k].loads {
			d.load[v] += load
		}
	}
}

// above returns the cost of the loads beside the classes' worth, but for a constant: the rent less the price of the load.
func (d *field) above(load []int64) float64 {
	d.work += len(load)
	sum, spend := 0.0, 0.0
	for v := range load {
		perVM := d.types[v].loads.Grid.PerVM
		n := integer.CeilDiv(max(0, load[v]), perVM)
		rent := 0.0
		if at := n - d.least[v]; at >= 0 && at < int64(len(d.rents[v])) {
			rent = d.rents[v][at]
		} else {
			rent = d.rentOf(v, n)
		}
		spend += rent
		sum += rent - d.nu[v]*float64(load[v])/float64(perVM)
	}
	if spend > d.budget*(1+1e-12) {
		sum += scarce * (1 + d.mu) * (spend - d.budget)
	}
	return sum
}

// step is a class's change to another of its alternatives.
type step struct {
	class, to int
	extra     float64
}

const (
	stepsTried = 160 // alternatives of all classes that are tried in pairs
	roundsMost = 200
)

// improve changes one class, or two at once where one alone is no help, for as long as that makes the plan
// cheaper. Two extras that exceed what whole VMs cost now cannot pay.
func (d *field) improve() {
	steps := d.steps()
	for range roundsMost {
		if d.exhausted() {
			break
		}
		now := d.above(d.load)
		excess := now - (d.bound - d.worth)
		change := -1e-12 * (1 + math.Abs(now))
		first, second := d.bestStep(steps, now, excess, change), -1
		if first < 0 {
			if first, second = d.bestPair(steps[:min(len(steps), stepsTried)], now, excess, change); first < 0 {
				break
			}
		}
		moved := []int{steps[first].class}
		d.chosen[steps[first].class] = steps[first].to
		if second >= 0 {
			moved = append(moved, steps[second].class)
			d.chosen[steps[second].class] = steps[second].to
		}
		d.sum()
		steps = d.stepsAfter(steps, moved)
	}
	d.take()
}

// bestStep returns the step that changes the cost most, where that is less than change; -1 where there is none.
func (d *field) bestStep(steps []step, now, excess, change float64) (best int) {
	best = -1
	load := make([]int64, len(d.load))
	for a := range steps {
		if steps[a].extra >= excess {
			break
		}
		d.shift(load, d.load, steps[a])
		if by := steps[a].extra + d.above(load) - now; by < change {
			change, best = by, a
		}
	}
	return best
}

// bestPair returns the first step that helps with another one, and the best such other.
func (d *field) bestPair(steps []step, now, excess, change float64) (first, second int) {
	one, two := make([]int64, len(d.load)), make([]int64, len(d.load))
	for a := range steps {
		second = -1
		d.shift(one, d.load, steps[a])
		for b := a + 1; b < len(steps) && steps[a].extra+steps[b].extra < excess; b++ {
			if steps[b].class == steps[a].class {
				continue
			}
			d.shift(two, one, steps[b])
			if by := steps[a].extra + steps[b].extra + d.above(two) - now; by < change {
				change, second = by, b
			}
		}
		if second >= 0 {
			return a, second
		}
	}
	return -1, -1
}

// steps lists the changes of one class, the cheapest first.
func (d *field) steps() (list []step) {
	for i := range d.lists {
		list = d.stepsOf(i, list)
	}
	slices.SortFunc(list, cheaperStep)
	d.work += 10 * len(list)
	return list
}

func (d *field) stepsOf(class int, dst []step) []step {
	list := d.lists[class]
	for k := range list {
		if k != d.chosen[class] {
			dst = append(dst, step{class, k, list[k].extra - list[d.chosen[class]].extra})
		}
	}
	return dst
}

func cheaperStep(a, b step) int {
	return cmp.Or(cmp.Compare(a.extra, b.extra), cmp.Compare(a.class, b.class), cmp.Compare(a.to, b.to))
}

// stepsAfter lists the steps again after few classes have moved.
func (d *field) stepsAfter(steps []step, moved []int) []step {
	var own []step
	for _, i := range moved {
		own = d.stepsOf(i, own)
	}
	slices.SortFunc(own, cheaperStep)
	list := make([]step, 0, len(steps))
	for _, s := range steps {
		if slices.Contains(moved, s.class) {
			continue
		}
		for len(own) > 0 && cheaperStep(own[0], s) < 0 {
			list, own = append(list, own[0]), own[1:]
		}
		list = append(list, s)
	}
	d.work += len(steps)
	return append(list, own...)
}

func (d *field) shift(dst, from []int64, s step) {
	old, next := d.lists[s.class][d.chosen[s.class]].loads, d.lists[s.class][s.to].loads
	for v := range dst {
		dst[v] = from[v] + next[v] - old[v]
	}
}

// take considers the chosen mixes.
func (d *field) take() bool {
	jobs := make([][]int64, len(d.chosen))
	for i, k := range d.chosen {
		jobs[i] = d.lists[i][k].jobs
	}
	return d.consider(jobs)
}
