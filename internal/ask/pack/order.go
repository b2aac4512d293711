package pack

import (
	"cmp"
	"container/heap"
	"math"
	"math/bits"
	"slices"
)

// phase is a set of jobs that start at once.
type phase struct {
	members []member
	seconds float64
	release float64 // all its jobs are released by then
}

func (b *batch) phase(members []member) phase {
	p := phase{members: members, seconds: b.longest(members)}
	for _, m := range members {
		p.release = max(p.release, b.kinds[m.kind].release)
	}
	return p
}

// start returns the start of a phase that follows others with this end.
func (p *phase) start(end float64) float64 { return max(end, p.release) }

// missed returns the number of a phase's jobs that are late if it starts at a moment.
func (b *batch) missed(p *phase, start float64) (n int) {
	for _, m := range p.members {
		if b.late(m, start) {
			n++
		}
	}
	return n
}

func (b *batch) late(m member, start float64) bool {
	d := b.kinds[m.kind].deadline
	return d > 0 && start+b.seconds(m) > d*(1+same)
}

func (b *batch) hasDeadlines() bool {
	return slices.ContainsFunc(b.kinds, func(k kind) bool { return k.deadline > 0 })
}

func (b *batch) hasReleases() bool {
	return slices.ContainsFunc(b.kinds, func(k kind) bool { return k.release > 0 })
}

// course is the result of an order of phases.
type course struct {
	missed int
	end    float64
	busy   float64 // without waiting times
}

func (c course) better(than course) bool { return c.compare(than) < 0 }

func (c course) compare(with course) int {
	return cmp.Or(cmp.Compare(c.missed, with.missed), cmp.Compare(c.end, with.end), cmp.Compare(c.busy, with.busy))
}

// then returns the course with one more phase at its end.
func (c course) then(b *batch, p *phase) course {
	start := p.start(c.end)
	return course{c.missed + b.missed(p, start), start + p.seconds, c.busy + p.seconds}
}

func (b *batch) course(phases []phase) (c course) {
	for i := range phases {
		c = c.then(b, &phases[i])
	}
	return c
}

// maxOrdered is the number of phases up to which the order is found by trying every set of them.
const maxOrdered = 15

// order sorts phases to miss the fewest deadlines, and of such orders picks one that ends first. It reports whether
// that is proved. Without deadlines it sorts by release, and no order ends sooner. Of phases released at once, those
// that end most jobs for their time come first, which minimises the mean end of jobs.
func (b *batch) order(phases []phase) (proved bool) {
	slices.SortStableFunc(phases, func(x, y phase) int {
		return cmp.Or(cmp.Compare(x.release, y.release),
			cmp.Compare(x.seconds*float64(len(y.members)), y.seconds*float64(len(x.members))))
	})
	switch {
	case !b.hasDeadlines():
		return true
	case len(phases) <= maxOrdered:
		b.orderSets(phases)
		return true
	}
	exact := b.orderEarliest(phases)
	b.improveOrder(phases)
	return exact
}

// state is a way to have done a set of phases.
type state struct {
	course
	last, before int // the last phase, and the state of the set without it; -1: none
}

// orderSets tries every set of phases that could be done first. Of the ways to do a set it keeps those that end
// sooner or miss less than all others.
func (b *batch) orderSets(phases []phase) {
	n := len(phases)
	states := make([][]state, 1<<n)
	states[0] = []state{{last: -1, before: -1}}
	for set := 1; set < 1<<n; set++ {
		var ways []state
		for rest := uint(set); rest != 0; rest &= rest - 1 {
			last := bits.TrailingZeros(rest)
			for i, s := range states[set&^(1<<last)] {
				ways = append(ways, state{s.then(b, &phases[last]), last, i})
			}
		}
		states[set] = undominated(ways)
	}
	ordered := make([]phase, n)
	for set, at := 1<<n-1, 0; set != 0; { // the first one misses fewest
		n--
		s := states[set][at]
		ordered[n] = phases[s.last]
		set, at = set&^(1<<s.last), s.before
	}
	copy(phases, ordered)
}

// undominated keeps the ways that end sooner the more they miss, the one with fewest misses first.
func undominated(ways []state) []state {
	slices.SortStableFunc(ways, func(x, y state) int { return x.compare(y.course) })
	kept := ways[:0]
	end := math.Inf(1)
	for _, s := range ways {
		if s.end < end {
			kept, end = append(kept, s), s.end
		}
	}
	return slices.Clone(kept)
}

// orderEarliest applies Moore and Hodgson's rule: by deadline, and whenever one is missed the longest phase so far
// goes to the end. That misses fewest if nothing waits for a release and no phase has two jobs with deadlines.
func (b *batch) orderEarliest(phases []phase) (exact bool) {
	exact = !b.hasReleases()
	due := make([]float64, len(phases)) // when the phase must have ended for its most urgent job
	at := make([]int, len(phases))
	for i := range phases {
		at[i], due[i] = i, math.Inf(1)
		timed := 0
		for _, m := range phases[i].members {
			if d := b.kinds[m.kind].deadline; d > 0 {
				due[i] = min(due[i], d-b.seconds(m)+phases[i].seconds)
				timed++
			}
		}
		exact = exact && timed <= 1
	}
	slices.SortStableFunc(at, func(x, y int) int { return cmp.Compare(due[x], due[y]) })
	var kept longestFirst
	dropped := make([]bool, len(phases))
	end := 0.0
	for _, i := range at {
		heap.Push(&kept, timedPhase{phases[i].seconds, i})
		if end += phases[i].seconds; end > due[i]*(1+same) {
			longest := heap.Pop(&kept).(timedPhase)
			dropped[longest.at] = true
			end -= longest.seconds
		}
	}
	var ordered []phase
	for _, late := range []bool{false, true} {
		for _, i := range at {
			if dropped[i] == late {
				ordered = append(ordered, phases[i])
			}
		}
	}
	copy(phases, ordered)
	return exact
}

type timedPhase struct {
	seconds float64
	at      int
}

type longestFirst []timedPhase

func (h longestFirst) Len() int { return len(h) }
func (h longestFirst) Less(i, j int) bool {
	return h[i].seconds > h[j].seconds || h[i].seconds == h[j].seconds && h[i].at < h[j].at
}
func (h longestFirst) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *longestFirst) Push(x any)   { *h = append(*h, x.(timedPhase)) }
func (h *longestFirst) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// maxOrderMoves bounds the moves that are tried, each of which visits all phases.
const maxOrderMoves = 20_000

// improveOrder moves single phases to other places as long as that helps.
func (b *batch) improveOrder(phases []phase) {
	best := b.course(phases)
	trial := make([]phase, len(phases))
	for tried, better := 0, true; better; {
		better = false
		for from := range phases {
			for to := range phases {
				if tried++; tried > maxOrderMoves {
					return
				}
				moved := phases[from]
				trial = append(trial[:0], phases[:from]...)
				trial = append(trial, phases[from+1:]...)
				trial = slices.Insert(trial, to, moved)
				if c := b.course(trial); c.better(best) {
					copy(phases, trial)
					best, better = c, true
				}
			}
		}
	}
}

// deadlines counts the met and missed deadlines.
func (b *batch) deadlines(phases []phase, proved bool, basis string) *PackedDeadlines {
	if !b.hasDeadlines() {
		return nil
	}
	var timed int64
	for i := range b.kinds {
		if b.kinds[i].deadline > 0 {
			timed += int64(b.kinds[i].count)
		}
	}
	missed := int64(b.course(phases).missed)
	return &PackedDeadlines{Met: timed - missed, Missed: missed, Proved: proved || missed == 0, Basis: basis}
}
