package horizon

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/test/plantest"
)

var firstHour = time.Date(2026, 1, 31, 20, 0, 0, 0, time.UTC) // days and months end inside most horizons

// drawQuestion draws a few periods of a small problem: changing demands and prices, hours without any demand,
// contracts and offers that begin and end anywhere, both billings, prices of nothing.
func drawQuestion(t testing.TB, r *rand.Rand, integrality capacity.Integrality, sharing capacity.Sharing) PurchaseQuestion {
	t.Helper()
	q := PurchaseQuestion{Factors: []float64{}}
	for {
		q.Problem = plantest.Sample{Classes: 3, Width: 4, Slots: 4, Integrality: integrality, Sharing: sharing}.Problem(r)
		if len(q.Problem.Classes) > 1 && q.Problem.Supply.OnDemand.Price.Float() > 0 {
			break
		}
	}
	at := firstHour
	hours := 0
	for i := range 2 + r.IntN(5) {
		p := HorizonPeriod{Start: at, Hours: 1 + r.Int64N(3)}
		if i > 1 && r.IntN(4) == 0 {
			p.Jobs, p.OnDemandPrice = q.Periods[i-2].Jobs, q.Periods[i-2].OnDemandPrice
		} else if r.IntN(6) > 0 {
			p.Jobs = make([]float64, len(q.Problem.Classes))
			for k, c := range q.Problem.Classes {
				if r.IntN(5) > 0 {
					p.Jobs[k] = float64(r.IntN(int(c.Jobs.Max) + 1))
				}
			}
			if r.IntN(3) == 0 {
				price := plantest.Hundredths(r.IntN(60))
				p.OnDemandPrice = &price
			}
		}
		q.Periods = append(q.Periods, p)
		at = p.End()
		hours += int(p.Hours)
	}
	moment := func() time.Time { return firstHour.Add(time.Duration(r.IntN(hours+4)-2) * time.Hour) }
	for k := range r.IntN(3) {
		from := moment()
		c := TermContract{
			Contract: capacity.Contract{Name: fmt.Sprintf("signed-%d", k), VMs: r.Int64N(5), Price: plantest.Hundredths(r.IntN(40)), Billing: capacity.BilledUsed},
			From:     from, Until: from.Add(time.Duration(1+r.IntN(hours)) * time.Hour), Upfront: plantest.Hundredths(r.IntN(500)),
		}
		if r.IntN(3) == 0 {
			c.Billing = capacity.BilledAlways
		}
		q.Contracts = append(q.Contracts, c)
	}
	for k := range 1 + r.IntN(3) {
		o := capacity.Offer{Name: fmt.Sprintf("offer-%d", k), Price: plantest.Hundredths(r.IntN(40)), Billing: capacity.BilledUsed, Max: r.Int64N(4)}
		o.TermHours = 1 + r.Int64N(2*int64(hours))
		o.Upfront = plantest.Hundredths(r.IntN(30 * min(int(o.TermHours), hours)))
		if r.IntN(2) == 0 {
			o.Billing = capacity.BilledAlways
		}
		if r.IntN(3) == 0 {
			from := moment()
			o.From = &from
		}
		if r.IntN(8) == 0 {
			o.TermHours, o.TermYears = 0, 1
			o.Upfront = plantest.Hundredths(r.IntN(1_000_000))
		}
		q.Offers = append(q.Offers, o)
	}
	if err := q.Validate(); err != nil {
		t.Fatalf("drew an invalid question: %v", err)
	}
	return q
}

// byHours computes the cost of a question's horizon with so many VMs bought, hour by hour and by trying all jobs. It
// is +Inf if the promised jobs of an hour do not fit. Contracts and offers are in force for whole hours here.
type byHours struct {
	question *PurchaseQuestion
	known    map[string]float64
}

func (b *byHours) cost(bought []int64) float64 {
	q := b.question
	start := q.Periods[0].Start
	last := q.Periods[len(q.Periods)-1]
	end := last.End()
	share := func(from, until time.Time) float64 {
		inside := 0
		for at := start; at.Before(end); at = at.Add(time.Hour) {
			if !at.Before(from) && at.Before(until) {
				inside++
			}
		}
		return float64(inside) / until.Sub(from).Hours()
	}
	sum := 0.0
	for _, c := range q.Contracts {
		sum += c.Upfront.Float() * share(c.From, c.Until)
	}
	terms := make([][2]time.Time, len(q.Offers))
	for k, o := range q.Offers {
		from := start
		if o.From != nil {
			from = *o.From
		}
		until := from.Add(time.Duration(o.TermHours) * time.Hour)
		if o.TermYears > 0 {
			until = time.Date(from.Year()+int(o.TermYears), from.Month(), from.Day(), from.Hour(), 0, 0, 0, time.UTC)
		}
		terms[k] = [2]time.Time{from, until}
		sum += float64(bought[k]) * o.Upfront.Float() * share(from, until)
	}
	for i, period := range q.Periods {
		var next time.Time
		for at := period.Start; at.Before(period.End()); at = next {
			next = minTime(at.Truncate(time.Hour).Add(time.Hour), period.End()) // periods may begin within an hour
			p := plantest.Copied(q.Problem)
			key := fmt.Sprint(i)
			for _, c := range q.Contracts {
				if !at.Before(c.From) && at.Before(c.Until) {
					p.Supply.Contracts = append(p.Supply.Contracts, c.Contract)
					key += "," + c.Name
				}
			}
			for k, o := range q.Offers {
				if !at.Before(terms[k][0]) && at.Before(terms[k][1]) {
					p.Supply.Contracts = append(p.Supply.Contracts, capacity.Contract{Name: o.Name, VMs: bought[k], Price: o.Price, Billing: o.Billing})
					key += fmt.Sprint(",", k, ":", bought[k])
				}
			}
			known, seen := b.known[key]
			if !seen {
				known = hourCost(p, period)
				b.known[key] = known
			}
			sum += known * next.Sub(at).Hours()
		}
	}
	return sum
}

func hourCost(p capacity.Problem, period HorizonPeriod) float64 {
	if period.OnDemandPrice != nil {
		p.Supply.OnDemand.Price = *period.OnDemandPrice
	}
	refused := 0.0
	for k := range p.Classes {
		c := &p.Classes[k]
		if period.Jobs != nil {
			c.Jobs.Max = period.Jobs[k]
			c.Jobs.Min = min(c.Jobs.Min, c.Jobs.Max)
		}
		refused += c.Penalty.Float() * c.Jobs.Max
	}
	objective, _, feasible := plantest.NewBrute(p).Best()
	if !feasible {
		return math.Inf(1)
	}
	return (float64(objective)/1e6 + refused) * 3600 / float64(p.PeriodSeconds)
}

// all visits every purchase.
func (b *byHours) all(visit func(bought []int64)) {
	bought := make([]int64, len(b.question.Offers))
	var choose func(k int)
	choose = func(k int) {
		if k == len(bought) {
			visit(bought)
			return
		}
		for bought[k] = 0; bought[k] <= b.question.Offers[k].Max; bought[k]++ {
			choose(k + 1)
		}
		bought[k] = 0
	}
	choose(0)
}

func (b *byHours) best() float64 {
	best := math.Inf(1)
	b.all(func(bought []int64) { best = min(best, b.cost(bought)) })
	return best
}

func costsAlike(a, b float64) bool { return math.Abs(a-b) <= 1e-7*(1+math.Abs(b)) }

// 500 small questions in all integralities: the recommendation costs what the best of all purchases costs, is
// proved, and its plans cost what an independent sum over hours says. Every third one has its curves and
// regrets recomputed as well.
func TestPurchaseIsTheBestOfAll(t *testing.T) {
	cases := 500
	if os.Getenv("HEADROOM_LONG") == "1" {
		cases = 10_000
	}
	bought, infeasible := 0, 0
	for i := range cases {
		r := rand.New(rand.NewPCG(41, uint64(i)))
		integrality, sharing := capacity.Integer, capacity.Shared
		switch i % 4 {
		case 0:
			integrality = capacity.Executable
		case 1:
			sharing = capacity.Dedicated
		}
		q := drawQuestion(t, r, integrality, sharing)
		if i%3 == 0 {
			q.Factors = []float64{0.7, 1.3}
		}
		a, err := Purchase(t.Context(), q, nil, 2, nil)
		if err != nil {
			t.Fatalf("case %d: %v", i, err)
		}
		b := &byHours{&q, make(map[string]float64)}
		best := b.best()
		if math.IsInf(best, 1) {
			infeasible++
			if a.Status != capacity.InfeasibleStatus {
				t.Fatalf("case %d: got %s where nothing is feasible", i, a.Status)
			}
			continue
		}
		numbers := make([]int64, len(q.Offers))
		for k := range q.Offers {
			numbers[k] = a.Offers[k].VMs
			bought += int(a.Offers[k].VMs)
		}
		if total := a.Recommended.Total.Float(); a.Status != capacity.Optimal || !costsAlike(total, best) || !costsAlike(b.cost(numbers), total) {
			t.Fatalf("case %d: recommended %v for %v (%s), which costs %.9f; the best of all costs %.9f", i, numbers, a.Recommended.Total, a.Status, b.cost(numbers), best)
		}
		if bound := a.Proof.Bound.Float(); bound > best+1e-7*(1+best) || a.Proof.PriceBound.Float() > best+1e-7*(1+best) || a.Proof.Gap > 1e-7 {
			t.Fatalf("case %d: proved %v and %v by prices, and the best costs %.9f", i, a.Proof.Bound, a.Proof.PriceBound, best)
		}
		today := b.cost(make([]int64, len(q.Offers)))
		if (a.Today.Status == capacity.InfeasibleStatus) != math.IsInf(today, 1) || a.Saving != nil && !costsAlike(a.Saving.Amount.Float(), today-best) {
			t.Fatalf("case %d: today costs %v, and %.9f by hours", i, a.Today.Total, today)
		}
		checkSums(t, &a.Horizon)
		if i%3 == 0 {
			checkCurves(t, i, b, &a, numbers)
			checkRegret(t, i, &q, &a, numbers)
		}
	}
	if bought < cases/4 || infeasible > cases/2 {
		t.Errorf("%d VMs bought and %d infeasible in %d cases: these questions test little", bought, infeasible, cases)
	}
}

func checkCurves(t *testing.T, i int, b *byHours, a *PurchaseAnswer, numbers []int64) {
	t.Helper()
	for k, curve := range a.Curves {
		for _, point := range curve.Points {
			other := slices.Clone(numbers)
			other[k] = point.VMs
			want := b.cost(other)
			if (point.Cost == nil) != math.IsInf(want, 1) || point.Cost != nil && !costsAlike(point.Cost.Float(), want) || !curve.Exact {
				t.Fatalf("case %d: %d of %s cost %v on the curve, %.9f by hours", i, point.VMs, curve.Offer, point.Cost, want)
			}
		}
	}
}

func checkRegret(t *testing.T, i int, q *PurchaseQuestion, a *PurchaseAnswer, numbers []int64) {
	t.Helper()
	for _, point := range a.Regret {
		scaled := *q
		scaled.Problem = plantest.Copied(q.Problem)
		scaled.Periods = slices.Clone(q.Periods)
		for k := range scaled.Problem.Classes {
			j := &scaled.Problem.Classes[k].Jobs
			j.Max = math.Ceil(j.Max*point.Factor - 1e-9)
			j.Min = min(j.Min, j.Max)
		}
		for k := range scaled.Periods {
			jobs := slices.Clone(scaled.Periods[k].Jobs)
			for c := range jobs {
				jobs[c] = math.Ceil(jobs[c]*point.Factor - 1e-9)
			}
			scaled.Periods[k].Jobs = jobs
		}
		b := &byHours{&scaled, make(map[string]float64)}
		best, cost := b.best(), b.cost(numbers)
		if math.IsInf(best, 1) != (point.BestCost == nil) || point.BestCost != nil && !costsAlike(point.BestCost.Float(), best) {
			t.Fatalf("case %d, demand times %g: the best costs %v, %.9f by hours", i, point.Factor, point.BestCost, best)
		}
		if math.IsInf(cost, 1) != (point.Cost == nil) || point.Cost != nil && (!costsAlike(point.Cost.Float(), cost) || !costsAlike(point.Regret.Float(), cost-best)) {
			t.Fatalf("case %d, demand times %g: the recommendation costs %v, %.9f by hours", i, point.Factor, point.Cost, cost)
		}
		today := b.cost(make([]int64, len(numbers)))
		if point.Best != nil && (math.IsInf(today, 1) != (point.TodayCost == nil) || point.TodayCost != nil && !costsAlike(point.TodayCost.Float(), today)) {
			t.Fatalf("case %d, demand times %g: buying nothing costs %v, %.9f by hours", i, point.Factor, point.TodayCost, today)
		}
	}
}

// checkSums adds all of a horizon up in four ways: by periods, days, months and contracts.
func checkSums(t testing.TB, a *Answer) {
	t.Helper()
	var periods, days, months SpanCost
	hours := [3]float64{}
	for i := range a.Periods {
		periods.add(&a.Periods[i].Cost)
		hours[0] += a.Periods[i].Hours
	}
	for i := range a.Days {
		days.add(&a.Days[i].Cost)
		hours[1] += a.Days[i].Hours
	}
	for i := range a.Months {
		months.add(&a.Months[i].Cost)
		hours[2] += a.Months[i].Hours
	}
	same := cmp.Comparer(func(a, b money.Amount) bool { return a.Equal(b.Decimal) })
	for _, sum := range []SpanCost{periods, days, months} {
		if d := cmp.Diff(a.Total.Cost, sum, same); d != "" {
			t.Fatalf("the sums do not close (-total +sum):\n%s", d)
		}
	}
	if hours != [3]float64{a.Total.Hours, a.Total.Hours, a.Total.Hours} {
		t.Fatalf("hours of periods, days and months are %v of %g", hours, a.Total.Hours)
	}
	c := &a.Total.Cost
	if sum := c.OnDemand.Add(c.Spot.Decimal).Add(c.Reserved.Decimal).Add(c.ReservedIdle.Decimal).Add(c.Upfront.Decimal).Add(c.Penalties.Decimal); !sum.Equal(c.Total.Decimal) {
		t.Fatalf("the lines add up to %s, the total is %v", sum, c.Total)
	}
	var reserved, idle, upfront money.Amount
	used := 0.0
	for _, k := range a.Contracts {
		reserved.Decimal, idle.Decimal = reserved.Add(k.Reserved.Decimal), idle.Add(k.ReservedIdle.Decimal)
		upfront.Decimal = upfront.Add(k.Upfront.Decimal)
		used += k.UsedHours
	}
	if !reserved.Equal(c.Reserved.Decimal) || !idle.Equal(c.ReservedIdle.Decimal) || !upfront.Equal(a.Upfront.Decimal) || !upfront.Equal(c.Upfront.Decimal) || math.Abs(used-a.Total.ReservedHours) > 1e-9 {
		t.Fatalf("contracts add up to %v, %v idle, %v upfront and %g VM-hours; the total is %v, %v, %v and %g", reserved, idle, upfront, used, c.Reserved, c.ReservedIdle, a.Upfront, a.Total.ReservedHours)
	}
}

// The answer is the same for any number of workers.
func TestPurchaseDoesNotDependOnWorkers(t *testing.T) {
	for i := range 8 {
		r := rand.New(rand.NewPCG(42, uint64(i)))
		q := drawQuestion(t, r, capacity.Integer, capacity.Shared)
		q.Factors = []float64{1.2}
		one, err := Purchase(t.Context(), q, nil, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		many, err := Purchase(t.Context(), q, nil, 5, nil)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(one, many); d != "" {
			t.Fatalf("case %d: one worker and five differ:\n%s", i, d)
		}
	}
}

func TestPurchaseEndsWithItsContext(t *testing.T) {
	q := drawQuestion(t, rand.New(rand.NewPCG(43, 1)), capacity.Integer, capacity.Shared)
	ctx, cancel := context.WithCancel(t.Context())
	calls, last := 0, 0
	_, err := Purchase(ctx, q, nil, 2, func(done, total int) {
		if calls++; done < last || done > total || calls > 1 && done == last {
			t.Errorf("told of %d of %d after %d", done, total, last)
		}
		if last = done; done > 5 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || last > searchSteps {
		t.Errorf("got %v at step %d, want %v in the search", err, last, context.Canceled)
	}
}

// A question that is ended once the recommendation is priced keeps it, and the curves until then.
func TestPurchaseKeepsWhatItHas(t *testing.T) {
	q := drawQuestion(t, rand.New(rand.NewPCG(43, 2)), capacity.Integer, capacity.Shared)
	q.Factors = nil
	whole := recommended(t, q)
	ctx, cancel := context.WithCancel(t.Context())
	a, err := Purchase(ctx, q, nil, 1, func(done, _ int) {
		if done > searchSteps+3*horizonSteps+curveSteps*len(q.Offers) {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || a.Complete || a.Status != whole.Status {
		t.Fatalf("got %v and %s, complete %v", err, a.Status, a.Complete)
	}
	if d := cmp.Diff(whole.Offers, a.Offers) + cmp.Diff(whole.Recommended, a.Recommended); d != "" || len(a.Curves) != len(q.Offers) || len(a.Regret) >= len(whole.Regret) || a.Answer != whole.Answer {
		t.Errorf("got %d curves, %d factors, and other offers: %s", len(a.Curves), len(a.Regret), d)
	}
}

// A search that is ended early, or that may leave a gap, still proves what it says: the best purchase lies
// between its bound and its cost.
func TestPurchaseStatesWhatIsOpen(t *testing.T) {
	open := 0
	for i := range 120 {
		q := drawQuestion(t, rand.New(rand.NewPCG(47, uint64(i))), capacity.Executable, capacity.Shared)
		w, err := newWeighing(t.Context(), &q, Crew{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		effort, gap := weighEffort{exact: 1, relaxed: 1 + i%3*len(w.stages), regions: 1 + i%5}, 0.0
		if i%2 == 0 {
			effort, gap = fullEffort, 0.05
		}
		found, err := w.search(t.Context(), effort, gap, nil)
		if err != nil {
			t.Fatal(err)
		}
		best := (&byHours{&q, make(map[string]float64)}).best()
		if math.IsInf(best, 1) != math.IsInf(found.cost, 1) {
			t.Fatalf("case %d: found %g, the best is %g", i, found.cost, best)
		}
		if math.IsInf(best, 1) {
			continue
		}
		noise := 1e-7 * (1 + best)
		if found.cost < best-noise || found.bound > best+noise || i%2 == 0 && found.bound < found.cost*(1-gap)-noise {
			t.Errorf("case %d: said %.9f to %.9f, the best is %.9f", i, found.bound, found.cost, best)
		}
		if found.bound < found.cost-noise {
			open++
		}
	}
	if open == 0 {
		t.Error("nothing was ever left open: this tests little")
	}
}
