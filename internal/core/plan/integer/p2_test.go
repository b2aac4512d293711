package integer

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"example.org/headroom/internal/test/plantest"
)

// enumerate is the second way: every combination of whole jobs, the cheapest VMs for each.
func enumerate(in Instance) (best float64, jobs []int64, feasible bool) {
	s := NewSupply(in.Supply)
	best = math.Inf(1)
	current := make([]int64, len(in.Gamma))
	var visit func(i int, load, worth float64)
	visit = func(i int, load, worth float64) {
		if i == len(current) {
			n := int64(math.Ceil(load - 1e-7))
			if n > s.Most() {
				return
			}
			if z := s.Cost(n) - worth; z < best-1e-9 {
				best, jobs, feasible = z, append([]int64(nil), current...), true
			}
			return
		}
		for h := in.Low[i]; h <= in.High[i]; h++ {
			current[i] = h
			visit(i+1, load+in.Gamma[i]*float64(h), worth+in.Penalty[i]*float64(h))
		}
	}
	visit(0, 0, 0)
	return best, jobs, feasible
}

// tiny draws an instance small enough to enumerate, with every kind of coincidence in it.
func tiny(r *rand.Rand) Instance {
	n := 1 + r.IntN(4)
	grid := []float64{1, 2, 10, 100, 0}[r.IntN(5)] // 0: gammas that are no decimals
	var in Instance
	price := 0.0
	for t := 1 + r.IntN(3); t > 0; t-- {
		if r.IntN(4) > 0 {
			price += float64(r.IntN(300)) / 100
		}
		vms := int64(r.IntN(12))
		if t == 1 && r.IntN(3) > 0 {
			vms = Unlimited
		}
		in.Supply = append(in.Supply, Tier{vms, price})
	}
	common := float64(1+r.IntN(400)) / 100
	for range n {
		g := 0.1 + 4*r.Float64()
		if grid > 0 {
			g = math.Round(grid*g) / grid
		}
		p := float64(r.IntN(1500)) / 100
		switch r.IntN(4) {
		case 0:
			p = math.Round(common*g*100) / 100 // ratios tie, nearly
		case 1:
			p = in.Supply[r.IntN(len(in.Supply))].Price * g // tie with a price
		}
		low := int64(r.IntN(4))
		in.Gamma = append(in.Gamma, g)
		in.Penalty = append(in.Penalty, p)
		in.Low = append(in.Low, low)
		in.High = append(in.High, low+int64(r.IntN(5)))
	}
	return in
}

func TestP2EqualsEnumeration(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	unproved := 0
	for trial := range plantest.Trials(6_000, 100_000) {
		in := tiny(r)
		want, wantJobs, feasible := enumerate(in)
		got := P2(context.Background(), in, Within(0))
		if got.Feasible != feasible {
			t.Fatalf("trial %d %+v: feasible %v, want %v", trial, in, got.Feasible, feasible)
		}
		if !feasible {
			continue
		}
		if math.Abs(got.Objective-want) > 1e-7 {
			t.Fatalf("trial %d %+v:\ngot %.9f %v (gap %g)\nwant %.9f %v", trial, in, got.Objective, got.Jobs, got.Gap, want, wantJobs)
		}
		if got.Gap > 1e-7 {
			unproved++
		}
	}
	if unproved > 0 {
		t.Errorf("%d answers not proved", unproved)
	}
	t.Attr("R5", fmt.Sprintf("%d small programs equal enumeration", plantest.Trials(6_000, 100_000)))
}
