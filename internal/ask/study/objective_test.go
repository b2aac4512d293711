package study

import (
	"math"
	"slices"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
)

// Small instances have two decimals, so whole hundredths give their cost without rounding.
func TestObjectiveEqualsWholeNumberArithmetic(t *testing.T) {
	hundredths := func(x float64) int64 { return int64(math.Round(x * 100)) }
	tooMuch, filled := 0, 0
	for seed := range uint64(5000) {
		in := Small(seed)
		jobs := make([]int64, len(in.Gamma))
		s := &Stream{State: ^seed}
		load, want := int64(0), int64(0) // VM hundredths; money in ten-thousandths
		for i := range jobs {
			jobs[i] = s.Whole(in.Low[i], in.High[i])
			load += hundredths(in.Gamma[i]) * jobs[i]
			want -= int64(math.Round(in.Penalty[i]*1e4)) * jobs[i]
		}
		var prices []int64 // of every VM, one by one
		for _, tier := range in.Supply {
			for range min(tier.VMs, 300) {
				prices = append(prices, hundredths(tier.Price))
			}
		}
		slices.Sort(prices)
		need := (load + 99) / 100
		if load%100 == 0 {
			filled++
		}
		got := in.Objective(jobs)
		if need > int64(len(prices)) {
			tooMuch++
			if !math.IsInf(got, 1) {
				t.Errorf("seed %d, jobs %v: got %g where the VMs do not suffice, want infinity", seed, jobs, got)
			}
			continue
		}
		for _, p := range prices[:need] {
			want += p * 100
		}
		if math.Abs(got-float64(want)/1e4) > 1e-9 {
			t.Errorf("seed %d, jobs %v: got %g, want %g", seed, jobs, got, float64(want)/1e4)
		}
	}
	if tooMuch == 0 || filled == 0 {
		t.Errorf("%d plans needed too much and %d filled whole VMs; both must occur", tooMuch, filled)
	}
}

func TestObjectiveCountsAFullVMOnce(t *testing.T) {
	in := Instance{Gamma: []float64{0.1, 0.7}, Penalty: []float64{0, 0}, Supply: []Tier{{VMs: Unlimited, Price: 1}}}
	if got := in.Objective([]int64{3, 1}); got != 1 {
		t.Errorf("0.1·3 + 0.7 VMs cost %g, want 1", got)
	}
}

// perf uses the clamped coefficients and this package the plain ones; in these families they agree.
func TestProfiledIsTheSameProblem(t *testing.T) {
	for _, name := range []string{"table2", "mixed", "hard"} {
		for seed := range uint64(10) {
			in := generate(t, name, 100, seed)
			p, err := in.Profiled()
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range p.Classes {
				d := perf.Demands(*c.Profile).Of(capacity.AverageBound)
				root := math.Sqrt(d.MapWorkSeconds/float64(c.SlotsPerVM.Map)) + math.Sqrt(d.ReduceWorkSeconds/float64(c.SlotsPerVM.Reduce))
				gamma := root * root / (c.DeadlineSeconds - d.FixedSeconds)
				if math.Abs(gamma-in.Gamma[i]) > 1e-12*gamma || c.VMsPerJob != nil || c.Jobs.Max != float64(in.High[i]) {
					t.Errorf("%s %d class %d: the profile needs %.17g VMs a job, the instance says %.17g", name, seed, i, gamma, in.Gamma[i])
				}
			}
		}
	}
	strong := generate(t, "strong", 3, 1)
	if p, err := strong.Profiled(); err == nil {
		t.Errorf("strong: got %+v, want an error, because its gammas are no profile's", p)
	}
}
