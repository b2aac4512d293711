package integer

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/headroom/internal/test/plantest"
)

// unitPrices is the price of every VM there is up to most, cheapest first.
func unitPrices(in Instance, most int64) []float64 {
	var prices []float64
	for _, tier := range in.Supply {
		for range min(tier.VMs, most) {
			prices = append(prices, tier.Price)
		}
	}
	slices.Sort(prices)
	return prices
}

// everyOptimum is the best objective and all whole jobs that reach it, by trying everything.
func everyOptimum(in Instance) (best float64, optima [][]int64) {
	best = math.Inf(1)
	most := 0.0
	for i, g := range in.Gamma {
		most += g * float64(in.High[i])
	}
	prices := unitPrices(in, int64(most)+1)
	jobs := slices.Clone(in.Low)
	for {
		load, cost := 0.0, 0.0
		for i, h := range jobs {
			load += in.Gamma[i] * float64(h)
			cost -= in.Penalty[i] * float64(h)
		}
		if need := int(math.Ceil(load - 1e-9)); need <= len(prices) {
			for _, price := range prices[:need] {
				cost += price
			}
			switch {
			case cost < best-1e-9:
				best, optima = cost, [][]int64{slices.Clone(jobs)}
			case cost <= best+1e-9:
				optima = append(optima, slices.Clone(jobs))
			}
		}
		i := 0
		for ; i < len(jobs) && jobs[i] == in.High[i]; i++ {
			jobs[i] = in.Low[i]
		}
		if i == len(jobs) {
			return best, optima
		}
		jobs[i]++
	}
}

// What theorem 4.3 and its ordering say does not hold for whole jobs and VMs; each case is the only
// optimum of its program.
func TestTheorem43FailsForWholeNumbers(t *testing.T) {
	for _, c := range []struct {
		name      string
		in        Instance
		jobs      []int64
		vms       int64
		objective float64
	}{
		{"b) VMs are not used up",
			Instance{[]float64{0.9}, []float64{20}, []int64{0}, []int64{1}, []Tier{{0, 5}, {Unlimited, 10}}, false}, []int64{1}, 1, -10},
		{"c) worth more than on-demand, and not admitted in full",
			Instance{[]float64{0.9}, []float64{9.5}, []int64{1}, []int64{2}, []Tier{{0, 5}, {Unlimited, 10}}, false}, []int64{1}, 1, 0.5},
		{"c) worth more than on-demand, and not admitted at all",
			Instance{[]float64{0.3}, []float64{4}, []int64{0}, []int64{1}, []Tier{{0, 5}, {Unlimited, 10}}, false}, []int64{0}, 0, 0},
		{"d) worth less than the contract, and admitted",
			Instance{[]float64{0.4}, []float64{1}, []int64{1}, []int64{2}, []Tier{{5, 5}, {Unlimited, 10}}, false}, []int64{2}, 1, 3},
		{"the class worth most per VM is not the one admitted",
			Instance{[]float64{2, 1.6, 1.4}, []float64{40, 31, 26}, []int64{0, 0, 0}, []int64{1, 1, 1}, []Tier{{3, 5}, {Unlimited, 100}}, false},
			[]int64{0, 1, 1}, 3, -42},
	} {
		t.Run(c.name, func(t *testing.T) {
			best, optima := everyOptimum(c.in)
			if len(optima) != 1 || !slices.Equal(optima[0], c.jobs) || !plantest.Near(best, c.objective, 1e-12) {
				t.Fatalf("trying everything: %g by %v, want %g by %v alone", best, optima, c.objective, c.jobs)
			}
			got := P2(context.Background(), c.in, Within(0))
			if !slices.Equal(got.Jobs, c.jobs) || got.VMs != c.vms || !plantest.Near(got.Objective, c.objective, 1e-12) || got.Gap > 1e-9 {
				t.Errorf("got %v on %d VMs for %g (gap %g), want %v on %d for %g", got.Jobs, got.VMs, got.Objective, got.Gap, c.jobs, c.vms, c.objective)
			}
		})
	}
}

// A class may be fixed to all its jobs where even a whole number of on-demand VMs of its own is cheaper
// than refusing one; and to its promised ones where refusing costs nothing.
func TestClassesThatMayBeFixed(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 3))
	full, least, tried := 0, 0, 0
	for trial := range plantest.Trials(4_000, 60_000) {
		in := tiny(r)
		last := len(in.Supply) - 1
		for k := range in.Supply { // on-demand is the dearest and has no quota
			in.Supply[last].Price = max(in.Supply[last].Price, in.Supply[k].Price)
		}
		in.Supply[last].VMs = Unlimited
		i := r.IntN(len(in.Gamma))
		kind := r.IntN(2)
		if kind == 0 {
			in.Penalty[i] = in.Supply[last].Price*math.Ceil(in.Gamma[i]) + float64(r.IntN(3))/4
		} else {
			in.Penalty[i] = 0
		}
		free := P2(context.Background(), in, Within(0))
		fixed := in
		fixed.Low, fixed.High = slices.Clone(in.Low), slices.Clone(in.High)
		if kind == 0 {
			fixed.Low[i] = fixed.High[i]
			full++
		} else {
			fixed.High[i] = fixed.Low[i]
			least++
		}
		got := P2(context.Background(), fixed, Within(0))
		if !plantest.Near(got.Objective, free.Objective, 1e-9) {
			t.Fatalf("trial %d %+v: %.9g, with class %d fixed %.9g", trial, in, free.Objective, i, got.Objective)
		}
		if r.IntN(10) == 0 {
			tried++
			if best, optima := everyOptimum(in); !plantest.Near(best, free.Objective, 1e-9) || !slices.ContainsFunc(optima, func(jobs []int64) bool {
				return jobs[i] == []int64{in.High[i], in.Low[i]}[kind]
			}) {
				t.Fatalf("trial %d %+v: no optimum (%g by %v) has class %d fixed", trial, in, best, optima, i)
			}
		}
	}
	if min(full, least, tried) < 200 {
		t.Errorf("%d fixed to all, %d to the promised, %d tried: too few", full, least, tried)
	}
}

// Rounding to the closest integer would miss jobs' capacity; a sum that is whole but for float noise
// must not cost a VM more (E15).
func TestWholeVMsOfALoad(t *testing.T) {
	for _, c := range []struct {
		name        string
		gammas      []float64
		jobs        []int64
		reserved    int64
		vms, rented int64
	}{
		{"closest would be too few", []float64{1.2}, []int64{2}, 5, 3, 0},
		{"0.1·3 + 0.7 is one VM", []float64{0.1, 0.7}, []int64{3, 1}, 0, 1, 1},
		{"contract whole, rest rented", []float64{0.8}, []int64{4}, 2, 4, 2},
		{"thirds", []float64{1.0 / 3}, []int64{3}, 0, 1, 1},
		{"just above a whole", []float64{1.000001}, []int64{3}, 3, 4, 1},
	} {
		in := Instance{Gamma: c.gammas, Penalty: make([]float64, len(c.gammas)), Low: c.jobs, High: c.jobs, Supply: []Tier{{c.reserved, 1}, {Unlimited, 2}}}
		got := P2(context.Background(), in, Within(0))
		if want := float64(c.vms) + float64(c.rented); got.VMs != c.vms || got.Objective != want {
			t.Errorf("%s: got %d VMs for %g, want %d for %g", c.name, got.VMs, got.Objective, c.vms, want)
		}
	}
}

// Gammas that are no decimals, such as a profile's, are no excuse: with few VMs the best may be to
// admit nothing.
func TestWholeNumbersWhereGammasAreNoDecimals(t *testing.T) {
	in := Instance{[]float64{1.0 / 3, 0.45}, []float64{0, 0.8}, []int64{0, 0}, []int64{0, 3}, []Tier{{1, 1.77}}, false}
	if got := P2(context.Background(), in, Within(0)); got.Objective != 0 || got.VMs != 0 {
		t.Errorf("got %v on %d VMs for %g (gap %g), want nothing for nothing", got.Jobs, got.VMs, got.Objective, got.Gap)
	}
	r := rand.New(rand.NewPCG(6, 4))
	for trial := range plantest.Trials(4_000, 60_000) {
		in := tiny(r)
		for i := range in.Gamma {
			if r.IntN(2) == 0 {
				in.Gamma[i] *= 0.9 + 0.2*r.Float64()
			}
		}
		want, optima := everyOptimum(in)
		got := P2(context.Background(), in, Within(0))
		if got.Feasible == math.IsInf(want, 1) || got.Feasible && !plantest.Near(got.Objective, want, 1e-7) {
			t.Fatalf("trial %d %+v: got %v for %.9g (gap %g), want %v for %.9g", trial, in, got.Jobs, got.Objective, got.Gap, optima, want)
		}
	}
}
