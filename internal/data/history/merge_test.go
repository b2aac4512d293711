package history

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.org/headroom/internal/core/capacity"
)

// made returns a sample of an execution with these maps, and reduces if there are any.
func made(id string, took, overhead float64, maps ...float64) Sample {
	s := Sample{ID: id, Name: "sort", Map: durations(slices.Clone(maps))}
	s.Profile.MapTasks, s.Profile.MapAvgSeconds, s.Profile.MapMaxSeconds = s.Map.Count, s.Map.Mean, s.Map.Max
	s.Profile.OverheadSeconds = overhead
	if took > 0 {
		s.Seconds = &took
	}
	return s
}

func TestMergeKeepsTheWorkAndTheLeastOverhead(t *testing.T) {
	m, err := Merge([]Sample{made("a", 100, 11, 10, 20), made("b", 200, 95, 10, 20, 30), made("c", 300, 12, 40, 20), made("b", 200, 95, 10, 20, 30)})
	if err != nil {
		t.Fatal(err)
	}
	p := m.Profile
	if m.Executions != 3 || p.MapTasks != 2 || !near(p.MapAvgSeconds, 150.0/7) || p.MapMaxSeconds != 40 || p.OverheadSeconds != 11 || p.ReduceTasks != 0 {
		t.Errorf("%+v", m)
	}
	if n := m.Spread["map_tasks"]; n != (Numbers{Count: 3, Min: 2, Median: 2, P95: 3, Max: 3, Mean: 7.0 / 3, Deviation: n.Deviation}) || !near(n.Deviation, math.Sqrt(2.0/9)) {
		t.Errorf("%+v", n)
	}
	if n := m.Spread["seconds"]; n.Min != 100 || n.Max != 300 || n.Count != 3 {
		t.Errorf("%+v", n)
	}
	if _, is := m.Spread["reduce_avg_s"]; is {
		t.Error("jobs without reduces have a spread of them")
	}
	if len(m.Warnings) != 1 || !strings.Contains(m.Warnings[0], "Samples of executions that are there already: 1;") {
		t.Errorf("%q", m.Warnings)
	}
}

// A queue that most executions wait in is no overhead of the job, and one straggler of many does not lengthen the
// longest task.
func TestMergeIsNotMovedByQueuesAndStragglers(t *testing.T) {
	var all []Sample
	for i := range 100 {
		overhead := 500.0 + float64(i)
		if i%8 == 0 {
			overhead = 10 + float64(i)/100
		}
		longest := 30.0
		if i == 50 {
			longest = 900
		}
		all = append(all, made(fmt.Sprint(i), 1000, overhead, 10, 20, longest))
	}
	m, err := Merge(all)
	if err != nil {
		t.Fatal(err)
	}
	if m.Profile.OverheadSeconds > 11 || m.Profile.MapMaxSeconds != 30 {
		t.Errorf("%+v", m.Profile)
	}
	if len(m.Warnings) != 1 || !strings.Contains(m.Warnings[0], "The longest map task of all took 900.0 s") {
		t.Errorf("%q", m.Warnings)
	}
}

func TestMergePrefersMeasuredShuffles(t *testing.T) {
	with := func(id string, first, typical Durations, firstMax, typicalMax float64) Sample {
		s := made(id, 100, 5, 10, 10)
		s.Reduce, s.First, s.Shuffle = durations([]float64{4, 4}), first, typical
		p := &s.Profile
		p.ReduceTasks, p.ReduceAvgSeconds, p.ReduceMaxSeconds = 2, 4, 4
		p.FirstShuffleAvgSeconds, p.FirstShuffleMaxSeconds, p.ShuffleAvgSeconds, p.ShuffleMaxSeconds = firstMax, firstMax, typicalMax, typicalMax
		return s
	}
	guess := with("guess", durations([]float64{3, 3}), Durations{}, 3, 77)
	measured := with("measured", durations([]float64{2}), durations([]float64{8}), 2, 8)
	m, err := Merge([]Sample{guess, measured, guess})
	if err != nil || m.Profile.ShuffleMaxSeconds != 8 || m.Profile.ShuffleAvgSeconds != 8 || m.Profile.FirstShuffleMaxSeconds != 3 || !near(m.Profile.FirstShuffleAvgSeconds, 8.0/3) {
		t.Errorf("%+v %v", m.Profile, err)
	}
	if m, err = Merge([]Sample{guess}); err != nil || m.Profile.ShuffleMaxSeconds != 77 {
		t.Errorf("%+v %v", m.Profile, err)
	}
}

func TestMergeRefuses(t *testing.T) {
	other := made("x", 1, 1, 1)
	other.Name = "grep"
	nameless := made("y", 1, 1, 1)
	nameless.Name = ""
	another := nameless
	another.ID = "z"
	for why, all := range map[string][]Sample{
		"There is no execution":                       nil,
		"It is of the job \"grep\" and others are of": {made("a", 1, 1, 1), other},
		"The history does not name the jobs":          {nameless, another},
		"Its figures are no profile":                  {made("a", 1, 1, 1e9)},
	} {
		if _, err := Merge(all); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%v, want %q", err, why)
		}
	}
}

// For any executions, the merged profile is possible, and its work and longest task lie between their extremes.
func TestMergedProfilesArePossible(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 4))
	for range 2000 {
		var all []Sample
		for n := range 1 + rng.IntN(30) {
			maps := make([]float64, 1+rng.IntN(1+rng.IntN(40)))
			for i := range maps {
				maps[i] = math.Exp(rng.NormFloat64() * 3)
			}
			all = append(all, made(fmt.Sprint(n), float64(rng.IntN(3))*1000, rng.Float64()*100, maps...))
		}
		m, err := Merge(all)
		if err != nil {
			t.Fatal(err)
		}
		if f := m.Profile.Findings(""); len(f) > 0 {
			t.Fatalf("%v", f)
		}
		highest := m.Spread["map_max_s"].Max
		if p := m.Profile; p.MapMaxSeconds > highest*(1+1e-12) || p.MapAvgSeconds < m.Spread["map_avg_s"].Min*(1-1e-12) || len(all) < 20 && p.MapMaxSeconds != highest {
			t.Fatalf("%+v of %+v", p, m.Spread)
		}
	}
}

func TestConcurrencyPerHour(t *testing.T) {
	const h = hourMillis
	first := int64(472_000) * h
	hours, err := Concurrency([]Span{{first + h/2, first + 2*h}, {first + h, first + h + h/4}, {first + h + h/4, first + h + h/2}, {first + 4*h, first + 4*h + 1}})
	if err != nil {
		t.Fatal(err)
	}
	want := []Hour{{472_000, 0.5, 1, 1}, {472_001, 1.5, 2, 2}, {472_002, 0, 0, 0}, {472_003, 0, 0, 0}, {472_004, 1.0 / h, 1, 1}}
	if !slices.Equal(hours, want) {
		t.Errorf("%v, want %v", hours, want)
	}
	for why, spans := range map[string][]Span{
		"not after its start": {{first, first}},
		"more than 88000":     {{first, first + 1}, {first + 88_001*h, first + 88_001*h + 1}},
	} {
		if _, err := Concurrency(spans); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%v, want %q", err, why)
		}
	}
}

// Counting minute by minute gives the same.
func TestConcurrencyIsWhatCountingMinutesFinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for range 200 {
		const minute = 60_000
		start := int64(472_000)*hourMillis + rng.Int64N(60)*minute
		var spans []Span
		for range 1 + rng.IntN(40) {
			from := start + rng.Int64N(600)*minute
			spans = append(spans, Span{from, from + (1+rng.Int64N(200))*minute})
		}
		hours, err := Concurrency(spans)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range hours {
			sum, highest := 0, 0
			for m := int64(0); m < 60; m++ {
				at, now := int64(h.Hour)*hourMillis+m*minute, 0
				for _, s := range spans {
					if s.From <= at && at < s.Until {
						now++
					}
				}
				sum, highest = sum+now, max(highest, now)
			}
			if !near(h.Average, float64(sum)/60) || h.Most != int64(highest) {
				t.Fatalf("%+v, counted %g and %d", h, float64(sum)/60, highest)
			}
		}
	}
}

func TestSpansOfExecutionsWithoutThem(t *testing.T) {
	attempts := attemptsOf(Attempt{Start: base + 5, Finish: base + 50}, Attempt{Start: base + 2, Finish: base + 20})
	for _, c := range []struct {
		e    Execution
		want Span
	}{
		{Execution{Submitted: base, Finished: base + 9, Outcome: Failed}, Span{base, base + 9}},
		{Execution{Outcome: Succeeded, Attempts: attempts}, Span{base + 2, base + 50}},
		{Execution{Submitted: base, Attempts: attempts}, Span{}},
		{Execution{Submitted: base, Finished: base + 9, Clock: Relative}, Span{}},
	} {
		s, ok := c.e.Span()
		if ok != (c.want != Span{}) || ok && s != c.want {
			t.Errorf("%v %v, want %v", s, ok, c.want)
		}
	}
}

// A sample from elsewhere may have no durations; those it has match its profile.
func TestSamplesOfProfilesAlone(t *testing.T) {
	profile := capacity.Profile{MapTasks: 4, MapAvgSeconds: 5, MapMaxSeconds: 8, ReduceTasks: 2, ReduceAvgSeconds: 3, ReduceMaxSeconds: 4, ShuffleAvgSeconds: 1, ShuffleMaxSeconds: 1}
	m, err := Merge([]Sample{{ID: "a", Name: "etl", Profile: profile}, {ID: "b", Name: "etl", Profile: profile}})
	if err != nil || !reflect.DeepEqual(m.Profile, profile) {
		t.Errorf("%+v, %v; want %+v", m.Profile, err, profile)
	}
	one := Sample{ID: "a", Name: "etl", Profile: capacity.Profile{MapTasks: 1, MapAvgSeconds: 2, MapMaxSeconds: 2}}
	other := Sample{ID: "b", Name: "etl", Profile: capacity.Profile{MapTasks: 1, MapAvgSeconds: 8, MapMaxSeconds: 8}}
	if m, err = Merge([]Sample{one, other}); err != nil || m.Profile.MapAvgSeconds != 8 || !strings.Contains(strings.Join(m.Warnings, " "), "cannot both be so with 1 of them") {
		t.Errorf("of one task each: %+v, %v", m, err)
	}
	for durations, fits := range map[struct {
		count     int64
		mean, max float64
	}]bool{{4, 5, 8}: true, {5, 5, 8}: false, {4, 6, 8}: false, {4, 5, 9}: false} {
		r := Record{Facts: Facts{Job: "etl"}, Sample: &Sample{Profile: profile, Map: Durations{Count: durations.count, Mean: durations.mean, Max: durations.max}}}
		if err := r.Check(); (err == nil) != fits || !fits && !strings.Contains(err.Error(), "they are of the same tasks") {
			t.Errorf("%+v: %v", durations, err)
		}
	}
}
