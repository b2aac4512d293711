package postgres_test

import (
	"testing"

	"headroom/internal/capacity"
	"headroom/internal/pgtest"
)

func TestASnapshotIsWhatHoldsAtAMoment(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := filled(t, s)
	february := january
	february.From, february.Until, february.Price = *january.Until, nil, money("0.25")
	must(s.Prices().Create(ctx, night, february))(t)
	ended := threeYrs
	ended.Name, ended.Until = "ended", moment("2026-01-10T05:30:00Z")
	must(s.Contracts().Create(ctx, night, ended))(t)
	check(t, putRows(ctx, s, capacity.Forecast{Class: "nightly", Hour: moment("2026-01-10T06:00:00Z"), Jobs: 1}))

	got := must(s.Snapshot(ctx, night, moment("2026-01-10T05:30:00Z")))(t)
	resolved := nightly
	resolved.Profile = &capacity.ProfileRef{Name: "etl", Version: 1}
	cluster := must(s.Cluster(ctx, night))(t)
	same(t, got, capacity.Snapshot{
		Cluster: cluster, VMTypes: []capacity.VMType{small}, Prices: []capacity.PricePeriod{january},
		Contracts: []capacity.SignedContract{threeYrs}, Classes: []capacity.PlannedClass{adhoc, resolved},
		Profiles:  map[capacity.ProfileRef]capacity.Profile{{Name: "etl", Version: 1}: etl.Profile},
		Forecasts: []capacity.Forecast{{Class: "nightly", Hour: moment("2026-01-10T05:00:00Z"), Jobs: 7.5}},
	}, bare)
	if cluster.InputsVersion != 11 { // one for the cluster and one for each of ten changes
		t.Errorf("inputs version %d, want 11", cluster.InputsVersion)
	}
}
