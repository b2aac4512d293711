package horizon

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/data/inputs"
)

var outlookStart = time.Date(2026, 3, 28, 20, 0, 0, 0, time.UTC)

func at(hours float64) time.Time {
	return outlookStart.Add(time.Duration(hours * float64(time.Hour)))
}

func cash(x int) money.Amount { return money.Amount{Decimal: decimal.New(int64(x), -2)} }

// drawOutlook draws a small cluster whose prices, contracts and forecasts change over some hours.
func drawOutlook(r *rand.Rand, hours int) Outlook {
	o := Outlook{From: at(0), Until: at(float64(hours))}
	o.Cluster = inputs.Cluster{Name: "night", Currency: "USD", PeriodSeconds: 3600, Options: capacity.DefaultOptions()}
	types := 1 + r.IntN(2)
	for v := range types {
		t := inputs.VMType{Name: fmt.Sprintf("t%d", v), InUse: true}
		if r.IntN(3) == 0 {
			t.Spot = &inputs.SpotTerms{MaxShare: 0.5}
		}
		o.VMTypes = append(o.VMTypes, t)
		for _, purchase := range []capacity.Purchase{capacity.PurchaseOnDemand, capacity.PurchaseSpot} {
			for from := -1.0; from < float64(hours); {
				until := from + 0.5*float64(1+r.IntN(2*hours))
				end := at(until)
				o.Prices = append(o.Prices, inputs.PricePeriod{VMType: t.Name, Purchase: purchase, Price: cash(10 + r.IntN(2)), From: at(from), Until: &end})
				from = until
			}
		}
	}
	gamma := decimal.NewFromInt(1)
	for i := range 3 {
		name := fmt.Sprintf("c%d", i)
		o.Classes = append(o.Classes, inputs.PlannedClass{Name: name, VMsPerJob: &gamma, Jobs: capacity.JobRange{Min: 1, Max: 4}, Penalty: cash(500)})
		s := ForecastSeries{Class: name}
		for h := range hours {
			if r.IntN(3) > 0 && i > 0 {
				s.Hours, s.Jobs = append(s.Hours, at(float64(h)).Unix()/3600), append(s.Jobs, float64(r.IntN(5))/2)
			}
		}
		o.Series = append(o.Series, s)
	}
	if r.IntN(2) == 0 { // the last class has arrivals as well, also before the outlook
		c, s := &o.Classes[2], ForecastSeries{Class: "c2", Arrives: true}
		c.DeadlineSeconds = float64(100 * (1 + r.IntN(200)))
		told := o.Series[2]
		for h := -6; h < hours; h++ {
			if hour := at(float64(h)).Unix() / 3600; r.IntN(3) > 0 && !slices.Contains(told.Hours, hour) {
				s.Hours, s.Jobs = append(s.Hours, hour), append(s.Jobs, float64(r.IntN(9))/2)
			}
		}
		o.Series = append(o.Series, s)
	}
	for k := range r.IntN(3) {
		from := float64(r.IntN(hours))
		o.Contracts = append(o.Contracts, inputs.SignedContract{Name: fmt.Sprintf("k%d", k), VMType: "t0", VMs: 3, Price: cash(5), Billing: capacity.BilledUsed, From: at(from), Until: at(from + 2.25)})
	}
	return o
}

// asSnapshot is the cluster with the outlook's forecasts.
func (o *Outlook) asSnapshot() inputs.Snapshot {
	s := o.Snapshot
	for _, series := range o.Series {
		for k, hour := range series.Hours {
			f := inputs.Forecast{Class: series.Class, Hour: time.Unix(3600*hour, 0), Jobs: series.Jobs[k]}
			if series.Arrives {
				f.Arrivals = &series.Jobs[k]
			}
			s.Forecasts = append(s.Forecasts, f)
		}
	}
	return s
}

// At every quarter of an hour, a horizon matches the cluster's problem of that moment.
func TestAHorizonIsTheProblemOfEveryMoment(t *testing.T) {
	for i := range 300 {
		r := rand.New(rand.NewPCG(9, uint64(i)))
		hours := 1 + r.IntN(8)
		o := drawOutlook(r, hours)
		h, _, err := o.Horizon()
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Validate(); err != nil {
			t.Fatal(err)
		}
		if !h.Start().Equal(o.From) || !h.End().Equal(o.Until) {
			t.Fatalf("case %d: from %s until %s", i, h.Start(), h.End())
		}
		for k := 1; k < len(h.Periods); k++ {
			a, b := &h.Periods[k-1], &h.Periods[k]
			if fmt.Sprint(a.Jobs, times(a.Arrivals, 1/float64(a.Length()))) == fmt.Sprint(b.Jobs, times(b.Arrivals, 1/float64(b.Length()))) && a.PriceKey() == b.PriceKey() {
				t.Errorf("case %d: periods %d and %d are alike", i, k-1, k)
			}
		}
		h = h.Carried()
		period := 0
		for quarter := range 4 * hours {
			moment := at(float64(quarter) / 4)
			for !h.Periods[period].End().After(moment) {
				period++
			}
			want, err := o.asSnapshot().Problem(moment)
			if err != nil {
				t.Fatal(err)
			}
			p := &h.Periods[period]
			got := p.Priced(h.Problem.Supply)
			for v, of := range want.Supply.Types() {
				is := got.Types()[v]
				if !is.OnDemand.Price.Equal(of.OnDemand.Price.Decimal) || (is.Spot == nil) != (of.Spot == nil) || is.Spot != nil && !is.Spot.Price.Equal(of.Spot.Price.Decimal) {
					t.Fatalf("case %d at %s: got %+v, want %+v", i, moment, is, of)
				}
				inForce := 0
				for _, c := range h.Contracts {
					if c.VMType == of.Name && !moment.Before(c.From) && moment.Before(c.Until) {
						inForce++
					}
				}
				if inForce != len(of.Contracts) {
					t.Fatalf("case %d at %s: %d contracts of %q are in force, want %d", i, moment, inForce, of.Name, len(of.Contracts))
				}
			}
			for k := range want.Classes {
				jobs := h.JobsIn(period, k)
				if h.parts != nil && h.parts[k] > 1 {
					if p.Start.Truncate(time.Hour).Add(time.Hour).After(p.End()) || !p.Start.Equal(p.Start.Truncate(time.Hour)) {
						continue // a price cuts the hour, and jobs are counted in either part
					}
					jobs.Max = capacity.WholeJobs(jobs.Max / float64(h.parts[k]))
					jobs.Min = capacity.WholeJobs(jobs.Min / float64(h.parts[k]))
				}
				if jobs != want.Classes[k].Jobs {
					t.Fatalf("case %d at %s: class %d has %+v, want %+v", i, moment, k, jobs, want.Classes[k].Jobs)
				}
			}
		}
	}
}

func TestAnOutlookNamesWhatIsMissing(t *testing.T) {
	o := drawOutlook(rand.New(rand.NewPCG(9, 9)), 6)
	o.VMTypes = o.VMTypes[:1]
	o.VMTypes[0].Spot = nil
	end, later := at(2), at(9)
	o.Prices = []inputs.PricePeriod{{VMType: "t0", Price: cash(1), From: at(0.5), Until: &end}, {VMType: "t0", Price: cash(1), From: at(3), Until: &later}}
	_, _, err := o.Horizon()
	var input *fault.InputError
	if !errors.As(err, &input) || len(input.Findings) != 2 || !strings.Contains(input.Findings[0].Detail, "from 2026-03-28T20:00:00Z until 2026-03-28T20:30:00Z, 0.5 hours") ||
		!strings.Contains(input.Findings[1].Detail, "from 2026-03-28T22:00:00Z until 2026-03-28T23:00:00Z") {
		t.Errorf("got %v", err)
	}
	o.Prices = []inputs.PricePeriod{{VMType: "t0", Price: cash(1), From: at(-5)}}
	o.Series = []ForecastSeries{{Class: "c1", Hours: []int64{at(0).Unix() / 3600, at(2).Unix() / 3600}, Jobs: []float64{1, 1}}}
	_, warnings, err := o.Horizon()
	if err != nil || len(warnings) != 3 || !strings.Contains(warnings[0].Detail, `"c1" has no forecast in 4 of 6 hours, the first of them 2026-03-28T21:00:00Z`) || warnings[1].Code != "forecasts_end" || !strings.Contains(warnings[2].Detail, `"c0", "c2"`) {
		t.Errorf("warned of %+v, %v", warnings, err)
	}
	if o.EndWithForecasts(); !o.Until.Equal(at(3)) {
		t.Errorf("the forecasts end at %s", o.Until)
	}
}

// Hours in which nothing is forecast are no forecast, also where other hours tell arrivals: they are counted with the
// most jobs there may be, and no recommendation for a year rests on them.
func TestHoursWithoutArrivalsAreNoForecast(t *testing.T) {
	o := drawOutlook(rand.New(rand.NewPCG(9, 9)), 6)
	o.VMTypes, o.Classes, o.Contracts = o.VMTypes[:1], o.Classes[1:2], nil
	o.VMTypes[0].Spot = nil
	o.Prices = []inputs.PricePeriod{{VMType: "t0", Purchase: capacity.PurchaseOnDemand, Price: cash(1), From: at(-5)}}
	o.Classes[0].DeadlineSeconds = 1800
	o.Series = []ForecastSeries{{Class: "c1", Arrives: true, Hours: []int64{at(0).Unix() / 3600}, Jobs: []float64{2}}}
	o.Until = at(48)
	h, _, err := o.Horizon()
	if err != nil || h.Validate() != nil {
		t.Fatal(err, h.Validate())
	}
	carried := h.Carried()
	for i, p := range carried.Periods {
		want := 4.0
		if p.Start.Before(at(1)) {
			want = 1 // two jobs of half an hour
		}
		if got := carried.JobsIn(i, 0).Max / float64(carried.parts[0]); got != want || p.Unforecast != (want == 4) {
			t.Errorf("from %s run %g jobs, forecast: %t", p.Start, got, !p.Unforecast)
		}
	}
	q := PurchaseQuestion{Horizon: h, Offers: []capacity.Offer{{Name: "week", Price: cash(1), Billing: capacity.BilledUsed, TermHours: 168, Max: 3}}}
	q.Problem.Options.Engine = capacity.EngineAuto
	var input *fault.InputError
	if err := q.Check(); !errors.As(err, &input) || input.Findings[0].Pointer != "/assume" || !strings.Contains(input.Findings[0].Detail, "0.6 %") {
		t.Errorf("one hour of a week: %v", err)
	}
}

// A long time with many classes and every hour different is refused with a possible end.
func TestATooLongOutlookSaysHowFarItCanGo(t *testing.T) {
	gamma := decimal.NewFromInt(1)
	const classes = 200
	o := Outlook{From: at(0), Until: at(12_000)}
	o.Cluster = inputs.Cluster{Name: "night", Currency: "USD", PeriodSeconds: 3600, Options: capacity.DefaultOptions()}
	o.VMTypes = []inputs.VMType{{Name: "t0", InUse: true}}
	o.Prices = []inputs.PricePeriod{{VMType: "t0", Price: cash(1), From: at(0)}}
	s := ForecastSeries{Class: "c0"}
	for h := range 12_000 {
		s.Hours, s.Jobs = append(s.Hours, at(float64(h)).Unix()/3600), append(s.Jobs, float64(h%7))
	}
	for i := range classes {
		o.Classes = append(o.Classes, inputs.PlannedClass{Name: fmt.Sprintf("c%d", i), VMsPerJob: &gamma, Jobs: capacity.JobRange{Max: 4}, Penalty: cash(500)})
	}
	o.Series = []ForecastSeries{s}
	_, _, err := o.Horizon()
	var input *fault.InputError
	if !errors.As(err, &input) || input.Findings[0].Pointer != "/until" || input.Findings[0].Hint == nil {
		t.Fatalf("got %v", err)
	}
	end, err := time.Parse(time.RFC3339, fmt.Sprint(input.Findings[0].Hint.Value))
	if err != nil || math.Abs(end.Sub(o.From).Hours()-MaxHorizonLoad/classes) > 1 {
		t.Errorf("it says %v", input.Findings[0].Hint)
	}
	o.Until = end
	if h, _, err := o.Horizon(); err != nil || h.Validate() != nil {
		t.Errorf("until then: %v", err)
	}
}

// A type by itself: the classes that run on it at their speed there, and none that does not.
func TestAPurchaseIsAboutOneType(t *testing.T) {
	gamma := decimal.NewFromInt(3)
	o := Outlook{From: at(0), Until: at(2)}
	o.Cluster = inputs.Cluster{Name: "night", Currency: "USD", PeriodSeconds: 3600, Options: capacity.DefaultOptions(), Budget: &capacity.Budget{Total: new(cash(100))}}
	o.VMTypes = []inputs.VMType{{Name: "slow", InUse: true}, {Name: "fast", InUse: true, Spot: &inputs.SpotTerms{MaxShare: 1}}}
	for _, v := range []string{"slow", "fast"} {
		o.Prices = append(o.Prices, inputs.PricePeriod{VMType: v, Price: cash(20), From: at(-1)})
	}
	o.Prices = append(o.Prices, inputs.PricePeriod{VMType: "fast", Purchase: capacity.PurchaseSpot, Price: cash(6), From: at(-1)})
	o.Classes = []inputs.PlannedClass{
		{Name: "both", VMsPerJob: &gamma, Speed: capacity.Speed{"fast": 2}, Jobs: capacity.JobRange{Max: 4}, Penalty: cash(500)},
		{Name: "slow only", VMsPerJob: &gamma, Speed: capacity.Speed{"fast": 0}, Jobs: capacity.JobRange{Max: 4}, Penalty: cash(500)},
	}
	offers := []capacity.Offer{{Name: "year", Price: cash(5), Billing: capacity.BilledAlways, TermYears: 1, Max: 9}}
	for _, c := range []struct {
		q    ClusterPurchaseQuestion
		want string
	}{
		{ClusterPurchaseQuestion{Offers: offers}, "/vm_type missing slow"},
		{ClusterPurchaseQuestion{Offers: offers, VMType: "fats"}, "/vm_type unknown_name fast"},
		{ClusterPurchaseQuestion{Offers: offers, VMType: "fast"}, "/leave_out not_taken [spot budget]"},
		{ClusterPurchaseQuestion{Offers: offers, VMType: "slow"}, "/leave_out not_taken [budget]"},
	} {
		_, _, err := o.Purchase(c.q)
		var input *fault.InputError
		if !errors.As(err, &input) {
			t.Fatalf("got %v", err)
		}
		if f := input.Findings[0]; fmt.Sprint(f.Pointer, " ", f.Code, " ", f.Hint.Value) != c.want {
			t.Errorf("got %s %s %v, want %s", f.Pointer, f.Code, f.Hint.Value, c.want)
		}
	}
	q, warnings, err := o.Purchase(ClusterPurchaseQuestion{Offers: offers, VMType: "fast", LeaveOut: []LeftOut{WithoutSpot, WithoutBudget}})
	if err != nil {
		t.Fatal(err)
	}
	var empty *fault.InputError // nobody has forecast anything
	if err := q.Check(); !errors.As(err, &empty) || empty.Findings[0].Code != "no_forecast" {
		t.Errorf("got %v, want a word on the forecasts that are missing", err)
	}
	q.Periods[0].Unforecast, q.Assume = false, FlatDemand
	if err := q.Check(); err != nil {
		t.Fatal(err)
	}
	if p := &q.Problem; len(p.Classes) != 1 || p.Classes[0].VMsPerJob.String() != "1.5" || len(p.Supply.VMTypes) != 0 || p.Supply.Spot == nil || p.Budget == nil || len(q.LeaveOut) != 2 || p.Options.Gap != DefaultPurchaseGap || len(q.Periods) != 1 || q.Detail != DetailPeriods {
		t.Errorf("got %+v", q)
	}
	if len(warnings) < 4 || !strings.Contains(fmt.Sprint(warnings), `"slow only"`) {
		t.Errorf("warned of %+v", warnings)
	}
}
