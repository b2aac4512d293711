package horizon

import (
	"container/heap"
	"context"
	"fmt"
	"math"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/plan/integer"
)

// The integer program's cost is not convex in what is bought: a neighbour that costs more proves nothing
// about the next one (spec 5.4). So the purchases are split into regions, best first. A region whose convex
// program costs as much as the best purchase known holds nothing better; any other is split until it is a
// single purchase, which is then solved exactly. What is left when the effort is spent is the gap.

// effort of a search for a purchase, in stages looked at.
type weighEffort struct {
	exact   int // solved by the core
	relaxed int // of the convex program
	regions int
}

var (
	fullEffort  = weighEffort{exact: 250_000, relaxed: 12_000_000, regions: 50_000}
	quickEffort = weighEffort{exact: 30_000, relaxed: 3_000_000, regions: 2_000}
)

// choiceOfOffers is a purchase that a search has found.
type choiceOfOffers struct {
	bought []int64
	cost   float64 // +Inf where nothing is feasible
	bound  float64 // no purchase costs less
	root   []float64
}

// weighSearch is a search at work.
type weighSearch struct {
	*weighing
	effort  weighEffort
	cuts    []cut
	touched map[string]bool // purchases the cuts are from
	tried   map[string]bool
	best    choiceOfOffers
	lowest  float64 // what everything costs at least that is not open any more
	open    regions
	target  float64 // an absolute gap that is good enough
}

type openRegion struct {
	region
	bound float64
	age   int
}

type regions []openRegion

func (r regions) Len() int { return len(r) }
func (r regions) Less(i, j int) bool {
	if r[i].bound != r[j].bound {
		return r[i].bound < r[j].bound
	}
	return r[i].age > r[j].age // the newest first: it is the deepest
}
func (r regions) Swap(i, j int) { r[i], r[j] = r[j], r[i] }
func (r *regions) Push(x any)   { *r = append(*r, x.(openRegion)) }
func (r *regions) Pop() any {
	last := (*r)[len(*r)-1]
	*r = (*r)[:len(*r)-1]
	return last
}

// search finds the cheapest purchase, up to a relative gap; first, if given, is tried as well.
func (w *weighing) search(ctx context.Context, effort weighEffort, gap float64, first []int64) (choiceOfOffers, error) {
	s := &weighSearch{weighing: w, effort: effort, touched: make(map[string]bool), tried: make(map[string]bool), lowest: math.Inf(1)}
	s.best = choiceOfOffers{cost: math.Inf(1), bought: make([]int64, len(w.offers)), bound: math.Inf(-1)}
	root := region{make([]int64, len(w.offers)), make([]int64, len(w.offers))}
	for k, o := range w.offers {
		root.high[k] = o.most
	}
	for _, corner := range [][]int64{root.low, root.high} {
		if err := s.touch(ctx, floats(corner)); err != nil {
			return s.best, err
		}
	}
	bound, at, err := s.settleRoot(ctx, root)
	if err != nil {
		return s.best, err
	}
	nearest := make([]int64, len(at))
	for k, x := range at {
		nearest[k] = int64(math.Round(x))
	}
	for _, n := range [][]int64{nearest, first, root.high} {
		if n == nil || &n[0] == &root.high[0] && !math.IsInf(s.best.cost, 1) {
			continue
		}
		if err := s.try(ctx, n); err != nil {
			return s.best, err
		}
	}
	if math.IsInf(s.best.cost, 1) { // not even everything on offer is enough
		s.best.bought = root.high
		return s.best, nil
	}
	heap.Push(&s.open, openRegion{root, bound, 0})
	for age := 1; len(s.open) > 0; age++ {
		s.target = max(gap, integer.ProofResolution) * math.Abs(s.best.cost)
		s.best.bound = min(s.open[0].bound, s.lowest)
		if s.open[0].bound >= s.best.cost-s.target || s.effort.exact < 0 || s.effort.relaxed < 0 || s.effort.regions < age {
			break
		}
		if err := s.split(ctx, heap.Pop(&s.open).(openRegion), age); err != nil {
			return s.best, err
		}
	}
	s.best.bound = s.lowest
	if len(s.open) > 0 {
		s.best.bound = min(s.lowest, s.open[0].bound)
	}
	return s.best, nil
}

func floats(n []int64) []float64 {
	x := make([]float64, len(n))
	for k := range n {
		x[k] = float64(n[k])
	}
	return x
}

// touch adds the cut at a purchase, unless it is there.
func (s *weighSearch) touch(ctx context.Context, at []float64) error {
	key := fmt.Sprint(at)
	if s.touched[key] {
		return nil
	}
	c, err := s.cutAt(ctx, at)
	if err != nil {
		return err
	}
	s.effort.relaxed -= len(s.stages)
	s.touched[key] = true
	s.cuts = append(s.cuts, c)
	return nil
}

// cutsMost bounds the cuts that are kept.
const cutsMost = 1_000

// settleRoot lowers the convex program in all purchases and proves its bound by prices alone.
func (s *weighSearch) settleRoot(ctx context.Context, root region) (bound float64, at []float64, err error) {
	for {
		if err := capacity.Pause(ctx); err != nil {
			return 0, nil, err
		}
		value, point, share := lowestPoint(s.cuts, root)
		lowest := math.Inf(1)
		for i := range s.cuts {
			lowest = min(lowest, s.cuts[i].value)
		}
		if lowest-value <= integer.ProofResolution*math.Abs(lowest) || s.touched[fmt.Sprint(point)] || len(s.cuts) >= cutsMost || s.effort.relaxed < 0 {
			s.best.root = s.pricesAt(s.cuts, share)
			return s.bound(s.best.root), point, nil
		}
		if err := s.touch(ctx, point); err != nil {
			return 0, nil, err
		}
	}
}

// try solves a purchase exactly.
func (s *weighSearch) try(ctx context.Context, n []int64) error {
	key := fmt.Sprint(n)
	if s.tried[key] {
		return nil
	}
	cost, gap, err := s.exactCost(ctx, n)
	if err != nil {
		return err
	}
	s.effort.exact -= len(s.stages)
	s.tried[key] = true
	s.lowest = min(s.lowest, cost-gap)
	if cost < s.best.cost {
		s.best.cost, s.best.bought = cost, slices.Clone(n)
	}
	return nil
}

// split looks at a region once more: its bound rises, or it falls into parts.
func (s *weighSearch) split(ctx context.Context, r openRegion, age int) error {
	if err := capacity.Pause(ctx); err != nil {
		return err
	}
	value, at, _ := lowestPoint(s.cuts, r.region)
	value = max(r.bound, value-boundNoise*math.Abs(value))
	if value >= s.best.cost-s.target {
		s.lowest = min(s.lowest, value)
		return nil
	}
	if !s.touched[fmt.Sprint(at)] && len(s.cuts) < cutsMost {
		if err := s.touch(ctx, at); err != nil {
			return err
		}
		heap.Push(&s.open, openRegion{r.region, value, age})
		return nil
	}
	widest, fraction, most := 0, -1, 0.0
	whole := make([]int64, len(at))
	for k, x := range at {
		whole[k] = int64(math.Round(x))
		if r.high[k]-r.low[k] > r.high[widest]-r.low[widest] {
			widest = k
		}
		if f := math.Abs(x - math.Round(x)); f > most {
			fraction, most = k, f
		}
	}
	if fraction >= 0 {
		k, below := fraction, int64(math.Floor(at[fraction]))
		s.push(r, value, age, k, r.low[k], below)
		s.push(r, value, age, k, below+1, r.high[k])
		return nil
	}
	if err := s.try(ctx, whole); err != nil {
		return err
	}
	k := widest
	if r.high[k] == r.low[k] {
		return nil // a single purchase, and tried
	}
	s.push(r, value, age, k, r.low[k], whole[k]-1)
	s.push(r, value, age, k, whole[k]+1, r.high[k])
	s.push(r, value, age, k, whole[k], whole[k])
	return nil
}

// push opens the part of a region in which an offer's VMs lie between two numbers.
func (s *weighSearch) push(r openRegion, bound float64, age, k int, low, high int64) {
	if low > high {
		return
	}
	part := region{slices.Clone(r.low), slices.Clone(r.high)}
	part.low[k], part.high[k] = low, high
	heap.Push(&s.open, openRegion{part, bound, age})
}
