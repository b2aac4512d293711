package plan

import (
	"math"
	"testing"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/lp/tree"
)

// begun is a search of a drawn fleet with a first plan; nil where rounding finds none.
func begun(t *testing.T, p *capacity.Problem) *fleetSearch {
	f, err := newFleet(p)
	if err != nil {
		t.Fatal(err)
	}
	relaxed := f.relax()
	if relaxed == nil {
		return nil
	}
	s := f.newSearch(t.Context(), f.target(), relaxed.nu)
	s.root.mu, s.root.bound = relaxed.mu, relaxed.bound
	s.effort, s.most = math.MaxInt, math.MaxInt
	if s.round(relaxed.prices); s.best == nil {
		return nil
	}
	return s
}

// What a solution is made into is a plan that costs what it says, with all promised jobs, within quotas and the budget.
func TestSolutionsAreMadeWhole(t *testing.T) {
	made, worse := 0, 0
	for k, kind := range study.Fleets(30, 4, 2) {
		p := kind.Problem(uint64(k))
		s := begun(t, &p)
		if s == nil {
			continue
		}
		program := s.programOf(faithful, s.everyClass(), s.best.jobs, s.places(s.best))
		search, ok := tree.New(&program.Program)
		if !ok {
			t.Fatalf("%s: the program has no end", kind)
		}
		f := s.newFiller(program, s.everyClass(), s.best)
		for dive := range 6 {
			search.Dive(math.Inf(1), dive%2 == 0, s.fraction, func() bool { return false }, func(x []float64) float64 {
				cost := f.fill(x)
				if math.IsInf(cost, 1) {
					worse++
					return math.Inf(1)
				}
				made++
				plan := s.evaluate(f.jobs)
				if plan == nil || math.Abs(plan.cost-cost) > 1e-7*(1+math.Abs(cost)) {
					t.Fatalf("%s: a solution is made into a plan of %g, which is %+v", kind, cost, plan)
				}
				for i := range f.jobs {
					if !s.allows(i, f.jobs[i]) {
						t.Fatalf("%s: class %d has jobs %v", kind, i, f.jobs[i])
					}
				}
				if plan.cost < s.root.bound-1e-7*(1+math.Abs(plan.cost)) {
					t.Fatalf("%s: a plan costs %g, less than the bound %g", kind, plan.cost, s.root.bound)
				}
				return math.Inf(1)
			})
		}
	}
	t.Logf("%d plans, %d solutions without one", made, worse)
	if made < 2000 || worse > made/4 {
		t.Errorf("%d plans, and %d solutions without one", made, worse)
	}
}

// The same search finds the same plan, and one that is hardly dearer than the bound.
func TestPlansNearbyAreFoundAgain(t *testing.T) {
	for _, k := range []int{0, 2, 8, 31} {
		var costs []float64
		for range 2 {
			p := study.Fleets(60, 6, 3)[k].Problem(uint64(k))
			s := begun(t, &p)
			if s == nil {
				t.Fatalf("kind %d has no first plan", k)
			}
			before := s.best.cost
			s.first(1_000_000)
			s.nearby(4_000_000)
			costs = append(costs, s.best.cost)
			if s.best.cost >= before {
				t.Errorf("kind %d: still %g", k, before)
			}
		}
		if costs[0] != costs[1] {
			t.Errorf("kind %d: %v", k, costs)
		}
	}
}
