package tree_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/lp/tree"
)

// drawn is a small program: columns of 0 to 3, rows with an upper side, some with a lower one, and VMs that pay for load.
func drawn(r *rand.Rand) *lp.Program {
	var p lp.Program
	rows := 1 + r.IntN(3)
	for range rows {
		low, high := math.Inf(-1), float64(r.IntN(8))
		if r.IntN(3) == 0 {
			low = high - float64(r.IntN(4))
		}
		p.Row(low, high)
	}
	for range 2 + r.IntN(5) {
		var entries []lp.Entry
		for i := range rows {
			if r.IntN(2) == 0 {
				entries = append(entries, lp.Entry{Row: i, Coefficient: math.Round(100*(4*r.Float64()-1)) / 100})
			}
		}
		p.Column(math.Round(100*(2*r.Float64()-1.2))/100, 0, float64(1+r.IntN(3)), true, entries...)
	}
	return &p
}

// cheapest tries everything.
func cheapest(p *lp.Program) float64 {
	x, least := make([]float64, p.Columns()), math.Inf(1)
	var visit func(j int)
	visit = func(j int) {
		if j < len(x) {
			for x[j] = p.Lower[j]; x[j] <= p.Upper[j]; x[j]++ {
				visit(j + 1)
			}
			return
		}
		cost := 0.0
		for k, c := range p.Cost {
			cost += c * x[k]
		}
		if cost < least && lp.Check(p, x, cost) == nil {
			least = cost
		}
	}
	visit(0)
	return least
}

func wholeCost(p *lp.Program, x []float64) float64 {
	cost, whole := 0.0, make([]float64, len(x))
	for j, v := range x {
		if whole[j] = math.Round(v); math.Abs(v-whole[j]) > 1e-5 {
			return math.Inf(1)
		}
		cost += p.Cost[j] * whole[j]
	}
	if lp.Check(p, whole, cost) != nil {
		return math.Inf(1)
	}
	return cost
}

func never() bool { return false }

// Where the tree says that it has looked everywhere, what it found is the best there is.
func TestTheTreeFindsTheBest(t *testing.T) {
	findsTheBest(t, rand.New(rand.NewPCG(1, 163)), func(int, *tree.Tree, float64) {})
}

// findsTheBest compares what searches find with the best of all solutions, after something was done to each search.
func findsTheBest(t *testing.T, r *rand.Rand, before func(trial int, s *tree.Tree, best float64)) {
	t.Helper()
	solved := 0
	for trial := range 3000 {
		p := drawn(r)
		want, got := cheapest(p), math.Inf(1)
		search, ok := tree.New(p)
		if !ok {
			t.Fatalf("trial %d: no end, and all columns have one", trial)
		}
		before(trial, search, want)
		all := search.Improve(math.Inf(1), 1_000_000, never, func(x []float64) float64 {
			got = min(got, wholeCost(p, x))
			return got - 1e-9
		})
		if !all {
			continue
		}
		solved++
		if got != want && math.Abs(got-want) > 1e-7 {
			t.Fatalf("trial %d: found %g, the best is %g", trial, got, want)
		}
	}
	if solved < 2900 {
		t.Errorf("only %d of 3000 were looked at in full", solved)
	}
}

// With cuts the tree finds the same, and no solution that is whole is lost.
func TestCutsLoseNoSolution(t *testing.T) {
	cut := 0
	findsTheBest(t, rand.New(rand.NewPCG(3, 168)), func(trial int, s *tree.Tree, best float64) {
		if s.Tighten(best+1, 1+trial%4, never) > 0 {
			cut++
		}
	})
	if cut < 500 {
		t.Errorf("only %d of 3000 programs have cuts", cut)
	}
}

// A dive leaves the bounds as they were, so that the same search finds the best after it.
func TestADiveLeavesNoTrace(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 163))
	for trial := range 1000 {
		p := drawn(r)
		want, got := cheapest(p), math.Inf(1)
		search, _ := tree.New(p)
		for range 5 {
			search.Dive(math.Inf(1), trial%2 == 0, r.Float64, never, func(x []float64) float64 {
				if cost := wholeCost(p, x); cost < want-1e-7 {
					t.Fatalf("trial %d: a dive found %g, the best is %g", trial, cost, want)
				}
				return math.Inf(1)
			})
		}
		all := search.Improve(math.Inf(1), 1_000_000, never, func(x []float64) float64 {
			got = min(got, wholeCost(p, x))
			return got - 1e-9
		})
		if all && got != want && math.Abs(got-want) > 1e-7 {
			t.Fatalf("trial %d: found %g after dives, the best is %g", trial, got, want)
		}
	}
}

func TestAColumnWithoutEndIsRefused(t *testing.T) {
	var p lp.Program
	p.Row(0, 1)
	p.Column(-1, 0, math.Inf(1), true)
	if _, ok := tree.New(&p); ok {
		t.Error("a column that pays has no end, and the program was taken")
	}
}
