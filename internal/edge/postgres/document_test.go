package postgres_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/test/pgtest"
)

// whole returns a document with several things of each kind, under hostile names.
func whole(name string) inputs.Document {
	d := inputs.Document{Cluster: inputs.NewCluster(name)}
	d.VMTypes = []inputs.VMType{{Name: "large"}, small}
	february := january
	february.From, february.Until = *january.Until, nil
	d.Prices = []inputs.PricePeriod{january, february}
	d.Prices[0].Purchase, d.Prices[1].Purchase = "", ""
	d.Contracts = []inputs.SignedContract{threeYrs}
	d.Offers = []inputs.StandingOffer{oneYear}
	d.VMTypes[0].VCPU, d.VMTypes[0].MemoryGiB, d.VMTypes[0].GPUs = new(2.5), new(1952.0), new(int64(8))
	first, second := etl, etl
	first.Version, second.Version, second.Profile.MapTasks = 1, 2, 301
	d.Profiles = []inputs.ProfileVersion{first, second}
	names := slices.Sorted(slices.Values(hostile))
	for i, name := range names {
		c := nightly
		c.Name, c.Profile = name, &inputs.ProfileRef{Name: "etl", Version: int64(1 + i%2)}
		d.Classes = append(d.Classes, c)
		for h := range 3 {
			d.Forecasts = append(d.Forecasts, inputs.Forecast{Class: name, Hour: moment("2026-01-10T00:00:00Z").Add(hours(h)), Jobs: float64(h)})
		}
	}
	return d
}

func TestADocumentComesBackAsItWasApplied(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := somebody(t)
	d := whole(night)
	planned := must(s.Apply(ctx, 0, d, true))(t)
	if !planned.Created || planned.Version != 0 || len(planned.Changes) != 1+2+2+1+1+2+len(hostile)*2 {
		t.Errorf("a dry run says %v, version %d, %d changes", planned.Created, planned.Version, len(planned.Changes))
	}
	_, err := s.Cluster(ctx, night)
	kindOf(t, err, fault.NotFound)

	done := must(s.Apply(ctx, 0, d, false))(t)
	same(t, done.Changes, planned.Changes)
	if !done.Created || done.Version != 1 {
		t.Errorf("applied: created %v, version %d", done.Created, done.Version)
	}
	got := must(s.Document(ctx, night))(t)
	same(t, got, d)

	// Through JSON and back nothing changes, and nothing is counted or recorded.
	text := must(json.Marshal(got))(t)
	var again inputs.Document
	check(t, json.Unmarshal(text, &again))
	for i := range again.Classes { // the latest need not be named
		if again.Classes[i].Profile.Version == 2 {
			again.Classes[i].Profile.Version = 0
		}
	}
	entries := len(audit(t, s, app.AuditFilter{}))
	nothing := must(s.Apply(ctx, 1, again, false))(t)
	if len(nothing.Changes) != 0 || nothing.Version != 1 || must(s.Cluster(ctx, night))(t).InputsVersion != 1 || len(audit(t, s, app.AuditFilter{})) != entries {
		t.Errorf("the second time changed something: %+v", nothing)
	}
	check(t, s.DeleteCluster(ctx, night, 1))
	if empty := must(s.CreateCluster(ctx, inputs.NewCluster("empty")))(t); empty.Name == "empty" {
		d := must(s.Document(ctx, "empty"))(t)
		if d.VMTypes == nil || d.Prices == nil || d.Contracts == nil || d.Offers == nil || d.Profiles == nil || d.Classes == nil || d.Forecasts == nil {
			t.Errorf("a list of an empty cluster is nil: %+v", d)
		}
	}
}

// The error for a cluster with too many forecasts for a document names the way to read them. The cluster can be
// applied without them.
func TestADocumentHoldsSoManyForecasts(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := pgtest.OpenWith(t, postgres.Config{URL: url})
	ctx := somebody(t)
	d := whole(night)
	version := must(s.Apply(ctx, 0, d, false))(t).Version
	conn := raw(t, url)
	execute(t, conn, `DELETE FROM forecasts`)
	execute(t, conn, `ALTER TABLE forecasts DISABLE TRIGGER ALL`) // checking each row's class takes longer than all the rest
	execute(t, conn, fmt.Sprintf(`INSERT INTO forecasts (class_id, hour, jobs)
		SELECT min(c.id), '2000-01-01T00:00Z'::timestamptz + n * interval '1 hour', 1 FROM classes c, generate_series(1, %d) n GROUP BY n`, postgres.MaxForecasts))
	execute(t, conn, `ALTER TABLE forecasts ENABLE TRIGGER ALL`)
	if all := must(s.Document(ctx, night))(t); len(all.Forecasts) != postgres.MaxForecasts {
		t.Fatalf("got %d forecasts, want all %d", len(all.Forecasts), postgres.MaxForecasts)
	}
	execute(t, conn, `INSERT INTO forecasts (class_id, hour, jobs) SELECT min(id), '1999-01-01T00:00Z', 1 FROM classes`)
	_, err := s.Document(ctx, night)
	if !errors.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "/forecasts?format=csv, or headroom class forecast list "+night+" -o csv") {
		t.Errorf("got %v", err)
	}
	if _, err := s.Apply(ctx, version, d, true); !errors.Is(err, fault.Conflict) || !strings.Contains(err.Error(), `leave "forecasts" out of the document`) {
		t.Errorf("got %v", err)
	}
	d.Forecasts = nil
	if done := must(s.Apply(ctx, version, d, true))(t); len(done.Changes) != 0 {
		t.Errorf("without forecasts it changes %+v", done.Changes)
	}
}

func TestApplyChangesOnlyWhatDiffers(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := somebody(t)
	d := whole(night)
	must(s.Apply(ctx, 0, d, false))(t)
	untouched := must(s.Classes().Get(ctx, night, d.Classes[3].Name))(t)

	d.Cluster.Description = "changed"
	d.VMTypes[0].InUse, d.VMTypes[1].InUse = true, false // large is used now, small no longer
	d.Prices = d.Prices[1:]
	d.Prices[0].Price = amountOf("0.3")
	d.Contracts = []inputs.SignedContract{}
	d.Offers = []inputs.StandingOffer{}
	third := etl
	third.Version, third.Note = 3, "new"
	d.Profiles = []inputs.ProfileVersion{third} // only adds
	gone := d.Classes[0].Name
	d.Classes = slices.Clone(d.Classes[1:])
	d.Classes[0].Jobs.Max = 77
	d.Classes[1].Profile = &inputs.ProfileRef{Name: "etl"} // the latest, which comes with this document
	d.Forecasts = slices.DeleteFunc(d.Forecasts, func(f inputs.Forecast) bool { return f.Class == gone })
	d.Forecasts[0].Jobs = 9
	done := must(s.Apply(ctx, 1, d, false))(t)
	if done.Created || done.Version != 2 {
		t.Errorf("applied: %v, version %d", done.Created, done.Version)
	}
	want := []string{
		"delete forecast", "delete class", "delete contract", "delete offer", "delete price", "update cluster", "update vm_type", "update vm_type",
		"update price", "create profile", "update class", "update class", "update forecast",
	}
	got := []string{}
	for _, c := range done.Changes {
		got = append(got, c.Action+" "+c.Kind)
	}
	same(t, got, want)
	after := must(s.Document(ctx, night))(t)
	d.Classes[1].Profile = &inputs.ProfileRef{Name: "etl", Version: 3}
	d.Profiles = whole(night).Profiles
	d.Profiles = append(d.Profiles, third)
	same(t, after, d)
	same(t, must(s.Classes().Get(ctx, night, untouched.Name))(t), untouched)
	if c := must(s.Classes().Get(ctx, night, d.Classes[0].Name))(t); c.Version != 2 {
		t.Errorf("a changed class has version %d", c.Version)
	}
	if entries := audit(t, s, app.AuditFilter{Cluster: night}); len(entries) != len(whole(night).Classes)*2+9+len(want) {
		t.Errorf("%d entries in the audit log", len(entries))
	}
	alone := must(s.Apply(ctx, 2, inputs.Document{Cluster: d.Cluster}, false))(t) // lists that are nil stay as they are
	if len(alone.Changes) != 0 {
		t.Errorf("a document without lists changed %+v", alone.Changes)
	}
}

func TestApplyWantsTheVersionThatIsThere(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := somebody(t)
	d := whole(night)
	_, err := s.Apply(ctx, 3, d, false)
	kindOf(t, err, fault.NotFound)
	must(s.Apply(ctx, 0, d, false))(t)
	for _, version := range []int64{0, 2} {
		_, err = s.Apply(ctx, version, d, false)
		wrongVersion(t, err, 1)
	}
	_, err = s.Apply(ctx, 2, d, true)
	wrongVersion(t, err, 1)
	must(s.Apply(ctx, 0, d, true))(t) // a dry run need not know it
}

func TestApplySaysEverythingThatDoesNotFit(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := somebody(t)
	base := whole(night)
	must(s.Apply(ctx, 0, base, false))(t)
	for _, c := range []struct {
		situation, pointer, words string
		change                    func(*inputs.Document)
	}{
		{"overlap", "/prices/0", "overlaps", func(d *inputs.Document) { d.Prices[1].From = january.From.Add(time.Hour) }},
		{"speed on no type", "/classes/1/speed/x", `no VM type "x"`, func(d *inputs.Document) { d.Classes[1].Speed = capacity.Speed{"x": 2} }},
		{"price of no type", "/prices/1/vm_type", `no VM type "x"`, func(d *inputs.Document) { d.Prices[1].VMType = "x" }},
		{"contract of no type", "/contracts/0/vm_type", `no VM type "x"`, func(d *inputs.Document) { d.Contracts[0].VMType = "x" }},
		{"offer of no type", "/offers/0/vm_type", `no VM type "x"`, func(d *inputs.Document) { d.Offers[0].VMType = "x" }},
		{"a type that offers left alone need", "/vm_types", `"small" is left out, but the offer one-year names it`, func(d *inputs.Document) {
			d.VMTypes, d.Prices, d.Contracts, d.Offers = d.VMTypes[:1], []inputs.PricePeriod{}, []inputs.SignedContract{}, nil
		}},
		{"class of no profile", "/classes/2/profile/name", `no profile "x"`, func(d *inputs.Document) { d.Classes[2].Profile = &inputs.ProfileRef{Name: "x"} }},
		{"class of no version", "/classes/2/profile/version", "no version 3", func(d *inputs.Document) { d.Classes[2].Profile = &inputs.ProfileRef{Name: "etl", Version: 3} }},
		{"forecast of no class", "/forecasts/1/class", `no class "x"`, func(d *inputs.Document) { d.Forecasts[1].Class = "x" }},
		{"forecast of a class that goes", "/forecasts/0/class", `no class`, func(d *inputs.Document) { d.Classes = d.Classes[1:] }},
		{"another version 2", "/profiles/1/version", "Give it the next number, 3", func(d *inputs.Document) { d.Profiles[1].Profile.MapTasks++ }},
		{"another note", "/profiles/0/version", "never changes", func(d *inputs.Document) { d.Profiles[0].Note = "x" }},
		{"a gap", "/profiles/1/version", "Give it the next number, 3", func(d *inputs.Document) { d.Profiles[1].Version = 4 }},
		{"a type that prices left alone need", "/vm_types", `"small" is left out, but the contract three-year names it`, func(d *inputs.Document) {
			d.VMTypes, d.Prices, d.Contracts, d.Offers = d.VMTypes[:1], nil, nil, []inputs.StandingOffer{}
		}},
	} {
		t.Run(c.situation, func(t *testing.T) {
			d := whole(night)
			c.change(&d)
			for _, dry := range []bool{true, false} {
				_, err := s.Apply(ctx, 1, d, dry)
				if c.situation == "overlap" {
					refused(t, err, "/prices/1/from", c.words)
					continue
				}
				refused(t, err, c.pointer, c.words)
			}
		})
	}
	same(t, must(s.Document(ctx, night))(t), base) // nothing half-written
	broken := whole(night)
	broken.Classes[5].Jobs.Min = 1000 // only the database notices this
	broken.Cluster.Description = "not to be seen"
	_, err := s.Apply(ctx, 1, broken, false)
	refused(t, err, "/jobs", "asked for")
	same(t, must(s.Document(ctx, night))(t), base)
}

func TestALargeDocument(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := somebody(t)
	classes, rows := 200, 20
	if long() {
		classes, rows = 10_000, 20
	}
	d := whole(night)
	d.Classes, d.Forecasts = nil, nil
	for i := range classes {
		c := nightly
		c.Name, c.Profile = fmt.Sprintf("class %05d", i), &inputs.ProfileRef{Name: "etl", Version: 2}
		d.Classes = append(d.Classes, c)
		for h := range rows {
			d.Forecasts = append(d.Forecasts, inputs.Forecast{Class: c.Name, Hour: moment("2026-01-10T00:00:00Z").Add(hours(h)), Jobs: 1})
		}
	}
	began := time.Now()
	must(s.Apply(ctx, 0, d, false))(t)
	applied := time.Since(began)
	began = time.Now()
	same(t, must(s.Document(ctx, night))(t), d)
	t.Logf("%d classes and %d forecasts: applied in %s, read back in %s", classes, len(d.Forecasts), applied.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
}
