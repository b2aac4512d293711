package postgres_test

import (
	"context"
	"testing"
	"time"

	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/test/pgtest"
)

func TestOverview(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
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

	// A plan that costs 5.20 an hour is the first. The cluster's next plan is for two hours and costs 6.40 for both.
	first := must(s.SavePlan(ctx, record(night)))(t)
	second := record(night)
	second.TotalCost, second.Penalties, second.PeriodSeconds = amountOf("7.40"), amountOf("1"), 7200
	second = must(s.SavePlan(ctx, second))(t)
	must(s.KeepPlan(ctx, record(night)))(t) // for another moment

	now := second.CreatedAt.Add(2*24*time.Hour + time.Minute)
	all := overview(ctx, nil, now)
	o := all[night]
	if len(all) != 2 || o.Plan == nil || o.Plan.Number != 2 || !o.Stale || o.Failure != nil || len(o.Days) != plans.OverviewDays {
		t.Fatalf("got %d lines, among them %+v", len(all), o)
	}
	for i, bill := range o.Days {
		switch there := i >= len(o.Days)-3; {
		case there != (bill != nil):
			t.Errorf("the bill of day %d is %v", i, bill)
		case there && !bill.Equal(amountOf("6.40").Decimal):
			t.Errorf("the bill of day %d is %v, want 6.40", i, bill)
		}
	}
	// A day after the first plan, and just before the second one, the first one held: 10.40 in two hours.
	back := first.CreatedAt.Add(24 * time.Hour)
	if o := overview(ctx, nil, back)[night]; o.Days[plans.OverviewDays-2] == nil || !o.Days[plans.OverviewDays-2].Equal(amountOf("10.40").Decimal) {
		t.Errorf("a day back the bill was %v, want 10.40", o.Days[plans.OverviewDays-2])
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
