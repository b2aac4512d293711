package horizon

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/lp/worker"
	"example.org/headroom/internal/test/plantest"
)

func recommended(t testing.TB, q PurchaseQuestion) PurchaseAnswer {
	t.Helper()
	if err := q.Validate(); err != nil {
		t.Fatal(err)
	}
	a, err := Purchase(t.Context(), q, nil, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Spec 5.4: with whole jobs the cost is not convex in what is bought. One job needs three VMs and there are
// none on demand: one or two VMs more cost 2 each and serve nobody, three save its penalty of 10.
func TestPurchaseLooksBeyondALocalMinimum(t *testing.T) {
	p := oneClass(t, "1.00")
	none := int64(0)
	p.Supply.OnDemand.Quota = &none
	p.Classes = []capacity.Class{plantest.ByGamma(t, "wide", "3", "10.00", 0, 1)}
	q := PurchaseQuestion{Horizon: Horizon{Problem: p, Periods: hoursFrom(firstHour, 1)}, Factors: []float64{}}
	q.Offers = []capacity.Offer{{Name: "hour", Price: plantest.AmountIn(t, "2.00"), Billing: capacity.BilledAlways, TermHours: 1, Max: 4}}
	w, err := newWeighing(t.Context(), &q, Crew{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range []float64{10, 12, 14, 6, 8} {
		if got, _, err := w.exactCost(t.Context(), []int64{int64(n)}); err != nil || got != want {
			t.Errorf("%d VMs cost %g (%v), want %g", n, got, err, want)
		}
	}
	if a := recommended(t, q); a.Offers[0].VMs != 3 || a.Recommended.Total.String() != "6.00" || a.Status != capacity.Optimal {
		t.Errorf("got %d VMs for %v (%s), want 3 for 6.00", a.Offers[0].VMs, a.Recommended.Total, a.Status)
	}
}

// One offer and a demand that is always served: buy while an hour's saving times the hours that need one VM
// more exceeds its price (spec 5.4).
func TestPurchaseIsTheNewsvendor(t *testing.T) {
	for i := range 150 {
		r := rand.New(rand.NewPCG(45, uint64(i)))
		p := oneClass(t, "0.40")
		p.Classes[0].Jobs.Min = 10
		hours := 1 + r.IntN(40)
		jobs := make([]float64, hours)
		for k := range jobs {
			jobs[k] = float64(r.IntN(11))
		}
		q := PurchaseQuestion{Horizon: Horizon{Problem: p, Periods: hoursFrom(firstHour, jobs...)}, Factors: []float64{}}
		price, upfront := r.IntN(50), r.IntN(1+20*hours)
		o := capacity.Offer{Name: "one", Price: plantest.Hundredths(price), Upfront: plantest.Hundredths(upfront), Billing: capacity.BilledUsed, TermHours: int64(hours), Max: 12}
		saved, paid := 40-price, upfront
		if i%2 == 0 {
			o.Billing = capacity.BilledAlways
			saved, paid = 40, upfront+hours*price
		}
		q.Offers = []capacity.Offer{o}
		n, cost := 0, 0
		for ; n < 12; n++ {
			needed := 0
			for _, x := range jobs {
				if x > float64(n) {
					needed++
				}
			}
			if saved*needed <= paid {
				break
			}
		}
		for _, x := range jobs {
			used := min(int(x), n)
			cost += 40*(int(x)-used) + (40-saved)*used
		}
		cost += n * paid
		// More than n may cost as much, where a saving is exactly its price.
		if a := recommended(t, q); !costsAlike(a.Recommended.Total.Float(), float64(cost)/100) || a.Offers[0].VMs < int64(n) && a.Recommended.Total.Float() != float64(cost)/100 {
			t.Fatalf("case %d: got %d VMs for %v, the newsvendor %d for %d cents", i, a.Offers[0].VMs, a.Recommended.Total, n, cost)
		}
	}
}

// A second opinion from CBC on a few hours at once: all hours, all tiers and what is bought in one program,
// in which no more of an offer is used than is bought.
func TestPurchaseAgreesWithCBC(t *testing.T) {
	pool := worker.New(worker.Config{Processes: 1})
	defer pool.Close()
	compared := 0
	for i := range 40 {
		integrality := capacity.Integer
		if i%4 == 0 {
			integrality = capacity.Relaxed // jobs and VMs in fractions; what is bought is whole
		}
		q := drawQuestion(t, rand.New(rand.NewPCG(46, uint64(i))), capacity.Integer, capacity.Shared)
		q.Problem.Options.Integrality = integrality
		q.Periods = q.Periods[:min(len(q.Periods), 3)]
		for k := range q.Periods {
			q.Periods[k].Hours, q.Periods[k].Start = 1, firstHour.Add(time.Duration(k)*time.Hour)
		}
		program, constant := purchaseProgram(&q)
		sol, err := pool.Solve(t.Context(), &program, lp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		a := recommended(t, q)
		switch sol.Status {
		case lp.Infeasible:
			if a.Status != capacity.InfeasibleStatus {
				t.Errorf("case %d: CBC finds nothing, and here is a purchase for %v", i, a.Recommended.Total)
			}
		case lp.Optimal:
			compared++
			if want := sol.Objective + constant; math.Abs(a.Recommended.Total.Float()-want) > 1e-5*(1+want) {
				t.Errorf("case %d: got %v, CBC %.9f", i, a.Recommended.Total, want)
			}
		default:
			t.Errorf("case %d: CBC says %s", i, sol.Status)
		}
	}
	if compared < 15 {
		t.Errorf("only %d of 40 were compared", compared)
	}
}

// purchaseProgram is a question whose periods last an hour each, as one mixed-integer program, and what its
// objective leaves out.
func purchaseProgram(q *PurchaseQuestion) (p lp.Program, constant float64) {
	start, end := q.Start(), q.End()
	inside := func(from, until time.Time) (hours int) {
		for at := start; at.Before(end); at = at.Add(time.Hour) {
			if !at.Before(from) && at.Before(until) {
				hours++
			}
		}
		return hours
	}
	for _, c := range q.Contracts {
		constant += c.Upfront.Float() * float64(inside(c.From, c.Until)) / c.Until.Sub(c.From).Hours()
	}
	hours, whole := len(q.Periods), q.Problem.Options.Integrality != capacity.Relaxed
	capacityRow := make([]int, hours)
	for t := range hours {
		capacityRow[t] = p.Row(math.Inf(-1), 0)
	}
	for _, o := range q.Offers {
		from, until := o.Term(start)
		cost := o.Upfront.Float() * float64(inside(from, until)) / until.Sub(from).Hours()
		if o.Billing == capacity.BilledAlways {
			cost += o.Price.Float() * float64(inside(from, until))
		}
		var entries []lp.Entry // r_kt <= n_k
		var use []int
		for t := range hours {
			if at := q.Periods[t].Start; !at.Before(from) && at.Before(until) {
				row := p.Row(math.Inf(-1), 0)
				entries, use = append(entries, lp.Entry{Row: row, Coefficient: -1}), append(use, t)
			}
		}
		p.Column(cost, 0, float64(o.Max), true, entries...)
		for k, t := range use {
			price := o.Price.Float()
			if o.Billing == capacity.BilledAlways {
				price = 0
			}
			p.Column(price, 0, float64(o.Max), whole, lp.Entry{Row: entries[k].Row, Coefficient: 1}, lp.Entry{Row: capacityRow[t], Coefficient: -1})
		}
	}
	for t, period := range q.Periods {
		contracts := append([]capacity.Contract{}, q.Problem.Supply.Contracts...)
		for _, c := range q.Contracts {
			if !period.Start.Before(c.From) && period.Start.Before(c.Until) {
				contracts = append(contracts, c.Contract)
			}
		}
		for _, c := range contracts {
			price := c.Price.Float()
			if c.Billing == capacity.BilledAlways {
				constant += price * float64(c.VMs)
				price = 0
			}
			p.Column(price, 0, float64(c.VMs), whole, lp.Entry{Row: capacityRow[t], Coefficient: -1})
		}
		price, quota := q.Problem.Supply.OnDemand.Price, 10_000.0
		if period.OnDemandPrice != nil {
			price = *period.OnDemandPrice
		}
		if most := q.Problem.Supply.OnDemand.Quota; most != nil {
			quota = float64(*most)
		}
		p.Column(price.Float(), 0, quota, whole, lp.Entry{Row: capacityRow[t], Coefficient: -1})
		problem := plantest.Copied(q.Problem)
		for k := range problem.Classes {
			c := &problem.Classes[k]
			if period.Jobs != nil {
				c.Jobs.Max = period.Jobs[k]
				c.Jobs.Min = min(c.Jobs.Min, c.Jobs.Max)
			}
		}
		b := plantest.NewBrute(problem)
		if b.Short { // a promised class that cannot be in time
			p.Row(1, 1)
		}
		for k, c := range problem.Classes {
			x := b.Classes[k]
			penalty := c.Penalty.Float() * 3600 / float64(problem.PeriodSeconds)
			constant += penalty * c.Jobs.Max
			p.Column(-penalty, float64(x.Low), float64(x.High), whole, lp.Entry{Row: capacityRow[t], Coefficient: x.VMsPerJob})
		}
	}
	return p, constant
}

// An offer's term is longer than the horizon: its share counts, all of it is paid, and the balance says so.
func TestPurchaseOfATermBeyondTheHorizon(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	h := Horizon{Problem: oneClass(t, "0.20"), Periods: []HorizonPeriod{{Start: start, Hours: 8760, Jobs: []float64{5}}}}
	q := PurchaseQuestion{Horizon: h, Factors: []float64{}}
	q.Offers = []capacity.Offer{{Name: "three years", Price: plantest.AmountIn(t, "0.05"), Upfront: plantest.AmountIn(t, "1096.00"), Billing: capacity.BilledAlways, TermYears: 3, Max: 9}}
	a := recommended(t, q)
	o := a.Offers[0]
	// 2028 is a leap year: 365 of 1,096 days.
	if o.VMs != 5 || o.Paid.String() != "5480.00" || o.Upfront.String() != "1825.00" || a.Recommended.Total.String() != "4015.00" || a.Today.Total.String() != "8760.00" {
		t.Errorf("got %+v for %v, today %v; want 5 VMs, 1825.00 of 5480.00 upfront, 4015.00, today 8760.00", o, a.Recommended.Total, a.Today.Total)
	}
	// A month of 744 h saves 5·0.15·744 = 558.00; a year 6570.00, so that the balance turns in October: 304 days are 5472.00.
	if a.BreakEven == nil || a.BreakEven.Month() != time.November || a.Months[0].Balance.String() != "-4922.00" || a.Months[11].Balance.String() != "1090.00" {
		t.Errorf("got the break-even month %v and the months %+v", a.BreakEven, a.Months)
	}
	if *a.Utilisation != 1 || *a.Coverage != 1 || a.Saving.Amount.String() != "4745.00" {
		t.Errorf("got utilisation %g, coverage %g, saving %v", *a.Utilisation, *a.Coverage, a.Saving.Amount)
	}
	// A term that is over before the horizon is pays all of its upfront payment, for its own hours alone.
	q.Offers[0].TermYears, q.Offers[0].TermHours, q.Offers[0].Upfront = 0, 10, plantest.AmountIn(t, "1.00")
	if a = recommended(t, q); a.Offers[0].VMs != 5 || a.Recommended.Total.String() != "8757.50" || a.Offers[0].Upfront.String() != "5.00" {
		t.Errorf("got %+v for %v, want 5 VMs for ten hours and 8757.50", a.Offers[0], a.Recommended.Total)
	}
}

// What costs nothing is taken or left; either way nothing is divided by it.
func TestPurchaseOfNothing(t *testing.T) {
	h := Horizon{Problem: oneClass(t, "0"), Periods: hoursFrom(firstHour, 3, 0, 2)}
	q := PurchaseQuestion{Horizon: h}
	q.Offers = []capacity.Offer{
		{Name: "free", Billing: capacity.BilledUsed, TermHours: 2, Max: 5}, {Name: "none", Billing: capacity.BilledAlways, TermHours: 5, Max: 0},
	}
	a := recommended(t, q)
	if a.Status != capacity.Optimal || a.Recommended.Total.Sign() != 0 || a.Saving.Share != 0 || a.Proof.Gap != 0 || len(a.Regret) != 7 {
		t.Errorf("got %s for %v, %+v", a.Status, a.Recommended.Total, a.Proof)
	}
	for k := range q.Periods {
		q.Periods[k].Jobs = []float64{0}
	}
	q.Problem.Supply.OnDemand.Price = plantest.AmountIn(t, "1.00")
	if a = recommended(t, q); a.Coverage != nil || a.Recommended.Total.Sign() != 0 {
		t.Errorf("without any demand: got coverage %v and %v", a.Coverage, a.Recommended.Total)
	}
}

// Offers serve promised jobs that nothing else can: today is infeasible, the recommendation is not.
func TestPurchaseMakesPromisesPossible(t *testing.T) {
	p := oneClass(t, "0.20")
	quota := int64(2)
	p.Supply.OnDemand.Quota, p.Classes[0].Jobs.Min = &quota, 10
	q := PurchaseQuestion{Horizon: Horizon{Problem: p, Periods: hoursFrom(firstHour, 2, 5, 9)}, Factors: []float64{2}}
	q.Offers = []capacity.Offer{
		{Name: "dear", Price: plantest.AmountIn(t, "7.00"), Billing: capacity.BilledAlways, TermHours: 3, Max: 10},
		{Name: "few", Price: plantest.AmountIn(t, "1.00"), Billing: capacity.BilledAlways, TermHours: 3, Max: 4},
	}
	a := recommended(t, q)
	if a.Status != capacity.Optimal || a.Offers[0].VMs != 3 || a.Offers[1].VMs != 4 || a.Saving != nil || a.Today.Status != capacity.InfeasibleStatus {
		t.Errorf("got %s, %+v, saving %v; want 3 dear ones and all 4 others", a.Status, a.Offers, a.Saving)
	}
	// Twice as many jobs: ten are promised in the last hour, and nine VMs are there; the best then is everything.
	if r := a.Regret[0]; r.Cost != nil || r.Regret != nil || r.BestCost == nil || r.BestCost.String() != "422.40" {
		t.Errorf("got the regret %+v, want no cost beside a best one of 422.40", r)
	}
	q.Offers = q.Offers[1:]
	if a = recommended(t, q); a.Status != capacity.InfeasibleStatus || !strings.Contains(a.Horizon.Periods[2].Conflict, "need 9 VMs and there are 6") {
		t.Errorf("got %s and %q, want infeasible and why", a.Status, a.Horizon.Periods[2].Conflict)
	}
}
