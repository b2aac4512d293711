package pack

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
)

// pairCost is the duration of two jobs: one after the other, or at once, in the better of the two ways.
type pairCost struct {
	seconds  float64
	together bool // at once
}

// pair returns the cheapest way to run two jobs: at once only if that is shorter.
func (b *batch) pair(i, j int) pairCost {
	first, second := &b.kinds[i], &b.kinds[j]
	best := pairCost{seconds: first.alone() + second.alone()}
	for _, t := range []float64{b.apart(first, second), b.extraVMs(first, second), b.extraVMs(second, first)} {
		if t < best.seconds {
			best = pairCost{t, true}
		}
	}
	return best
}

// apart returns the time of two jobs at once on VMs of their own, in the best whole division. More VMs never make the
// first job longer, nor the second shorter, so the best division is where they cross.
func (b *batch) apart(first, second *kind) float64 {
	low, high := first.minVMs, b.vms-second.minVMs
	if low > high {
		return math.Inf(1)
	}
	time := func(n int) float64 { return max(first.times[n], second.times[b.vms-n]) }
	cross := lowest(low, high, func(n int) bool { return first.times[n] <= second.times[b.vms-n] })
	return min(time(cross), time(max(low, cross-1)))
}

// extraVMs returns a guest beside a host that has every disk.
func (b *batch) extraVMs(host, guest *kind) float64 {
	if host.role != perf.HostRole || guest.role != perf.GuestRole || b.extras < guest.minVMs {
		return math.Inf(1)
	}
	return b.penalty * max(host.alone(), guest.times[b.extras])
}

// matcher pairs an even number of items at low cost, and returns the partner of each.
type matcher func(ctx context.Context, cost [][]float64) ([]int, error)

// maxForSubsets is the number of jobs up to which pairs are found by trying every set of them.
const maxForSubsets = 20

// pairs returns the cheapest way to run the batch with at most two jobs at once. A single job counts as paired with a
// dummy. Since no pair costs more than its jobs one after the other, at most one job stays single.
func (b *batch) pairs(ctx context.Context, match matcher) ([]contents, error) {
	var jobs []int
	for i := range b.kinds {
		jobs = append(jobs, slices.Repeat([]int{i}, b.kinds[i].count)...)
	}
	known := map[[2]int]pairCost{}
	cost := func(i, j int) pairCost { // of two kinds, i ≤ j
		c, is := known[[2]int{i, j}]
		if !is {
			c = b.pair(i, j)
			known[[2]int{i, j}] = c
		}
		return c
	}
	matrix := make([][]float64, len(jobs)+len(jobs)%2)
	for i := range matrix {
		_ = capacity.Pause(ctx)
		matrix[i] = make([]float64, len(matrix))
		for j := range i {
			if i == len(jobs) {
				matrix[i][j] = b.kinds[jobs[j]].alone()
			} else {
				matrix[i][j] = cost(jobs[j], jobs[i]).seconds
			}
			matrix[j][i] = matrix[i][j]
		}
	}
	partner, err := match(ctx, matrix)
	if err != nil {
		return nil, err
	}
	var phases []contents
	for i, j := range partner {
		switch {
		case i > j || i == len(jobs):
		case j == len(jobs):
			phases = append(phases, contents{{jobs[i], 1}})
		case !cost(jobs[i], jobs[j]).together:
			phases = append(phases, contents{{jobs[i], 1}}, contents{{jobs[j], 1}})
		case jobs[i] == jobs[j]:
			phases = append(phases, contents{{jobs[i], 2}})
		default:
			phases = append(phases, contents{{jobs[i], 1}, {jobs[j], 1}})
		}
	}
	return phases, nil
}

// match returns the cheapest matching.
func match(ctx context.Context, cost [][]float64) ([]int, error) {
	if len(cost) <= maxForSubsets {
		return matchSubsets(cost), nil
	}
	return matchBlossom(ctx, cost)
}

// matchSubsets tries every set with an even number of the first items: the first item of a set is paired with each of
// the others.
func matchSubsets(cost [][]float64) []int {
	n := len(cost)
	best := make([]float64, 1<<n)
	with := make([]int8, 1<<n)
	for set := 1; set < 1<<n; set++ {
		if bits.OnesCount(uint(set))%2 == 1 {
			continue
		}
		i := bits.TrailingZeros(uint(set))
		best[set] = math.Inf(1)
		for rest := set &^ (1 << i); rest != 0; rest &= rest - 1 {
			j := bits.TrailingZeros(uint(rest))
			if c := cost[i][j] + best[set&^(1<<i|1<<j)]; c < best[set] {
				best[set], with[set] = c, int8(j)
			}
		}
	}
	partner := make([]int, n)
	for set := 1<<n - 1; set != 0; {
		i := bits.TrailingZeros(uint(set))
		j := int(with[set])
		partner[i], partner[j] = j, i
		set &^= 1<<i | 1<<j
	}
	return partner
}

// matchGreedily repeatedly takes the pair that saves most against the mean costs of its items: quick, but not the
// cheapest.
func matchGreedily(ctx context.Context, cost [][]float64) ([]int, error) {
	type pair struct {
		i, j int
		gain float64
	}
	n := len(cost)
	mean := make([]float64, n)
	for i := range cost {
		for j := range cost {
			mean[i] += cost[i][j] / float64(n)
		}
	}
	var pairs []pair
	for i := range cost {
		for j := range i {
			pairs = append(pairs, pair{i, j, mean[i] + mean[j] - cost[i][j]})
		}
	}
	_ = capacity.Pause(ctx)
	slices.SortFunc(pairs, func(x, y pair) int { // in one order, as a stable sort takes four times as long
		if x.gain != y.gain {
			return cmp.Compare(y.gain, x.gain)
		}
		return cmp.Or(x.i-y.i, x.j-y.j)
	})
	_ = capacity.Pause(ctx)
	partner := slices.Repeat([]int{-1}, n)
	for _, p := range pairs {
		if partner[p.i] < 0 && partner[p.j] < 0 {
			partner[p.i], partner[p.j] = p.j, p.i
		}
	}
	return partner, nil
}
