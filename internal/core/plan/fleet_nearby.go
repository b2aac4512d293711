package plan

import (
	"cmp"
	"math"
	"slices"

	"example.org/headroom/internal/core/lp/tree"
	"example.org/headroom/internal/core/plan/integer"
)

// Around a plan lie others that differ in the jobs of few classes. Some classes are let go, the cheapest to change more
// often, and all others stay. A tree dives into the program of these few, and each of its solutions is made whole.

const (
	letGoLeast, letGoMost = 10, 120 // classes that are let go together
	letGoKeen             = 0.02    // share of the gap that is no reason to stay
	nearbyWork            = 10_000  // of a tree for each class that is let go
	nearbyTurns           = 16      // of dives or exchanges
	treeUnit              = 1.5     // units of a tree's work that take as long as one of the search
	treeColumns           = 3000    // the most that a tree gets
)

// nearby improves the best plan by dives and by exchanges in turn, with so much work. Every other turn goes to what has
// gained more of late.
func (s *fleetSearch) nearby(work int) {
	begin := s.work
	for turn := 1; turn <= nearbyTurns && s.best != nil && !s.exhausted() && !s.proved(); turn++ {
		by := turn / 2 % 2
		if turn%2 == 0 {
			by = 0
			if s.gained[1] > s.gained[0] {
				by = 1
			}
		}
		before, from, end := s.best.cost, s.work, begin+work*turn/nearbyTurns
		if by == 1 {
			s.exchange(end - s.work)
		}
		for by == 0 && s.work < end && !s.exhausted() && !s.proved() {
			least := min(letGoLeast, len(s.penalty))
			s.around(s.letGo(least + s.random.Below(min(letGoMost, len(s.penalty))-least+1)))
		}
		if s.work > from {
			s.gained[by] = s.gained[by]/2 + (before-s.best.cost)/float64(s.work-from)
		}
	}
}

// first lets all classes go, if they are few enough.
func (s *fleetSearch) first(work int) {
	all, columns := make([]int, len(s.penalty)), 0
	for i := range all {
		all[i] = i
		columns += s.columnsOf(i)
	}
	if columns > treeColumns || len(all) > letGoMost {
		return
	}
	for end := s.work + work; s.work < end && !s.exhausted() && !s.proved(); {
		s.around(all)
	}
}

// letGo draws classes, the cheapest to change more often.
func (s *fleetSearch) letGo(most int) (free []int) {
	type drawn struct {
		class int
		key   float64
	}
	gap := s.best.cost - s.root.bound
	var list []drawn
	for i := range s.penalty {
		least, next := math.Inf(1), math.Inf(1)
		if s.low[i] < s.high[i] {
			least = s.penalty[i]
		}
		for _, v := range s.on[i] {
			cost := s.root.nu[v] * s.types[v].classes[i].gamma
			if cost < least {
				least, cost = cost, least
			}
			next = min(next, cost)
		}
		if extra := next - least; s.high[i] > 0 && extra <= gap {
			list = append(list, drawn{i, (extra + letGoKeen*gap) * s.fraction()})
		}
	}
	s.work += 2*s.columns() + 20*len(list)
	slices.SortFunc(list, func(a, b drawn) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.class, b.class)) })
	columns := 0
	for _, d := range list[:min(len(list), most)] {
		columns += s.columnsOf(d.class)
		if columns > treeColumns {
			break
		}
		free = append(free, d.class)
	}
	return free
}

// columnsOf returns the number of columns of a class in a faithful program.
func (f *fleet) columnsOf(i int) int {
	if f.linear[i] {
		return len(f.on[i])
	}
	return len(f.on[i]) * int(min(f.high[i], integer.MaxOptions))
}

// fraction draws a number above 0 and up to 1.
func (s *fleetSearch) fraction() float64 { return (float64(s.random.Below(1<<53)) + 1) / (1 << 53) }

// around looks for better plans in which all classes but the free ones stay as they are in the best plan.
func (s *fleetSearch) around(free []int) {
	if len(free) == 0 {
		s.work += 1000
		return
	}
	p := s.program(faithful, free, s.best.jobs)
	s.work += 20 * p.Columns()
	s.confine(p)
	t, ok := tree.New(&p.Program)
	if !ok {
		return
	}
	now := 0.0
	for j, x := range p.start {
		now += p.Cost[j] * x
	}
	f := s.newFiller(p, free)
	beside := s.best.cost - now // of what stays
	finest := max(s.allowed(), 1e-9*(1+math.Abs(s.best.cost)))
	limit := func() float64 { return s.best.cost - beside - finest }
	take := func(x []float64) float64 {
		if f.fill(x) < s.best.cost-finest {
			s.consider(f.jobs)
		}
		return limit()
	}
	ended := func() bool { return s.work+int(float64(t.Work())/treeUnit) > s.most || s.done() }
	work := nearbyWork * (len(free) + letGoLeast)
	t.Improve(limit(), work/4, ended, take)
	for t.Work() < work && !ended() {
		t.Dive(limit(), s.fraction, ended, take)
	}
	s.work += int(float64(t.Work()) / treeUnit)
}

// confine leaves out places that cost more than the cheapest one by the whole gap, and are not used.
func (s *fleetSearch) confine(p *fleetProgram) {
	gap := s.best.cost - s.root.bound
	last, least := -1, 0.0
	for _, c := range p.columns {
		if c.class != last {
			last, least = c.class, math.Inf(1)
			if s.low[c.class] < s.high[c.class] {
				least = s.penalty[c.class]
			}
			for _, v := range s.on[c.class] {
				least = min(least, s.root.nu[v]*s.types[v].classes[c.class].gamma)
			}
		}
		if p.start[c.index] == 0 && s.root.nu[c.kind]*s.types[c.kind].classes[c.class].gamma > least+gap {
			p.Upper[c.index] = 0
		}
	}
}

// filler makes whole plans of solutions that are not whole: it leaves the parts out, takes jobs off where there are too
// many, and fills what is left.
type filler struct {
	*fleetSearch
	p     *fleetProgram
	free  []int // by penalty, the highest first
	stays float64
	held  []int64 // load of what stays
	vms   []int64
	room  []int64
	jobs  [][]int64
	total []int64
	parts []float64 // jobs of a class on each type
}

func (s *fleetSearch) newFiller(p *fleetProgram, free []int) *filler {
	n := len(s.types)
	f := &filler{fleetSearch: s, p: p, free: slices.Clone(free), held: make([]int64, n), vms: make([]int64, n), room: make([]int64, n),
		jobs: slices.Clone(s.best.jobs), total: make([]int64, len(s.penalty)), parts: make([]float64, n)}
	slices.SortStableFunc(f.free, func(a, b int) int { return cmp.Compare(s.penalty[b], s.penalty[a]) })
	f.stays = s.best.cost
	for v := range s.types {
		f.held[v] = s.best.loads[v] - s.types[v].loads.Grid.Tolerance
		f.stays -= s.types[v].rental.Cost(s.best.vms[v])
	}
	for _, i := range free {
		for v, h := range f.jobs[i] {
			f.held[v] -= s.types[v].loads.Units(i, h)
			f.stays += s.penalty[i] * float64(h)
		}
		f.jobs[i] = make([]int64, n)
	}
	return f
}

// fill makes a plan of a solution and returns what it costs; infinite where it is none.
func (f *filler) fill(x []float64) float64 {
	copy(f.room, f.held)
	for _, i := range f.free {
		clear(f.jobs[i])
		f.total[i] = 0
	}
	for k := 0; k < len(f.p.columns); {
		c := f.p.columns[k]
		sum := 0.0
		for ; k < len(f.p.columns) && f.p.columns[k].class == c.class && f.p.columns[k].kind == c.kind; k++ {
			sum += x[f.p.columns[k].index] * f.p.columns[k].jobs
		}
		if h := int64(math.Floor(sum + 1e-6)); h > 0 {
			f.jobs[c.class][c.kind] = h
			f.total[c.class] += h
			f.room[c.kind] += f.types[c.kind].loads.Units(c.class, h)
		}
	}
	f.work += 2*len(f.p.columns) + 2*len(f.free)*len(f.types)
	f.rentFor(x)
	for v := range f.types {
		f.room[v] = f.vms[v]*f.types[v].loads.Grid.PerVM - f.room[v]
		for f.room[v] < 0 {
			if !f.lose(v) {
				return math.Inf(1)
			}
		}
	}
	for _, i := range f.free {
		f.place(i, f.low[i])
	}
	sum := f.stays
	for _, i := range f.free {
		f.place(i, f.high[i])
		if f.total[i] < f.low[i] {
			return math.Inf(1)
		}
		sum -= f.penalty[i] * float64(f.total[i])
	}
	for v := range f.types {
		g := &f.types[v].loads.Grid
		sum += f.types[v].rental.Cost(integer.CeilDiv(max(0, f.vms[v]*g.PerVM-f.room[v]), g.PerVM))
	}
	return sum
}

// rentFor rents the VMs of a solution, in whole, as far as there are so many and so much money.
func (f *filler) rentFor(x []float64) {
	needed := func(v int) int64 {
		return integer.CeilDiv(max(0, f.room[v]), f.types[v].loads.Grid.PerVM)
	}
	for v := range f.types {
		n := 0.0
		for _, j := range f.p.rented[v] {
			n += x[j]
		}
		f.vms[v] = min(max(int64(math.Round(n)), needed(v)), f.types[v].rental.MostVMs)
	}
	for !f.affordable(f.vms) { // one that is not needed goes, or the dearest
		at, most := -1, 0.0
		for v, n := range f.vms {
			if n == 0 {
				continue
			}
			saved := f.types[v].rental.Cost(n) - f.types[v].rental.Cost(n-1)
			if n > needed(v) {
				saved += f.budget
			}
			if saved > most {
				at, most = v, saved
			}
		}
		if at < 0 {
			return
		}
		f.vms[at]--
		f.work += 10 * len(f.vms)
	}
}

// place gives a class jobs up to a number where they fit, in the cheapest places first.
func (f *filler) place(i int, most int64) {
	for f.total[i] < most {
		at, units, least := -1, int64(0), math.Inf(1)
		for _, v := range f.on[i] {
			h := f.jobs[i][v]
			u := f.types[v].loads.Units(i, h+1) - f.types[v].loads.Units(i, h)
			if cost := f.root.nu[v] * float64(u) / float64(f.types[v].loads.Grid.PerVM); u <= f.room[v] && cost < least {
				at, units, least = v, u, cost
			}
		}
		if at < 0 {
			return
		}
		f.room[at] -= units
		f.jobs[i][at]++
		f.total[i]++
		f.work += len(f.types)
	}
}

// lose takes a job off a type that has too many: the one of least penalty of those that suffice, if any does; false where
// none is left.
func (f *filler) lose(v int) bool {
	at, units, enough, least := -1, int64(0), false, math.Inf(1)
	for _, i := range f.free {
		h := f.jobs[i][v]
		if h == 0 {
			continue
		}
		u := f.types[v].loads.Units(i, h) - f.types[v].loads.Units(i, h-1)
		suffices, worth := u >= -f.room[v], f.penalty[i]
		if !suffices {
			worth /= float64(u) + 1
		}
		if f.total[i] <= f.low[i] {
			worth *= promisedWorth
		}
		if suffices && !enough || suffices == enough && worth < least {
			at, units, enough, least = i, u, suffices, worth
		}
	}
	f.work += len(f.free)
	if at < 0 {
		return false
	}
	f.room[v] += units
	f.jobs[at][v]--
	f.total[at]--
	return true
}

// promisedWorth is how much more a promised job is worth that would have to find another place.
const promisedWorth = 100
