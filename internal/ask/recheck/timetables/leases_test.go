package timetables_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/ask/recheck/timetables"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/test/plantest"
)

// job is one that a test lets arrive, ask for a place in every hour until it gets one, and run.
type job struct{ arrived, started, ends int }

// engine is a cluster in which jobs arrive other than they are forecast. Each asks for a lease until it has one.
type engine struct {
	forecast []float64 // by hour
	jobs     []*job
	at       int
}

func (e *engine) question(t *testing.T, before *timetable.Before) timetable.Question {
	t.Helper()
	var periods []string
	for h := e.at; h < len(e.forecast); h++ {
		periods = append(periods, fmt.Sprintf(`{"start": %q, "hours": 1, "arrivals": [%g], "on_demand_price": "%d"}`, hourOf(h).Format(time.RFC3339), e.forecast[h], 1+(h*7)%5))
	}
	q := readSchedule(t, []byte(`{"problem": {"currency": "EUR", "supply": {"on_demand": {"price": "1"}}, "classes": [
	  {"name": "etl", "vms_per_job": "2", "deadline_s": 7200, "due_s": 36000, "jobs": {"min": 0, "max": 0}, "penalty": "50"}]},
	 "periods": [`+strings.Join(periods, ",")+`], "place_all": true}`))
	q.Before = before
	q.Settle()
	return q
}

func hourOf(h int) time.Time { return time.Date(2026, 3, 2, h, 0, 0, 0, time.UTC) }

// seen returns what leases show at the beginning of an hour.
func (e *engine) seen() (all []timetable.HourLeases) {
	of := map[int]*timetable.HourLeases{}
	row := func(h int) *timetable.HourLeases {
		if of[h] == nil {
			of[h] = &timetable.HourLeases{Class: "etl", Hour: hourOf(h)}
		}
		return of[h]
	}
	for _, j := range e.jobs {
		switch {
		case j.started < 0:
			row(j.arrived).Waiting++
		default:
			if row(j.started).Started++; j.ends > e.at {
				row(j.started).Running++
			}
		}
	}
	for h := range e.at {
		if of[h] != nil {
			all = append(all, *of[h])
		}
	}
	return all
}

// places returns how many jobs more the schedule runs in the present hour than run already.
func (e *engine) places(f *timetable.Followed) (free int64) {
	for _, s := range f.Running(hourOf(e.at))["etl"] {
		free += s.Jobs
	}
	for _, j := range e.jobs {
		if j.started >= 0 && j.ends > e.at {
			free--
		}
	}
	return free
}

// run lets jobs arrive in the present hour and gives leases to those that ask, as many as the schedule runs in it.
func (e *engine) run(f *timetable.Followed, arrive int, lasts func() int) {
	for range arrive {
		e.jobs = append(e.jobs, &job{arrived: e.at, started: -1})
	}
	places := e.places(f)
	for _, j := range e.jobs {
		if j.started < 0 && places > 0 {
			j.started, j.ends = e.at, e.at+lasts()
			places--
		}
	}
	e.at++
}

// Jobs come earlier and later than forecast, more of them and fewer, and run for shorter or longer. With leases each that asks has
// a place before it is due, what runs holds its VMs, and what waits is forgotten when it is due. Every schedule passes its check.
func TestLeasesSayWhatStarted(t *testing.T) {
	started, beyond, missed := 0, 0, int64(0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the first plan found is enough
	for seed := range uint64(plantest.Trials(10, 200)) {
		random := rand.New(rand.NewPCG(seed, 1))
		e := engine{forecast: make([]float64, 48)}
		for h := range 20 {
			e.forecast[h] = float64(random.IntN(3))
		}
		f := timetable.Followed{Question: e.question(t, nil)}
		for e.at < 36 {
			var err error
			if f.Answer, err = timetable.Plan(ctx, f.Question, nil); err != nil {
				t.Fatal(err)
			}
			for _, wrong := range timetables.Check(f.Question, f.Answer) {
				t.Fatalf("seed %d, hour %d: %s %s", seed, e.at, wrong.Pointer, wrong.Detail)
			}
			if places := e.places(&f); places < 0 {
				t.Fatalf("seed %d, hour %d: %d jobs more run than the schedule has", seed, e.at, -places)
			}
			arrive := 0
			if e.at < 24 {
				arrive = random.IntN(1 + int(seed%5))
			}
			e.run(&f, arrive, func() int { return 1 + random.IntN(3) })
			next := e.question(t, f.Leaves(hourOf(e.at), timetable.Types{}, f.Question.Problem.Classes, nil, e.seen()))
			for _, r := range next.Before.Leases {
				missed += r.Missed
			}
			text, err := json.Marshal(next)
			if err != nil {
				t.Fatal(err)
			}
			if f.Question, err = timetable.Read(text, capacity.DefaultLimits()); err != nil {
				t.Fatalf("seed %d, hour %d: %v", seed, e.at, err)
			}
		}
		for _, j := range e.jobs {
			if j.started < 0 || j.started+2 > j.arrived+10 {
				t.Errorf("seed %d: a job that arrived at %d started at %d", seed, j.arrived, j.started)
			}
			if started++; j.started > j.arrived+1 {
				beyond++
			}
		}
		if b := f.Question.Before; len(b.Waiting) > 0 {
			t.Errorf("seed %d: at the end %+v wait", seed, b.Waiting)
		}
	}
	if started == 0 || beyond == 0 || missed == 0 {
		t.Errorf("%d started, %d of them waited, and %d were missed", started, beyond, missed)
	}
}

// Within an hour its starts stand, and what the leases of the time before show does not count twice.
func TestLeasesWithinAnHour(t *testing.T) {
	e := engine{forecast: make([]float64, 24)}
	e.forecast[0] = 3
	f := timetable.Followed{Question: e.question(t, nil)}
	var err error
	if f.Answer, err = timetable.Plan(t.Context(), f.Question, nil); err != nil {
		t.Fatal(err)
	}
	start := f.Answer.Schedule[0].Start
	if len(f.Answer.Schedule) != 1 || !start.After(hourOf(1)) {
		t.Fatalf("got %+v", f.Answer.Schedule)
	}
	e.at = start.Hour()
	leases := []timetable.HourLeases{{Class: "etl", Hour: hourOf(0), Waiting: 2}, {Class: "etl", Hour: hourOf(1), Started: 1, Running: 1}}
	again := func(hour int, leases []timetable.HourLeases) *timetable.Before {
		t.Helper()
		e.at = hour
		f.Question = e.question(t, f.Leaves(hourOf(hour), timetable.Types{}, f.Question.Problem.Classes, nil, leases))
		if f.Answer, err = timetable.Plan(t.Context(), f.Question, nil); err != nil {
			t.Fatal(err)
		}
		for _, wrong := range timetables.Check(f.Question, f.Answer) {
			t.Errorf("at %d: %s %s", hour, wrong.Pointer, wrong.Detail)
		}
		return f.Question.Before
	}
	rows := func(b *timetable.Before) (text []string) {
		for _, w := range b.Waiting {
			text = append(text, fmt.Sprintf("%d since %d wait", w.Jobs, w.Arrived.Hour()))
		}
		for _, r := range b.Running {
			text = append(text, fmt.Sprintf("%d run since %d", r.Jobs, r.Start.Hour()))
		}
		return text
	}
	// One was taken before its time, and has run longer than it should. Two are to start in the hour, for which two ask
	// and VMs were asked for ahead of it.
	hour := e.at
	first := rows(again(hour, leases))
	if want := []string{fmt.Sprintf("2 run since %d", hour), fmt.Sprintf("1 run since %d", hour-1)}; !slices.Equal(first, want) {
		t.Errorf("got %q, want %q", first, want)
	}
	if n := f.Running(hourOf(hour))["etl"]; len(n) != 2 {
		t.Fatalf("in the hour %+v run", n)
	}
	within := rows(again(hour, leases))
	if want := []string{fmt.Sprintf("2 run since %d", hour), fmt.Sprintf("1 run since %d", hour-1)}; !slices.Equal(within, want) {
		t.Errorf("got %q, want %q", within, want)
	}
	// One of the two took its place, and the first has ended.
	leases = []timetable.HourLeases{{Class: "etl", Hour: hourOf(0), Waiting: 1}, {Class: "etl", Hour: hourOf(hour), Started: 1, Running: 1}}
	next := rows(again(hour+1, leases))
	if want := []string{"1 since 0 wait", fmt.Sprintf("1 run since %d", hour)}; !slices.Equal(next, want) {
		t.Errorf("got %q, want %q", next, want)
	}
}

// A class whose jobs asked for leases is not followed blindly in an hour in which none does, for a day.
func TestLeasesAreRemembered(t *testing.T) {
	e := engine{forecast: make([]float64, 60), at: 3}
	now := func(hour int, leases ...timetable.HourLeases) timetable.Followed {
		e.at = hour
		f := timetable.Followed{Question: e.question(t, &timetable.Before{Leases: leases})}
		f.Answer = timetable.Answer{Classes: []timetable.Class{{Name: "etl", Waits: true}},
			Schedule: []timetable.Start{{Class: "etl", Arrived: hourOf(hour - 1), Start: hourOf(hour), RunSeconds: 7200, Jobs: 2}}}
		return f
	}
	for _, x := range []struct {
		name    string
		asked   []timetable.HourLeases
		hour    int
		waiting int
	}{
		{"nobody asked ever", nil, 30, 0},
		{"an hour ago", []timetable.HourLeases{{Class: "etl", Hour: hourOf(28), Started: 1}}, 30, 1},
		{"a day ago", []timetable.HourLeases{{Class: "etl", Hour: hourOf(7)}}, 30, 1},
		{"more than a day ago", []timetable.HourLeases{{Class: "etl", Hour: hourOf(6)}}, 30, 0},
	} {
		f := now(x.hour, x.asked...)
		b := f.Leaves(hourOf(x.hour+1), timetable.Types{}, f.Question.Problem.Classes, nil, nil)
		if len(b.Waiting) != x.waiting || len(b.Leases) != x.waiting || len(b.Running) != 1-x.waiting {
			t.Errorf("%s: got %+v", x.name, b)
		}
	}
	for _, hours := range []time.Duration{1, 24, 25} {
		f := now(30)
		if since, want := f.LeasesSince(hourOf(30).Add(hours*time.Hour)), hourOf(30).Add(max(0, hours-24)*time.Hour); !since.Equal(want) {
			t.Errorf("after %d hours, since %s, want %s", hours, since, want)
		}
	}
}

// As many wait as ask or are known to wait, whichever are more. Of each pair the one that arrived first counts.
func TestWhoAsksAndWhoIsKnownToWait(t *testing.T) {
	for _, x := range []struct{ known, ask, want []int64 }{ // by hour of arrival
		{[]int64{0, 2}, nil, []int64{0, 2}},
		{nil, []int64{0, 2}, []int64{0, 2}},
		{[]int64{2}, []int64{0, 2}, []int64{2}},
		{[]int64{0, 2}, []int64{2}, []int64{2}},
		{[]int64{1, 0, 3}, []int64{0, 2}, []int64{1, 1, 2}},
		{[]int64{0, 1}, []int64{1, 0, 3}, []int64{1, 0, 3}},
	} {
		b := timetable.Before{}
		for h, n := range x.known {
			if n > 0 {
				b.Waiting = append(b.Waiting, timetable.WaitingJobs{Class: "etl", Arrived: hourOf(h), Jobs: n})
			}
		}
		for h, n := range x.ask {
			b.Leases = append(b.Leases, timetable.HourLeases{Class: "etl", Hour: hourOf(h), Waiting: n})
		}
		e := engine{forecast: make([]float64, 24), at: 3}
		q := e.question(t, &b)
		got := make([]int64, len(x.want))
		for _, w := range q.Before.Waiting {
			got[w.Arrived.Hour()] += w.Jobs
		}
		if !slices.Equal(got, x.want) {
			t.Errorf("%v are known and %v ask: got %v, want %v", x.known, x.ask, got, x.want)
		}
	}
}

// A question that hides what its leases show is found out.
func TestLeasesAreChecked(t *testing.T) {
	q := readSchedule(t, []byte(`{"problem": {"currency": "EUR", "supply": {"on_demand": {"price": "1"}}, "classes": [
	  {"name": "etl", "vms_per_job": "1", "deadline_s": 3600, "due_s": 36000, "jobs": {"min": 0, "max": 0}, "penalty": "50"}]},
	 "before": {"waiting": [{"class": "etl", "arrived": "2026-03-02T05:00:00Z", "jobs": 2}],
	            "running": [{"class": "etl", "arrived": "2026-03-02T07:00:00Z", "start": "2026-03-02T07:00:00Z", "run_s": 7200, "jobs": 2, "map_slots": 0, "reduce_slots": 0}],
	            "leases": [{"class": "etl", "hour": "2026-03-02T06:00:00Z", "started": 3, "running": 2, "waiting": 2, "missed": 0}]},
	 "periods": [{"start": "2026-03-02T08:00:00Z", "hours": 12, "arrivals": [0]}]}`))
	check := func(want string) {
		t.Helper()
		a, err := timetable.Plan(t.Context(), q, nil)
		if err != nil {
			t.Fatal(err)
		}
		said := ""
		for _, f := range timetables.Check(q, a) {
			said += f.Detail
		}
		if want == "" && said != "" || !strings.Contains(said, want) {
			t.Errorf("got %q, want %q", said, want)
		}
	}
	check("")
	q.Before.Running[0].Jobs = 1
	check(`Before it, 1 executions of "etl" more run by leases than by the question.`)
	q.Before.Running[0].Jobs = 2
	q.Before.Waiting[0].Arrived = hourOf(7)
	check(`Before it, 2 executions of "etl" ask and wait by 2026-03-02T06:00:00Z that are not among those that wait.`)
}
