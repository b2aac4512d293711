package integer

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/headroom/internal/test/plantest"
)

// TestPlansBesideAreTheBest changes one class of tiny instances and compares what is found beside the solved one with every
// plan of the changed one. Half of the time the lists are all there is, and half of the time there are none.
func TestPlansBesideAreTheBest(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 14))
	never := func() bool { return false }
	folded, plain, others, unproved := 0, 0, 0, 0
	for trial := range plantest.Trials(20_000, 400_000) {
		in := tiny(r)
		linear := NewLinear(in)
		solved, _ := Solve(t.Context(), linear, func(float64) float64 { return 1e-9 })
		if !solved.Feasible || solved.Gap > 1e-8 {
			continue
		}
		i := r.IntN(len(in.Gamma))
		changed := in
		changed.Low, changed.High, changed.Penalty = slices.Clone(in.Low), slices.Clone(in.High), slices.Clone(in.Penalty)
		switch r.IntN(4) {
		case 0:
			changed.Low[i] = solved.Jobs[i] + 1
			changed.High[i] = max(changed.High[i], changed.Low[i])
		case 1:
			if solved.Jobs[i] == 0 {
				continue
			}
			changed.High[i] = solved.Jobs[i] - 1
			changed.Low[i] = min(changed.Low[i], changed.High[i])
		case 2:
			changed.Penalty[i] = float64(r.IntN(2000)) / 100
		default:
			changed.Low[i] = int64(r.IntN(4))
			changed.High[i] = changed.Low[i] + int64(r.IntN(6))
		}
		most := VMsFor(linear, slices.Repeat([]int64{20}, len(in.Gamma)))
		b := NewBeside(linear, NewSupply(in.Supply).UpTo(most), solved.Jobs, 1e-8, 100_000, never)
		if trial%2 == 0 {
			b.listWork = 0
		}
		own := Own{Class: i, Low: changed.Low[i], High: changed.High[i], Penalty: changed.Penalty[i], PerJob: b.PerJob(i)}
		own.Units = func(jobs int64) int64 { return linear.Units(i, jobs) }
		found := b.Best(own, Found{})
		if !found.Proved {
			unproved++
			continue
		}
		for _, p := range b.points {
			if p.others != nil && p.others.folded {
				folded++
			} else if p.others != nil {
				plain++
			}
		}
		best, _, feasible := enumerate(changed)
		if found.Feasible != feasible {
			t.Fatalf("a plan is found: %t, there is one: %t\n%+v\n%+v", found.Feasible, feasible, changed, own)
		} else if !feasible {
			continue
		}
		jobs := slices.Clone(solved.Jobs)
		jobs[i] = found.Jobs
		for _, m := range found.Others {
			jobs[m.Class] = m.Jobs
		}
		if len(found.Others) > 0 {
			others++
		}
		if n := VMsFor(linear, jobs); n != found.VMs {
			t.Fatalf("%d VMs are said to carry what takes %d\n%+v\n%+v", found.VMs, n, changed, found)
		}
		for c, h := range jobs {
			if h < changed.Low[c] || h > changed.High[c] {
				t.Fatalf("class %d has %d jobs\n%+v\n%+v", c, h, changed, found)
			}
		}
		if z := objective(b.supply, found.VMs, changed.Penalty, jobs); math.Abs(z-best) > 1e-6*max(1, math.Abs(best)) {
			t.Fatalf("the plan found costs %v, the best %v\n%+v\n%+v %v", z, best, changed, found, jobs)
		}
	}
	t.Logf("lists: %d folded, %d plain; %d plans with other classes changed, %d not proved", folded, plain, others, unproved)
	if folded == 0 || plain == 0 || others == 0 {
		t.Error("the cases miss a kind")
	}
}
