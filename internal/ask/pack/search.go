package pack

import (
	"context"
	"math/rand/v2"

	"example.org/headroom/internal/core/capacity"
)

// A search by moves between two phases: one job goes over, two change places, the phases become one, or a job gets a
// phase of its own. Effort is counted in work, so that the same batch gives the same packing unless its time ends
// first.

const (
	maxSearched = 20_000_000 // jobs visited while testing whether phases fit
	kicks       = 40         // shakes of the best division
	kickShare   = 0.15       // of the jobs
)

// improve makes the best move between every two phases until none helps.
func (s *seen) improve(ctx context.Context, d *division, work int) {
	for better := true; better; {
		better = false
		for i := 0; i < len(d.phases); i++ {
			for j := i + 1; j <= len(d.phases); j++ { // the last one is a new phase
				if s.effort > work || capacity.Pause(ctx) != nil {
					s.settle(d)
					return
				}
				better = s.move(ctx, d, i, j, work) || better
			}
		}
		s.settle(d)
	}
}

// move makes the best move between two phases, if one helps.
func (s *seen) move(ctx context.Context, d *division, i, j, work int) bool {
	a, before := d.phases[i], s.at(d.rungs[i])
	var b contents
	low := -1
	if j < len(d.phases) {
		b, low = d.phases[j], d.rungs[j]
		before += s.at(low)
	}
	if len(a) == 0 || low >= 0 && len(b) == 0 {
		return false
	}
	lowest := before * (1 - provedGap)
	var bestA, bestB contents
	var rungA, rungB int
	var x, y, z contents
	try := func(newA, newB contents, lowA, lowB int) {
		if s.effort > work {
			return
		}
		ra := s.look(newA, lowA)
		if ra == s.never() || s.at(ra) >= lowest {
			return
		}
		rb := s.look(newB, lowB)
		if rb == s.never() || s.at(ra)+s.at(rb) >= lowest {
			return
		}
		lowest = s.at(ra) + s.at(rb)
		bestA, bestB = append(contents{}, newA...), append(contents{}, newB...)
		rungA, rungB = ra, rb
	}
	for _, p := range a {
		x, y = a.with(p.kind, -1, x), b.with(p.kind, 1, y)
		try(x, y, 0, low)
	}
	for _, q := range b {
		x, y = a.with(q.kind, 1, x), b.with(q.kind, -1, y)
		try(x, y, d.rungs[i], 0)
	}
	for _, p := range a {
		if capacity.Pause(ctx) != nil {
			break
		}
		for _, q := range b {
			if p.kind != q.kind {
				z = a.with(p.kind, -1, z)
				x = z.with(q.kind, 1, x)
				z = b.with(q.kind, -1, z)
				y = z.with(p.kind, 1, y)
				try(x, y, 0, 0)
			}
		}
	}
	if len(b) > 0 {
		x = append(x[:0], a...)
		for _, q := range b {
			y = x.with(q.kind, q.count, y)
			x, y = y, x
		}
		try(x, nil, max(d.rungs[i], low), 0)
	}
	if bestA == nil {
		return false
	}
	d.phases[i], d.rungs[i] = bestA, rungA
	if j == len(d.phases) {
		d.phases, d.rungs = append(d.phases, nil), append(d.rungs, 0)
	}
	d.phases[j], d.rungs[j] = bestB, rungB
	return true
}

// shake moves some jobs to random phases.
func (s *seen) shake(d *division, r *rand.Rand) {
	jobs := s.size()
	for range 1 + int(kickShare*float64(jobs)) {
		from, to := r.IntN(len(d.phases)), r.IntN(len(d.phases)+1)
		if from == to || len(d.phases[from]) == 0 {
			continue
		}
		kind := d.phases[from][r.IntN(len(d.phases[from]))].kind
		var target contents
		if to < len(d.phases) {
			target = d.phases[to]
		}
		grown := target.with(kind, 1, nil)
		rung := s.look(grown, 0)
		if rung == s.never() {
			continue
		}
		shrunk := d.phases[from].with(kind, -1, nil)
		d.phases[from], d.rungs[from] = shrunk, s.look(shrunk, 0)
		if to == len(d.phases) {
			d.phases, d.rungs = append(d.phases, nil), append(d.rungs, 0)
		}
		d.phases[to], d.rungs[to] = grown, rung
	}
	s.settle(d)
}

// search improves divisions, then repeatedly shakes the best one.
func (s *seen) search(ctx context.Context, starts [][]contents, seed uint64) division {
	var best division
	work := s.effort + maxSearched
	for i, start := range starts {
		d := s.division(ctx, start)
		s.improve(ctx, &d, work)
		if i == 0 || d.time < best.time {
			best = d
		}
	}
	r := rand.New(rand.NewPCG(seed, 0))
	for range kicks {
		if s.effort > work || capacity.Pause(ctx) != nil {
			break
		}
		d := best.clone()
		s.shake(&d, r)
		s.improve(ctx, &d, work)
		if d.time < best.time {
			best = d
		}
	}
	return best
}
