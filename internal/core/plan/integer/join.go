package integer

import (
	"cmp"
	"math"
	"slices"
)

// fillMost bounds the classes that fill looks at.
const fillMost = 20_000

// fill brings the load up to the kink with the moves that cost least per unit of load. That gives a good plan in one
// pass if one large class does not fit any more and many small ones do. It is the only plan if the time is up. It proves
// nothing.
func (s *Search) fill() {
	k := &s.kink
	room := k.low*k.grid - s.base
	if k.low != k.high || room <= 0 {
		return
	}
	steps := s.steps[:0]
	for i := range min(s.front.count(), fillMost) {
		if c, ok := s.front.stretch(i, room); ok {
			steps = append(steps, move{i, c})
		}
	}
	s.steps = steps
	slices.SortFunc(steps, func(a, b move) int {
		return cmp.Or(cmp.Compare(a.extra*float64(b.load), b.extra*float64(a.load)), cmp.Compare(b.load, a.load), cmp.Compare(a.class, b.class))
	})
	var moves []move
	for _, m := range steps {
		if c, ok := s.front.stretch(m.class, room); ok {
			room -= c.load
			moves = append(moves, move{m.class, c})
		}
	}
	s.accept(moves)
}

// join looks for a good plan by meeting in the middle. The moves of a few cheap classes are multiplied out in two halves,
// and each half is sorted by load. For every number of VMs near the kink one sweep finds the best pair that fits. It
// proves nothing.
func (s *Search) join(leads []lead, target float64, e effort) {
	for try := 0; try < e.tries && s.gap-s.floor > target && !s.done(); try++ {
		picked := s.pick(leads, e.classes)
		halves := &s.halves
		for h := range halves {
			halves[h].start(e.states)
		}
		for i, class := range picked {
			halves[i%2].multiply(s, class, e.states)
		}
		for h := range halves {
			halves[h].sort(s.kink.perUnit)
		}
		s.meet(&halves[0], &halves[1], e.window)
	}
}

// pick chooses classes with cheap moves: the cheapest ones with some shuffling, so that every try
// sees others where many tie.
func (s *Search) pick(leads []lead, n int) []int {
	pool := slices.Clone(leads)
	if len(pool) > 2*n {
		slices.SortFunc(pool, func(a, b lead) int {
			return cmp.Or(cmp.Compare(a.extra, b.extra), cmp.Compare(a.class, b.class))
		})
		// Classes that tie with the last one wanted are as good as it.
		end := n
		for end < len(pool) && pool[end].extra <= pool[n-1].extra {
			end++
		}
		pool = pool[:max(end, n*3/2)]
	}
	for i := len(pool) - 1; i > 0; i-- {
		j := s.random.Below(i + 1)
		pool[i], pool[j] = pool[j], pool[i]
	}
	picked := make([]int, min(n, len(pool)))
	for i := range picked {
		picked[i] = pool[i].class
	}
	return picked
}

// half is one list of combined moves.
type half struct {
	items  []combined
	order  []int32   // items by count and load
	groups []group   // of items of one count
	value  []float64 // extra - nu·load, by order
	least  []int32   // position of the smallest value up to here in the group
	picks  []move
	choice []choice
}

type combined struct {
	load   int64
	count  int64
	extra  float64
	parent int32 // item it was made from, -1 for none
	pick   int32 // the move added, index into picks
}

func (h *half) start(states int) {
	h.items = append(slices.Grow(h.items[:0], states), combined{parent: -1, pick: -1})
	h.picks = h.picks[:0]
}

// multiply adds the moves of one class to every combination so far.
func (h *half) multiply(s *Search, class, states int) {
	h.choice = s.front.choices(class, s.gap, h.choice[:0])
	n := len(h.items)
	// Two moves a class reach more classes within the limit, which varies loads best.
	const movesPerClass = 2
	for k := 0; k < movesPerClass && k < len(h.choice); k++ {
		c := h.choice[k]
		if len(h.choice) > movesPerClass { // ties and near ties: any of the cheapest will do
			c = h.choice[s.random.Below(min(len(h.choice), 8))]
		}
		pick := int32(len(h.picks))
		h.picks = append(h.picks, move{class, c})
		for i := 0; i < n && len(h.items) < states; i++ {
			if extra := h.items[i].extra + c.extra; extra < s.gap {
				h.items = append(h.items, combined{h.items[i].load + c.load, h.items[i].count + c.count, extra, int32(i), pick})
			}
		}
	}
}

func (h *half) sort(perUnit float64) {
	n := len(h.items)
	h.order = slices.Grow(h.order[:0], n)[:n]
	for i := range h.order {
		h.order[i] = int32(i)
	}
	slices.SortFunc(h.order, func(a, b int32) int {
		if x, y := h.items[a].count, h.items[b].count; x != y {
			return cmp.Compare(x, y)
		}
		return cmp.Compare(h.items[a].load, h.items[b].load)
	})
	h.value = slices.Grow(h.value[:0], n)[:n]
	h.least = slices.Grow(h.least[:0], n)[:n]
	h.groups = h.groups[:0]
	for pos, i := range h.order {
		item := &h.items[i]
		h.value[pos] = item.extra - perUnit*float64(item.load)
		h.least[pos] = int32(pos)
		if last := len(h.groups) - 1; last < 0 || h.groups[last].count != item.count {
			h.groups = append(h.groups, group{item.count, pos, pos + 1})
			continue
		}
		h.groups[len(h.groups)-1].to = pos + 1
		if h.value[h.least[pos-1]] <= h.value[pos] {
			h.least[pos] = h.least[pos-1]
		}
	}
}

// group is the items of one count, by their places in the order.
type group struct {
	count    int64
	from, to int
}

// path lists the moves of an item.
func (h *half) path(dst []move, item int32) []move {
	for i := item; h.items[i].parent >= 0; i = h.items[i].parent {
		dst = append(dst, h.picks[h.items[i].pick])
	}
	return dst
}

// meet finds the best pair of items for every VM count in the window, and every count of the row near its
// target, and accepts the best of all.
func (s *Search) meet(a, b *half, window int64) {
	k := &s.kink
	middle := min(max(CeilDiv(s.base, k.grid), k.low), k.high)
	best := s.gap
	bestA, bestB := int32(-1), int32(-1)
	for n := middle - window; n <= middle+window; n++ {
		if n < 0 || n > k.Most() {
			continue
		}
		room := n*k.grid - s.base
		vms := k.awayFromKink(n) + k.perUnit*float64(room)
		if math.IsInf(vms, 1) {
			continue
		}
		for short := int64(0); short <= s.row.window(); short++ {
			count := s.row.target - short*s.row.side
			fixed := vms + s.row.excess(count)
			at := len(b.groups) - 1
			for _, ga := range a.groups {
				for at >= 0 && s.count+ga.count+b.groups[at].count > count {
					at--
				}
				if at < 0 {
					break
				}
				gb := b.groups[at]
				if s.count+ga.count+gb.count != count {
					continue
				}
				pos := gb.to - 1
				for ia := ga.from; ia < ga.to; ia++ {
					i := a.order[ia]
					for pos >= gb.from && a.items[i].load+b.items[b.order[pos]].load > room {
						pos--
					}
					if pos < gb.from {
						break
					}
					if gap := fixed + a.value[ia] + b.value[b.least[pos]]; gap < best {
						best, bestA, bestB = gap, i, b.order[b.least[pos]]
					}
				}
			}
		}
	}
	if bestA >= 0 {
		s.accept(b.path(a.path(nil, bestA), bestB))
	}
}
