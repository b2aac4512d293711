package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/plan/integer"
	"example.org/headroom/internal/test/plantest"
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
		if load < rbar-integer.LoadNoise {
			if spare++; rent != 0 || !plantest.Near(used, load, 1e-9) {
				t.Fatalf("trial %d e): load %g of %g reserved, yet %g and %g VMs", trial, load, rbar, used, rent)
			}
		}
		if load > rbar+integer.LoadNoise {
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
			if c.Admitted != math.Trunc(c.Admitted) || c.VMs < c.VMsPerJob*c.Admitted-integer.LoadNoise {
				t.Fatalf("trial %d: %g jobs of %g VMs on %g VMs", trial, c.Admitted, c.VMsPerJob, c.VMs)
			}
		}
		total := pl.VMs.Total
		if total != math.Trunc(total) || load > total+integer.LoadNoise || load <= total-1-integer.LoadNoise && p.Options.Integrality == capacity.Integer {
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
