package integer

import (
	"math"
	"sort"
)

// others lists, for each class, what all the other classes can do together at little cost: the sets of moves whose extras
// stay below a limit, less those that another set beats. Two lists differ in few classes. So a class is added to half of
// the lists at once, then to a quarter, and so on: all lists together take a few times the work of one.
//
// Where VMs more and fewer cost the same, only the rest of the last VM counts. Loads are folded there: those that differ
// by whole VMs are as good as each other. That is a bound at least, and a plan that reaches it is the best.
type others struct {
	point  *point
	folded bool
	limit  float64     // every set of moves that is not listed costs at least this
	leads  []lead      // the classes that can move for less
	moves  [][]choice  // of each of those
	place  map[int]int // of a class among them
	nodes  nodes
	all    []apart    // the list of classes that cannot move for less
	lists  [][]apart  // a tree: a list without some classes, its halves without half of them
	layers [2][]apart // room
	made   []apart    // likewise
}

// apart is a set of moves: the load that they add, folded or not, and what they cost.
type apart struct {
	load int64
	cost float64
	node int32 // how it was reached
	vms  int32 // that the load was folded by
}

const (
	// longestList bounds the states of a list. Folded ones rarely have a tenth of that.
	longestList = 1 << 10
	// listsWork bounds the states of all lists together.
	listsWork = 1_000_000
	// foldedFrom is the number of VMs of one price from which on loads are folded.
	foldedFrom = 4
)

// newOthers makes the list of all classes up to a limit; nil where it is too long.
func newOthers(b *point, limit float64) *others {
	o := &others{point: b, limit: limit, folded: b.kink.high-b.kink.low >= foldedFrom, place: map[int]int{}}
	all := true
	if o.leads, all = b.front.leads(limit, longestList, nil); !all {
		return nil
	}
	for g, l := range o.leads {
		o.place[l.class] = g
		o.moves = append(o.moves, b.front.choices(l.class, limit, nil))
	}
	root := []apart{{node: o.nodes.add(node{parent: -1})}}
	if o.all, all = o.add(root, 0, len(o.leads)); !all {
		return nil
	}
	size := 1
	for size < len(o.leads) {
		size *= 2
	}
	o.lists = make([][]apart, 2*size)
	o.lists[1] = root
	return o
}

// add makes the list with more classes, which is a new one; false where it is too long.
func (o *others) add(list []apart, from, to int) (longer []apart, made bool) {
	b := o.point
	for g := from; g < to; g++ {
		if len(o.moves[g]) == 0 {
			continue
		}
		next := list
		for c, m := range o.moves[g] {
			o.shift(list, m, node{class: int32(g), choice: int32(c)})
			b.listWork -= len(o.made)
			merged := &o.layers[c%2]
			*merged = o.merge(room(*merged, len(next)+len(o.made)), next)
			next = *merged
		}
		if len(next) > longestList || b.listWork <= 0 || b.done() {
			return nil, false
		}
		list = append(make([]apart, 0, len(next)), next...)
	}
	return list, true
}

// shift makes a move after each set of a list.
func (o *others) shift(list []apart, m choice, at node) {
	grid := o.point.kink.grid
	load, vms, wraps := m.load, int32(0), len(list)
	if o.folded {
		load = mod(m.load, grid)
		vms = int32((m.load - load) / grid)
		wraps = sort.Search(len(list), func(i int) bool { return list[i].load+load >= grid }) // a VM more from there on
	}
	o.made = room(o.made, len(list))
	part := func(list []apart, load int64, vms int32) {
		for i := range list {
			st := &list[i]
			if cost := st.cost + m.extra; cost < o.limit {
				at.parent = st.node
				o.made = append(o.made, apart{load: st.load + load, cost: cost, node: o.nodes.add(at), vms: st.vms + vms})
			}
		}
	}
	part(list[wraps:], load-grid, vms+1)
	part(list[:wraps], load, vms)
}

// merge merges a list and what was made, and drops what is beaten.
func (o *others) merge(dst, list []apart) []apart {
	least, perUnit, made := math.Inf(1), o.point.kink.perUnit, o.made
	if o.folded { // the best of all loads beats some of those below it, a VM on
		for _, l := range [2][]apart{list, made} {
			for i := range l {
				least = min(least, l[i].cost-perUnit*float64(l[i].load))
			}
		}
		least += o.point.kink.nu
	}
	i, j := 0, 0
	for i < len(list) || j < len(made) {
		var st *apart
		if j >= len(made) || i < len(list) && (list[i].load < made[j].load || list[i].load == made[j].load && list[i].cost <= made[j].cost) {
			st = &list[i]
			i++
		} else {
			st = &made[j]
			j++
		}
		if value := st.cost - perUnit*float64(st.load); value < least {
			least = value
			dst = append(dst, *st)
		}
	}
	return dst
}

// without is the list of what the classes but one can do; false where it is too long.
func (o *others) without(class int) (list []apart, made bool) {
	p, moves := o.place[class]
	if !moves {
		return o.all, true
	}
	at, from, to := 1, 0, len(o.leads)
	for to-from > 1 {
		middle := (from + to) / 2
		child, addFrom, addTo := 2*at, middle, to
		if p >= middle {
			child, addFrom, addTo = 2*at+1, from, middle
		}
		if o.lists[child] == nil {
			if o.lists[child], made = o.add(o.lists[at], addFrom, addTo); !made {
				return nil, false
			}
		}
		if at = child; p >= middle {
			from = middle
		} else {
			to = middle
		}
	}
	return o.lists[at], true
}

// best finds moves of the list and of the class that make the cheapest plan, if its gap is below another one. No plan has
// a gap below proven.
func (o *others) best(v *varied, gap float64) (moves []move, proven float64) {
	b := o.point
	list, made := o.without(v.own.Class)
	if !made {
		return nil, 0
	}
	t := trial{kink: &b.kink, list: list, base: b.base - b.front.Units(v.own.Class, b.front.standing()[v.own.Class]) + v.units, total: gap, bound: gap}
	try := t.plain
	if o.folded {
		try = t.fold
	}
	try(choice{jobs: v.jobs})
	choices, all := v.tried(t.bound, nil)
	for _, c := range choices {
		if c.extra >= t.bound {
			break
		}
		try(c)
	}
	if all {
		proven = min(t.bound, o.limit)
	}
	if t.last == nil {
		return nil, proven
	}
	if t.own.jobs != v.jobs {
		moves = append(moves, move{v.own.Class, t.own})
	}
	for i := t.last.node; i > 0; {
		n := o.nodes.at(i)
		i = n.parent
		moves = append(moves, move{o.leads[n.class].class, o.moves[n.class][n.choice]})
	}
	return moves, proven
}

// trial looks for the best set of moves of a list beside the jobs of a class.
type trial struct {
	kink  *kink
	list  []apart
	base  int64
	total float64 // of the best plan
	bound float64 // no plan that was tried is better
	own   choice
	last  *apart
}

// until counts the sets of the list that add so much load at most.
func (t *trial) until(load int64) int {
	return sort.Search(len(t.list), func(i int) bool { return t.list[i].load > load })
}

// plain tries the jobs with each number of VMs.
func (t *trial) plain(c choice) {
	k, from := t.kink, t.base+c.load
	most := min(CeilDiv(from+t.list[len(t.list)-1].load, k.grid), k.Most())
	for n := CeilDiv(from+t.list[0].load, k.grid); n <= most; n++ {
		if c.extra+k.awayFromKink(n) >= t.total {
			if n > k.high {
				break
			}
			continue
		}
		if i := t.until(n*k.grid - from); i > 0 {
			st := &t.list[i-1]
			if total := c.extra + st.cost + k.excess(from+st.load); total < t.total {
				t.total, t.own, t.last = total, c, st
			}
		}
	}
	t.bound = t.total
}

// fold tries the jobs with the rest of the last VM.
func (t *trial) fold(c choice) {
	k, from := t.kink, t.base+c.load
	room := mod(-from, k.grid)
	for _, i := range [2]int{t.until(room), len(t.list)} {
		if i == 0 {
			continue
		}
		st := &t.list[i-1]
		t.bound = min(t.bound, c.extra+st.cost+k.perUnit*float64(mod(room-st.load, k.grid)))
		if total := c.extra + st.cost + k.excess(from+st.load+int64(st.vms)*k.grid); total < t.total {
			t.total, t.own, t.last = total, c, st
		}
	}
}
