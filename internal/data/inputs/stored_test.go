package inputs

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
)

func moment(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

func pointerTo[T any](x T) *T { return &x }

func amountOf(text string) money.Amount {
	m, err := money.Parse(text)
	if err != nil {
		panic(err)
	}
	return m
}

func TestStoredThingsAreRefusedWithPointers(t *testing.T) {
	early, late := moment("2026-01-01T00:00:00Z"), moment("2027-01-01T00:00:00Z")
	contract := SignedContract{Name: "three-year", VMType: "small", VMs: 3, Price: amountOf("0.1"), Billing: capacity.BilledUsed, From: early, Until: late}
	class := PlannedClass{Name: "etl", Profile: &ProfileRef{Name: "etl"}, DeadlineSeconds: 60, SlotsPerVM: capacity.SlotsPerVM{Map: 2, Reduce: 2}, Jobs: capacity.JobRange{Min: 1, Max: 2}, Penalty: amountOf("1")}
	for name, test := range map[string]struct {
		err  error
		want string // pointer and code; "" for none
		says string
	}{
		"a cluster":                       {NewCluster("night-batch").Validate(), "", ""},
		"a cluster's capital letters":     {NewCluster("Night").Validate(), "/name text", "small letters"},
		"a cluster's hyphen at the end":   {NewCluster("night-").Validate(), "/name text", "no cluster name"},
		"a cluster's long name":           {NewCluster(strings.Repeat("a", 64)).Validate(), "/name text", "63"},
		"no time zone":                    {func() error { c := NewCluster("c"); c.TimeZone = "Mars/Base"; return c.Validate() }(), "/time_zone choice", "IANA"},
		"the machine's time zone":         {func() error { c := NewCluster("c"); c.TimeZone = "Local"; return c.Validate() }(), "/time_zone choice", "IANA"},
		"a previous plan as a setting":    {func() error { c := NewCluster("c"); c.Options.Near = &capacity.Near{}; return c.Validate() }(), "/options/near not_here", "last plan"},
		"an option that makes no sense":   {func() error { c := NewCluster("c"); c.Options.Gap = 2; return c.Validate() }(), "/options/gap range", "at most"},
		"a VM type called dot":            {VMType{Name: "."}.Validate(), "/name text", "addresses"},
		"a negative quota":                {VMType{Name: "small", Quota: pointerTo(int64(-1))}.Validate(), "/quota range", "from 0"},
		"an open price":                   {PricePeriod{VMType: "small", From: early}.Validate(), "", ""},
		"a price without a start":         {PricePeriod{VMType: "small"}.Validate(), "/from missing", "2026-01-01"},
		"a price that ends before":        {PricePeriod{VMType: "small", From: late, Until: &early}.Validate(), "/until order", "swapped"},
		"a price for nothing":             {PricePeriod{From: early}.Validate(), "/vm_type missing", "VM type"},
		"a contract":                      {contract.Validate(), "", ""},
		"a contract that ends before":     {func() error { c := contract; c.From, c.Until = late, early; return c.Validate() }(), "/until order", "before it starts"},
		"a contract that ends at once":    {func() error { c := contract; c.Until = early; return c.Validate() }(), "/until order", "moment it starts"},
		"a contract of a few nanoseconds": {func() error { c := contract; c.Until = early.Add(900); return c.Validate() }(), "/until order", "moment it starts"},
		"a contract of the year 9999":     {func() error { c := contract; c.Until = moment("9999-01-01T00:00:00Z"); return c.Validate() }(), "/until range", "2200"},
		"a contract's spaced name":        {func() error { c := contract; c.Name = " x"; return c.Validate() }(), "/name text", "space"},
		"a class":                         {class.Validate(capacity.Executable), "", ""},
		"a class without a need":          {func() error { c := class; c.Profile = nil; return c.Validate(capacity.Executable) }(), " one_of", "profile"},
		"a class with two needs": {func() error {
			c := class
			c.Demand = &capacity.Demand{MapWorkSeconds: 1, ReduceWorkSeconds: 1, FixedSeconds: 1}
			return c.Validate(capacity.Executable)
		}(), " one_of", "more than once"},
		"a class without a deadline":      {func() error { c := class; c.DeadlineSeconds = 0; return c.Validate(capacity.Executable) }(), "/deadline_s range", "deadline"},
		"half a job promised":             {func() error { c := class; c.Jobs.Min = 0.5; return c.Validate(capacity.Executable) }(), "/jobs/min not_whole", "relaxed"},
		"half a job promised, relaxed":    {func() error { c := class; c.Jobs.Min = 0.5; return c.Validate(capacity.Relaxed) }(), "", ""},
		"a negative profile version":      {func() error { c := class; c.Profile = &ProfileRef{"etl", -1}; return c.Validate(capacity.Executable) }(), "/profile/version range", "latest"},
		"a profile nobody can have":       {ProfileVersion{Name: "x", Profile: capacity.Profile{MapTasks: 2, MapAvgSeconds: 9, MapMaxSeconds: 3}}.Validate(), "/profile/map_max_s premise", "shorter"},
		"a forecast inside an hour":       {ValidateForecasts([]Forecast{{"etl", moment("2026-01-01T00:30:00Z"), 1, nil}}), "/rows/0/hour not_whole", "whole hour"},
		"a forecast in another zone":      {ValidateForecasts([]Forecast{{"etl", moment("2026-01-01T02:00:00+02:00"), 1, nil}}), "", ""},
		"a forecast in half an hour zone": {ValidateForecasts([]Forecast{{"etl", moment("2026-01-01T05:00:00+05:30"), 1, nil}}), "/rows/0/hour not_whole", "UTC"},
		"two forecasts of an hour":        {ValidateForecasts([]Forecast{{"etl", early, 1, nil}, {"etl", moment("2026-01-01T01:00:00+01:00"), 2, nil}}), "/rows/1 duplicate", "index 0"},
		"a forecast of fewer than none":   {ValidateForecasts([]Forecast{{"etl", early, -1, nil}}), "/rows/0/jobs range", "negative"},
		"a document's second of a name":   {Document{Cluster: NewCluster("c"), Contracts: []SignedContract{contract, contract}}.Validate(), "/contracts/1 duplicate_name", "three-year"},
		"a document's profile number":     {Document{Cluster: NewCluster("c"), Profiles: []ProfileVersion{{Name: "p", Profile: capacity.Profile{MapTasks: 1}}}}.Validate(), "/profiles/0/version range", "number"},
	} {
		t.Run(name, func(t *testing.T) {
			var input *fault.InputError
			if !errors.As(test.err, &input) {
				if test.want != "" || test.err != nil {
					t.Fatalf("got %v, want %q", test.err, test.want)
				}
				return
			}
			var got []string
			for _, f := range input.Findings {
				got = append(got, f.Pointer+" "+f.Code)
			}
			if len(got) != 1 || got[0] != test.want || !strings.Contains(input.Error(), test.says) {
				t.Errorf("got %q (%v), want %q saying %q", got, input, test.want, test.says)
			}
		})
	}
}

func TestDefaultsOfStoredThings(t *testing.T) {
	var c Cluster
	if err := json.Unmarshal([]byte(`{"name":"c","options":{"engine":"exact"}}`), &c); err != nil {
		t.Fatal(err)
	}
	want := NewCluster("c")
	want.Options.Engine = capacity.EngineExact
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	var d Document
	if err := json.Unmarshal([]byte(`{"cluster":{"name":"c"},"vm_types":[{"name":"v"}],"contracts":[{"name":"k"}]}`), &d); err != nil {
		t.Fatal(err)
	}
	if !d.VMTypes[0].InUse || d.Contracts[0].Billing != capacity.BilledUsed || d.Classes != nil || d.Cluster.PeriodSeconds != 3600 {
		t.Errorf("got %+v", d)
	}
}

// snapshot returns a small cluster in January 2026.
func snapshot() Snapshot {
	from := moment("2026-01-01T00:00:00Z")
	return Snapshot{
		Cluster: NewCluster("c"),
		VMTypes: []VMType{{Name: "old"}, {Name: "small", InUse: true, Quota: pointerTo(int64(9))}},
		Prices: []PricePeriod{
			{VMType: "old", Price: amountOf("9"), From: from},
			{VMType: "small", Price: amountOf("0.2"), From: from, Until: pointerTo(moment("2026-02-01T00:00:00Z"))},
		},
		Contracts: []SignedContract{
			{Name: "one", VMType: "small", VMs: 3, Price: amountOf("0.1"), Billing: capacity.BilledAlways, From: from, Until: moment("2026-01-15T00:00:00Z")},
			{Name: "other", VMType: "old", VMs: 5, Price: amountOf("0.1"), Billing: capacity.BilledUsed, From: from, Until: moment("2027-01-15T00:00:00Z")},
		},
		Classes: []PlannedClass{
			{Name: "a", Profile: &ProfileRef{"p", 2}, DeadlineSeconds: 60, SlotsPerVM: capacity.SlotsPerVM{Map: 2, Reduce: 2}, Jobs: capacity.JobRange{Min: 2, Max: 4}, Penalty: amountOf("1")},
			{Name: "b", VMsPerJob: pointerTo(amountOf("0.5").Decimal), Jobs: capacity.JobRange{Min: 0, Max: 4}, Penalty: amountOf("1")},
		},
		Profiles:  map[ProfileRef]capacity.Profile{{"p", 2}: {MapTasks: 7}},
		Forecasts: []Forecast{{"a", moment("2026-01-01T05:00:00Z"), 1.2, nil}, {"b", moment("2026-01-01T05:00:00Z"), 2.4, nil}},
		Previous:  &capacity.Near{VMs: 5, Jobs: map[string]float64{"a": 3, "gone": 1}},
	}
}

func TestProblemOfAMoment(t *testing.T) {
	s := snapshot()
	p, err := s.Problem(moment("2026-01-01T05:59:59Z"))
	if err != nil {
		t.Fatal(err)
	}
	want := capacity.Problem{
		Currency: "USD", PeriodSeconds: 3600,
		Supply: capacity.Supply{Contracts: []capacity.Contract{{Name: "one", VMs: 3, Price: amountOf("0.1"), Billing: capacity.BilledAlways}}, OnDemand: capacity.OnDemand{Price: amountOf("0.2"), Quota: pointerTo(int64(9))}},
		Classes: []capacity.Class{
			{Name: "a", Profile: &capacity.Profile{MapTasks: 7}, DeadlineSeconds: 60, SlotsPerVM: capacity.SlotsPerVM{Map: 2, Reduce: 2}, Jobs: capacity.JobRange{Min: 2, Max: 2}, Penalty: amountOf("1")},
			{Name: "b", VMsPerJob: pointerTo(amountOf("0.5").Decimal), Jobs: capacity.JobRange{Min: 0, Max: 3}, Penalty: amountOf("1")},
		},
		Options: capacity.DefaultOptions(),
	}
	want.Options.Near = &capacity.Near{VMs: 5, Jobs: map[string]float64{"a": 3}}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	s.Cluster.Options.Integrality = capacity.Relaxed
	if p, _ := s.Problem(moment("2026-01-01T05:00:00Z")); p.Classes[0].Jobs != (capacity.JobRange{Min: 1.2, Max: 1.2}) || p.Classes[1].Jobs.Max != 2.4 {
		t.Errorf("relaxed: got %v and %v", p.Classes[0].Jobs, p.Classes[1].Jobs)
	}
	if p, err := s.Problem(moment("2026-01-15T00:00:00Z")); err != nil || len(p.Supply.Contracts) != 0 || p.Classes[0].Jobs.Max != 4 {
		t.Errorf("the moment the contract ends: got %+v, %v", p.Supply, err)
	}
}

func TestProblemSaysWhatIsMissing(t *testing.T) {
	at := moment("2026-01-01T05:00:00Z")
	for name, test := range map[string]struct {
		change func(*Snapshot)
		at     time.Time
		want   string
	}{
		"no price any more": {func(*Snapshot) {}, moment("2026-02-01T00:00:00Z"), "/prices no_price"},
		"no price yet":      {func(*Snapshot) {}, moment("2025-12-31T23:59:59Z"), "/prices no_price"},
		"no type":           {func(s *Snapshot) { s.VMTypes = nil }, at, "/vm_types missing"},
		"no type in use":    {func(s *Snapshot) { s.VMTypes[1].InUse = false }, at, "/vm_types missing"},
		"no class":          {func(s *Snapshot) { s.Classes = nil }, at, "/classes missing"},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot()
			test.change(&s)
			_, err := s.Problem(test.at)
			var input *fault.InputError
			if !errors.As(err, &input) || input.Findings[0].Pointer+" "+input.Findings[0].Code != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
	s := snapshot()
	s.Profiles = nil
	if _, err := s.Problem(at); err == nil || errors.Is(err, fault.Invalid) {
		t.Errorf("a snapshot without its profile: got %v, want an error that is ours", err)
	}
}

func TestChanges(t *testing.T) {
	from := moment("2026-01-01T00:00:00Z")
	hour := func(i int) time.Time { return from.Add(time.Duration(i) * time.Hour) }
	before := Document{
		Cluster:   NewCluster("c"),
		VMTypes:   []VMType{{Name: "big", Stamp: capacity.Stamp{Version: 4}}, {Name: "small", InUse: true}},
		Prices:    []PricePeriod{{ID: "x", VMType: "small", Price: amountOf("0.2"), From: from}},
		Contracts: []SignedContract{{Name: "one", VMType: "small", VMs: 3, From: from, Until: hour(9)}},
		Profiles:  []ProfileVersion{{Name: "p", Version: 1}},
		Classes:   []PlannedClass{{Name: "a", Profile: &ProfileRef{"p", 1}}, {Name: "b"}},
		Forecasts: []Forecast{{"a", hour(0), 1, nil}, {"a", hour(1), 2, nil}, {"b", hour(0), 1, nil}},
	}
	if got := Changes(before, before); len(got) != 0 {
		t.Errorf("nothing changed, but got %v", got)
	}
	if got := Changes(before, Document{Cluster: NewCluster("c")}); len(got) != 0 {
		t.Errorf("a document without lists leaves them alone, but got %v", got)
	}
	same := before
	same.Prices = []PricePeriod{{VMType: "small", Price: amountOf("0.200"), From: from.In(time.FixedZone("", 3600))}}
	if got := Changes(before, same); len(got) != 0 {
		t.Errorf("the same price in other words: got %v", got)
	}
	after := Document{
		Cluster:   NewCluster("c"),
		VMTypes:   []VMType{{Name: "huge"}, {Name: "small", InUse: true, Quota: pointerTo(int64(7))}},
		Prices:    []PricePeriod{{VMType: "small", Price: amountOf("0.3"), From: hour(5)}, {VMType: "small", Price: amountOf("0.2"), From: from, Until: pointerTo(hour(5))}},
		Contracts: []SignedContract{},
		Profiles:  []ProfileVersion{{Name: "p", Version: 2}},
		Classes:   []PlannedClass{{Name: "a", Profile: &ProfileRef{"p", 2}}},
		Forecasts: []Forecast{{"a", hour(0), 1, nil}, {"a", hour(1), 3, nil}, {"a", hour(2), 3, nil}},
	}
	after.Cluster.Currency = "EUR"
	var got []string
	for _, c := range Changes(before, after) {
		line := c.Action + " " + c.Kind + " " + c.Name
		for _, f := range c.Fields {
			x, _ := json.Marshal(f.Before)
			y, _ := json.Marshal(f.After)
			line += fmt.Sprintf(" %s %s→%s", f.Pointer, x, y)
		}
		got = append(got, line)
	}
	want := []string{
		"delete forecast b /rows 1→0",
		"delete class b",
		"delete contract one",
		`update cluster c /currency "USD"→"EUR"`,
		"update vm_type small /quota null→7",
		"create vm_type huge",
		`update price small from 2026-01-01T00:00:00Z /until null→"2026-01-01T05:00:00Z"`,
		"create price small from 2026-01-01T05:00:00Z",
		"create profile p version 2",
		"update class a /profile/version 1→2",
		"update forecast a /rows 2→3 /rows_changed 0→1",
		"delete vm_type big",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := Changes(Document{}, before); got[0].Action+got[0].Kind != "createcluster" || len(got) != 10 {
		t.Errorf("a new cluster: got %v", got)
	}
}

// Jobs that arrived earlier and run are promised, as far as the current plan admits them.
func TestStartedJobsArePromised(t *testing.T) {
	gamma, penalty := decimal.NewFromInt(1), money.Amount{Decimal: decimal.NewFromInt(5)}
	noon := moment("2026-01-01T12:00:00Z")
	s := Snapshot{Cluster: Cluster{Currency: "USD", PeriodSeconds: 3600, Options: capacity.DefaultOptions()},
		VMTypes: []VMType{{Name: "small", InUse: true}}, Prices: []PricePeriod{{VMType: "small", Price: penalty, From: noon.Add(-time.Hour)}},
		Classes:   []PlannedClass{{Name: "etl", VMsPerJob: &gamma, DeadlineSeconds: 3 * 3600, Jobs: capacity.JobRange{Max: 9}, Penalty: penalty}},
		Forecasts: []Forecast{{"etl", noon.Add(-2 * time.Hour), 0, new(4.0)}, {"etl", noon, 0, new(2.0)}}}
	for _, c := range []struct {
		previous *capacity.Near
		want     capacity.JobRange
	}{
		{nil, capacity.JobRange{Max: 5}},
		{&capacity.Near{Jobs: map[string]float64{"etl": 9}}, capacity.JobRange{Min: 4, Max: 5}},
		{&capacity.Near{Jobs: map[string]float64{"etl": 1}}, capacity.JobRange{Min: 1, Max: 5}},
		{&capacity.Near{Jobs: map[string]float64{"other": 9}}, capacity.JobRange{Max: 5}},
	} {
		s.Previous = c.previous
		p, err := s.Problem(noon.Add(10 * time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Classes[0].Jobs; got != c.want {
			t.Errorf("after %+v: got %+v, want %+v", c.previous, got, c.want)
		}
	}
	// Of a class all of whose jobs are promised all are that there are, forecast or arrived before, and its own where none are.
	s.Classes[0].Jobs = capacity.JobRange{All: true}.Of(9)
	for jobs, forecasts := range map[float64][]Forecast{5: s.Forecasts, 9: nil, 12: {{"etl", noon, 11.5, nil}}, 0: {{"etl", noon, 0, nil}}} {
		s.Forecasts = forecasts
		p, err := s.Problem(noon)
		if want := (capacity.JobRange{Min: jobs, Max: jobs, All: true}); err != nil || p.Classes[0].Jobs != want {
			t.Errorf("of all: got %+v and %v, want %+v", p.Classes[0].Jobs, err, want)
		}
	}
}

// An execution that must have ended sooner than its deadline runs for no longer.
func TestAJobEndsWhenItIsDue(t *testing.T) {
	for due, want := range map[float64]float64{0: 3600, 1800: 1800, 7200: 3600} {
		if got := (PlannedClass{DeadlineSeconds: 3600, DueSeconds: due}).Class(nil).DeadlineSeconds; got != want {
			t.Errorf("due after %g s it is planned for %g, want %g", due, got, want)
		}
	}
	vms := decimal.New(2, 0) // for all of the hour: in less time nobody knows how many it takes
	if got := (PlannedClass{DeadlineSeconds: 3600, DueSeconds: 1800, VMsPerJob: &vms}).Class(nil).DeadlineSeconds; got != 3600 {
		t.Errorf("with VMs per job it is planned for %g", got)
	}
}
