package plan

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/core/words"
	"example.org/headroom/internal/test/plantest"
)

// Where promised jobs use up all that a budget or a quota lets be rented, a relaxed plan tells the least budget with which
// one more job is served, or the VMs that are missing. VMs are taken by rising price.
func TestRelaxedPlansTellTheBudgetForOneMore(t *testing.T) {
	t.Parallel()
	r, told := rand.New(rand.NewPCG(127, 1)), map[string]int{}
	for trial := range plantest.Trials(300, 6000) {
		p, tiers := usedUp(t, r)
		pl := answered(t, p)
		if report := proof.Verify(p, pl, proof.Options{}); report.Outcome == proof.Failed {
			t.Fatalf("trial %d: %s\n%s", trial, report, plantest.Text(p))
		}
		load := 0.0
		for i := range p.Classes {
			load += p.Classes[i].VMsPerJob.InexactFloat64() * p.Classes[i].Jobs.Min
		}
		kind := fmt.Sprintf("%d types", len(p.Supply.VMTypes))
		for i := range pl.Classes {
			c, more := &pl.Classes[i], pl.Classes[i].OneMore
			if c.BreakEvenPenalty != nil {
				if more != nil {
					t.Fatalf("trial %d: one more is worth its VMs at %v, and does not fit: %+v\n%s", trial, c.BreakEvenPenalty, more, plantest.Text(p))
				}
				told["fits"]++
				continue
			}
			if more == nil || more.Fits || !more.Exact {
				t.Fatalf("trial %d: nothing tells that one more does not fit: %q\n%s", trial, c.Reason, plantest.Text(p))
			}
			need := load + p.Classes[i].VMsPerJob.InexactFloat64()
			if p.Budget == nil {
				if told["missing VMs"]++; told["missing VMs"] <= plantest.Trials(8, 20) {
					anotherAnswerIsFound(t, p, pl, i)
				}
				missing := need
				for _, x := range tiers {
					missing -= float64(x.vms)
				}
				said := fmt.Sprintf("needs %s more than there are; a quota of %d on demand would do.", words.VMs(missing), *p.Supply.OnDemand.Quota+int64(math.Ceil(missing)))
				if p.Classes[i].Jobs.Max > 0 && (more.VMs == nil || *more.VMs != missing || !strings.Contains(c.Reason, said)) {
					t.Fatalf("trial %d: %q does not say %q\n%s", trial, c.Reason, said, plantest.Text(p))
				}
				continue
			}
			least := billOf(tiers, need)
			if (least == nil) != (more.Budget == nil) || least != nil && more.Budget.Sub(*least).Abs().GreaterThan(decimal.New(2, -9)) {
				t.Fatalf("trial %d: a budget of %v would do, want %v\n%s", trial, more.Budget, least, plantest.Text(p))
			}
			if least == nil {
				told["no budget does"]++
				continue
			}
			if told[kind]++; told[kind] <= plantest.Trials(8, 20) {
				anotherAnswerIsFound(t, p, pl, i)
			}
			said := fmt.Sprintf("A budget of %v USD an hour, %v more, would do.", more.Budget, plus(*more.Budget, p.Budget.VMCost.Neg()))
			if p.Classes[i].Jobs.Max > 0 && !strings.Contains(c.Reason, said) {
				t.Fatalf("trial %d: %q does not say %q\n%s", trial, c.Reason, said, plantest.Text(p))
			}
		}
	}
	t.Log(told)
	if told["0 types"] < 50 || told["2 types"] < 50 || told["no budget does"] < plantest.Trials(5, 10) || told["missing VMs"] < plantest.Trials(2, 10) || told["fits"] < 20 {
		t.Errorf("too few of a kind: %v", told)
	}
}

// anotherAnswerIsFound plants another budget, other missing VMs and a job that fits in what a plan says of one more job.
func anotherAnswerIsFound(t *testing.T, p capacity.Problem, pl capacity.Plan, class int) {
	t.Helper()
	for name, plant := range map[string]func(x *capacity.JobChange){
		"a cent more": func(x *capacity.JobChange) { x.Budget = new(plus(orZero(x.Budget), decimal.New(1, -2))) },
		"a cent less": func(x *capacity.JobChange) { x.Budget = new(plus(orZero(x.Budget), decimal.New(-1, -2))) },
		"fits":        func(x *capacity.JobChange) { x.Fits = true },
		"an amount":   func(x *capacity.JobChange) { x.Amount = new(plantest.Hundredths(100)) },
		"not exact":   func(x *capacity.JobChange) { x.Exact = false },
		"more VMs": func(x *capacity.JobChange) {
			if x.VMs == nil {
				x.VMs = new(float64)
			}
			x.VMs = new(*x.VMs + 1)
		},
	} {
		planted := pl
		planted.Classes = slices.Clone(pl.Classes)
		more := *pl.Classes[class].OneMore
		plant(&more)
		planted.Classes[class].OneMore = &more
		report := proof.Verify(p, planted, proof.Options{})
		if found, _ := report.Find(proof.ChangesCheck); found.Outcome != proof.Failed {
			t.Errorf("%s passes: %s\n%s", name, report, plantest.Text(p))
		}
	}
}

// orZero is an amount, or nothing.
func orZero(a *money.Amount) money.Amount {
	if a == nil {
		return money.Amount{}
	}
	return *a
}

// tier is a number of VMs at a price in cents.
type tier struct {
	vms   int64
	cents int64
}

// billOf is the bill of VMs, or of parts of them, taken by rising price; nil where there are not so many.
func billOf(tiers []tier, vms float64) *decimal.Decimal {
	left, bill := decimal.NewFromFloat(vms), decimal.Zero
	for _, t := range tiers {
		n := decimal.Min(left, decimal.NewFromInt(t.vms))
		bill, left = bill.Add(n.Mul(decimal.New(t.cents, -2))), left.Sub(n)
	}
	if left.IsPositive() {
		return nil
	}
	return &bill
}

// usedUp draws a relaxed problem whose promised jobs use up the budget or all VMs, or nearly so: of one type, or of several
// on which jobs take the same.
func usedUp(t *testing.T, r *rand.Rand) (p capacity.Problem, tiers []tier) {
	p = capacity.Problem{Currency: "USD", PeriodSeconds: 3600, Options: capacity.DefaultOptions()}
	p.Options.Integrality, p.Options.Engine = capacity.Relaxed, capacity.EngineExact
	load := 0.0
	for i := range 1 + r.IntN(4) {
		gamma, jobs := float64(1+r.IntN(5))/2, float64(2*r.IntN(3))
		p.Classes = append(p.Classes, plantest.ByGamma(t, fmt.Sprintf("c%d", i), fmt.Sprint(gamma), fmt.Sprint(1+r.IntN(9)), jobs, jobs+float64(r.IntN(2)*r.IntN(3))))
		load += gamma * jobs
	}
	fleet := r.IntN(2) == 0
	price := func() tier { return tier{int64(r.IntN(6)), int64(1 + r.IntN(300))} }
	supply := func(x tier) capacity.OnDemand {
		o := capacity.OnDemand{Price: plantest.Hundredths(int(x.cents)), Quota: &x.vms}
		if r.IntN(3) > 0 {
			o.Quota = nil
		}
		return o
	}
	take := func(o capacity.OnDemand, x tier) {
		if o.Quota == nil {
			x.vms = math.MaxInt32
		}
		tiers = append(tiers, x)
	}
	if fleet {
		for k := range 2 + r.IntN(2) {
			x := price()
			o := supply(x)
			p.Supply.VMTypes = append(p.Supply.VMTypes, capacity.VMTypeSupply{Name: fmt.Sprintf("t%d", k), OnDemand: o})
			take(o, x)
		}
	} else {
		x := price()
		p.Supply.OnDemand = supply(x)
		take(p.Supply.OnDemand, x)
		for k := range r.IntN(3) {
			x := tier{int64(r.IntN(4)), int64(r.Int64N(x.cents) + 1)}
			p.Supply.Contracts = append(p.Supply.Contracts, capacity.Contract{Name: fmt.Sprintf("k%d", k), VMs: x.vms, Price: plantest.Hundredths(int(x.cents)), Billing: capacity.BilledUsed})
			tiers = append(tiers, x)
		}
	}
	slices.SortStableFunc(tiers, func(a, b tier) int { return cmp.Compare(a.cents, b.cents) })
	bill := billOf(tiers, load)
	if bill == nil {
		return usedUp(t, r)
	}
	if quota := p.Supply.OnDemand.Quota; !fleet && quota != nil && r.IntN(2) == 0 {
		return p, tiers // the quota is used up, or is not
	}
	limit := money.Amount{Decimal: *bill}
	if r.IntN(4) == 0 {
		limit = plus(limit, decimal.New(r.Int64N(100), -2))
	}
	p.Budget = &capacity.Budget{VMCost: &limit}
	return p, tiers
}
