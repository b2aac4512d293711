package postgres_test

import (
	"slices"
	"testing"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/clusters"
	"example.org/headroom/internal/test/pgtest"
)

func TestProfiles(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := somebody(t)
	must(s.CreateCluster(ctx, inputs.NewCluster(night)))(t)
	for _, name := range hostile {
		p := inputs.ProfileVersion{Name: name, Note: name, Profile: etl.Profile, Version: 77}
		_, err := s.AddProfileVersion(ctx, night, p)
		kindOf(t, err, fault.NotFound, "no profile")
		first := must(s.CreateProfile(ctx, night, p))(t)
		p.Version = 1
		same(t, first, p, bare)
		_, err = s.CreateProfile(ctx, night, p)
		kindOf(t, err, fault.Conflict, "already")
		p.Profile.MapTasks = 301
		for n := int64(2); n <= 4; n++ {
			if got := must(s.AddProfileVersion(ctx, night, p))(t); got.Version != n {
				t.Errorf("version %d, want %d", got.Version, n)
			}
		}
		same(t, must(s.Profile(ctx, night, name, 1))(t), first)
		if got := must(s.Profile(ctx, night, name, 0))(t); got.Version != 4 || got.Profile.MapTasks != 301 {
			t.Errorf("the latest is %+v", got)
		}
		_, err = s.Profile(ctx, night, name, 5)
		kindOf(t, err, fault.NotFound, "no version 5", "1 to 4")
		versions := pages(t, 3, func(p storage.Page) (storage.Listed[inputs.ProfileVersion], error) {
			return s.ProfileVersions(ctx, night, name, p)
		})
		if len(versions) != 4 || versions[0].Version != 1 {
			t.Errorf("versions %+v", versions)
		}
	}
	all := pages(t, 4, func(p storage.Page) (storage.Listed[inputs.ProfileVersion], error) { return s.Profiles(ctx, night, p) })
	names := []string{}
	for _, p := range all {
		names = append(names, p.Name)
		if p.Version != 4 {
			t.Errorf("%q is listed with version %d", p.Name, p.Version)
		}
	}
	want := slices.Clone(hostile)
	slices.Sort(want)
	same(t, names, want)

	latest := must(s.Profile(ctx, night, "null", 0))(t)
	wrongVersion(t, s.DeleteProfile(ctx, night, "null", "4"), 4)
	check(t, s.DeleteProfile(ctx, night, "null", latest.Tag()))
	kindOf(t, s.DeleteProfile(ctx, night, "null", latest.Tag()), fault.NotFound, "no profile")
	for _, unknown := range []string{"null", "", "\x00", "\xff"} {
		_, err := s.Profile(ctx, night, unknown, 0)
		kindOf(t, err, fault.NotFound, "no profile")
		_, err = s.ProfileVersions(ctx, night, unknown, storage.Page{})
		kindOf(t, err, fault.NotFound, "no profile")
	}
}

func hours(n int) time.Duration { return time.Duration(n) * time.Hour }

func TestForecasts(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := filled(t, s)
	first := moment("2026-02-01T00:00:00Z")
	var rows []inputs.Forecast
	for _, class := range []string{"ad-hoc", "nightly"} {
		for h := range 48 {
			rows = append(rows, inputs.Forecast{Class: class, Hour: first.Add(hours(h)), Jobs: float64(h) / 2})
		}
	}
	must(s.DeleteForecasts(ctx, night, clusters.ForecastFilter{Class: "nightly"}))(t)
	check(t, putRows(ctx, s, rows...))
	list := func(of clusters.ForecastFilter) []inputs.Forecast {
		return pages(t, 7, func(p storage.Page) (storage.Listed[inputs.Forecast], error) { return s.Forecasts(ctx, night, of, p) })
	}
	same(t, list(clusters.ForecastFilter{}), rows)
	same(t, list(clusters.ForecastFilter{Class: "nightly", From: first.Add(hours(3)), Until: first.Add(hours(5))}), rows[51:53])
	for _, none := range []string{"no such", "\x00", hostile[0]} {
		same(t, list(clusters.ForecastFilter{Class: none}), []inputs.Forecast{})
	}

	before := must(s.Cluster(ctx, night))(t).InputsVersion
	rows[0].Jobs = 99
	check(t, putRows(ctx, s, rows[:1]...))
	same(t, list(clusters.ForecastFilter{}), rows)
	err := putRows(ctx, s, inputs.Forecast{Class: "ad-hoc", Hour: first, Jobs: 1}, inputs.Forecast{Class: "gone", Hour: first}, inputs.Forecast{Class: hostile[0], Hour: first})
	refused(t, err, "/rows/1/class", `no class "gone"`, `"ad-hoc", "nightly"`, "/rows/2/class")
	same(t, list(clusters.ForecastFilter{}), rows) // all or none
	if n := must(s.DeleteForecasts(ctx, night, clusters.ForecastFilter{Class: "gone"}))(t); n != 0 {
		t.Errorf("%d rows of no class deleted", n)
	}
	if got := must(s.Cluster(ctx, night))(t).InputsVersion; got != before+1 {
		t.Errorf("inputs version %d, want %d", got, before+1)
	}
	if n := must(s.DeleteForecasts(ctx, night, clusters.ForecastFilter{Class: "ad-hoc", Until: first.Add(hours(8))}))(t); n != 8 {
		t.Errorf("%d rows deleted, want 8", n)
	}
	same(t, list(clusters.ForecastFilter{}), rows[8:])
	_, err = s.PutForecasts(ctx, "nowhere", inputs.SeriesOf(rows), false)
	kindOf(t, err, fault.NotFound)
}
