package postgres_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/clusters"
	"example.org/headroom/internal/test/pgtest"
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

// Arrivals are kept as they are given, and the problem of an hour carries those of earlier hours on.
func TestArrivalsAreKeptAndCarriedOn(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := filled(t, s)
	hour := func(text string) time.Time { return moment("2026-01-20T" + text + ":00:00Z") }
	class := must(s.Classes().Get(ctx, night, "nightly"))(t)
	class.DeadlineSeconds = 2.5 * 3600
	must(s.Classes().Replace(ctx, night, "nightly", class.Version, class))(t)
	rows := []inputs.Forecast{
		{Class: "nightly", Hour: hour("05"), Arrivals: new(4.0)}, {Class: "nightly", Hour: hour("06"), Arrivals: new(0.0)},
		{Class: "nightly", Hour: hour("07"), Arrivals: new(1.5)}, {Class: "nightly", Hour: hour("08"), Jobs: 1},
	}
	check(t, putRows(ctx, s, rows...))
	check(t, putRows(ctx, s, rows...))
	of := clusters.ForecastFilter{Class: "nightly", From: hour("00")}
	same(t, must(s.Forecasts(ctx, night, of, storage.Page{}))(t).Items, rows)
	if names, n, arriving, err := s.ForecastClasses(ctx, night, of); err != nil || len(names) != 1 || n != 4 || arriving != 3 {
		t.Errorf("got %v, %d rows, %d of arrivals, %v", names, n, arriving, err)
	}
	same(t, must(s.Document(ctx, night))(t).Forecasts[1:], rows)

	// Four arrive between 5:00 and 6:00 and run for two and a half hours: 2, 4, 3.5 and 0.5 at once, and the rest.
	for at, want := range map[string]float64{"05": 2, "06": 4, "07": 5, "08": 2, "09": 10} {
		snapshot := must(s.Snapshot(ctx, night, hour(at).Add(10*time.Minute)))(t)
		p := must(snapshot.Problem(hour(at).Add(10 * time.Minute)))(t)
		if got := p.Classes[1].Jobs.Max; got != want {
			t.Errorf("%s:10: %v jobs, want %v", at, got, want)
		}
	}
	o := must(s.Outlook(ctx, night, hour("07"), hour("09")))(t)
	h, _, err := o.Horizon()
	check(t, err)
	if len(h.Earlier) != 1 || h.Earlier[0].Arrivals[1] != 4 || !h.Earlier[0].Start.Equal(hour("05")) {
		t.Errorf("earlier arrivals: got %+v", h.Earlier)
	}

	err = putRows(ctx, s, inputs.Forecast{Class: "ad-hoc", Hour: hour("05"), Arrivals: new(1.0)})
	if input := (*fault.InputError)(nil); !errors.As(err, &input) || !strings.Contains(input.Error(), "no deadline") {
		t.Errorf("a class without a deadline: got %v", err)
	}
	check(t, putRows(ctx, s, inputs.Forecast{Class: "nightly", Hour: hour("05"), Jobs: 3}))
	if got := must(s.Forecasts(ctx, night, of, storage.Page{}))(t).Items[0]; got.Arrivals != nil || got.Jobs != 3 {
		t.Errorf("jobs in the place of arrivals: got %+v", got)
	}
}
