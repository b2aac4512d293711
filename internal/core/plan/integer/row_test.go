package integer

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A class of 10 VMs a job is broken at 0.4 of a job. Others count in its jobs. Of those that are refused, 26 VMs count for
// 3 jobs and 23 for 2. Of those that are admitted, 23 count for 2, 27 for 3 and 3 for none.
func TestRoundedRows(t *testing.T) {
	in := Instance{
		Gamma:   []float64{10, 26, 23, 23, 27, 3},
		Penalty: []float64{20, 1, 1, 99, 99, 99},
		Low:     make([]int64, 6), High: []int64{5, 1, 1, 1, 1, 1},
		Supply: []Tier{{57, 1}, {Unlimited, 9}},
	}
	l := NewLinear(in)
	if !l.relax() || l.nu != 2 || !slices.Equal(l.base, []int64{0, 0, 0, 1, 1, 1}) {
		t.Fatalf("the point is another one: %g, %v", l.nu, l.base)
	}
	if got, want := rounded(l), []int64{1, 3, 2, 2, 3, 0}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	in.Gamma[0] = 1e-9 // whose jobs are too many to count in
	in.Penalty[0] = 2e-9
	l = NewLinear(in)
	if !l.relax() {
		t.Fatal("there is a plan")
	}
	if got := rounded(l); got != nil {
		t.Errorf("got %v, want none", got)
	}
}

// Parts that are gathered keep their load and their count, stay between the two answers, and break two classes at most.
func TestGatheredPartsStay(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for trial := range 500 {
		n := 5 + r.IntN(20)
		in := Instance{Low: make([]int64, n), Supply: []Tier{{Unlimited, 1}}}
		a, b := ideal{more: part{class: theVMs}}, ideal{more: part{class: theVMs}}
		counts := make([]int64, n)
		for i := range n {
			in.Gamma = append(in.Gamma, 1+float64(r.IntN(500))/100)
			in.Penalty = append(in.Penalty, 1)
			in.High = append(in.High, 20)
			a.jobs, b.jobs = append(a.jobs, r.Int64N(21)), append(b.jobs, r.Int64N(21))
			counts[i] = r.Int64N(7) - 2
		}
		tr := &tree{Terrain: NewLinear(in)}
		tr.mix(&a, &b, r.Float64(), 1)
		sums := func() (load, count float64, broken int) {
			for _, p := range tr.parts {
				load += p.jobs * in.Gamma[p.class]
				count += p.jobs * float64(counts[p.class])
				if low, high := min(a.of(p.class), b.of(p.class)), max(a.of(p.class), b.of(p.class)); p.jobs < low-1e-9 || p.jobs > high+1e-9 {
					t.Errorf("trial %d: %g jobs, of %g to %g", trial, p.jobs, low, high)
				}
				if p.jobs != math.Round(p.jobs) {
					broken++
				}
			}
			return load, count, broken
		}
		load, count, _ := sums()
		tr.gather(&a, &b, &row{counts: counts})
		gotLoad, gotCount, broken := sums()
		if math.Abs(gotLoad-load) > 1e-6 || math.Abs(gotCount-count) > 1e-6 || broken > 2 && len(tr.parts) > 3 {
			t.Errorf("trial %d: load %g and count %g became %g and %g, %d classes are broken", trial, load, count, gotLoad, gotCount, broken)
		}
	}
}
