package plan

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"headroom/internal/core/capacity"
	"headroom/internal/test/plantest"
)

// paperProblem draws P2 as the paper states it: one contract, on-demand without a quota and dearer than
// the contract, every gamma positive.
func paperProblem(t testing.TB, r *rand.Rand, classes int, integrality capacity.Integrality) capacity.Problem {
	t.Helper()
	p := plantest.DrawProblem(t, r, classes, integrality)
	p.PeriodSeconds = 3600
	p.Supply.OnDemand.Quota = nil
	reserved := p.Supply.Contracts
	if len(reserved) == 0 {
		reserved = []capacity.Contract{{Name: "reserved", Price: plantest.AmountIn(t, "0.50"), VMs: r.Int64N(30)}}
	}
	p.Supply.Contracts = reserved[:1]
	p.Supply.Contracts[0].Billing = capacity.BilledUsed
	p.Supply.OnDemand.Price = plantest.ExactMoney(reserved[0].Price.Float() + float64(1+r.IntN(200))/100)
	for i := range p.Classes {
		c := &p.Classes[i]
		if c.VMsPerJob != nil && c.VMsPerJob.IsZero() {
			*c = plantest.ByGamma(t, c.Name, "1.25", c.Penalty.String(), c.Jobs.Min, c.Jobs.Max)
		}
		if d := c.Demand; d != nil {
			d.MapWorkSeconds += 10
			c.DeadlineSeconds = max(c.DeadlineSeconds, d.FixedSeconds+50)
		}
		// Penalties from far below the contract's price to far above on-demand.
		_, relaxed := relax(t, p)
		c.Penalty = plantest.ExactMoney(math.Round(2.2*r.Float64()*r.Float64()*p.Supply.OnDemand.Price.Float()*relaxed.classes[i].gamma*1e4) / 1e4)
	}
	return p
}

// Theorem 4.3 of the paper on the linear program, with the exceptions of a) (E11).
func TestTheorem43OnTheLinearProgram(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	var full, floor, rented, spare, exceptions int
	for trial := range plantest.Trials(3_000, 30_000) {
		p := paperProblem(t, r, 1+r.IntN(8), capacity.Relaxed)
		pl := solved(t, p)
		_, relaxed := relax(t, p)
		rho, delta, rbar := p.Supply.Contracts[0].Price.Float(), p.Supply.OnDemand.Price.Float(), float64(p.Supply.Contracts[0].VMs)
		load, promised := 0.0, 0.0
		for i, c := range pl.Classes {
			load += c.VMsPerJob * c.Admitted
			promised += c.VMsPerJob * p.Classes[i].Jobs.Min
			theta := relaxed.theta[i]
			// c) and d), the latter down to the promised jobs rather than to none (E10)
			if theta > delta {
				if full++; c.Admitted != p.Classes[i].Jobs.Max {
					t.Fatalf("trial %d c): class %d is worth %g > %g a VM and gets %g of %g jobs", trial, i, theta, delta, c.Admitted, p.Classes[i].Jobs.Max)
				}
			}
			if theta < rho {
				if floor++; c.Admitted != p.Classes[i].Jobs.Min {
					t.Fatalf("trial %d d): class %d is worth %g < %g a VM and gets %g jobs, promised %g", trial, i, theta, rho, c.Admitted, p.Classes[i].Jobs.Min)
				}
			}
		}
		used, rent := pl.VMs.Reserved, pl.VMs.OnDemand
		// a)
		if rbar > 0 && promised > 0 && !(used > 0) {
			t.Fatalf("trial %d a): %g VMs are promised and none of %g reserved ones is used", trial, promised, rbar)
		}
		if used == 0 {
			exceptions++
		}
		// b)
		if !plantest.Near(load, used+rent, 1e-9) {
			t.Fatalf("trial %d b): load %g, VMs %g and %g", trial, load, used, rent)
		}
		// e) and f)
		if load < rbar-loadNoise {
			if spare++; rent != 0 || !plantest.Near(used, load, 1e-9) {
				t.Fatalf("trial %d e): load %g of %g reserved, yet %g and %g VMs", trial, load, rbar, used, rent)
			}
		}
		if load > rbar+loadNoise {
			if rented++; used != rbar || !plantest.Near(rent, load-rbar, 1e-9) {
				t.Fatalf("trial %d f): load %g of %g reserved, yet %g and %g VMs", trial, load, rbar, used, rent)
			}
		}
		checkOrder(t, trial, relaxed)
	}
	t.Logf("%d classes above on-demand, %d below the contract; %d plans rent, %d leave contracts unused, %d use none", full, floor, rented, spare, exceptions)
	if min(full, floor, rented, spare, exceptions) < 100 {
		t.Error("every case must occur often")
	}
}

// checkOrder checks that a class with jobs above its promise leaves none dearer below its wish.
func checkOrder(t *testing.T, trial int, r *relaxation) {
	t.Helper()
	for i := range r.classes {
		for j := range r.classes {
			if r.theta[i] > r.theta[j] && r.jobs[i] < r.classes[i].high && r.jobs[j] > r.classes[j].low && r.classes[j].gamma > 0 {
				t.Fatalf("trial %d: class %d (theta %g) lacks jobs while class %d (theta %g) has more than promised", trial, i, r.theta[i], j, r.theta[j])
			}
		}
	}
}

// The exceptions of a): no contract, nothing promised and nothing worth a VM, on-demand the cheaper (E11).
func TestTheorem43aExceptions(t *testing.T) {
	for _, c := range []struct {
		name               string
		reserved           int64
		onDemand           string
		class              capacity.Class
		wantUsed, wantRent float64
	}{
		{"as the paper says", 10, "8", plantest.ByGamma(t, "a", "1", "1", 3, 5), 3, 0},
		{"no reserved VMs", 0, "8", plantest.ByGamma(t, "a", "1", "1", 3, 5), 0, 3},
		{"nothing promised, nothing worth a VM", 10, "8", plantest.ByGamma(t, "a", "1", "1", 0, 5), 0, 0},
		{"on-demand cheaper than the contract", 10, "4", plantest.ByGamma(t, "a", "1", "1", 3, 5), 0, 3},
	} {
		for _, integrality := range []capacity.Integrality{capacity.Relaxed, capacity.Integer, capacity.Executable} {
			p := plantest.Market(t, c.reserved, "5", c.onDemand, integrality)
			p.Classes = []capacity.Class{c.class}
			if v := solved(t, p).VMs; v.Reserved != c.wantUsed || v.OnDemand != c.wantRent {
				t.Errorf("%s, %s: got %g reserved and %g on-demand, want %g and %g", c.name, integrality, v.Reserved, v.OnDemand, c.wantUsed, c.wantRent)
			}
		}
	}
}

// A contract for all that is wanted means that nothing is rented: the sum is over H_up, not H_low (E10).
func TestContractForEverythingWanted(t *testing.T) {
	for _, c := range []struct {
		reserved int64
		want     float64
	}{{10, 0}, {9, 1}, {4, 6}} { // 4 VMs carry what is promised, and that is not enough
		p := plantest.Market(t, c.reserved, "5", "8", capacity.Integer)
		p.Classes = []capacity.Class{plantest.ByGamma(t, "a", "1", "9", 4, 10)}
		pl := solved(t, p)
		if pl.VMs.OnDemand != c.want || pl.Classes[0].Admitted != 10 {
			t.Errorf("%d reserved: got %g on-demand VMs and %g jobs, want %g and 10", c.reserved, pl.VMs.OnDemand, pl.Classes[0].Admitted, c.want)
		}
	}
}

// P1 is undefined where nothing is promised, because it divides by the promised jobs; P2 is not (E13).
func TestNothingPromised(t *testing.T) {
	for _, integrality := range []capacity.Integrality{capacity.Relaxed, capacity.Integer, capacity.Executable} {
		p := plantest.Market(t, 2, "5", "8", integrality)
		p.Classes = []capacity.Class{plantest.ByGamma(t, "a", "1", "6", 0, 10), plantest.ByGamma(t, "b", "1", "4", 0, 10)}
		pl := solved(t, p)
		if a, b := pl.Classes[0].Admitted, pl.Classes[1].Admitted; a != 2 || b != 0 {
			t.Errorf("%s: got %g and %g jobs, want 2 and 0", integrality, a, b)
		}
	}
}

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

// The linear program of the last of those cases does go by penalty per VM.
func TestOrderingHoldsForTheLinearProgram(t *testing.T) {
	p := plantest.Market(t, 3, "5", "100", capacity.Relaxed)
	p.Classes = []capacity.Class{plantest.ByGamma(t, "a", "2", "40", 0, 1), plantest.ByGamma(t, "b", "1.6", "31", 0, 1), plantest.ByGamma(t, "c", "1.4", "26", 0, 1)}
	if got, want := fmt.Sprint(solved(t, p).Relaxed.Jobs), "[1 0.625 0]"; got != want {
		t.Errorf("got %s jobs, want %s", got, want)
	}
}

// What does hold for whole numbers: b) up to one VM, e) and f) as they stand since contracts are whole,
// and the counts that rounding to the closest integer would not give (E15).
func TestTheorem43ForWholeNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 2))
	var rented, spare, up int
	for trial := range plantest.Trials(1_000, 15_000) {
		p := paperProblem(t, r, 1+r.IntN(8), []capacity.Integrality{capacity.Integer, capacity.Executable}[r.IntN(2)])
		pl := solved(t, p)
		rbar := float64(p.Supply.Contracts[0].VMs)
		load := 0.0
		for _, c := range pl.Classes {
			load += c.VMs
			if c.Admitted != math.Trunc(c.Admitted) || c.VMs < c.VMsPerJob*c.Admitted-loadNoise {
				t.Fatalf("trial %d: %g jobs of %g VMs on %g VMs", trial, c.Admitted, c.VMsPerJob, c.VMs)
			}
		}
		total := pl.VMs.Total
		if total != math.Trunc(total) || load > total+loadNoise || load <= total-1-loadNoise && p.Options.Integrality == capacity.Integer {
			t.Fatalf("trial %d b): load %.9g on %g VMs", trial, load, total)
		}
		if math.Round(load) < load {
			up++
		}
		if want := min(total, rbar); pl.VMs.Reserved != want || pl.VMs.OnDemand != total-want {
			t.Fatalf("trial %d: %g VMs of %g reserved are %g and %g", trial, total, rbar, pl.VMs.Reserved, pl.VMs.OnDemand)
		}
		switch {
		case load <= rbar:
			if spare++; pl.VMs.OnDemand != 0 {
				t.Fatalf("trial %d e): load %g of %g reserved, yet %g rented", trial, load, rbar, pl.VMs.OnDemand)
			}
		default:
			if rented++; pl.VMs.Reserved != rbar {
				t.Fatalf("trial %d f): load %g of %g reserved, yet %g used", trial, load, rbar, pl.VMs.Reserved)
			}
		}
	}
	t.Logf("%d plans rent, %d do not, %d would be too small if rounded to the closest", rented, spare, up)
	if min(rented, spare, up) < 100 {
		t.Error("every case must occur often")
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
