package exchange

import (
	"cmp"
	"math"
	"slices"
)

// A better plan near a good one differs from it by a few moves whose loads fit whole VMs to a hair on several types at
// once. Single moves and swaps hardly ever do. Join draws cheap moves for each of four groups of classes and lists what
// none, one or two of a group come to. It joins groups two by two where the loads of two types fit. It then joins both
// halves where all others fit too. So it looks at some 10^12 sets of up to eight moves, and touches few of them.

const (
	groups     = 4
	drawnMost  = 40    // moves of a group
	dimsMost   = 6     // types whose VMs are filled at once
	jobsMost   = 3     // of a class in one move
	joinedMost = 4_000 // sets of two groups that are kept
	triedMost  = 200_000
	cells      = 16 // of each of two types, in which the other half is looked up
	around     = 40 // VMs more or less of a type that are priced
	noise      = 1e-9
	// Limits of the load that a type may be short of whole VMs, in VMs.
	windowLeast, windowMost = 0.004, 4
	setUp                   = 1000 // work of an attempt in any case
)

// move takes jobs of a class from one place to another.
type move struct {
	class, from, to int
	jobs            int64
	extra           float64           // what it costs at the prices
	load            [dimsMost]float64 // what it adds to each of the types, in VMs
	key             float64           // moves with the smallest are drawn
}

// set is some moves together: of one group, or of two sets.
type set struct {
	extra float64
	load  [dimsMost]float64
	a, b  int32
}

// side is a type whose VMs are filled.
type side struct {
	kind   int
	nu     float64
	load   float64   // now, in VMs
	above  []float64 // what first VMs, and one more each, cost above their worth
	rent   []float64
	first  int64
	least  float64 // of above
	wanted float64 // load up to the number of VMs that is to be filled
	any    bool    // every whole number near that is as good
}

// room is space that is used again and again.
type room struct {
	dims   []side
	at     []int // of each type, among dims; -1
	drawn  [groups][]move
	sets   [groups][]set
	keys   []entry
	pairs  [][2]int32
	half   [2][]set
	start  [cells*cells + 1]int32
	sorted []int32
	cell   []int32
}

type entry struct {
	key float64
	at  int32
}

// join carries out moves that change the cost by less than allowed, if it finds any. The best plan costs gap more than its
// bound.
func (s *Search) join(gap, allowed float64) {
	s.Work += setUp
	s.choose(gap)
	if len(s.room.dims) == 0 {
		return
	}
	s.draw(gap)
	for g := range s.room.sets {
		s.combine(g, gap)
	}
	s.meet(gap, allowed)
}

// choose draws the types whose VMs are filled, and prices VMs near what they have.
func (s *Search) choose(gap float64) {
	r := &s.room
	r.at = append(r.at[:0], make([]int, len(s.Types))...)
	var kinds []int
	for v := range s.Types {
		r.at[v] = -1
		if s.Nu[v] > noise {
			kinds = append(kinds, v)
		}
	}
	for k := range kinds {
		other := k + s.random.Below(len(kinds)-k)
		kinds[k], kinds[other] = kinds[other], kinds[k]
	}
	kinds = kinds[:min(len(kinds), dimsMost)]
	for len(r.dims) < len(kinds) {
		r.dims = append(r.dims, side{})
	}
	r.dims = r.dims[:len(kinds)]
	for k, v := range kinds {
		r.at[v] = k
		s.price(&r.dims[k], v, gap)
	}
}

// price prices the VMs of a type near those that it has, and draws how many are to be filled: a number that does not cost
// much more than the best one.
func (s *Search) price(d *side, v int, gap float64) {
	t := &s.Types[v]
	*d = side{kind: v, nu: s.Nu[v], load: float64(s.load[v]) / float64(t.Grid.PerVM), first: max(0, s.vms[v]-around), above: d.above[:0], rent: d.rent[:0], least: math.Inf(1)}
	for n := d.first; n <= min(s.vms[v]+around, t.Most); n++ {
		rent := t.Cost(n)
		above := (1+s.Mu)*rent - d.nu*float64(n)
		d.least = min(d.least, above)
		d.rent, d.above = append(d.rent, rent), append(d.above, above)
	}
	limit := d.least + noise
	if s.random.Below(2) == 0 {
		limit += gap * s.fraction()
	}
	now, good := int(s.vms[v]-d.first), 0
	for k, above := range d.above {
		if above > limit {
			continue
		}
		if good++; s.random.Below(good) == 0 {
			now = k
		}
		d.any = d.any || good > 1
	}
	d.wanted = float64(d.first+int64(now)) - d.load
	s.Work += 10 * len(d.above)
}

// cost returns what a load costs above its worth at least, beyond the least there is.
func (d *side) cost(load float64) float64 {
	n := math.Ceil(max(0, load) - noise)
	k := int(n) - int(d.first)
	if k < 0 || k >= len(d.above) {
		return math.Inf(1)
	}
	return d.above[k] - d.least + d.nu*(n-load)
}

// draw draws moves of every class into one of four groups, cheap ones more often.
func (s *Search) draw(gap float64) {
	r := &s.room
	for g := range r.drawn {
		r.drawn[g] = r.drawn[g][:0]
	}
	for i := range s.Classes {
		c := &s.Classes[i]
		if len(c.Places) < 2 {
			continue
		}
		g := s.random.Below(groups)
		for _, from := range c.Places {
			has := s.has(i, from)
			if has == 0 || from != Outside && r.at[from] < 0 {
				continue
			}
			for _, to := range c.Places {
				if to == from || to != Outside && r.at[to] < 0 {
					continue
				}
				most := min(has, jobsMost)
				if to == Outside {
					most = min(most, s.total[i]-c.Low)
				}
				for jobs := int64(1); jobs <= most; jobs++ {
					m := move{class: i, from: from, to: to, jobs: jobs}
					if s.weigh(&m); m.extra <= gap {
						m.key = max(m.extra, 0.02*gap) * s.fraction()
						r.drawn[g] = append(r.drawn[g], m)
					}
				}
			}
		}
	}
	for g := range r.drawn {
		list := r.drawn[g]
		s.Work += 10 * len(list)
		slices.SortFunc(list, func(a, b move) int { return cmp.Compare(a.key, b.key) })
		r.drawn[g] = list[:min(len(list), drawnMost)]
	}
}

// weigh computes a move's loads and what it costs at the prices.
func (s *Search) weigh(m *move) {
	for side, p := range [2]int{m.from, m.to} {
		by := m.jobs
		if side == 0 {
			by = -by
		}
		if p == Outside {
			m.extra += s.Classes[m.class].Penalty * float64(by)
			continue
		}
		has := s.jobs[m.class][p]
		load := float64(s.Units(m.class, p, has+by)-s.Units(m.class, p, has)) / float64(s.Types[p].Grid.PerVM)
		m.load[s.room.at[p]] += load
		m.extra += s.Nu[p] * load
	}
	s.Work += 4
}

// combine lists what none, one or two of a group's moves come to.
func (s *Search) combine(g int, gap float64) {
	drawn := s.room.drawn[g]
	list := append(s.room.sets[g][:0], set{a: -1, b: -1})
	for a := range drawn {
		one := &drawn[a]
		list = append(list, set{one.extra, one.load, int32(a), -1})
		for b := range a {
			two := &drawn[b]
			if one.extra+two.extra > gap || two.class == one.class {
				continue
			}
			list = append(list, set{one.extra + two.extra, one.load, int32(a), int32(b)})
			both := &list[len(list)-1]
			for k := range both.load {
				both.load[k] += two.load[k]
			}
		}
	}
	s.Work += len(list)
	s.room.sets[g] = list
}

// part returns the load, or only its part of a VM where any whole number of VMs is as good.
func (d *side) part(load float64) float64 {
	if d.any {
		return load - math.Floor(load)
	}
	return load
}

// joined lists sets of two groups whose loads on the first two types fall short of what is wanted by a window at most.
func (s *Search) joined(half int, wanted, window [2]float64, gap float64) []set {
	r := &s.room
	as, bs := r.sets[2*half], r.sets[2*half+1]
	keys := r.keys[:0]
	for k := range bs {
		keys = append(keys, entry{r.dims[0].part(bs[k].load[0]), int32(k)})
	}
	slices.SortFunc(keys, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
	r.keys = keys
	two := len(r.dims) > 1
	pairs := r.pairs[:0]
	begin := s.random.Below(len(as))
	for k := range as {
		if len(pairs) > 4*joinedMost {
			break
		}
		p := (begin + k) % len(as)
		a := &as[p]
		visit := func(low, high float64) {
			k, _ := slices.BinarySearchFunc(keys, low, func(e entry, x float64) int { return cmp.Compare(e.key, x) })
			for ; k < len(keys) && keys[k].key <= high; k++ {
				s.Work++
				b := &bs[keys[k].at]
				if a.extra+b.extra > gap {
					continue
				}
				if two {
					if short := r.dims[1].part(wanted[1] - a.load[1] - b.load[1]); short < 0 || short > window[1] {
						continue
					}
				}
				pairs = append(pairs, [2]int32{int32(p), keys[k].at})
			}
		}
		high := wanted[0] - a.load[0]
		low := high - window[0]
		if !r.dims[0].any {
			visit(low, high)
			continue
		}
		whole := math.Floor(low)
		low, high = low-whole, high-whole
		if visit(low, min(high, 1)); high > 1 {
			visit(0, high-1)
		}
	}
	for len(pairs) > joinedMost { // any of them
		at := s.random.Below(len(pairs))
		pairs[at] = pairs[len(pairs)-1]
		pairs = pairs[:len(pairs)-1]
	}
	list := r.half[half][:0]
	for _, p := range pairs {
		a, b := &as[p[0]], &bs[p[1]]
		list = append(list, set{a.extra + b.extra, a.load, p[0], p[1]})
		both := &list[len(list)-1]
		for k := range both.load {
			both.load[k] += b.load[k]
		}
	}
	s.Work += 2*len(as) + 10*len(bs) + 4*len(list)
	r.pairs, r.half[half] = pairs, list
	return list
}

// meet joins the halves and carries out what makes the plan cheapest.
func (s *Search) meet(gap, allowed float64) {
	r := &s.room
	var middle, wanted, window [2]float64
	for k := range min(2, len(r.dims)) {
		window[k] = s.window(k, gap) / 2
		middle[k] = window[k] * s.fraction()
		if s.random.Below(2) == 0 {
			middle[k] += r.sets[0][s.random.Below(len(r.sets[0]))].load[k] + r.sets[1][s.random.Below(len(r.sets[1]))].load[k]
		}
		wanted[k] = r.dims[k].wanted - middle[k]
	}
	one := s.joined(0, middle, window, gap)
	two := s.joined(1, wanted, window, gap)
	if len(one) == 0 || len(two) == 0 {
		return
	}
	look := s.lookup(two)
	excess := 0.0 // what whole VMs cost now
	for k := range r.dims {
		excess += r.dims[k].cost(r.dims[k].load)
	}
	change, first, second := allowed, -1, -1
	spare := 0.0
	if !s.infinite() {
		spare = s.Mu * (s.Budget - s.spend)
	}
	cheapest := math.Inf(1)
	for q := range two {
		cheapest = min(cheapest, two[q].extra)
	}
	tried := 0
	for p := range one {
		a := &one[p]
		if a.extra+cheapest-excess >= change+spare || tried > triedMost {
			continue
		}
		look.visit(s, a, gap, func(q int32) {
			tried++
			b := &two[q]
			sum, limit := a.extra+b.extra-excess, change+spare
			for k := 0; k < len(r.dims) && sum < limit; k++ {
				sum += r.dims[k].cost(r.dims[k].load + a.load[k] + b.load[k])
			}
			if sum >= limit || a.a|a.b|b.a|b.b == 0 { // no move at all
				return
			}
			if !s.infinite() {
				more := s.dearer(a, b)
				if sum -= s.Mu * more; sum >= change || s.spend+more > s.Budget {
					return
				}
			}
			change, first, second = sum, p, int(q)
		})
	}
	s.Work += tried + 4*len(one)
	switch {
	case tried > triedMost/2:
		s.narrow *= 0.7
	case tried < triedMost/8:
		s.narrow = min(1, 1.2*s.narrow)
	}
	if first < 0 {
		return
	}
	s.carryOut(0, &one[first])
	s.carryOut(2, &two[second])
	s.settle()
}

// window returns how far below whole VMs a type's load may be. It narrows where too many sets of moves fit.
func (s *Search) window(k int, gap float64) float64 {
	return min(windowMost, max(windowLeast, s.narrow*gap/s.room.dims[k].nu))
}

// dearer returns what two sets of moves add to the spending.
func (s *Search) dearer(a, b *set) (more float64) {
	for k := range s.room.dims {
		d := &s.room.dims[k]
		n := int64(math.Ceil(max(0, d.load+a.load[k]+b.load[k]) - noise))
		more += d.rent[n-d.first] - s.rent[d.kind]
	}
	return more
}

func (s *Search) carryOut(g int, x *set) {
	for k, at := range [2]int32{x.a, x.b} {
		of := &s.room.sets[g+k][at]
		for _, m := range [2]int32{of.a, of.b} {
			if m >= 0 {
				s.move(&s.room.drawn[g+k][m])
			}
		}
	}
}

// lookup finds sets by their loads on the third and the fourth type.
type lookup struct {
	low, side [2]float64
	dims      int
}

func (s *Search) lookup(list []set) *lookup {
	r := &s.room
	l := &lookup{dims: min(2, max(0, len(r.dims)-2))}
	for c := range l.dims {
		l.side[c] = 1.0 / cells
		if d := &r.dims[c+2]; !d.any {
			high := math.Inf(-1)
			l.low[c] = math.Inf(1)
			for k := range list {
				l.low[c], high = min(l.low[c], list[k].load[c+2]), max(high, list[k].load[c+2])
			}
			l.side[c] = max(1e-6, (high-l.low[c])/cells)
		}
	}
	clear(r.start[:])
	r.cell = r.cell[:0]
	for k := range list {
		at := int32(0)
		for c := range 2 {
			at *= cells
			if c < l.dims {
				at += int32(l.at(c, r.dims[c+2].part(list[k].load[c+2])))
			}
		}
		r.cell = append(r.cell, at)
		r.start[at+1]++
	}
	for k := range cells * cells {
		r.start[k+1] += r.start[k]
	}
	r.sorted = slices.Grow(r.sorted[:0], len(list))[:len(list)]
	next := r.start
	for k, at := range r.cell {
		r.sorted[next[at]] = int32(k)
		next[at]++
	}
	return l
}

func (l *lookup) at(c int, x float64) int {
	return min(cells-1, max(0, int(math.Floor((x-l.low[c])/l.side[c]))))
}

// visit calls f with the sets that could fill VMs together with a.
func (l *lookup) visit(s *Search, a *set, gap float64, f func(q int32)) {
	r := &s.room
	var spans [2][cells]int
	var count [2]int
	for c := range 2 {
		if c >= l.dims {
			count[c] = 1
			continue
		}
		d := &r.dims[c+2]
		to := d.wanted - a.load[c+2]
		from := to - s.window(c+2, gap)
		if d.any {
			for k := int(math.Floor(from * cells)); k <= int(math.Floor(to*cells)) && count[c] < cells; k++ {
				spans[c][count[c]] = ((k % cells) + cells) % cells
				count[c]++
			}
			continue
		}
		if to < l.low[c] || from > l.low[c]+cells*l.side[c] {
			return
		}
		for k := l.at(c, from); k <= l.at(c, to); k++ {
			spans[c][count[c]] = k
			count[c]++
		}
	}
	for _, x := range spans[0][:count[0]] {
		for _, y := range spans[1][:count[1]] {
			at := x*cells + y
			for _, q := range r.sorted[r.start[at]:r.start[at+1]] {
				f(q)
			}
		}
	}
}
