package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/test/pgtest"
)

func TestOverview(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s, conn := pgtest.OpenWith(t, configOf(url)), raw(t, url)
	ctx := filled(t, s)
	must(s.CreateCluster(ctx, inputs.NewCluster("other")))(t)
	overview := func(ctx context.Context, only []string, now time.Time) map[string]plans.Overview {
		t.Helper()
		all := map[string]plans.Overview{}
		for _, o := range pages(t, 1, func(p storage.Page) (storage.Listed[plans.Overview], error) { return s.Overview(ctx, only, now, p) }) {
			all[o.Cluster] = o
		}
		return all
	}

	// A plan that costs 5.20 an hour is current, then one for two hours that costs 6.40 for both, then the first again, by a
	// pin. Newer plans wait for the pin's end, and one for another moment never holds.
	must(s.SavePlan(ctx, record(night)))(t)
	second := record(night)
	second.TotalCost, second.Penalties, second.PeriodSeconds = amountOf("7.40"), amountOf("1"), 7200
	second = must(s.SavePlan(ctx, second))(t)
	must(s.KeepPlan(ctx, record(night)))(t)
	day := 24 * time.Hour
	now := second.CreatedAt.Add(time.Minute)
	at := func(number int64, since time.Time) {
		t.Helper()
		execute(t, conn, "UPDATE plan_reigns SET since = $2 WHERE number = $1 AND since = (SELECT max(since) FROM plan_reigns WHERE number = $1)", number, since)
	}
	at(1, now.Add(-3*day-time.Hour))
	at(2, now.Add(-2*day-time.Hour))
	must(s.PinPlan(ctx, night, plans.PlanRef{Number: 1}, now.Add(100*day)))(t)
	at(1, now.Add(-day-time.Hour))
	third := record(night)
	third.TotalCost, third.Penalties = amountOf("99"), amountOf("0")
	third = must(s.SavePlan(ctx, third))(t)

	all := overview(ctx, nil, now)
	o := all[night]
	if o.Pin == nil || o.Pin.Number != 1 || o.Waiting == nil || *o.Waiting != third.Number {
		t.Errorf("plan %d waits for the end of a pin, and the line is %+v", third.Number, o)
	}
	if len(all) != 2 || o.Plan == nil || o.Plan.Number != 1 || o.Failure != nil || len(o.Days) != plans.OverviewDays {
		t.Fatalf("got %d lines, among them %+v", len(all), o)
	}
	for back, want := range map[int]string{0: "5.20", 1: "5.20", 2: "3.20", 3: "5.20", 4: "", 13: ""} {
		got := ""
		if bill := o.Days[plans.OverviewDays-1-back]; bill != nil {
			got = bill.String()
		}
		if got != want {
			t.Errorf("%d days ago the bill was %q, want %q", back, got, want)
		}
	}
	// What held before: the second plan before the pinned one, the first before the second, and the pinned one where a plan
	// for another moment, or one that waits, was made.
	for number, want := range map[int64]int64{1: 2, 2: 1, 3: 1, third.Number: 1} {
		if got, err := s.HeldBefore(ctx, night, number); got != want || err != nil {
			t.Errorf("before plan %d held %d (%v), want %d", number, got, err, want)
		}
	}
	if _, err := s.HeldBefore(ctx, "other", 1); !errors.Is(err, fault.NotFound) {
		t.Errorf("before the first plan: %v", err)
	}
	if o := all["other"]; o.Plan != nil || o.Stale || o.ContractEnd != nil || o.Days[plans.OverviewDays-1] != nil {
		t.Errorf("a cluster without a plan has %+v", o)
	}
	if only := overview(ctx, []string{"other"}, now); len(only) != 1 || only["other"].Cluster != "other" {
		t.Errorf("for a key of one cluster there are %d lines", len(only))
	}

	contracts := must(s.Contracts().List(ctx, night, storage.Page{}))(t).Items
	next := contracts[0]
	for _, c := range contracts {
		if c.Until.Before(next.Until) {
			next = c
		}
	}
	during := next.Until.Add(-time.Hour)
	if end := overview(ctx, nil, during)[night].ContractEnd; end == nil || end.Name != next.Name || !end.Ends.Equal(next.Until) || end.VMs != next.VMs {
		t.Errorf("the next contract to end is %+v, want %+v", end, next)
	}
	if end := overview(ctx, nil, next.Until)[night].ContractEnd; end != nil && end.Name == next.Name {
		t.Errorf("a contract that has ended is still the next one to end")
	}
}
