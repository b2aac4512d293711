package horizon

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/test/plantest"
)

// After a forecast the hours hold the demand that the assumption says, to the end of the longest term.
func TestAssumedDemandHourByHour(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(27, 3))
	for range plantest.Trials(30, 300) {
		known := 700 + r.IntN(300)
		jobs, sum := make([]float64, known), new(big.Rat)
		for i := range jobs {
			jobs[i] = float64(r.IntN(4))
			sum.Add(sum, big.NewRat(int64(jobs[i]), int64(known)))
		}
		mean, _ := sum.Float64()
		q := PurchaseQuestion{Horizon: Horizon{Problem: oneClass(t, "0.20"), Periods: hoursFrom(firstHour, jobs...)}}
		longest := known + 1 + r.IntN(2000)
		q.Offers = []capacity.Offer{{Name: "long", TermHours: int64(longest)}, {Name: "short", TermHours: 1}}
		for _, q.Assume = range assumptions {
			h := q.Weighed()
			if got := h.End().Sub(h.Start()); got != time.Duration(longest)*time.Hour {
				t.Fatalf("%s lasts %v, want %d hours", q.Assume, got, longest)
			}
			p := 0
			for hour := range longest {
				at := firstHour.Add(time.Duration(hour) * time.Hour)
				for !h.Periods[p].End().After(at) {
					p++
				}
				want := 0.0
				switch {
				case hour < known:
					want = jobs[hour]
				case q.Assume == FlatDemand:
					want = math.Floor(mean)
					if got := h.JobsIn(p, 0).Max; got == want+1 {
						want++
					}
				case q.Assume != DemandEnds:
					cycle := map[Assumption]int{LastWeekRepeats: 7 * 24, LastMonthRepeats: 28 * 24}[q.Assume]
					want = jobs[known-cycle+(hour-known)%cycle]
				}
				if got := h.JobsIn(p, 0).Max; got != want {
					t.Fatalf("%s: hour %d of %d has %g jobs, want %g", q.Assume, hour, known, got, want)
				}
			}
		}
	}
}

// The average of whole jobs has its job-hours in every month, and at most one job more at once than the average.
func TestFlatDemandKeepsJobHours(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(27, 5))
	for range plantest.Trials(30, 300) {
		known := 20 + r.IntN(300)
		p := oneClass(t, "0.20")
		for _, name := range []string{"b", "c"} {
			more := p.Classes[0]
			more.Name = name
			p.Classes = append(p.Classes, more)
		}
		q := PurchaseQuestion{Horizon: Horizon{Problem: p, Periods: hoursFrom(firstHour, make([]float64, known)...)}, Assume: FlatDemand}
		sums := make([]int, 3)
		for i := range q.Periods {
			q.Periods[i].Jobs = make([]float64, 3)
			for k := range sums {
				n := r.IntN(3) * r.IntN(2)
				q.Periods[i].Jobs[k], sums[k] = float64(n), sums[k]+n
			}
		}
		q.Offers = []capacity.Offer{{Name: "long", TermHours: int64(known + 1 + r.IntN(2500))}}
		h := q.Weighed()
		seconds, jobSeconds := map[string]int{}, map[string]int{}
		for i := range h.Periods[known:] {
			p := &h.Periods[known+i]
			seconds[p.Start.Format("2006-01")] += int(p.Length())
			for k := range sums {
				if p.Jobs[k] != math.Floor(p.Jobs[k]) || math.Abs(p.Jobs[k]-float64(sums[k])/float64(known)) >= 1 {
					t.Fatalf("%g jobs at once, and %d job-hours in %d", p.Jobs[k], sums[k], known)
				}
				jobSeconds[fmt.Sprint(p.Start.Format("2006-01"), k)] += int(p.Jobs[k]) * int(p.Length())
			}
		}
		for month, n := range seconds {
			for k := range sums {
				if got := jobSeconds[fmt.Sprint(month, k)]; got*known < sums[k]*n || (got-1)*known >= sums[k]*n {
					t.Fatalf("%s: %d job-seconds in %d s, and %d job-hours in %d", month, got, n, sums[k], known)
				}
			}
		}
	}
}

// Of many classes over many months the average is rounded up, and the answer says so.
func TestFlatDemandOfManyClassesIsRoundedUp(t *testing.T) {
	t.Parallel()
	p := oneClass(t, "0.20")
	for i := range 150 {
		more := p.Classes[0]
		more.Name = fmt.Sprint("more", i)
		p.Classes = append(p.Classes, more)
	}
	q := PurchaseQuestion{Horizon: Horizon{Problem: p, Periods: hoursFrom(firstHour, 0, 0, 0)}, Assume: FlatDemand}
	for i := range q.Periods {
		q.Periods[i].Jobs = make([]float64, len(p.Classes))
	}
	q.Periods[0].Jobs[7] = 1
	q.Offers = []capacity.Offer{{Name: "long", TermHours: 26280}}
	h := q.Weighed()
	if n := len(h.Periods); n != 4 || h.Periods[3].Jobs[7] != 1 || h.Periods[3].Jobs[8] != 0 {
		t.Errorf("got %d periods, want 4, the last with one job of one class", n)
	}
	if got := q.wholeJobs(q.Horizon.End()); got != " It is rounded up to whole jobs, which may be much more." {
		t.Errorf("said: %q", got)
	}
}

// Less demand that is as many whole jobs is said to be that.
func TestDemandThatIsTheSameInWholeJobs(t *testing.T) {
	t.Parallel()
	q := PurchaseQuestion{Horizon: Horizon{Problem: oneClass(t, "0.20"), Periods: hoursFrom(firstHour, 1, 2, 1)}, Factors: []float64{0.7, 1, 1.3}}
	q.Offers = []capacity.Offer{{Name: "all", Price: plantest.AmountIn(t, "0.15"), Billing: capacity.BilledAlways, TermHours: 3, Max: 2}}
	for factor, want := range map[float64]bool{0.7: false, 0.5: true, 1.3: true} {
		if got := q.differs(factor); got != want {
			t.Errorf("times %g: it differs is %t", factor, got)
		}
	}
	if a, want := recommended(t, q), "30 % less demand than expected is just as many whole jobs and with 30 % more demand"; !strings.Contains(a.Explanation, want) {
		t.Errorf("%q is not in %q", want, a.Explanation)
	}
	q.Problem.Options.Integrality = capacity.Relaxed
	if !q.differs(0.7) {
		t.Error("in parts of jobs less is less")
	}
}

// Under every assumption, and where demand ends early, the best purchase is that of enumeration, and the recommendation
// comes to what it comes to there.
func TestPurchasesUnderAssumptions(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(27, 4))
	for i := range plantest.Trials(12, 200) {
		q := PurchaseQuestion{Horizon: Horizon{Problem: oneClass(t, fmt.Sprintf("0.%d", 20+r.IntN(40)))}, Factors: []float64{1}, Assume: assumptions[i%4]}
		jobs := make([]float64, 28*24)
		for k := range jobs {
			jobs[k] = float64((k/(24*(1+i%5)) + i) % 3)
		}
		q.Periods = hoursFrom(firstHour, jobs...)
		q.Problem.Options.Gap = 0
		for k := range 2 {
			o := capacity.Offer{Name: fmt.Sprintf("offer-%d", k), Price: plantest.Hundredths(5 + r.IntN(40)), Upfront: plantest.Hundredths(r.IntN(3000)), Max: 1 + r.Int64N(4), Billing: capacity.BilledAlways, TermHours: 800 + r.Int64N(700)}
			if k == 1 {
				o.Billing = capacity.BilledUsed
			}
			q.Offers = append(q.Offers, o)
		}
		a, err := Purchase(t.Context(), q, nil, 2, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Assumptions) != 4 || len(a.Ends) == 0 {
			t.Fatalf("%d assumptions and %d endings, want 4 and some", len(a.Assumptions), len(a.Ends))
		}
		numbers := make([]int64, len(a.Offers))
		for k := range a.Offers {
			numbers[k] = a.Offers[k].VMs
		}
		there := func(what string, h Horizon, best []int64, cost, least float64) {
			other := q
			other.Horizon = h
			b := &byHours{&other, map[string]float64{}}
			if want := b.cost(numbers); !costsAlike(cost, want) {
				t.Errorf("%d, %s: the recommendation comes to %g, want %g", i, what, cost, want)
			}
			if want := b.best(); !costsAlike(least, want) || !costsAlike(b.cost(best), want) {
				t.Errorf("%d, %s: %v is said to be best at %g, want %g", i, what, best, least, want)
			}
		}
		for _, s := range a.Assumptions {
			there(string(s.Assume), q.Horizon.extended(q.wholeTerm(), s.Assume), s.Best, s.RecommendedBoth.Float(), s.BestBill.Float()+s.BestValue.Float())
			if s.Assume == q.Assume && !costsAlike(s.RecommendedBoth.Float(), a.Recommended.Total.Float()) {
				t.Errorf("%d: under its own assumption the recommendation comes to %v, want %v", i, s.RecommendedBoth, a.Recommended.Total)
			}
		}
		for _, p := range a.Ends {
			there("ends "+p.Ends.String(), q.Weighed().endedAt(p.Ends), p.Best, p.Cost.Float(), p.BestCost.Float())
		}
		for k, o := range a.Offers { // by the hour, for all the hours of the term
			want := float64(o.VMs) * q.Offers[k].Upfront.Float()
			if k == 0 {
				want += float64(o.VMs) * q.Offers[k].Price.Float() * float64(q.Offers[k].TermHours)
			}
			if share := 672 / float64(q.Offers[k].TermHours); !costsAlike(o.Obligation.Float(), want) || math.Abs(o.ForecastShare-share) > 1e-12 {
				t.Errorf("%d: %s commits to %v and is forecast to %g, want %g and %g", i, o.Name, o.Obligation, o.ForecastShare, want, share)
			}
		}
	}
}

// One more than all that is on offer does to the bill what a plan with one more does.
func TestOneMoreThanOffered(t *testing.T) {
	t.Parallel()
	for _, most := range []int64{1, 3, 7, 8} {
		p := oneClass(t, "0.40")
		p.Supply.OnDemand.Quota = new(int64(2))
		q := PurchaseQuestion{Horizon: Horizon{Problem: p, Periods: hoursFrom(firstHour, 1, 4, 4, 2)}, Factors: []float64{}}
		q.Offers = []capacity.Offer{{Name: "all", Price: plantest.AmountIn(t, "0.15"), Billing: capacity.BilledAlways, TermHours: 4, Max: most}}
		a := recommended(t, q)
		o := a.Offers[0]
		if (o.OneMore != nil) != (o.VMs == most) {
			t.Fatalf("%d of %d are bought, and one more: %+v", o.VMs, most, o.OneMore)
		}
		if o.OneMore == nil {
			continue
		}
		total := func(bought int64) SpanCost {
			h := withOffers(&q, []int64{bought})
			hours, err := planWith(t.Context(), h, plan.NewSeries(h.Problem, nil).Solve, Crew{Workers: 1}, nil)
			if err != nil {
				t.Fatal(err)
			}
			return hours.Total.Cost
		}
		is, with := total(most), total(most+1)
		if !o.OneMore.BillSaving.Equal(is.Bill.Sub(with.Bill.Decimal)) || !o.OneMore.ValueRefused.Equal(is.Penalties.Sub(with.Penalties.Decimal)) {
			t.Errorf("of %d one more takes %v off the bill and %v off the value refused, want %v and %v", most, o.OneMore.BillSaving, o.OneMore.ValueRefused,
				is.Bill.Sub(with.Bill.Decimal), is.Penalties.Sub(with.Penalties.Decimal))
		}
		if !strings.Contains(a.Explanation, fmt.Sprintf("All of \"all\" that is on offer is bought, %d; one more would ", most)) {
			t.Errorf("got %q", a.Explanation)
		}
	}
}

// Below a quarter of a term nothing is recommended unless it is said what follows, and only what the forecast is long
// enough for may follow.
func TestRecommendationsRestOnAQuarterOfTheTerm(t *testing.T) {
	t.Parallel()
	ask := func(hours int, term int64, assume Assumption) string {
		q := PurchaseQuestion{Horizon: Horizon{Problem: oneClass(t, "0.20"), Periods: hoursFrom(firstHour, slices.Repeat([]float64{1}, hours)...)}, Assume: assume}
		q.Offers = []capacity.Offer{{Name: "long", Price: plantest.AmountIn(t, "0.10"), Billing: capacity.BilledAlways, TermHours: term, Max: 1}}
		var input *fault.InputError
		if err := q.Check(); errors.As(err, &input) {
			if hint := input.Findings[0].Hint.Detail; assume == "" && !strings.HasSuffix(hint, ": last_week_repeats, last_month_repeats, flat or ends.") {
				t.Errorf("the hint is %q", hint)
			}
			return fmt.Sprint(input.Findings[0].Pointer, " ", input.Findings[0].Code, " ", input.Findings[0].Hint.Value)
		} else if err != nil {
			t.Fatal(err)
		}
		return ""
	}
	for _, c := range []struct {
		hours  int
		term   int64
		assume Assumption
		want   string
	}{
		{25, 100, "", ""},
		{24, 100, "", "/assume missing flat"},
		{200, 8760, "", "/assume missing last_week_repeats"},
		{24, 100, FlatDemand, ""},
		{24, 100, DemandEnds, ""},
		{167, 8760, LastWeekRepeats, "/assume range flat"},
		{168, 8760, LastWeekRepeats, ""},
		{671, 8760, LastMonthRepeats, "/assume range flat"},
	} {
		if got := ask(c.hours, c.term, c.assume); got != c.want {
			t.Errorf("%d hours of a term of %d, assuming %q: got %q, want %q", c.hours, c.term, c.assume, got, c.want)
		}
	}
}

// Arrivals go on as the assumption says, and end where demand does: those that run then end by themselves. An execution
// of two hours counts in three of them, with .5, 1 and .5.
func TestAssumedArrivalsHourByHour(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(27, 4))
	known, longest := 700, 900
	for range plantest.Trials(10, 100) {
		q := PurchaseQuestion{Horizon: Horizon{Problem: oneClass(t, "0.20")}}
		q.Problem.Options.Integrality = capacity.Relaxed
		q.Problem.Classes[0].DeadlineSeconds = 7200
		arrivals, mean := make([]float64, longest), 0.0
		for hour := range known {
			arrivals[hour] = float64(r.IntN(5))
			mean += arrivals[hour] / float64(known)
			q.Periods = append(q.Periods, HorizonPeriod{Start: firstHour.Add(time.Duration(hour) * time.Hour), Hours: 1, Arrivals: arrivals[hour : hour+1 : hour+1]})
		}
		q.Offers = []capacity.Offer{{Name: "long", TermHours: int64(longest)}}
		check := func(what string, h Horizon) {
			t.Helper()
			p := 0
			for hour := range longest {
				at := firstHour.Add(time.Duration(hour) * time.Hour)
				for !h.Periods[p].End().After(at) {
					p++
				}
				want := arrivals[hour] / 2
				if hour > 0 {
					want += arrivals[hour-1]
				}
				if hour > 1 {
					want += arrivals[hour-2] / 2
				}
				if got := h.JobsIn(p, 0).Max; !plantest.Near(got, want, 1e-9) {
					t.Fatalf("%s: in hour %d run %g jobs, want %g", what, hour, got, want)
				}
			}
		}
		carried := q
		carried.Horizon = q.Carried()
		for _, q.Assume = range assumptions {
			carried.Assume = q.Assume
			for hour := known; hour < longest; hour++ {
				switch cycle := int(q.Assume.cycle().Hours()); {
				case q.Assume == FlatDemand:
					arrivals[hour] = mean
				case q.Assume == DemandEnds:
					arrivals[hour] = 0
				default:
					arrivals[hour] = arrivals[known-cycle+(hour-known)%cycle]
				}
			}
			check(string(q.Assume), q.Weighed().Carried())
			check(string(q.Assume)+", carried before", carried.Weighed())
		}
		for hour := 500; hour < longest; hour++ {
			arrivals[hour] = 0
		}
		carried.Assume = DemandEnds
		check("ended early", carried.Weighed().endedAt(firstHour.Add(500*time.Hour)))
	}
}

// Flat arrivals of few short jobs take the VM-hours of their work, and not a VM day and night. In the first hours of each
// month one job more runs than on average, at most.
func TestFlatArrivalsKeepTheirWork(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(27, 6))
	for range plantest.Trials(40, 400) {
		known, longest := 700+r.IntN(100), 2000+r.IntN(1000)
		q := PurchaseQuestion{Horizon: Horizon{Problem: oneClass(t, "0.20")}, Assume: FlatDemand}
		q.Problem.Classes[0].Jobs = capacity.JobRange{All: true}.Of(10)
		held := float64(60 + r.IntN(7000)) // seconds
		q.Problem.Classes[0].DeadlineSeconds = held
		every, sum := 1+r.IntN(30), 0.0
		for hour := range known {
			arrivals := 0.0
			if hour%every == 0 {
				arrivals = float64(r.IntN(4))
			}
			sum += arrivals
			q.Periods = append(q.Periods, HorizonPeriod{Start: firstHour.Add(time.Duration(hour) * time.Hour), Hours: 1, Arrivals: []float64{arrivals}})
		}
		q.Offers = []capacity.Offer{{Name: "long", TermHours: int64(longest)}}
		atOnce := sum / float64(known) * held / 3600
		h := q.Weighed().Carried()
		end := firstHour.Add(time.Duration(known) * time.Hour)
		jobHours, arrived, months := 0.0, 0.0, float64(longest-known)/700+2
		for p := range h.Periods {
			from := maxTime(h.Periods[p].Start, end.Add(2*time.Hour)) // jobs of the forecast are over by then
			if after := h.Periods[p].End().Sub(from).Hours(); after > 0 {
				jobs := h.JobsIn(p, 0).Max / float64(h.parts[0])
				if jobs > math.Floor(atOnce+1e-9)+1+1e-6 {
					t.Fatalf("%g jobs run at once, and %g on average", jobs, atOnce)
				}
				jobHours += jobs * after
			}
			if !h.Periods[p].Start.Before(end) {
				arrived += h.Periods[p].Arrivals[0]
			}
		}
		work := sum / float64(known) * float64(longest-known) * held / 3600
		if !plantest.Near(arrived, sum/float64(known)*float64(longest-known), 1e-6) {
			t.Fatalf("%g jobs arrive, want %g", arrived, sum/float64(known)*float64(longest-known))
		}
		// Whole hours, and jobs that go on after the last of them, take at most 4 hours of a job more a month.
		if spare := 4 * (1 + held/3600) * months; jobHours < work-3*(atOnce+1) || jobHours > work+spare+work*0.02 {
			t.Fatalf("every %d hours, %g s each: %g job-hours for %g of work", every, held, jobHours, work)
		}
	}
}
