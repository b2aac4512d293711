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
	cutRounds             = 4       // of a tree
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
			x := s.fraction() // few more often
			s.step(s.letGo(least + int(x*x*float64(min(letGoMost, len(s.penalty))-least))))
		}
		if s.work > from {
			s.gained[by] = s.gained[by]/2 + (before-s.best.cost)/float64(s.work-from)
		}
	}
}

// first lets all classes go, if they are few enough.
func (s *fleetSearch) first(work int) {
	for end := s.work + work; s.few() && s.work < end && !s.exhausted() && !s.proved(); {
		s.around(s.everyClass(), s.best, 0)
	}
}

// few says that a tree can take all classes at once.
func (s *fleetSearch) few() bool {
	columns := 0
	for i := range s.penalty {
		columns += s.columnsOf(i)
	}
	return columns <= treeColumns && len(s.penalty) <= letGoMost
}

func (s *fleetSearch) everyClass() []int {
	all := make([]int, len(s.penalty))
	for i := range all {
		all[i] = i
	}
	return all
}

// step looks around the best plan and around another one in turn. That begins at a plan hardly dearer than the best, and
// again where it has stood still.
func (s *fleetSearch) step(free []int) {
	if s.turn++; s.turn%2 == 0 || !s.few() {
		s.around(free, s.best, 0)
		return
	}
	if s.other == nil || s.still > otherStill {
		s.other, s.still = s.around(s.everyClass(), s.best, otherAbove*(s.best.cost-s.root.bound)), 0
		return
	}
	s.still++
	if better := s.around(free, s.other, 0); better != nil {
		s.other, s.still = better, 0
	}
}

const (
	otherStill = 12  // steps without a better plan
	otherAbove = 0.5 // share of the gap by which another plan may cost more to begin with
)

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

// around looks for plans in which all classes but the free ones stay as they are in the base, and which cost less than that
// and so much above. It answers the cheapest; nil where it finds none but the best.
func (s *fleetSearch) around(free []int, base *fleetPlan, above float64) (found *fleetPlan) {
	if len(free) == 0 {
		s.work += 1000
		return nil
	}
	p := s.programOf(faithful, free, base.jobs, s.places(base))
	s.work += 20 * p.Columns()
	t, ok := tree.New(&p.Program)
	if !ok {
		return nil
	}
	now := 0.0
	for j, x := range p.start {
		now += p.Cost[j] * x
	}
	f := s.newFiller(p, free, base)
	beside := base.cost - now // of what stays
	finest := max(s.allowed(), 1e-9*(1+math.Abs(base.cost)))
	limit := base.cost + above - finest
	take := func(x []float64) float64 {
		if cost := f.fill(x); cost < limit && math.Abs(cost-s.best.cost) > finest/2 {
			if plan := s.evaluate(f.jobs); plan != nil && plan.cost < limit {
				plan.jobs = cloneMixes(f.jobs)
				found, limit = plan, plan.cost-finest
				if plan.cost < s.best.cost {
					s.best = plan
				}
			}
		}
		return limit - beside
	}
	ended := func() bool { return s.work+int(float64(t.Work())/treeUnit) > s.most || s.done() }
	t.Tighten(limit-beside, cutRounds, ended)
	work := nearbyWork * (len(free) + letGoLeast)
	t.Improve(limit-beside, work/4, ended, take)
	for dive := 0; t.Work() < work && !ended(); dive++ {
		t.Dive(limit-beside, dive%2 == 1, s.fraction, ended, take)
	}
	s.work += int(float64(t.Work()) / treeUnit)
	return found
}

// places says where jobs may be in a better plan: not where one costs more than in the cheapest place by the whole gap,
// unless some are there.
func (s *fleetSearch) places(base *fleetPlan) (wanted func(i, v int) bool) {
	gap := s.best.cost - s.root.bound
	last, most := -1, 0.0
	return func(i, v int) bool {
		if i != last {
			last = i
			if _, most = s.cheapestOn(i, s.root.nu); s.low[i] < s.high[i] {
				most = min(most, s.penalty[i])
			}
			most += gap
		}
		return s.root.nu[v]*s.types[v].classes[i].gamma <= most || base.jobs[i][v] > 0
	}
}

// filler makes whole plans of solutions that are not whole: it leaves the parts out, takes jobs off where there are too
// many, and fills what is left.
type filler struct {
	*fleetSearch
	p      *fleetProgram
	base   *fleetPlan
	free   []int // by penalty, the highest first
	stays  float64
	held   []int64 // load of what stays
	vms    []int64
	room   []int64
	jobs   [][]int64
	total  []int64
	offers []offer
}

func (s *fleetSearch) newFiller(p *fleetProgram, free []int, base *fleetPlan) *filler {
	n := len(s.types)
	f := &filler{fleetSearch: s, p: p, base: base, free: slices.Clone(free), held: make([]int64, n), vms: make([]int64, n), room: make([]int64, n),
		jobs: slices.Clone(base.jobs), total: make([]int64, len(s.penalty))}
	slices.SortStableFunc(f.free, func(a, b int) int { return cmp.Compare(s.penalty[b], s.penalty[a]) })
	f.stays = base.cost
	for v := range s.types {
		f.held[v] = base.loads[v] - s.types[v].loads.Grid.Tolerance
		f.stays -= s.types[v].rental.Cost(base.vms[v])
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
	for _, i := range f.free {
		if f.place(i, f.high[i]); f.total[i] < f.low[i] {
			return math.Inf(1)
		}
	}
	cost := f.cost()
	for range tradesMost {
		if cost > f.base.cost+tradesNear*(f.best.cost-f.root.bound) || !f.trade() {
			break
		}
		cost = f.cost()
	}
	return cost
}

// Plans that cost no more than the best and tradesNear of its gap are improved by trades, at most so many.
const (
	tradesMost = 10
	tradesNear = 0.3
)

// cost returns what the plan costs on the VMs that its jobs need.
func (f *filler) cost() float64 {
	sum := f.stays
	for _, i := range f.free {
		sum -= f.penalty[i] * float64(f.total[i])
	}
	for v := range f.types {
		g := &f.types[v].loads.Grid
		sum += f.types[v].rental.Cost(integer.CeilDiv(max(0, f.vms[v]*g.PerVM-f.room[v]), g.PerVM))
	}
	return sum
}

// offer is a job that is refused: its load on a type, and the highest penalty of all that are no larger.
type offer struct {
	units   int64
	class   int
	penalty float64
}

// trade lets a job that is refused take the place of one that goes elsewhere or is refused instead, where that saves most;
// false where nothing is saved.
func (f *filler) trade() bool {
	class, kind, to, by, most := -1, -1, -1, -1, 1e-9
	for v := range f.types {
		list := f.offers[:0]
		for _, i := range f.free {
			if f.total[i] < f.high[i] && slices.Contains(f.on[i], v) {
				h := f.jobs[i][v]
				list = append(list, offer{f.types[v].loads.Units(i, h+1) - f.types[v].loads.Units(i, h), i, f.penalty[i]})
			}
		}
		f.offers = list
		slices.SortFunc(list, func(a, b offer) int { return cmp.Or(cmp.Compare(a.units, b.units), cmp.Compare(a.class, b.class)) })
		for k := 1; k < len(list); k++ {
			if before := list[k-1]; before.penalty >= list[k].penalty {
				list[k].class, list[k].penalty = before.class, before.penalty
			}
		}
		f.work += 4*len(list) + 8*len(f.free)
		for _, i := range f.free {
			h := f.jobs[i][v]
			if h == 0 {
				continue
			}
			free := f.room[v] + f.types[v].loads.Units(i, h) - f.types[v].loads.Units(i, h-1)
			k, found := slices.BinarySearchFunc(list, free+1, func(o offer, units int64) int { return cmp.Compare(o.units, units) })
			if _ = found; k == 0 || list[k-1].class == i || list[k-1].penalty <= most {
				continue
			}
			if gain := list[k-1].penalty - f.penalty[i]; gain > most && f.total[i] > f.low[i] {
				class, kind, to, by, most = i, v, -1, list[k-1].class, gain
			}
			if gain := list[k-1].penalty; gain > most {
				for _, w := range f.on[i] {
					if has := f.jobs[i][w]; w != v && f.types[w].loads.Units(i, has+1)-f.types[w].loads.Units(i, has) <= f.room[w] {
						class, kind, to, by, most = i, v, w, list[k-1].class, gain
						break
					}
				}
			}
		}
	}
	if class < 0 {
		return false
	}
	f.shift(class, kind, -1)
	if to >= 0 {
		f.shift(class, to, 1)
	}
	f.shift(by, kind, 1)
	return true
}

// shift gives a class a job more or less on a type.
func (f *filler) shift(i, v int, by int64) {
	h := f.jobs[i][v]
	f.room[v] -= f.types[v].loads.Units(i, h+by) - f.types[v].loads.Units(i, h)
	f.jobs[i][v] = h + by
	f.total[i] += by
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
	if !math.IsInf(f.budget, 1) && f.fraction() < usedShare {
		f.useUp()
	}
}

// usedShare is the share of plans that try to spend all of the budget.
const usedShare = 0.5

// useUp rents one VM more, with one less of another type or none, as long as the budget pays for more worth by that.
func (f *filler) useUp() {
	n := len(f.vms)
	down, up, spent := make([]float64, n), make([]float64, n), 0.0
	for range usedMost {
		spent = 0
		for v, vms := range f.vms {
			r := &f.types[v].rental
			cost := r.Cost(vms)
			spent += cost
			down[v], up[v] = math.Inf(1), math.Inf(1)
			if vms > 0 {
				down[v] = cost - r.Cost(vms-1)
			}
			if vms < r.MostVMs {
				up[v] = r.Cost(vms+1) - cost
			}
		}
		left := f.budget - spent
		less, more, most := -1, -1, 0.0
		for w := range f.vms {
			if up[w] <= left && f.root.nu[w] > most {
				less, more, most = -1, w, f.root.nu[w]
			}
			for v := range f.vms {
				if gain := f.root.nu[w] - f.root.nu[v]; v != w && !math.IsInf(down[v], 1) && up[w]-down[v] <= left && gain > most {
					less, more, most = v, w, gain
				}
			}
		}
		f.work += n * n / 2
		if more < 0 {
			return
		}
		f.vms[more]++
		if less >= 0 {
			f.vms[less]--
		}
	}
}

// usedMost bounds the VMs by which a budget is spent to the end.
const usedMost = 8

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

// promisedWorth is the factor of a promised job's worth, which would have to find another place.
const promisedWorth = 100
