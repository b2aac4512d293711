package pack

import (
	"context"
	"errors"
	"maps"
	"slices"

	"example.org/headroom/internal/core/capacity"
)

// maxTimedSplits bounds the ways to divide parts of the batch when phases and their order are chosen at once:
// 3^13 for thirteen different jobs.
const maxTimedSplits = 2_000_000

// inTime looks for a packing that misses fewer deadlines than the shortest one in its best order, or as many but ends
// sooner. If the batch is small it tries every division into phases and every order of them, else the packings at
// hand.
func (b *batch) inTime(ctx context.Context, f *fitter, phases []phase, basis string) (better []phase, proved bool, sentence string, err error) {
	if p, few := newParts(b); few && f.whole && p.splits <= maxTimedSplits {
		better, err := b.everyCourse(ctx, f, p)
		if err == nil {
			return better, true, "Every division of the batch into phases, and every order of them.", nil
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			return nil, false, "", err
		}
	}
	best := b.course(phases)
	pairs, err := b.paired(ctx)
	if err = cancelled(ctx, err); err != nil {
		return nil, false, "", err
	}
	candidates := [][]contents{pairs.phases, b.oneByOne()}
	if b.hasReleases() {
		byRelease, err := b.byRelease(ctx)
		if err = cancelled(ctx, err); err != nil {
			return nil, false, "", err
		}
		candidates = append(candidates, byRelease)
	}
	for _, other := range candidates {
		others := f.phases(other)
		b.order(others)
		if c := b.course(others); c.better(best) {
			phases, best = others, c
			basis = "The shortest packing, that of the jobs of each release, the best pairs and single jobs, each in a good order."
		}
	}
	return phases, false, basis, nil
}

// byRelease packs the jobs of each release separately, so that none waits for another's.
func (b *batch) byRelease(ctx context.Context) (phases []contents, err error) {
	kinds := map[float64][]int{}
	for i := range b.kinds {
		kinds[b.kinds[i].release] = append(kinds[b.kinds[i].release], i)
	}
	for _, release := range slices.Sorted(maps.Keys(kinds)) {
		part := *b
		part.kinds, part.warnings = nil, nil
		for _, i := range kinds[release] {
			part.kinds = append(part.kinds, b.kinds[i])
		}
		packed, err := part.multi(ctx, newFitter(&part, newLadder(ctx, &part)), 0, nil)
		if err != nil {
			return nil, err
		}
		for _, c := range packed.phases {
			for i := range c {
				c[i].kind = kinds[release][c[i].kind]
			}
			phases = append(phases, c)
		}
	}
	return phases, nil
}

// everyCourse considers every sequence of phases. For every part of the batch it keeps the undominated ways to have
// done it, each a way to have done less and one more phase.
func (b *batch) everyCourse(ctx context.Context, f *fitter, p parts) ([]phase, error) {
	made := make([]phase, p.count)
	states := make([][]state, p.count)
	states[0] = []state{{last: -1, before: -1}}
	var c contents
	var last []int
	for part := 1; part < p.count; part++ {
		if part&0xf == 0 && capacity.Pause(ctx) != nil {
			return nil, context.Cause(ctx)
		}
		c = p.read(part, c)
		if members := f.allocate(c); members != nil {
			made[part] = b.phase(members)
		}
		var ways []state
		last = p.within(c, last)
		for _, l := range last[1:] { // the first one is empty
			if made[l].members == nil {
				continue
			}
			for i, s := range states[part-l] {
				ways = append(ways, state{s.then(b, &made[l]), l, i})
			}
		}
		states[part] = undominated(ways)
	}
	var phases []phase
	for part, at := p.count-1, 0; part != 0; { // the first one misses fewest
		s := states[part][at]
		phases = append(phases, made[s.last])
		part, at = part-s.last, s.before
	}
	for i, j := 0, len(phases)-1; i < j; i, j = i+1, j-1 {
		phases[i], phases[j] = phases[j], phases[i]
	}
	return phases, nil
}
