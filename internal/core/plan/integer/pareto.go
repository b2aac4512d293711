package integer

import (
	"math"
)

// state is a set of moves made so far. States of one layer are kept by ascending load, and only those that no other
// beats. Of two states, the one with the smaller load and the smaller cost - nu·load serves every continuation at
// least as well. States of different counts of the row do not compare.
type state struct {
	load  int64
	cost  float64 // sum of extras
	node  int32   // how it was reached
	count int32   // of the row, above the base's
}

// node says how a state was reached: which choice of which class was added to which node.
type node struct {
	parent, class, choice int32
}

// nodes are kept in blocks: one slice that grows to millions would be copied again and again, and
// nothing else runs on a processor while it copies.
type nodes struct {
	blocks [][]node
	count  int
}

const nodeBlock = 1024

func (n *nodes) add(nd node) int32 {
	at := n.count
	if at/nodeBlock == len(n.blocks) {
		n.blocks = append(n.blocks, make([]node, nodeBlock))
	}
	n.blocks[at/nodeBlock][at%nodeBlock] = nd
	n.count++
	return int32(at)
}

func (n *nodes) at(i int32) node {
	return n.blocks[i/nodeBlock][i%nodeBlock]
}

// layers are the lists of states a round works with, kept for the next round.
type layers struct {
	current, shifted []state
	merged           [2][]state
}

// room empties a list and sees to it that it holds n states.
func room[T any](list []T, n int) []T {
	if cap(list) < n {
		return make([]T, 0, max(n, 2*cap(list)))
	}
	return list[:0]
}

// pareto tries all moves of the classes, cheapest class first. Completed, it has proved the best
// plan; the early rounds allow little extra each, which finds better plans cheaply and proves the
// gap in part when a later round runs out of nodes.
func (s *Search) pareto(leads []lead, target float64, e effort) {
	const rounds, factor = 8, 2
	limit := s.gap
	for range rounds {
		limit /= factor
	}
	for round := 0; round <= rounds; round++ {
		if round == rounds {
			limit = math.Inf(1)
		}
		if limit > s.proven {
			if !s.paretoRound(leads, limit, target, e.nodes) {
				return
			}
		}
		if s.gap-max(s.floor, s.proven) <= target {
			return
		}
		limit *= factor
	}
}

// paretoRound looks at every set of moves whose extras stay below limit; false if it gave up.
func (s *Search) paretoRound(leads []lead, limit, target float64, most int) bool {
	k := &s.kink
	choices := room(s.choices, len(leads))
	list := s.list[:0]
	for _, l := range leads {
		if l.extra >= min(limit, s.gap) {
			break
		}
		from := len(list)
		list = s.front.choices(l.class, min(limit, s.gap), list)
		choices = append(choices, list[from:len(list):len(list)])
		if len(list) > 4*most {
			return false
		}
	}
	s.choices, s.list = choices, list
	reach := s.rates(choices)

	s.nodes.count = 0
	root := s.nodes.add(node{parent: -1})
	l := &s.layers
	layer := append(room(l.current, 1), state{load: s.base, node: root})
	defer func() { l.current = layer }()
	bestNode := root
	best := s.gap
	margin := max(target*marginShare, s.gap*floatNoise)

	for g, moves := range choices {
		lead := leads[g].extra
		bar := min(limit, best-margin)
		// States from which even the cheapest move still to come costs too much are finished.
		kept := layer[:0]
		for _, st := range layer {
			if st.cost+lead >= bar || s.outOfReach(st, &reach[g], bar) {
				continue
			}
			kept = append(kept, st)
		}
		layer = kept
		if len(layer) == 0 {
			break
		}
		next := layer
		for c, m := range moves {
			l.shifted = room(l.shifted, len(layer))
			for _, st := range layer {
				cost := st.cost + m.extra
				if cost >= bar {
					continue
				}
				load, count := st.load+m.load, st.count+int32(m.count)
				if total := cost + k.excess(load) + s.row.excess(s.count+int64(count)); total < best {
					best = total
					bestNode = s.nodes.add(node{st.node, int32(g), int32(c)})
					bar = min(limit, best-margin)
				}
				if g+1 >= len(choices) || cost+leads[g+1].extra >= bar {
					continue
				}
				l.shifted = append(l.shifted, state{load, cost, s.nodes.add(node{st.node, int32(g), int32(c)}), count})
			}
			if s.nodes.count > most || s.done() {
				s.acceptNode(bestNode, leads, choices)
				return false
			}
			merged := &l.merged[c%2]
			*merged = mergeStates(room(*merged, len(next)+len(l.shifted)), next, l.shifted, k.perUnit)
			next = *merged
		}
		if len(moves) > 0 {
			layer, l.merged[(len(moves)-1)%2] = next, layer
		}
	}
	s.acceptNode(bestNode, leads, choices)
	s.proven = max(s.proven, min(limit, s.gap-margin))
	return true
}

const (
	// marginShare of the target is given away in the proof: plans that are better by less are not
	// looked for, which cuts the states that only differ by crumbs.
	marginShare = 0.25
	// floatNoise, relative to a gap, is far above what its sum of a few dozen floats can be off.
	floatNoise = 1e-12
)

// acceptNode accepts the moves that lead to a node.
func (s *Search) acceptNode(at int32, leads []lead, choices [][]choice) {
	var moves []move
	for i := at; i > 0; {
		n := s.nodes.at(i)
		i = n.parent
		moves = append(moves, move{leads[n.class].class, choices[n.class][n.choice]})
	}
	if at > 0 {
		s.accept(moves)
	}
}

// reach is the least extra that a unit of load or of count, more or fewer, costs by any move from here on.
type reach struct{ up, down, more, fewer float64 }

// rates says that for each position in the order of classes.
func (s *Search) rates(choices [][]choice) []reach {
	list := room(s.reach, len(choices)+1)[:len(choices)+1]
	s.reach = list
	inf := math.Inf(1)
	list[len(choices)] = reach{inf, inf, inf, inf}
	for g := len(choices) - 1; g >= 0; g-- {
		r := list[g+1]
		for _, c := range choices[g] {
			if c.load > 0 {
				r.up = min(r.up, c.extra/float64(c.load))
			} else if c.load < 0 {
				r.down = min(r.down, c.extra/float64(-c.load))
			}
			if c.count > 0 {
				r.more = min(r.more, c.extra/float64(c.count))
			} else if c.count < 0 {
				r.fewer = min(r.fewer, c.extra/float64(-c.count))
			}
		}
		list[g] = r
	}
	return list
}

// outOfReach says that coming back to the kink and to the row's target from here costs too much, by moves,
// by VMs or by the row's price.
func (s *Search) outOfReach(st state, r *reach, bar float64) bool {
	k := &s.kink
	if below := (k.low-1)*k.grid - st.load; below > 0 {
		if st.cost+min(r.up, k.slopeLow)*float64(below) >= bar {
			return true
		}
	} else if above := st.load - k.high*k.grid; above > 0 {
		if st.cost+min(r.down, k.slopeHigh)*float64(above) >= bar {
			return true
		}
	}
	if s.row.side == 0 {
		return false
	}
	closer, back := r.more, r.fewer
	if s.row.side < 0 {
		closer, back = back, closer
	}
	left := (s.row.target - s.count - int64(st.count)) * s.row.side
	if left < 0 {
		return st.cost+back*float64(-left) >= bar
	}
	return st.cost+min(closer, math.Abs(s.row.price))*float64(left) >= bar
}

// mergeStates merges two lists by count and load, and drops what is beaten.
func mergeStates(dst, a, b []state, perUnit float64) []state {
	least, count := math.Inf(1), int32(math.MinInt32)
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		var st state
		if j >= len(b) || i < len(a) && a[i].before(&b[j]) {
			st = a[i]
			i++
		} else {
			st = b[j]
			j++
		}
		if st.count != count {
			least, count = math.Inf(1), st.count
		}
		if value := st.cost - perUnit*float64(st.load); value < least {
			least = value
			dst = append(dst, st)
		}
	}
	return dst
}

// before is the order of states in a layer.
func (s *state) before(other *state) bool {
	if s.count != other.count {
		return s.count < other.count
	}
	return s.load < other.load || s.load == other.load && s.cost <= other.cost
}
