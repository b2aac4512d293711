package integer

import (
	"cmp"
	"math"
	"slices"
)

// The search rests on one identity. For any price of capacity nu >= 0, with every class at the
// number of jobs that is cheapest at that price,
//
//	cost(plan) = bound + sum of extras + excess(load)
//
// A class's extra is the cost of its own choice above its cheapest one. The excess is the cost of whole VMs above nu·load
// (see kink). No part is ever negative, so a plan's gap is a sum of small non-negative numbers. A class whose cheapest
// move costs more than the best known gap cannot move in a better plan. The search looks for the set of moves with the
// smallest gap. It first joins two lists of random moves, which finds a good plan fast. Then a program over
// Pareto-optimal (load, cost) states proves it.

// choice is one way for a class to leave its cheapest number of jobs.
type choice struct {
	jobs  int64   // the class's jobs then
	load  int64   // change of the load
	count int64   // change of the row's count
	extra float64 // what it costs more at the price of capacity
}

// lead is a class and the extra of its cheapest move.
type lead struct {
	class int
	extra float64
}

// gatherer collects the cheapest leads: at most so many, all of them below a bound that falls when
// there are more.
type gatherer struct {
	leads []lead
	below float64
	most  int
	all   bool
}

func (g *gatherer) add(l lead) {
	if g.leads = append(g.leads, l); len(g.leads) == 2*g.most {
		g.cut()
	}
}

func (g *gatherer) cut() {
	slices.SortFunc(g.leads, func(a, b lead) int {
		return cmp.Or(cmp.Compare(a.extra, b.extra), cmp.Compare(a.class, b.class))
	})
	g.leads, g.below, g.all = g.leads[:g.most], g.leads[g.most-1].extra, false
}

func (g *gatherer) result() ([]lead, bool) {
	if len(g.leads) > g.most {
		g.cut()
	}
	return g.leads, g.all
}

// front describes the classes to the search: multiples of one load (linear) or a list of loads (options).
type front interface {
	// leads appends the classes that can move for less than below, at most so many of the
	// cheapest, and says whether these are all.
	leads(below float64, most int, dst []lead) (found []lead, all bool)
	// count is the number of classes.
	count() int
	// stretch is the move of a class to the most jobs whose load grows by room at most; false if none.
	stretch(class int, room int64) (choice, bool)
	// choices appends the moves of a class that cost less than below, cheapest first.
	choices(class int, below float64, dst []choice) []choice
}

// move is a choice made for a class.
type move struct {
	class int
	choice
}

// Search holds the best plan found so far as moves away from the base.
type Search struct {
	front front
	kink  kink
	base  int64   // load of the base
	row   row     // what else is whole
	count int64   // of the base in the row
	slack float64 // what was rounded away where ratios tie; added to every proven gap

	floor  float64 // no load that can be reached has a smaller excess
	gap    float64 // of the best plan: extras + excess
	proven float64 // every plan that was not looked at has a gap of at least this
	moves  []move

	random  SplitMix
	halves  [2]half    // of the latest join, whose room the next one takes
	nodes   nodes      // of the latest Pareto round
	layers  layers     // likewise
	choices [][]choice // likewise, by class
	list    []choice   // all of them
	reach   []reach
	found   []lead      // likewise, of the latest leads
	steps   []move      // and of the latest fill
	done    func() bool // the time is up
}

// Effort limits the work of one pass of the search.
type effort struct {
	classes int // moved in one join
	states  int // in one half of a join
	window  int64
	tries   int
	nodes   int // of the Pareto program
}

var (
	lightEffort  = effort{classes: 16, states: 1 << 8, window: 1, tries: 2, nodes: 3_000}
	middleEffort = effort{classes: 20, states: 1 << 9, window: 2, tries: 2, nodes: 12_000}
	solidEffort  = effort{classes: 24, states: 1 << 11, window: 4, tries: 5, nodes: 60_000}
	heavyEffort  = effort{classes: 40, states: 1 << 14, window: 8, tries: 8, nodes: 3_000_000}
)

const (
	// farFromKink, in VMs, is a base that joins of a few moves cannot bring to the kink.
	farFromKink = 64
	// gatherMost bounds the classes looked at when their moves are all cheap (ties).
	gatherMost = 1 << 13
	// pareto and lattice work on at most so many classes: more never fit the node limits.
	coreMost = 1 << 12
)

func newSearch(f front, k kink, base int64, slack float64, done func() bool) *Search {
	s := new(Search)
	s.begin(f, k, base, slack, done)
	return s
}

// begin begins a search in the room of the one before it.
func (s *Search) begin(f front, k kink, base int64, slack float64, done func() bool) {
	*s = Search{
		front: f, kink: k, base: base, slack: slack, gap: k.excess(base), random: 1, done: done,
		halves: s.halves, nodes: s.nodes, layers: s.layers, choices: s.choices, list: s.list, reach: s.reach, found: s.found, steps: s.steps,
	}
}

// bestGap returns an upper bound on the best plan's distance from the optimum.
func (s *Search) bestGap() float64 {
	open := max(s.floor, min(s.proven, s.gap))
	return max(0, s.gap-open) + s.slack
}

// result is the best plan: the base with the moves made.
func (s *Search) result(f Modeller, base []int64) Result {
	jobs, load := slices.Clone(base), s.base
	for _, m := range s.moves {
		jobs[m.class] = m.jobs
		load += m.load
	}
	n := CeilDiv(load, f.PerVM())
	return Result{Feasible: true, Jobs: jobs, VMs: n, Objective: f.Objective(jobs, n), Gap: s.bestGap()}
}

// run searches until the gap is at most target or the effort is spent.
func (s *Search) run(target float64, e effort) {
	target = max(0, target-s.slack)
	if s.gap > target && (s.done() || s.kink.low-CeilDiv(s.base, s.kink.grid) > farFromKink) {
		s.fill()
	}
	if s.gap-max(s.floor, min(s.proven, s.gap)) <= target || s.done() {
		return
	}
	leads, all := s.front.leads(s.gap, gatherMost, s.found[:0])
	defer func() { s.found = leads }()
	if all && len(leads) == 0 {
		s.proven = s.gap
		return
	}
	if all {
		s.lattice(leads)
	}
	s.join(leads, target, e)
	if s.gap-s.floor <= target {
		return
	}
	s.fill()
	if leads, all = s.front.leads(s.gap, coreMost, leads[:0]); !all {
		return
	}
	slices.SortFunc(leads, func(a, b lead) int {
		return cmp.Or(cmp.Compare(a.extra, b.extra), cmp.Compare(a.class, b.class))
	})
	s.lattice(leads)
	if s.gap-s.floor > target {
		s.pareto(leads, target, e)
	}
}

// accept makes moves the best plan if they are. The gap is computed anew from the moves.
func (s *Search) accept(moves []move) bool {
	load, count, extra := s.base, s.count, 0.0
	for _, m := range moves {
		load += m.load
		count += m.count
		extra += m.extra
	}
	gap := extra + s.kink.excess(load) + s.row.excess(count)
	if gap >= s.gap {
		return false
	}
	s.gap = gap
	s.moves = append(s.moves[:0], moves...)
	return true
}

// lattice raises the floor where all loads that can be reached are multiples of some step away
// from the base: if only even loads are possible, an odd capacity cannot be filled. Moves of
// classes outside leads cost at least the gap and need no place on the lattice.
func (s *Search) lattice(leads []lead) {
	step := int64(0)
	var list []choice
	for _, l := range leads {
		list = s.front.choices(l.class, s.gap, list[:0])
		for _, c := range list {
			step = GCD(step, c.load)
			if step == 1 {
				return
			}
		}
	}
	if step == 0 {
		s.floor = max(s.floor, s.gap) // nothing can move
		return
	}
	k := &s.kink
	common := GCD(step, k.grid)
	if k.grid/common > latticeMost || step/common > int64(MaxLoad)/k.grid {
		return // too many loads in a period, or a period too long to count in
	}
	// The smallest excess stands within one period of the kink's ends, or anywhere between them
	// where only the rest of the last VM counts.
	floor := k.perUnit * float64(mod(-s.base, common))
	if k.low == k.high {
		floor = s.gap
		period := step / common * k.grid
		for _, from := range [2]int64{k.low*k.grid - period, k.low * k.grid} {
			first := from + mod(s.base-from, step)
			for load := first; load <= from+period; load += step {
				if load > -k.grid {
					floor = min(floor, k.excess(load))
				}
				if load > math.MaxInt64-step {
					break
				}
			}
		}
	}
	s.floor = max(s.floor, min(floor, s.gap))
}

// latticeMost bounds the loads looked at in one period of a lattice.
const latticeMost = 100_000

// GCD returns the greatest common divisor, which is never negative.
func GCD(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	if a < 0 {
		return -a
	}
	return a
}

// mod is the remainder that is never negative.
func mod(a, b int64) int64 {
	r := a % b
	if r < 0 {
		r += b
	}
	return r
}

// SplitMix is the generator SplitMix64: small, seeded, the same everywhere.
type SplitMix uint64

// Below draws a whole number from 0 to n-1.
func (r *SplitMix) Below(n int) int {
	*r += 0x9E3779B97F4A7C15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	z ^= z >> 31
	return int(z % uint64(n))
}
