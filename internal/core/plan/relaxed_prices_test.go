package plan

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan/integer"
	"example.org/headroom/internal/test/plantest"
)

// The optimum is convex in every amount of VMs and jobs. So a difference lies between the price at its start and the
// price at its end, and equals them if both are the same.

// slopes counts how many differences were pinned down to one number.
type slopes struct{ exact, between int }

// check compares a difference with the slopes at its two ends.
func (s *slopes) check(t *testing.T, what string, trial int, got, from, to float64) {
	t.Helper()
	noise := 1e-7 * max(1, math.Abs(got))
	if got < from-noise || got > to+noise {
		t.Fatalf("trial %d: %s changes the cost by %.12g each, want %.12g to %.12g", trial, what, got, from, to)
	}
	if to-from <= noise {
		s.exact++
	} else {
		s.between++
	}
}

func (s *slopes) enough(t *testing.T, what string, least int) {
	t.Helper()
	t.Logf("%s: %d differences equal the price, %d lie between two prices", what, s.exact, s.between)
	if s.exact < least {
		t.Errorf("%s: want at least %d exact ones", what, least)
	}
}

func TestPriceOfOneVMMoreNeeded(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	const step = 0.01 // VMs
	var s slopes
	for trial := range plantest.Trials(2_000, 20_000) {
		p := plantest.DrawProblem(t, r, 1+r.IntN(8), capacity.Relaxed)
		p.Classes = append(p.Classes, plantest.ByGamma(t, "probe", "0.01", "0", 0, 0))
		probe := func(jobs float64) *relaxation {
			q := plantest.Copied(p)
			q.Classes[len(q.Classes)-1].Jobs = capacity.JobRange{Min: jobs, Max: jobs}
			_, relaxed := relax(t, q)
			return relaxed
		}
		none, one := probe(0), probe(1)
		if none == nil {
			continue
		}
		if one == nil {
			if left := float64(none.supply.Most()) - none.floor; left > step+integer.LoadNoise {
				t.Fatalf("trial %d: %g VMs are left over from the promises and one hundredth more is refused", trial, left)
			}
			continue
		}
		s.check(t, "a VM more", trial, (one.objective-none.objective)/step, none.nuHigh, one.nuLow)
	}
	s.enough(t, "VM needed", 1500)
}

func TestWorthOfAContract(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	var used, always slopes
	for trial := range plantest.Trials(2_000, 20_000) {
		p := plantest.DrawProblem(t, r, 1+r.IntN(8), capacity.Relaxed)
		if len(p.Supply.Contracts) == 0 {
			continue
		}
		k := r.IntN(len(p.Supply.Contracts))
		before := solved(t, p)
		if before.Status == capacity.InfeasibleStatus {
			continue
		}
		q := plantest.Copied(p)
		q.Supply.Contracts[k].VMs++
		after := solved(t, q)
		if after.Status == capacity.InfeasibleStatus {
			t.Fatalf("trial %d: one VM more in contract %d makes the problem infeasible", trial, k)
		}
		_, relaxed := relax(t, q)
		saving := before.Cost.Total.Sub(after.Cost.Total.Decimal).InexactFloat64()
		least := relaxed.nuHigh - p.Supply.Contracts[k].Price.Float()*float64(p.PeriodSeconds)/3600
		most := before.Prices.Contracts[k].Worth.Float()
		if p.Supply.Contracts[k].Billing == capacity.BilledAlways {
			always.check(t, "a VM paid always", trial, saving, least, most)
		} else {
			used.check(t, "a VM paid when used", trial, saving, max(0, least), most)
		}
	}
	used.enough(t, "contract paid when used", 800)
	always.enough(t, "contract paid always", 200)
}

// One more job wanted costs its penalty or its VMs, whichever is less; a promise of one more costs what
// its VMs cost above its penalty.
func TestPriceOfOneMoreJob(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 3))
	const step = 0.01 // jobs
	var wanted, promised slopes
	for trial := range plantest.Trials(3_000, 30_000) {
		p := plantest.DrawProblem(t, r, 1+r.IntN(8), capacity.Relaxed)
		i := r.IntN(len(p.Classes))
		m, before := relax(t, p)
		if before == nil || m.classes[i].impossible {
			continue
		}
		gamma, penalty := m.classes[i].gamma, m.classes[i].penalty
		worth := func(nu float64) float64 {
			if gamma == 0 {
				return 0
			}
			return gamma * nu
		}
		q := plantest.Copied(p)
		q.Classes[i].Jobs.Max += step
		_, after := relax(t, q)
		rise := penalty + (after.objective-before.objective)/step
		wanted.check(t, "a job wanted", trial, rise, min(penalty, worth(before.nuHigh)), min(penalty, worth(after.nuLow)))

		if p.Classes[i].Jobs.Min+step > p.Classes[i].Jobs.Max {
			continue
		}
		q = plantest.Copied(p)
		q.Classes[i].Jobs.Min += step
		if _, after = relax(t, q); after == nil {
			continue
		}
		rise = (after.objective - before.objective) / step
		promised.check(t, "a job promised", trial, rise, max(0, worth(before.nuHigh)-penalty), max(0, worth(after.nuLow)-penalty))
	}
	wanted.enough(t, "job wanted", 2000)
	promised.enough(t, "job promised", 2000)
}

// A second more of the deadline is worth nu·h·gamma/(D-C) where the price and the jobs are unique.
func TestPriceOfASecond(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	checked, free := 0, 0
	for trial := range plantest.Trials(3_000, 30_000) {
		p := plantest.DrawProblem(t, r, 1+r.IntN(8), capacity.Relaxed)
		p.Options.OneSlotPerJob = false
		i := r.IntN(len(p.Classes))
		m, now := relax(t, p)
		c := &m.classes[i]
		if now == nil || !c.slotted || c.impossible || now.nuLow != now.nuHigh || !determined(now, i) {
			continue
		}
		step := c.shape.slack * 1e-5
		shifted := func(seconds float64) *relaxation {
			q := plantest.Copied(p)
			q.Classes[i].DeadlineSeconds += seconds
			_, relaxed := relax(t, q)
			return relaxed
		}
		sooner, later := shifted(-step), shifted(step)
		if sooner == nil || !plantest.Near(sooner.nuLow, now.nuLow, 1e-3) || !plantest.Near(later.nuHigh, now.nuHigh, 1e-3) {
			continue // another price begins in between
		}
		got := (later.objective - sooner.objective) / (2 * step) * c.shape.slack
		want := -now.nuLow * now.jobs[i] * c.gamma
		if !plantest.Near(got, want, 1e-6) {
			t.Fatalf("trial %d class %d: all its time once more changes the cost by %.12g, want %.12g", trial, i, got, want)
		}
		if checked++; want == 0 {
			free++
		}
	}
	t.Logf("%d deadlines checked, %d of them without effect", checked, free)
	if checked-free < 200 {
		t.Error("too few deadlines had an effect")
	}
}

// The break-even penalty is the one below which a job more is not worth its VMs.
func TestBreakEvenPenaltyDecides(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	above, below := 0, 0
	for trial := range plantest.Trials(1_000, 10_000) {
		p := plantest.DrawProblem(t, r, 1+r.IntN(8), capacity.Relaxed)
		pl := solved(t, p)
		if pl.Status == capacity.InfeasibleStatus {
			continue
		}
		// A class like class i that wants a sliver of a job beside it.
		i := r.IntN(len(p.Classes))
		if pl.Classes[i].BreakEvenPenalty == nil || pl.Classes[i].VMsPerJob == 0 {
			continue
		}
		margin := pl.Classes[i].BreakEvenPenalty.Float()
		for _, factor := range []float64{0.9999, 1.0001} {
			q := plantest.Copied(p)
			like := q.Classes[i]
			like.Name = "sliver"
			like.Jobs = capacity.JobRange{Max: 1e-4}
			like.Penalty = money.Amount{Decimal: decimal.NewFromFloat(margin * factor).Round(9)}
			q.Classes = append(q.Classes, like)
			admitted := solved(t, q).Relaxed.Jobs[len(p.Classes)]
			switch {
			case margin < 1e-3:
			case factor < 1:
				if below++; admitted > 0 {
					t.Fatalf("trial %d class %d: %g jobs admitted below the break-even penalty %g", trial, i, admitted, margin)
				}
			default:
				if above++; admitted == 0 {
					t.Fatalf("trial %d class %d: no job admitted above the break-even penalty %g", trial, i, margin)
				}
			}
		}
	}
	if above < 100 || below < 100 {
		t.Errorf("%d above and %d below: too few", above, below)
	}
}
