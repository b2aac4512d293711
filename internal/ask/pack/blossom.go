package pack

import (
	"context"
	"math"

	"example.org/headroom/internal/core/capacity"
)

// matchBlossom pairs items by Edmonds' method. Every item has a potential, and no pair costs less than the potentials
// of both. Pairs are made where the cost equals them, so the potentials prove that nothing is cheaper. Trees grow
// from unpaired items along such pairs. An odd ring of them is shrunk to one node, a blossom, whose own potential
// adds to those of its items. Each round pairs two more in O(n²) steps.
//
// Costs become even whole numbers, so that half a difference is whole too.
func matchBlossom(ctx context.Context, cost [][]float64) ([]int, error) {
	m := newMatching(cost)
	for range len(cost) / 2 {
		if capacity.Pause(ctx) != nil {
			return nil, context.Cause(ctx)
		}
		m.round()
	}
	return m.mate, nil
}

// wholeCosts is the cost of the dearest pair as a whole number: rounding loses less than a billionth of a billionth
// of a total, and sums stay exact.
const wholeCosts = 1 << 44

type label int8

const (
	free label = iota
	even       // joined to an unpaired item by a path of even length, or unpaired itself
	odd
)

type link struct{ from, to int } // a pair, from one node to another

// matching holds items 0..n-1 and blossoms from n on; both are nodes.
type matching struct {
	n         int
	cost      [][]int64
	potential []int64 // of an item with all blossoms around it
	mate      []int   // of an item; -1: unpaired

	top      []int   // the outermost node around an item
	things   [][]int // in a node
	base     []int   // the item in a node that is paired outside, or not at all
	ring     [][]int // of a blossom: its nodes, that with the base first
	links    [][]link
	own      []int64 // a blossom's own potential
	near     [][]int // by blossom and outside item: the inside item with the smallest rest in a pair with it
	label    []label // of an outermost node
	entry    []link  // of an odd one: the pair that led to it
	unused   []int   // numbers of blossoms
	reach    []int   // by item in no even node: the item in an even one with the smallest rest; -1: none yet
	meet     []link  // by even node: the pair with another even one with the smallest rest; from -1: none yet
	outer    []bool  // nodes that are outermost
	visited  []int   // by node: the last walk that visited it
	walk     int
	finished bool
}

func newMatching(cost [][]float64) *matching {
	n := len(cost)
	nodes := n + n/2
	m := &matching{
		n: n, cost: make([][]int64, n), potential: make([]int64, n), mate: make([]int, n), top: make([]int, n),
		things: make([][]int, nodes), base: make([]int, nodes), ring: make([][]int, nodes), links: make([][]link, nodes),
		own: make([]int64, nodes), near: make([][]int, nodes), label: make([]label, nodes), entry: make([]link, nodes),
		reach: make([]int, n), meet: make([]link, nodes), outer: make([]bool, nodes), visited: make([]int, nodes),
	}
	largest := 0.0
	for i := range cost {
		for j := range i {
			largest = max(largest, cost[i][j])
		}
	}
	scale := 1.0
	if largest > 0 {
		scale = math.Ldexp(1, -math.Ilogb(largest)) * wholeCosts / 2
	}
	lowest := int64(math.MaxInt64)
	for i := range cost {
		m.cost[i] = make([]int64, n)
		for j := range i {
			m.cost[i][j] = 2 * int64(math.Round(cost[i][j]*scale))
			m.cost[j][i] = m.cost[i][j]
			lowest = min(lowest, m.cost[i][j])
		}
		m.mate[i], m.top[i], m.base[i], m.things[i], m.outer[i] = -1, i, i, []int{i}, true
	}
	for i := range m.potential {
		m.potential[i] = lowest / 2
	}
	for b := nodes - 1; b >= n; b-- {
		m.unused = append(m.unused, b)
	}
	return m
}

// left returns a pair's cost above both potentials; the items are in different outermost nodes.
func (m *matching) left(u, v int) int64 { return m.cost[u][v] - m.potential[u] - m.potential[v] }

// nearest returns the item in a node with the smallest rest in a pair with v. It stays the same, because the
// potentials in a node rise and fall together.
func (m *matching) nearest(node, v int) int {
	if node < m.n {
		return node
	}
	return m.near[node][v]
}

// round pairs two more.
func (m *matching) round() {
	m.finished = false
	for v := range m.reach {
		m.reach[v] = -1
	}
	for node := range m.outer {
		m.label[node], m.meet[node] = free, link{-1, -1}
	}
	for node, outer := range m.outer {
		if outer && m.mate[m.base[node]] < 0 {
			m.makeEven(node)
		}
	}
	for !m.finished {
		m.raise()
		m.act()
	}
}

// makeEven joins a node to a tree, as one from which the tree grows.
func (m *matching) makeEven(node int) {
	m.label[node], m.meet[node] = even, link{-1, -1}
	for v := range m.top {
		other := m.top[v]
		if other == node {
			continue
		}
		u := m.nearest(node, v)
		if m.label[other] != even {
			if m.reach[v] < 0 || m.left(u, v) < m.left(m.reach[v], v) {
				m.reach[v] = u
			}
			continue
		}
		l := link{u, v}
		if m.closer(l, m.meet[node]) {
			m.meet[node] = l
		}
		if m.closer(l, m.meet[other]) {
			m.meet[other] = link{v, u}
		}
	}
}

// closer reports whether a pair has a smaller rest than another, which may be missing.
func (m *matching) closer(l, than link) bool {
	return than.from < 0 || m.left(l.from, l.to) < m.left(than.from, than.to)
}

// raise changes potentials, up in even nodes and down in odd ones, until a pair has no rest or an odd blossom has no
// potential of its own.
func (m *matching) raise() {
	by := int64(math.MaxInt64)
	for node, outer := range m.outer {
		switch {
		case !outer:
		case m.label[node] == even && m.meet[node].from >= 0:
			by = min(by, m.left(m.meet[node].from, m.meet[node].to)/2)
		case m.label[node] == odd && node >= m.n:
			by = min(by, m.own[node])
		}
	}
	for v, u := range m.reach {
		if u >= 0 && m.label[m.top[v]] == free {
			by = min(by, m.left(u, v))
		}
	}
	if by == 0 {
		return
	}
	for v, node := range m.top {
		switch m.label[node] {
		case even:
			m.potential[v] += by
		case odd:
			m.potential[v] -= by
		}
	}
	for node := m.n; node < len(m.outer); node++ {
		switch {
		case !m.outer[node]:
		case m.label[node] == even:
			m.own[node] += by
		case m.label[node] == odd:
			m.own[node] -= by
		}
	}
}

// act takes one step that the potentials now allow.
func (m *matching) act() {
	for v, u := range m.reach {
		if u >= 0 && m.label[m.top[v]] == free && m.left(u, v) == 0 {
			node := m.top[v]
			m.label[node], m.entry[node] = odd, link{u, v}
			m.makeEven(m.top[m.mate[m.base[node]]])
			return
		}
	}
	for node, outer := range m.outer {
		if l := m.meet[node]; outer && m.label[node] == even && l.from >= 0 && m.left(l.from, l.to) == 0 {
			if common := m.common(l); common >= 0 {
				m.shrink(l, common)
			} else {
				m.pairUp(l.from, l.to)
				m.pairUp(l.to, l.from)
				m.finished = true
			}
			return
		}
	}
	for node := m.n; node < len(m.outer); node++ {
		if m.outer[node] && m.label[node] == odd && m.own[node] == 0 {
			m.open(node)
			return
		}
	}
}

// up returns the even node above an even one in its tree, with the odd one between them; or -1 above a root.
func (m *matching) up(node int) (above, between int) {
	mate := m.mate[m.base[node]]
	if mate < 0 {
		return -1, -1
	}
	between = m.top[mate]
	return m.top[m.entry[between].from], between
}

// common returns the lowest node above both ends of a pair, or -1 if they are in different trees.
func (m *matching) common(l link) int {
	m.walk++
	for a, b := m.top[l.from], m.top[l.to]; a >= 0 || b >= 0; a, b = b, a {
		if a < 0 {
			continue
		}
		if m.visited[a] == m.walk {
			return a
		}
		m.visited[a] = m.walk
		a, _ = m.up(a)
	}
	return -1
}

// path returns the nodes from an even one up to another above it, and the pairs between them, upwards.
func (m *matching) path(node, to int) (nodes []int, links []link) {
	nodes = []int{node}
	for node != to {
		above, between := m.up(node)
		entry := m.entry[between]
		nodes = append(nodes, between, above)
		links = append(links, link{m.base[node], m.mate[m.base[node]]}, link{entry.to, entry.from})
		node = above
	}
	return nodes, links
}

// shrink turns the ring that a pair between two even nodes of a tree closes into one node.
func (m *matching) shrink(l link, common int) {
	left, leftLinks := m.path(m.top[l.from], common)
	right, rightLinks := m.path(m.top[l.to], common)
	var ring []int
	var links []link
	for i := len(left) - 1; i >= 0; i-- {
		ring = append(ring, left[i])
		if i > 0 {
			links = append(links, link{leftLinks[i-1].to, leftLinks[i-1].from})
		}
	}
	ring, links = append(ring, right[:len(right)-1]...), append(append(links, l), rightLinks...)

	node := m.unused[len(m.unused)-1]
	m.unused = m.unused[:len(m.unused)-1]
	m.ring[node], m.links[node], m.base[node], m.own[node] = ring, links, m.base[common], 0
	m.things[node], m.outer[node] = nil, true
	near := m.near[node]
	if near == nil {
		near = make([]int, m.n)
		m.near[node] = near
	}
	for i, child := range ring {
		m.outer[child] = false
		m.things[node] = append(m.things[node], m.things[child]...)
		for v := range near {
			if u := m.nearest(child, v); i == 0 || m.cost[u][v]-m.potential[u] < m.cost[near[v]][v]-m.potential[near[v]] {
				near[v] = u
			}
		}
	}
	for _, v := range m.things[node] {
		m.top[v] = node
	}
	m.makeEven(node)
}

// open takes an odd blossom apart. The nodes on the even way from its entry to its base stay in the tree, and the
// others leave it.
func (m *matching) open(node int) {
	ring, links, entry := m.ring[node], m.links[node], m.entry[node]
	at := 0
	for i, child := range ring {
		m.outer[child], m.label[child] = true, free
		for _, v := range m.things[child] {
			m.top[v] = child
			if v == entry.to {
				at = i
			}
		}
	}
	m.outer[node], m.label[node] = false, free
	m.unused = append(m.unused, node)

	// A node with an odd place in the ring is paired with the one after it, one with an even place with the one before.
	m.label[ring[at]], m.entry[ring[at]] = odd, entry
	var grown []int
	for at != 0 {
		var in link // into the next odd node, which is paired with the one after it
		var between int
		if at%2 == 1 {
			between, in = at+1, links[(at+1)%len(ring)]
			at = (at + 2) % len(ring)
		} else {
			between, in = at-1, link{links[at-2].to, links[at-2].from}
			at -= 2
		}
		m.label[ring[at]], m.entry[ring[at]] = odd, in
		grown = append(grown, ring[between])
	}
	for _, child := range grown {
		m.makeEven(child)
	}
}

// pairUp pairs an item with another outside its tree and moves the pairs along the path to its root.
func (m *matching) pairUp(v, with int) {
	for {
		node := m.top[v]
		old := m.mate[m.base[node]]
		m.turn(node, v)
		m.mate[v] = with
		if old < 0 {
			return
		}
		between := m.top[old]
		entry := m.entry[between]
		m.turn(between, entry.to)
		m.mate[entry.to] = entry.from
		v, with = entry.from, entry.to
	}
}

// turn makes an item the base of its node: the others in there are paired inside.
func (m *matching) turn(node, v int) {
	if m.base[node] = v; node < m.n {
		return
	}
	ring, links := m.ring[node], m.links[node]
	at := 0
	for i, child := range ring {
		if contains(m.things[child], v) {
			at = i
		}
	}
	ring = append(append([]int{}, ring[at:]...), ring[:at]...)
	links = append(append([]link{}, links[at:]...), links[:at]...)
	m.ring[node], m.links[node] = ring, links
	m.turn(ring[0], v)
	for i := 1; i < len(ring); i += 2 {
		l := links[i]
		m.turn(ring[i], l.from)
		m.turn(ring[i+1], l.to)
		m.mate[l.from], m.mate[l.to] = l.to, l.from
	}
}

func contains(things []int, v int) bool {
	for _, has := range things {
		if has == v {
			return true
		}
	}
	return false
}
