package postgres_test

import (
	"encoding/json"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/test/pgtest"
)

// A profile of stages with its source, and a calibrated class, are read unchanged: alone, in pages, in the document
// and in the snapshot for plans.
func TestChainsAndCalibrationsAreKept(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := filled(t, s)
	sales := inputs.ProfileVersion{Name: "sales", Note: "imported", Source: json.RawMessage(`{"job":"sales <é>","executions":["application_2","application_1"],"share":0.10,"n":9007199254740993}`),
		Profile: capacity.Profile{OverheadSeconds: 11.25, Stages: []capacity.Stage{{Name: "scan é", Tasks: 200, AvgSeconds: 6.5, MaxSeconds: 21}, {Tasks: 1, AvgSeconds: 1e-7, MaxSeconds: 1e-7}, {Name: "scan é", Tasks: 64, AvgSeconds: 12.100000000000001, MaxSeconds: 30}}}}
	kept := func(got inputs.ProfileVersion) {
		t.Helper()
		if !got.Says(sales) {
			t.Errorf("got %+v with source %s", got, got.Source)
		}
	}
	kept(must(s.CreateProfile(ctx, night, sales))(t))
	kept(must(s.Profile(ctx, night, "sales", 0))(t))
	if got := must(s.Profile(ctx, night, "etl", 0))(t); got.Source != nil || got.Profile.Stages != nil {
		t.Errorf("a profile of maps and reduces has %+v", got)
	}
	for _, list := range []storage.Listed[inputs.ProfileVersion]{must(s.Profiles(ctx, night, storage.Page{}))(t), must(s.ProfileVersions(ctx, night, "sales", storage.Page{}))(t)} {
		if got := list.Items[len(list.Items)-1]; got.Name != "sales" || got.Source != nil || len(got.Profile.Stages) != 3 {
			t.Errorf("a list has %+v", got)
		}
	}
	class := nightly
	class.Name, class.Profile, class.Calibration = "sales", &inputs.ProfileRef{Name: "sales", Version: 1}, &capacity.Calibration{Bound: capacity.UpperBound, Factor: 0.85}
	same(t, must(s.Classes().Create(ctx, night, class))(t), class, bare)

	d := must(s.Document(ctx, night))(t)
	kept(d.Profiles[1])
	same(t, d.Classes[2], class)
	var again inputs.Document
	check(t, json.Unmarshal(must(json.Marshal(d))(t), &again))
	again.Profiles[1] = sales // as it was written first
	again.Profiles[1].Version = 1
	version := must(s.Cluster(ctx, night))(t).InputsVersion
	if done := must(s.Apply(ctx, version, again, false))(t); len(done.Changes) != 0 {
		t.Errorf("the same document changed %+v", done.Changes)
	}
	again.Profiles[1].Source = json.RawMessage(`{}`)
	_, err := s.Apply(ctx, version, again, false)
	refused(t, err, "/profiles/1/version", "says something else")
	again.Profiles[1] = sales
	again.Profiles[1].Version = 2
	again.Classes[2].Calibration = nil
	done := must(s.Apply(ctx, version, again, false))(t)
	if len(done.Changes) != 2 || done.Changes[1].Fields[0].Pointer != "/calibration" {
		t.Errorf("changes %+v", done.Changes)
	}

	snapshot := must(s.Snapshot(ctx, night, moment("2026-01-10T05:00:00Z")))(t)
	same(t, snapshot.Profiles[inputs.ProfileRef{Name: "sales", Version: 1}], sales.Profile)
	must(s.Classes().Replace(ctx, night, "sales", 2, class))(t)
	p := must(must(s.Snapshot(ctx, night, moment("2026-01-10T05:00:00Z")))(t).Problem(moment("2026-01-10T05:00:00Z")))(t)
	same(t, p.Classes[2].Calibration, class.Calibration)
	same(t, p.Classes[2].Profile, &sales.Profile)

	hostile := sales
	hostile.Name, hostile.Source = "hostile", json.RawMessage(`{"half":"\ud800","bytes":"`+"\xff"+`"}`)
	if got := must(s.CreateProfile(ctx, night, hostile))(t); !got.Says(hostile) {
		t.Errorf("half a character became %s", got.Source)
	}
}
