package horizon

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/test/plantest"
)

// The bill in whole jobs is what the cluster's plans of all moments add up to.
func TestTheBillInWholeJobsIsThatOfThePlansOfEachMoment(t *testing.T) {
	dearer := 0
	for i := range plantest.Trials(60, 600) {
		r := rand.New(rand.NewPCG(150, uint64(i)))
		hours := 1 + r.IntN(8)
		o := drawOutlook(r, hours)
		end := at(float64(hours))
		o.Contracts, o.Prices = nil, nil
		o.Classes[2].VMsPerJob = new(decimal.NewFromInt(int64(1 + r.IntN(12))))
		for _, v := range o.VMTypes { // prices that change within an hour would count jobs in either part of it
			for h := range hours {
				from, until := at(float64(h)), at(float64(h+1))
				o.Prices = append(o.Prices, inputs.PricePeriod{VMType: v.Name, Purchase: capacity.PurchaseOnDemand, Price: cash(10 + r.IntN(5)), From: from, Until: &until})
			}
			o.Prices = append(o.Prices, inputs.PricePeriod{VMType: v.Name, Purchase: capacity.PurchaseSpot, Price: cash(5), From: at(0), Until: &end})
		}
		h, _, err := o.Horizon()
		if err != nil {
			t.Fatal(err)
		}
		a := planned(t, h)
		of := a.Total.InWholeJobs
		if !h.arrives() {
			if of != nil {
				t.Errorf("case %d: nothing arrives, and in whole jobs the bill is %s", i, of.Bill)
			}
			continue
		}
		s := o.asSnapshot()
		var bill decimal.Decimal
		for moment := at(0); moment.Before(end); {
			p, err := s.Problem(moment)
			if err != nil {
				t.Fatal(err)
			}
			_, until := s.Steady(moment)
			pl, err := plan.Solve(t.Context(), p, nil)
			if err != nil || pl.Status != capacity.Optimal {
				t.Fatal(err, pl.Status)
			}
			bill = bill.Add(pl.Cost.Bill.Mul(decimal.NewFromFloat(until.Sub(moment).Hours())))
			moment = until
		}
		if of == nil || !of.Bill.Sub(bill).Abs().LessThan(decimal.New(1, -6)) || of.Gap.Float() > 1e-6 {
			t.Errorf("case %d: got %+v, and the plans of the hours rent for %s", i, of, bill)
			continue
		}
		months, days := decimal.Zero, decimal.Zero
		for k := range a.Months {
			months = months.Add(a.Months[k].InWholeJobs.Bill.Decimal)
		}
		for k := range a.Days {
			days = days.Add(a.Days[k].InWholeJobs.Bill.Decimal)
		}
		if !months.Equal(of.Bill.Decimal) || !days.Equal(of.Bill.Decimal) {
			t.Errorf("case %d: months come to %s and days to %s of %s", i, months, days, of.Bill)
		}
		said := strings.Contains(a.Explanation, "rented as they are made, the VM bill is")
		if differs := !of.Bill.Equal(a.Total.Cost.Bill.Decimal); differs != said {
			t.Errorf("case %d: a bill of %s, and of %s in whole jobs: %q", i, a.Total.Cost.Bill, of.Bill, a.Explanation)
		} else if differs {
			dearer++
		}
	}
	if dearer < 5 {
		t.Errorf("only %d cases differ", dearer)
	}
}

// Twenty-six jobs a day of an hour on ten machines are 1.08 at once: months rent 11 VMs for them, plans of an hour 20.
func TestMonthsSayWhatPlansOfSingleHoursRent(t *testing.T) {
	p := oneClass(t, "0.20")
	p.Classes[0].VMsPerJob, p.Classes[0].DeadlineSeconds, p.Classes[0].Jobs = new(decimal.NewFromInt(10)), 3600, capacity.JobRange{Max: 100}
	for _, c := range []struct {
		arrivals, bill, whole float64
		want                  string
	}{
		{26, 52.80, 96, "Jobs count in parts here, and plans of single hours hold whole ones: rented as they are made, the VM bill is 96.00 USD, 43.20 more."},
		{48, 96, 96, ""},
	} {
		h := Horizon{Problem: p, Earlier: []HorizonPeriod{{Start: firstHour.AddDate(0, 0, -1), Hours: 24, Arrivals: []float64{c.arrivals}}},
			Periods: []HorizonPeriod{{Start: firstHour, Hours: 24, Arrivals: []float64{c.arrivals}}}}
		a := planned(t, h)
		if fmt.Sprint(a.Total.Cost.Bill.Float(), a.Total.InWholeJobs.Bill.Float()) != fmt.Sprint(c.bill, c.whole) ||
			!strings.Contains(a.Explanation, c.want) || c.want == "" && strings.Contains(a.Explanation, "whole") {
			t.Errorf("%v a day: %s and %s: %q", c.arrivals, a.Total.Cost.Bill, a.Total.InWholeJobs.Bill, a.Explanation)
		}
	}
	p.Options.Integrality = capacity.Relaxed
	if a := planned(t, Horizon{Problem: p, Periods: []HorizonPeriod{{Start: firstHour, Hours: 24, Arrivals: []float64{26}}}}); a.Total.InWholeJobs != nil {
		t.Errorf("a relaxed plan has no whole jobs: %+v", a.Total.InWholeJobs)
	}
}
