package integer

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/test/plantest"
)

// treeEfforts leave the work to the tree, which gets so many visits.
var treeEfforts = []struct {
	name string
	effort
	visits  int
	spent   int64
	rounded bool // rows
}{
	{"no search at all, few visits", effort{nodes: 1}, 10, 0, false},
	{"no search at all, many visits", effort{nodes: 1}, 150, 0, false},
	{"small joins, few nodes", effort{classes: 6, states: 32, window: 1, tries: 1, nodes: 50}, 100, 0, false},
	{"light", lightEffort, 300, 0, false},
	{"out of time", lightEffort, 300, 60, false},
	{"no search at all, rounded rows", effort{nodes: 1}, 150, 0, true},
	{"small joins, rounded rows", effort{classes: 6, states: 32, window: 1, tries: 1, nodes: 50}, 100, 0, true},
	{"light, rounded rows", lightEffort, 300, 0, true},
	{"out of time, rounded rows", lightEffort, 300, 60, true},
}

// grown returns the result of a tree from the jobs of the Lagrangian point on.
func grown(f Terrain, e effort, visits int, rounded bool, done func() bool) Result {
	f.until(done)
	s := f.begin()
	r := s.result(f, f.standing())
	t := newTree(f.fork(), r, 0, done)
	t.rounded = rounded
	t.explore(e, visits)
	return Result{Feasible: true, Jobs: t.jobs, VMs: VMsFor(f, t.jobs), Objective: f.Objective(t.jobs, VMsFor(f, t.jobs)), Gap: t.gap()}
}

// The tree's plans have the figures it gives them, with any limit on its work. Given time it proves nearly all on its
// own.
func TestTheTreesGapsHold(t *testing.T) {
	r := rand.New(rand.NewPCG(63, 1))
	open := make([]int, len(treeEfforts))
	instances := plantest.Trials(100, 20_000)
	solved := 0
	for trial := range instances {
		in := gridProblem(r)
		want, feasible := optimum(in, 10)
		if !feasible {
			continue
		}
		solved++
		for k, e := range treeEfforts {
			l := NewLinear(in)
			if !l.relax() {
				t.Fatalf("trial %d: there is a plan\n%+v", trial, in)
			}
			name := fmt.Sprintf("trial %d, %s", trial, e.name)
			got := grown(l, e.effort, e.visits, e.rounded, clock(e.spent))
			if checkGap(t, name, got, want, in) {
				open[k]++
			}
			if sum := l.Objective(got.Jobs, VMsFor(l, got.Jobs)); math.Abs(sum-got.Objective) > 1e-9*math.Abs(sum) {
				t.Fatalf("%s: the jobs cost %.9f, it says %.9f", name, sum, got.Objective)
			}
			for i, h := range got.Jobs {
				if h < in.Low[i] || h > in.High[i] {
					t.Fatalf("%s: class %d has %d jobs, of %d to %d", name, i, h, in.Low[i], in.High[i])
				}
			}
		}
	}
	for k, e := range treeEfforts {
		t.Logf("%s: %d of %d gaps left open", e.name, open[k], solved)
	}
	if open[0] < solved/5 {
		t.Errorf("%d gaps left open with ten visits and no search; more were meant to be", open[0])
	}
	if open[3] > solved/100 || open[7] > solved/100 {
		t.Errorf("%d and, with rounded rows, %d of %d gaps left open by light visits", open[3], open[7], solved)
	}
}

// The same for whole slots and dedicated VMs.
func TestTheTreesGapsOfSlotsHold(t *testing.T) {
	r := rand.New(rand.NewPCG(64, 1))
	open, solved := make([]int, len(treeEfforts)), 0
	for trial := range plantest.Trials(300, 10_000) {
		sharing := []capacity.Sharing{capacity.Shared, capacity.Dedicated}[trial%2]
		p := plantest.Sample{Classes: 4, Width: 8, Slots: 4, Integrality: capacity.Executable, Sharing: sharing}.Problem(r)
		b := plantest.NewBrute(p)
		best, _, feasible := b.Best()
		if b.Short || !feasible {
			continue
		}
		solved++
		for k, e := range treeEfforts {
			o := bruteOptions(t, &p, b)
			if !o.relax() {
				t.Fatalf("trial %d: there is a plan\n%s", trial, plantest.Text(p))
			}
			got := grown(o, e.effort, e.visits, e.rounded, clock(e.spent))
			want := float64(best-b.Fixed) / 1e6
			if checkGap(t, fmt.Sprintf("trial %d, %s", trial, e.name), got, want, plantest.Text(p)) {
				open[k]++
			}
		}
	}
	for k, e := range treeEfforts {
		t.Logf("%s: %d of %d gaps left open", e.name, open[k], solved)
	}
}

// Problems with enough classes for rounded rows are solved to the optimum that a program over all loads finds.
func TestManyClassesAreProved(t *testing.T) {
	r := rand.New(rand.NewPCG(77, 1))
	for trial := range plantest.Trials(20, 1_500) {
		in := gridOf(r, roundedLeast+r.IntN(50))
		want, feasible := optimum(in, 10)
		if !feasible {
			continue
		}
		for _, gap := range []float64{0, 1e-6} {
			got := P2(context.Background(), in, Within(gap))
			name := fmt.Sprintf("trial %d, gap %g", trial, gap)
			if checkGap(t, name, got, want, in); got.Gap > max(gap, ProofResolution)*math.Abs(got.Objective) {
				t.Errorf("%s: a gap of %g is left", name, got.Gap)
			}
		}
	}
}

// The families on which one price of capacity is not enough are proved, and within the work that P2 allows
// itself.
func TestCorrelatedFamiliesAreProved(t *testing.T) {
	sizes, seeds := []int{20, 100}, uint64(2)
	if plantest.Trials(0, 1) == 1 {
		sizes, seeds = []int{20, 100, 300, 1000, 3000}, 10
	}
	for _, family := range []string{
		"strong", "inverse-strong", "spiky", "twolevel", "steps", "binary-spiky", "huge", "lognormal", "lognormal-strong", "concave", "circle",
	} {
		for _, n := range sizes {
			for seed := uint64(1); seed <= seeds; seed++ {
				in := fromStudy(t, family, n, seed)
				got := P2(context.Background(), in, Within(1e-6))
				if got.Gap > 1e-6*math.Abs(got.Objective) {
					t.Errorf("%s, %d classes, seed %d: gap %.1e", family, n, seed, got.Gap/math.Abs(got.Objective))
				}
				l := NewLinear(in)
				if sum := l.Objective(got.Jobs, VMsFor(l, got.Jobs)); math.Abs(sum-got.Objective) > 1e-9*math.Abs(sum) {
					t.Errorf("%s, %d classes, seed %d: the jobs cost %.9f, it says %.9f", family, n, seed, sum, got.Objective)
				}
			}
		}
	}
}
