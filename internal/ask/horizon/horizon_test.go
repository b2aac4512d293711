package horizon

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/test/plantest"
)

// hoursFrom is periods of one hour each with these jobs of a single class.
func hoursFrom(start time.Time, jobs ...float64) (periods []HorizonPeriod) {
	for i, n := range jobs {
		periods = append(periods, HorizonPeriod{Start: start.Add(time.Duration(i) * time.Hour), Hours: 1, Jobs: []float64{n}})
	}
	return periods
}

// oneClass is a horizon's problem: jobs that take a VM each and are never worth refusing.
func oneClass(t testing.TB, onDemandPrice string) capacity.Problem {
	t.Helper()
	p := plantest.Market(t, 0, "0", onDemandPrice, capacity.Integer)
	p.Supply.Contracts = nil
	p.Classes = []capacity.Class{plantest.ByGamma(t, "etl", "1", "100.00", 0, 10)}
	return p
}

func signed(t testing.TB, vms int64, price string, billing capacity.Billing, from, until time.Time) TermContract {
	t.Helper()
	return TermContract{Contract: capacity.Contract{Name: "signed", VMs: vms, Price: plantest.AmountIn(t, price), Billing: billing}, Upfront: plantest.AmountIn(t, "24.00"), From: from, Until: until}
}

func planned(t testing.TB, h Horizon) Answer {
	t.Helper()
	if err := h.Validate(); err != nil {
		t.Fatal(err)
	}
	a, err := Plan(t.Context(), h, nil, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, &a)
	checkCharges(t, &h, &a)
	return a
}

// A contract begins in the middle of a period: the period is answered in two parts, and everything else counts
// the contract from that minute on.
func TestHorizonContractBeginsInTheMiddle(t *testing.T) {
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	h := Horizon{Problem: oneClass(t, "0.20"), Periods: []HorizonPeriod{{Start: day, Hours: 24, Jobs: []float64{4}}}}
	half := day.Add(10*time.Hour + 30*time.Minute)
	h.Contracts = []TermContract{signed(t, 6, "0.05", capacity.BilledAlways, half, half.Add(48*time.Hour))}
	a := planned(t, h)
	if len(a.Periods) != 2 || a.Periods[0].Hours != 10.5 || a.Periods[1].Hours != 13.5 || !a.Periods[1].Start.Equal(half) {
		t.Fatalf("got the periods %+v, want 10.5 and 13.5 hours", a.Periods)
	}
	// 10.5 h of 4 VMs on demand, then 13.5 h of 4 used and 2 idle; 13.5/48 of 24.00 upfront.
	for _, line := range []struct {
		name string
		got  money.Amount
		want string
	}{
		{"on demand", a.Total.Cost.OnDemand, "8.40"}, {"reserved", a.Total.Cost.Reserved, "2.70"}, {"idle", a.Total.Cost.ReservedIdle, "1.35"},
		{"total", a.Total.Cost.Total, "19.20"}, {"upfront", a.Upfront, "6.75"}, {"the second part", a.Periods[1].Cost.Bill, "10.80"}, {"the first part", a.Periods[0].Cost.Total, "8.40"},
	} {
		if line.got.String() != line.want {
			t.Errorf("%s: got %v, want %s", line.name, line.got, line.want)
		}
	}
	c := a.Contracts[0]
	if c.Hours != 13.5 || c.UsedHours != 54 || c.IdleHours != 27 || *c.Utilisation != 54.0/81 || *c.IdleShare != 27.0/81 {
		t.Errorf("got %+v, want 13.5 hours, 54 VM-hours used and 27 idle", c)
	}
}

// Hours without demand cost what is paid in any case, and nothing more.
func TestHorizonHoursWithoutDemand(t *testing.T) {
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	h := Horizon{Problem: oneClass(t, "0.20"), Periods: hoursFrom(start, 0, 0, 3, 0)}
	h.Problem.Classes[0].Jobs.Min = 2 // promised, but nobody comes
	if a := planned(t, h); a.Total.Cost.Total.String() != "0.60" || a.Total.VMHours != 3 || a.Solved != 2 {
		t.Errorf("got %v for %g VM-hours in %d problems, want 0.60 for 3 in 2", a.Total.Cost.Total, a.Total.VMHours, a.Solved)
	}
	h.Contracts = []TermContract{signed(t, 1, "0.05", capacity.BilledAlways, start, start.Add(time.Hour))}
	if a := planned(t, h); a.Total.Cost.Total.String() != "24.65" || a.Total.Cost.ReservedIdle.String() != "0.05" {
		t.Errorf("got %v, want 24.65 with an idle hour and 24.00 upfront", a.Total.Cost)
	}
}

// The hours of months, days and years are the calendar's, in UTC wherever the start was written.
func TestHorizonCountsByTheCalendar(t *testing.T) {
	for _, c := range []struct {
		name   string
		start  time.Time
		hours  int64
		months []float64
		days   int
	}{
		{"a year", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 8760, []float64{744, 672, 744, 720, 744, 720, 744, 744, 720, 744, 720, 744}, 365},
		{"a leap year", time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC), 8784, []float64{744, 696, 744, 720, 744, 720, 744, 744, 720, 744, 720, 744}, 366},
		{"another zone", time.Date(2026, 3, 1, 1, 0, 0, 0, time.FixedZone("", 2*3600)), 2, []float64{1, 1}, 2},
	} {
		h := Horizon{Problem: oneClass(t, "0.10"), Periods: []HorizonPeriod{{Start: c.start, Hours: c.hours}}}
		h.Problem.PeriodSeconds = 1800
		a := planned(t, h)
		var months []float64
		for _, m := range a.Months {
			months = append(months, m.Hours)
		}
		if d := cmp.Diff(c.months, months); d != "" || len(a.Days) != c.days || a.Solved != 1 || len(a.Periods) != 1 {
			t.Errorf("%s: %d days, %d problems, %d periods, months (-want +got):\n%s", c.name, len(a.Days), a.Solved, len(a.Periods), d)
		}
		if want := float64(c.hours); a.Total.Hours != want || a.Total.Cost.Total.Float() != want { // 10 VMs at 0.10
			t.Errorf("%s: got %g hours for %v, want %g for as much", c.name, a.Total.Hours, a.Total.Cost.Total, want)
		}
	}
}

// Penalties are per period of the problem: two hours of a problem by the day are a twelfth of it.
func TestHorizonPenaltiesInProportion(t *testing.T) {
	h := Horizon{Problem: oneClass(t, "0.20"), Periods: []HorizonPeriod{{Start: firstHour, Hours: 2}}}
	h.Problem.PeriodSeconds, h.Problem.Classes[0].Penalty = 86400, plantest.AmountIn(t, "1.20")
	price := plantest.AmountIn(t, "0.04")
	if a := planned(t, h); a.Total.Cost.Penalties.String() != "1.00" || a.Total.RefusedHours != 20 {
		t.Errorf("got penalties of %v, want 1.00: 10 jobs, 1.20 a day", a.Total.Cost.Penalties)
	}
	h.Periods[0].OnDemandPrice = &price // 0.96 a day: worth it
	if a := planned(t, h); a.Total.Cost.Penalties.Sign() != 0 || a.Total.Cost.OnDemand.String() != "0.80" {
		t.Errorf("got %+v, want 10 VMs for two hours at 0.04", a.Total.Cost)
	}
}

// An hour in which the promised jobs do not fit is said to be such and left out of the totals.
func TestHorizonInfeasibleHour(t *testing.T) {
	h := Horizon{Problem: oneClass(t, "0.20"), Periods: hoursFrom(firstHour, 2, 5, 2)}
	quota := int64(3)
	h.Problem.Supply.OnDemand.Quota, h.Problem.Classes[0].Jobs.Min = &quota, 10
	a := planned(t, h)
	if a.Status != capacity.InfeasibleStatus || a.Total.InfeasibleHours != 1 || a.Total.Hours != 3 || a.Total.Cost.Total.String() != "0.80" {
		t.Errorf("got %s with %+v, want one infeasible hour and 0.80 for the others", a.Status, a.Total)
	}
	if a.Periods[1].Conflict != "The promised jobs need 5 VMs and there are 3." {
		t.Errorf("got the conflict %q", a.Periods[1].Conflict)
	}
}

// Contracts of one VM type among several enter that type alone.
func TestHorizonOfSeveralTypes(t *testing.T) {
	p := oneClass(t, "0")
	p.Supply = capacity.Supply{VMTypes: []capacity.VMTypeSupply{
		{Name: "large", OnDemand: capacity.OnDemand{Price: plantest.AmountIn(t, "0.30")}}, {Name: "small", OnDemand: capacity.OnDemand{Price: plantest.AmountIn(t, "0.20")}},
	}}
	p.Classes[0].Speed = capacity.Speed{"small": 1}
	h := Horizon{Problem: p, Periods: hoursFrom(firstHour, 4, 4)}
	c := signed(t, 3, "0.10", capacity.BilledUsed, firstHour.Add(time.Hour), firstHour.Add(25*time.Hour))
	c.VMType = "large"
	h.Contracts = []TermContract{c}
	a := planned(t, h)
	// 4 small ones; then 3 large ones by contract and a small one.
	if a.Total.Cost.OnDemand.String() != "1.00" || a.Total.Cost.Reserved.String() != "0.30" || a.Contracts[0].UsedHours != 3 || a.Periods[1].VMs.Reserved != 3 {
		t.Errorf("got %+v and %+v, want 1.00 on demand and 0.30 by contract", a.Total.Cost, a.Contracts)
	}
}

// Periods are solved once where they are alike, and every solve is a plan of the problem of that hour.
func TestHorizonIsTheSumOfItsPeriods(t *testing.T) {
	for i := range 20 {
		q := drawQuestion(t, rand.New(rand.NewPCG(44, uint64(i))), capacity.Executable, capacity.Shared)
		b := &byHours{&PurchaseQuestion{Horizon: q.Horizon}, make(map[string]float64)}
		a := planned(t, q.Horizon)
		want := b.cost(nil)
		if got := a.Total.Cost.Total.Float(); a.Status != capacity.InfeasibleStatus && !costsAlike(got, want) {
			t.Errorf("case %d: got %.9f, want %.9f by hours", i, got, want)
		}
	}
}

func TestHorizonEndsWithItsContext(t *testing.T) {
	h := Horizon{Problem: oneClass(t, "0.20"), Periods: hoursFrom(firstHour, 1, 2, 3, 4, 5, 6)}
	ctx, cancel := context.WithCancel(t.Context())
	most := 0
	_, err := Plan(ctx, h, nil, 1, func(done, total int) {
		if most = done; done == 2 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || most != 2 {
		t.Errorf("got %v after %d solves, want %v after 2", err, most, context.Canceled)
	}
}

// Hours are counted in words as people count them, and what is shorter is not said to last nothing.
func TestHorizonLengthsInWords(t *testing.T) {
	for _, c := range []struct {
		seconds int64
		want    string
	}{
		{1, "From 2026-01-31 20:00 UTC until 2026-01-31 20:00:01 UTC (1 s) the VM bill"},
		{3600, "until 2026-01-31 21:00 UTC (1 hour) the VM bill"},
		{9000, "until 2026-01-31 22:30 UTC (2.5 hours) the VM bill"},
	} {
		h := Horizon{Problem: oneClass(t, "0.20"), Periods: []HorizonPeriod{{Start: firstHour, Seconds: c.seconds, Jobs: []float64{4}}}}
		if a := planned(t, h); !strings.Contains(a.Explanation, c.want) {
			t.Errorf("%d s: got %q, want %q", c.seconds, a.Explanation, c.want)
		}
	}
}

// The dearest month is that with the highest bill, upfront payments included. Equal months are told as such, and nothing is
// told where all are equal.
func TestDearestMonth(t *testing.T) {
	year := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	h := Horizon{Problem: oneClass(t, "0.20"), Periods: []HorizonPeriod{{Start: year, Hours: 8760, Jobs: []float64{2}}}}
	told := func(want string) {
		t.Helper()
		if a := planned(t, h); want == "" && strings.Contains(a.Explanation, "dearest") || !strings.Contains(a.Explanation, want) {
			t.Errorf("got %q, want %q", a.Explanation, want)
		}
	}
	told("7 of 12 months share the highest bill, 297.60; January 2026 is the first of them.")
	h.Contracts = []TermContract{signed(t, 2, "0.01", capacity.BilledUsed, year.AddDate(0, 1, 0), year.AddDate(0, 2, 0))}
	h.Contracts[0].Upfront = money.Round(5000)
	told("The dearest month is February 2026, with a bill of 5013.44.") // 672 hours of 2 VMs
	h.Contracts, h.Periods[0].Jobs = nil, []float64{0}
	told("")

	// Hours without a plan are in no bill, so their month is not compared: ten VMs would be dearest, and are not to be had.
	quota, march := int64(5), year.AddDate(0, 2, 0)
	h.Problem.Supply.OnDemand.Quota, h.Problem.Classes[0].Jobs.Min = &quota, 10
	h.Periods = []HorizonPeriod{{Start: year, Hours: 744, Jobs: []float64{5}}, {Start: year.AddDate(0, 1, 0), Hours: 672, Jobs: []float64{2}},
		{Start: march, Hours: 700, Jobs: []float64{5}}, {Start: march.Add(700 * time.Hour), Hours: 44, Jobs: []float64{10}}}
	told("The dearest month of those with a plan for every hour is January 2026, with a bill of 744.00.")
	h.Periods[3].Jobs = []float64{5}
	told("The dearest months are January 2026 and March 2026, each with a bill of 744.00.")
	h.Periods[1].Jobs, h.Periods[3].Jobs = []float64{10}, []float64{10}
	told("")
}
