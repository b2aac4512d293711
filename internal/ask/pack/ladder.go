package pack

import (
	"context"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
)

// same is the share by which a time may exceed a phase's and still count as within it: the rounding error of products
// and powers.
const same = 1e-12

// maxNeeds bounds the entries of a ladder's tables.
const maxNeeds = 10_000_000

// ladder holds every possible time of a phase, ascending, and the needs of each kind of job for it. A phase takes as
// long as one of its jobs on some number of VMs. So its time is a rung, and whether it fits a rung is a question
// about whole numbers.
type ladder struct {
	times []float64
	width int // kinds of jobs
	// plain[rung*width+kind] is the fewest VMs on which a job of the kind ends by then, and special those on machines
	// with extra VMs; impossible if there are too few.
	plain, special []int16
	whole          bool // every rung is there; otherwise phases may appear slightly longer
}

// impossible is more VMs than there are.
const impossible = int16(2 * MaxPackedVMs)

func newLadder(ctx context.Context, b *batch) *ladder {
	l := &ladder{width: len(b.kinds), whole: true}
	for i := range b.kinds {
		k := &b.kinds[i]
		l.times = append(l.times, k.times[k.minVMs:]...)
		if k.role != perf.PlainRole && b.penalty > 1 {
			for _, t := range k.times[k.minVMs:] {
				l.times = append(l.times, b.penalty*t)
			}
		}
	}
	_ = capacity.Pause(ctx)
	slices.Sort(l.times)
	_ = capacity.Pause(ctx)
	l.times = slices.Compact(l.times)
	if highest := max(2, maxNeeds/l.width); len(l.times) > highest {
		l.whole = false
		thin := make([]float64, highest)
		for i := range thin {
			thin[i] = l.times[i*(len(l.times)-1)/(highest-1)]
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

// needs returns the fewest VMs for every rung and kind, with all times multiplied by factor.
func (l *ladder) needs(ctx context.Context, b *batch, factor float64) []int16 {
	table := make([]int16, len(l.times)*l.width)
	for i := range b.kinds {
		_ = capacity.Pause(ctx)
		k := &b.kinds[i]
		n := len(k.times) // one more than exist
		for rung, t := range l.times {
			for n > k.minVMs && factor*k.times[n-1] <= t*(1+same) {
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

// at returns a rung's needs.
func (l *ladder) at(rung int) (plain, special []int16) {
	from := rung * l.width
	return l.plain[from : from+l.width], l.special[from : from+l.width]
}

// never returns the rung of phases that fit at no time.
func (l *ladder) never() int { return len(l.times) }
