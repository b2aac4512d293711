package timetable

import (
	"cmp"
	"math"
	"slices"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/perf"
)

// promise parts the executions of a class that does not wait and promises a number of jobs: those that are promised become a class
// of their own, of which none is refused.
func (g *grid) promise(k int, earlier []horizon.HorizonPeriod) {
	x, c := &g.classes[k], &g.horizon.Problem.Classes[k]
	if x.waits || x.all || c.Jobs.Min == 0 || len(x.runs) == 0 || g.tooMany() {
		return
	}
	part := *x
	part.all, part.promised, part.arrivals = true, true, g.promised(x, c.Jobs.Min, earlier)
	x.arrivals = slices.Clone(x.arrivals)
	for h, n := range part.arrivals {
		x.arrivals[h] -= n
	}
	g.classes = append(g.classes, part)
}

// promised returns by hour how many arrivals are promised: those that find fewer than so many running throughout their longest run,
// which arrived earlier or are promised too. They are counted up to whole ones.
func (g *grid) promised(x *gridClass, jobs float64, earlier []horizon.HorizonPeriod) (all []int64) {
	longest := slices.MaxFunc(x.runs, func(a, b gridRun) int { return cmp.Compare(a.Seconds, b.Seconds) })
	flow := perf.NewArrivals(arrivingOf(earlier, x.of))
	running := make([]float64, g.hours+len(longest.share))
	for h := range running {
		from := g.at(h).Unix()
		running[h] = flow.Running(longest.Seconds, from, from+3600)
	}
	for h, n := range x.arrivals {
		room := float64(n)
		for i, share := range longest.share {
			if share > 0 {
				room = min(room, (jobs-running[h+i])/share)
			}
		}
		promised := max(0, math.Ceil(room-promiseNoise))
		for i, share := range longest.share {
			running[h+i] += promised * share
		}
		all = append(all, int64(promised))
	}
	return all
}

// promiseNoise bounds rounding errors of a number of executions.
const promiseNoise = 1e-6
