package plan

import (
	"math"
	"slices"

	"headroom/internal/core/plan/integer"
)

// annealing changes a fleet's plan at random, by a job or a few at a time, and accepts what makes it dearer the
// less often, the more of its work is done. Lists of alternatives cannot do this: where types cost nearly the same, a
// class has thousands of mixes that are worth the same, and only some of them fill whole VMs.
type annealing struct {
	*fleetSearch
	random integer.SplitMix
	jobs   [][]int64 // of each class on each type
	total  []int64   // of each class
	load   []int64   // of each type
	vms    []int64
	rent   []float64
	spend  float64 // the sum of rent
	cost   float64 // spend less the penalties that are avoided

	places  [][]int // of each class: where its jobs may be
	movable []int   // the classes with more than one

	moves   []jobMove // of the trial
	touched []int     // the types that the trial changes
	worth   float64
}

// jobMove takes a job of a class from one type to another.
type jobMove struct {
	class, from, to int // outside for a job that is refused
}

const outside = -1

const (
	// warmest and coldest are the temperatures at the start and at the end, in prices of a VM.
	warmest, coldest = 0.005, 0.00005

	trialWork    = 8   // of one trial, see fleetEffort
	classesTried = 8   // for another move of a trial
	timeChecked  = 256 // trials between two looks at the time
)

// anneal looks for better plans from the best one on, with the work that is left.
func (s *fleetSearch) anneal() {
	if s.best == nil || s.exhausted() {
		return
	}
	a := newAnnealing(s)
	a.choose(s.root.nu, s.best.cost-s.bound)
	if len(a.movable) == 0 {
		return
	}
	best, cost := s.best.jobs, a.cost
	keep := func() { // the plan without the trial
		if a.cost < cost-1e-12*math.Abs(cost) {
			a.undo()
			best, cost = cloneMixes(a.jobs), a.cost
			a.redo()
			s.work += len(a.total) * len(s.types) / 4
		}
	}
	start, scale := s.work, a.vmPrice()
	length := float64(s.effort - start)
	for s.work < s.effort {
		temperature := scale * warmest * math.Pow(coldest/warmest, float64(s.work-start)/length)
		for range timeChecked {
			change, ok := a.try()
			if !ok || change > 0 && change > -temperature*math.Log(a.fraction()) {
				a.undo()
				continue
			}
			if change > 0 {
				keep()
			}
			a.accept(change)
		}
		s.work += timeChecked * trialWork
		if s.done() {
			break
		}
	}
	a.moves = a.moves[:0]
	keep()
	s.consider(best)
}

func newAnnealing(s *fleetSearch) *annealing {
	a := &annealing{
		fleetSearch: s, random: 1, jobs: cloneMixes(s.best.jobs), total: make([]int64, len(s.penalty)),
		load: make([]int64, len(s.types)), vms: slices.Clone(s.best.vms), rent: make([]float64, len(s.types)),
	}
	for i, mix := range a.jobs {
		for v, h := range mix {
			if h > 0 {
				a.total[i] += h
				a.load[v] += s.types[v].loads.Units(i, h)
			}
		}
		a.cost -= s.penalty[i] * float64(a.total[i])
	}
	for v := range s.types {
		a.rent[v] = s.types[v].rental.Cost(a.vms[v])
		a.spend += a.rent[v]
	}
	a.cost += a.spend
	return a
}

// vmPrice returns the mean price of the VMs that are rented.
func (a *annealing) vmPrice() float64 {
	vms := 0.0
	for _, n := range a.vms {
		vms += float64(n)
	}
	if vms == 0 {
		return 1
	}
	return a.spend / vms
}

func (a *annealing) fraction() float64 {
	return (float64(a.random.Below(1<<53)) + 1) / (1 << 53)
}

// choose lists the places in which the jobs of each class may run without costing more than the gap that is open. A job
// in another place costs at least the difference of the places' worth, so no better plan has it there.
func (a *annealing) choose(nu []float64, gap float64) {
	a.places = make([][]int, len(a.penalty))
	for i := range a.penalty {
		least := math.Inf(1)
		worth := make([]float64, len(a.on[i]))
		for k, v := range a.on[i] {
			worth[k] = a.types[v].classes[i].gamma * nu[v]
			least = min(least, worth[k])
		}
		for k, v := range a.on[i] {
			if worth[k]-least <= gap {
				a.places[i] = append(a.places[i], v)
			}
		}
		if math.Abs(least-a.penalty[i]) <= gap && a.low[i] < a.high[i] {
			a.places[i] = append(a.places[i], outside)
		}
		if len(a.places[i]) > 1 {
			a.movable = append(a.movable, i)
		}
	}
}

// try makes one to four moves at random and returns how much dearer the plan becomes; false where it cannot be.
func (a *annealing) try() (change float64, ok bool) {
	a.moves, a.touched, a.worth = a.moves[:0], a.touched[:0], 0
	i := a.movable[a.random.Below(len(a.movable))]
	from, ok := a.source(i)
	if !ok {
		return 0, false
	}
	to, ok := a.target(i, from)
	if !ok {
		return 0, false
	}
	a.move(jobMove{i, from, to})
	for a.random.Below(4) > 0 && len(a.moves) < 4 {
		if !a.another(from, to) {
			return 0, false
		}
	}
	return a.change()
}

// another makes room where the first move went, or fills what it left.
func (a *annealing) another(from, to int) bool {
	for range classesTried {
		i := a.movable[a.random.Below(len(a.movable))]
		if to != outside && (from == outside || a.random.Below(2) == 0) {
			if a.jobs[i][to] == 0 {
				continue
			}
			next, ok := a.target(i, to)
			if !ok {
				continue
			}
			a.move(jobMove{i, to, next})
			return true
		}
		if !slices.Contains(a.places[i], from) {
			continue
		}
		source, ok := a.source(i)
		if !ok || source == from {
			continue
		}
		a.move(jobMove{i, source, from})
		return true
	}
	return false
}

// source draws where a job of the class is taken from.
func (a *annealing) source(i int) (from int, ok bool) {
	at := a.random.Below(len(a.on[i]) + 1)
	for range len(a.on[i]) + 1 {
		if at == len(a.on[i]) {
			if a.total[i] < a.high[i] {
				return outside, true
			}
		} else if a.jobs[i][a.on[i][at]] > 0 {
			return a.on[i][at], true
		}
		at = (at + 1) % (len(a.on[i]) + 1)
	}
	return 0, false
}

// target draws where it goes.
func (a *annealing) target(i, from int) (to int, ok bool) {
	places := a.places[i]
	if len(places) == 0 {
		return 0, false
	}
	to = places[a.random.Below(len(places))]
	if to == from {
		to = places[a.random.Below(len(places))]
	}
	return to, to != from && (to != outside || a.total[i] > a.low[i])
}

func (a *annealing) move(m jobMove) {
	a.moves = append(a.moves, m)
	a.shift(m.class, m.from, -1)
	a.shift(m.class, m.to, 1)
}

// shift adds jobs of a class on a type.
func (a *annealing) shift(i, v int, jobs int64) {
	if v == outside {
		a.total[i] -= jobs
		a.worth += a.penalty[i] * float64(jobs)
		return
	}
	loads := a.types[v].loads
	before := a.jobs[i][v]
	a.jobs[i][v] += jobs
	a.load[v] += loads.Units(i, before+jobs) - loads.Units(i, before)
	if !slices.Contains(a.touched, v) {
		a.touched = append(a.touched, v)
	}
}

// change returns what the trial costs.
func (a *annealing) change() (change float64, ok bool) {
	for _, v := range a.touched {
		n := a.need(v)
		if n == a.vms[v] {
			continue
		}
		if n > a.types[v].rental.MostVMs {
			return 0, false
		}
		change += a.types[v].rental.Cost(n) - a.rent[v]
	}
	if a.spend+change > a.budget {
		return 0, false
	}
	return change + a.worth, true
}

func (a *annealing) need(v int) int64 {
	g := &a.types[v].loads.Grid
	return integer.CeilDiv(max(0, a.load[v]-g.Tolerance), g.PerVM)
}

func (a *annealing) accept(change float64) {
	a.cost += change
	for _, v := range a.touched {
		if n := a.need(v); n != a.vms[v] {
			rent := a.types[v].rental.Cost(n)
			a.spend += rent - a.rent[v]
			a.vms[v], a.rent[v] = n, rent
		}
	}
}

// undo takes the trial's moves back, and redo makes them again.
func (a *annealing) undo() {
	for k := len(a.moves) - 1; k >= 0; k-- {
		m := a.moves[k]
		a.shift(m.class, m.to, -1)
		a.shift(m.class, m.from, 1)
	}
}

func (a *annealing) redo() {
	for _, m := range a.moves {
		a.shift(m.class, m.from, -1)
		a.shift(m.class, m.to, 1)
	}
}
