package pack

import (
	"cmp"
	"container/heap"
	"math"
	"math/bits"
	"slices"
)

// phase is some jobs that start at once.
type phase struct {
	members []member
	seconds float64
	release float64 // before it none of its jobs is late to come
}

func (b *batch) phase(members []member) phase {
	p := phase{members: members, seconds: b.longest(members)}
	for _, m := range members {
		p.release = max(p.release, b.kinds[m.kind].release)
	}
	return p
}

// start is when a phase begins that follows others which end at a time.
func (p *phase) start(end float64) float64 { return max(end, p.release) }

// missed is how many of a phase's jobs are late where it starts at a time.
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

// course is what an order of phases comes to.
type course struct {
	missed int
	end    float64
	busy   float64 // without the time in which phases wait
}

func (c course) better(than course) bool { return c.compare(than) < 0 }

func (c course) compare(with course) int {
	return cmp.Or(cmp.Compare(c.missed, with.missed), cmp.Compare(c.end, with.end), cmp.Compare(c.busy, with.busy))
}

// then is the course with one more phase at its end.
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

// mostOrdered is how many phases are put in order by looking at every set of them.
const mostOrdered = 15

// order puts phases in the order that misses fewest deadlines, and of those in one that ends first. It says
// whether that is proved. Without deadlines, by release: then no order ends sooner; and of phases released at
// once those first that end most jobs for their time, which makes the mean end of jobs the soonest.
func (b *batch) order(phases []phase) (proved bool) {
	slices.SortStableFunc(phases, func(x, y phase) int {
		return cmp.Or(cmp.Compare(x.release, y.release),
			cmp.Compare(x.seconds*float64(len(y.members)), y.seconds*float64(len(x.members))))
	})
	switch {
	case !b.hasDeadlines():
		return true
	case len(phases) <= mostOrdered:
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
	last, before int // the last phase, and which state of the set without it; -1: none
}

// orderSets looks at every set of phases that could be done first. Of the ways to do a set only those count that
// end sooner or miss less than all others.
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
	for set, at := 1<<n-1, 0; set != 0; { // the first misses fewest
		n--
		s := states[set][at]
		ordered[n] = phases[s.last]
		set, at = set&^(1<<s.last), s.before
	}
	copy(phases, ordered)
}

// undominated keeps the ways that end sooner the more they miss, the one that misses fewest first.
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

// orderEarliest is Moore and Hodgson's rule: by deadline, and whenever one is missed the longest phase so far goes
// to the end. It misses fewest where nothing waits for a release and no phase has two jobs with deadlines.
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

// mostOrderMoves bounds the moves that are tried, each of which looks at all phases.
const mostOrderMoves = 20_000

// improveOrder moves single phases to other places as long as that is better.
func (b *batch) improveOrder(phases []phase) {
	best := b.course(phases)
	trial := make([]phase, len(phases))
	for tried, better := 0, true; better; {
		better = false
		for from := range phases {
			for to := range phases {
				if tried++; tried > mostOrderMoves {
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

// deadlines counts what is in time.
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
