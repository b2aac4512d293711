package pack

import (
	"context"
	"math"

	"example.org/headroom/internal/core/capacity"
)

// Limits of exact packing: the ways to split every part of the batch in two, 3^17 for seventeen different jobs and
// far fewer if jobs are alike, and the parts.
const (
	maxSplits = 200_000_000
	maxParts  = 1 << 20
)

// parts numbers every part of a batch: the counts of each kind are digits.
type parts struct {
	digits []int // how many of each kind
	stride []int
	count  int
	splits float64
}

// newParts returns false if there are too many parts for the exact method.
func newParts(b *batch) (p parts, few bool) {
	p.splits, p.count = 1, 1
	for i := range b.kinds {
		n := b.kinds[i].count
		p.digits = append(p.digits, n)
		p.stride = append(p.stride, p.count)
		p.splits *= float64(n+1) * float64(n+2) / 2
		if p.splits > maxSplits || p.count > maxParts {
			return p, false
		}
		p.count *= n + 1
	}
	return p, p.count <= maxParts
}

// read returns the jobs of a part.
func (p *parts) read(part int, into contents) contents {
	into = into[:0]
	for kind := len(p.stride) - 1; kind >= 0; kind-- {
		if n := part / p.stride[kind]; n > 0 {
			into = append(into, some{kind, n})
			part -= n * p.stride[kind]
		}
	}
	for i, j := 0, len(into)-1; i < j; i, j = i+1, j-1 {
		into[i], into[j] = into[j], into[i]
	}
	return into
}

// exact returns the shortest partition of the batch into phases. It considers every partition by f(part) = min over
// its phases that hold a job of its last kind of T(phase) + f(the rest).
func exact(ctx context.Context, f *fitter, p parts) ([]contents, error) {
	rungs := make([]int32, p.count)
	best := make([]float64, p.count)
	first := make([]int32, p.count) // a phase of the best partition
	var c contents
	var phases []int
	for part := 1; part < p.count; part++ {
		if part&0xff == 0 && capacity.Pause(ctx) != nil {
			return nil, context.Cause(ctx)
		}
		c = p.read(part, c)
		low := 0 // no phase is shorter than without one of its jobs
		for _, s := range c {
			low = max(low, int(rungs[part-p.stride[s.kind]]))
		}
		rungs[part] = int32(f.shortest(c, low))
		best[part] = math.Inf(1)
		phases = p.phases(c, phases)
		for _, phase := range phases {
			if rungs[phase] < int32(f.never()) {
				if t := f.times[rungs[phase]] + best[part-phase]; t < best[part] {
					best[part], first[part] = t, int32(phase)
				}
			}
		}
	}
	var answer []contents
	for part := p.count - 1; part > 0; part -= int(first[part]) {
		answer = append(answer, p.read(int(first[part]), nil))
	}
	return answer, nil
}

// phases returns every part of the given jobs that holds at least one of their last kind, the whole last.
func (p *parts) phases(c contents, into []int) []int {
	into = into[:0]
	last := c[len(c)-1]
	for n := 1; n <= last.count; n++ {
		into = append(into, n*p.stride[last.kind])
	}
	return p.extend(into, c[:len(c)-1])
}

// within returns every part of the given jobs, the empty one first and the whole last.
func (p *parts) within(c contents, into []int) []int {
	return p.extend(append(into[:0], 0), c)
}

// extend adds to every part all combinations of further kinds.
func (p *parts) extend(into []int, c contents) []int {
	for _, s := range c {
		without := len(into)
		for n := 1; n <= s.count; n++ {
			for _, part := range into[:without] {
				into = append(into, part+n*p.stride[s.kind])
			}
		}
	}
	return into
}
