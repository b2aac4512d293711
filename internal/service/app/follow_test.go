package app_test

import (
	"fmt"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/service/plans"
)

// Two servers plan a cluster whose jobs may wait, through a day of changes and a night on which none of them ran. Every job
// starts once, before its window ends. A schedule that was missed for some hours counts as followed.
func TestPlannersFollowOneSchedule(t *testing.T) {
	t.Parallel()
	clock := clockAt("2026-06-01T00:05:00Z")
	a := planning(t, 2, clock.now)
	d := document("c")
	d.Prices = nil
	prices := []string{"0.40", "0.40", "0.10", "0.30", "0.30", "0.20", "0.50", "0.40"}
	for i, price := range prices { // of three hours each
		from := moment("2026-06-01T00:00:00Z").Add(time.Duration(3*i) * time.Hour)
		p := inputs.PricePeriod{VMType: "small", Price: amountOf(price), From: from}
		if end := from.Add(3 * time.Hour); i < len(prices)-1 {
			p.Until = &end
		}
		d.Prices = append(d.Prices, p)
	}
	d.Classes[0].DeadlineSeconds, d.Classes[0].DueSeconds, d.Classes[0].Jobs = 3600, 8*3600, capacity.JobRange{}
	arrived := 0.0
	for hour := range 24 {
		n := float64(hour*7%5) + 0.5 // fractions make whole jobs together
		arrived += n
		d.Forecasts = append(d.Forecasts, inputs.Forecast{Class: "nightly", Hour: moment("2026-06-01T00:00:00Z").Add(time.Duration(hour) * time.Hour), Arrivals: &n})
	}
	apply(t, a, d)
	started, asleep := int64(0), int64(0)
	var missed *plans.Following
	for hour := range 36 {
		if hour >= 14 && hour < 17 { // nobody plans
			continue
		}
		clock.set(moment("2026-06-01T00:05:00Z").Add(time.Duration(hour) * time.Hour))
		c := current(t, a, "c", fmt.Sprintf("hour %d", hour), func(c plans.Current) bool { return !c.ConfirmedAt.Before(clock.now()) })
		if hour%6 == 5 { // a change within the hour starts nothing twice
			penalty(t, a, "c", fmt.Sprint(20+hour))
			c = current(t, a, "c", "the change", func(c plans.Current) bool { return c.ConfirmedVersion == c.InputsVersion })
		}
		f, err := a.Plans.Following(admin(t), "c")
		if err != nil || f.Answer == nil {
			t.Fatalf("hour %d: %v, %s", hour, err, f.Without)
		}
		now := clock.now().Truncate(time.Hour)
		if missed != nil {
			for _, s := range missed.Answer.Schedule {
				if s.Start.Before(now) && s.Start.After(missed.Question.Start()) {
					asleep += s.Jobs
				}
			}
		}
		running := int64(0)
		for _, s := range f.Question.Before.Running {
			running += s.Jobs
			if s.Start.Equal(now) {
				started += s.Jobs
			}
		}
		for _, s := range f.Answer.Schedule {
			if s.Start.Equal(now) {
				running += s.Jobs
				started += s.Jobs
			}
			if s.Start.Add(time.Hour).After(s.Arrived.Add(8 * time.Hour)) {
				t.Errorf("hour %d: %+v ends too late", hour, s)
			}
		}
		if float64(running) != c.Record.Admitted || c.Record.Refused > 0 || len(f.Answer.Refused) > 0 {
			t.Errorf("hour %d: the plan admits %g and refuses %g, and the schedule runs %d", hour, c.Record.Admitted, c.Record.Refused, running)
		}
		if missed = nil; hour == 13 {
			missed = &f
		}
	}
	if started+asleep != int64(arrived+0.5) || asleep == 0 || started == 0 {
		t.Errorf("%g arrived, %d started, %d of them while nobody planned", arrived, started+asleep, asleep)
	}
}
