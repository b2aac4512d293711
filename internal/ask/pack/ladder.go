package pack

import (
	"context"
	"slices"

	"headroom/internal/core/capacity"
	"headroom/internal/core/perf"
)

// same is by which share a time may exceed a phase's and still count as within it: what rounding does to
// products and powers.
const same = 1e-12

// mostNeeds bounds the entries of a ladder's tables.
const mostNeeds = 10_000_000

// ladder is every time a phase can take, in rising order, and what each kind of job then needs. A phase takes as
// long as one of its jobs on some number of VMs, so that its time is a rung, and whether it fits a rung is a
// question about whole numbers.
type ladder struct {
	times []float64
	width int // kinds of jobs
	// plain[rung*width+kind] is the fewest VMs on which a job of the kind is done by then, and special on
	// machines with extra VMs; impossible where there are too few.
	plain, special []int16
	whole          bool // every rung is there; otherwise phases may come out a little longer than they are
}

// impossible is more VMs than there are.
const impossible = int16(2 * MaxPackedVMs)

func newLadder(ctx context.Context, b *batch) *ladder {
	l := &ladder{width: len(b.kinds), whole: true}
	for i := range b.kinds {
		k := &b.kinds[i]
		l.times = append(l.times, k.times[k.least:]...)
		if k.role != perf.PlainRole && b.penalty > 1 {
			for _, t := range k.times[k.least:] {
				l.times = append(l.times, b.penalty*t)
			}
		}
	}
	_ = capacity.Pause(ctx)
	slices.Sort(l.times)
	_ = capacity.Pause(ctx)
	l.times = slices.Compact(l.times)
	if most := max(2, mostNeeds/l.width); len(l.times) > most {
		l.whole = false
		thin := make([]float64, most)
		for i := range thin {
			thin[i] = l.times[i*(len(l.times)-1)/(most-1)]
		}
		l.times = thin
	}
	l.plain = l.needs(ctx, b, 1)
	l.special = l.plain
	if b.penalty > 1 {
		l.special = l.needs(ctx, b, b.penalty)
	}
	return l
}

// needs is the fewest VMs for every rung and kind, where all take so many times as long.
func (l *ladder) needs(ctx context.Context, b *batch, factor float64) []int16 {
	table := make([]int16, len(l.times)*l.width)
	for i := range b.kinds {
		_ = capacity.Pause(ctx)
		k := &b.kinds[i]
		n := len(k.times) // one more than there are
		for rung, t := range l.times {
			for n > k.least && factor*k.times[n-1] <= t*(1+same) {
				n--
			}
			table[rung*l.width+i] = impossible
			if n < len(k.times) {
				table[rung*l.width+i] = int16(n)
			}
		}
	}
	return table
}

// at is a rung's needs.
func (l *ladder) at(rung int) (plain, special []int16) {
	from := rung * l.width
	return l.plain[from : from+l.width], l.special[from : from+l.width]
}

// never is the rung of what fits at no time.
func (l *ladder) never() int { return len(l.times) }
