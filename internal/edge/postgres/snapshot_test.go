package postgres_test

import (
	"testing"

	"headroom/internal/ask/horizon"
	"headroom/internal/core/capacity"
	"headroom/internal/data/inputs"
	"headroom/internal/test/pgtest"
)

func TestASnapshotIsWhatHoldsAtAMoment(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := filled(t, s)
	february := january
	february.From, february.Until, february.Price = *january.Until, nil, amountOf("0.25")
	must(s.Prices().Create(ctx, night, february))(t)
	ended := threeYrs
	ended.Name, ended.Until = "ended", moment("2026-01-10T05:30:00Z")
	must(s.Contracts().Create(ctx, night, ended))(t)
	check(t, putRows(ctx, s, inputs.Forecast{Class: "nightly", Hour: moment("2026-01-10T06:00:00Z"), Jobs: 1}))

	got := must(s.Snapshot(ctx, night, moment("2026-01-10T05:30:00Z")))(t)
	resolved := nightly
	resolved.Profile = &inputs.ProfileRef{Name: "etl", Version: 1}
	cluster := must(s.Cluster(ctx, night))(t)
	same(t, got, inputs.Snapshot{
		Cluster: cluster, VMTypes: []inputs.VMType{small}, Prices: []inputs.PricePeriod{january},
		Contracts: []inputs.SignedContract{threeYrs}, Classes: []inputs.PlannedClass{adhoc, resolved},
		Profiles:  map[inputs.ProfileRef]capacity.Profile{{Name: "etl", Version: 1}: etl.Profile},
		Forecasts: []inputs.Forecast{{Class: "nightly", Hour: moment("2026-01-10T05:00:00Z"), Jobs: 7.5}},
	}, bare)
	if cluster.InputsVersion != 11 { // one for the cluster and one for each of ten changes
		t.Errorf("inputs version %d, want 11", cluster.InputsVersion)
	}
}

func TestAnOutlookIsWhatTouchesSomeHours(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := filled(t, s)
	february := january
	february.From, february.Until, february.Price = *january.Until, nil, amountOf("0.25")
	must(s.Prices().Create(ctx, night, february))(t)
	ended := threeYrs
	ended.Name, ended.Until = "ended", moment("2026-01-10T05:30:00Z")
	must(s.Contracts().Create(ctx, night, ended))(t)
	over := threeYrs
	over.Name, over.Until = "over", moment("2026-01-10T05:00:00Z")
	must(s.Contracts().Create(ctx, night, over))(t)
	check(t, putRows(ctx, s, inputs.Forecast{Class: "nightly", Hour: moment("2026-01-10T04:00:00Z"), Jobs: 3}, inputs.Forecast{Class: "nightly", Hour: moment("2026-01-10T07:00:00Z"), Jobs: 1},
		inputs.Forecast{Class: "nightly", Hour: moment("2026-01-10T08:00:00Z"), Jobs: 2}, inputs.Forecast{Class: "ad-hoc", Hour: moment("2026-01-10T06:00:00Z"), Jobs: 4}))

	from, until := moment("2026-01-10T05:00:00Z"), moment("2026-01-10T08:00:00Z")
	got := must(s.Outlook(ctx, night, from, until))(t)
	hour := func(text string) int64 { return moment(text).Unix() / 3600 }
	same(t, got.Series, []horizon.ForecastSeries{
		{Class: "ad-hoc", Hours: []int64{hour("2026-01-10T06:00:00Z")}, Jobs: []float64{4}},
		{Class: "nightly", Hours: []int64{hour("2026-01-10T05:00:00Z"), hour("2026-01-10T07:00:00Z")}, Jobs: []float64{7.5, 1}},
	})
	same(t, got.Prices, []inputs.PricePeriod{january}, bare)
	same(t, got.Contracts, []inputs.SignedContract{ended, threeYrs}, bare)
	if len(got.Forecasts) != 0 || got.Previous != nil || len(got.Classes) != 2 || len(got.Profiles) != 1 || !got.From.Equal(from) || !got.Until.Equal(until) {
		t.Errorf("got %+v", got)
	}
	both := must(s.Outlook(ctx, night, moment("2026-01-31T00:00:00Z"), moment("2026-02-02T00:00:00Z")))(t)
	same(t, both.Prices, []inputs.PricePeriod{january, february}, bare)
}
