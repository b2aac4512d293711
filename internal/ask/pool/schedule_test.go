package pool

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/data/inputs"
)

var noon = time.Date(2026, 6, 3, 12, 0, 0, 0, time.UTC)

// caseFacts returns the case study's pool: rounds of four hours from noon on, three of them.
func caseFacts() PoolFacts {
	p, given := caseStudy(3), 3.0
	s := DefaultPoolSettings()
	s.Hours, s.Rounds, s.FirstRoundAt, s.Types, s.Version = 4, 3, &noon, p.Types, 1
	s.Jobs = []PoolSource{{PoolJob: PoolJob{Name: "nightly", Work: 30, DeadlineHours: 3}, Submissions: &given}}
	s.Storage.Replication = 1
	f := PoolFacts{Settings: s, Samples: []StorageSample{{At: noon, DataGB: 4250}}}
	f.Outlook.Cluster = inputs.Cluster{Name: "c", Currency: "USD", TimeZone: "UTC"}
	f.Outlook.From, f.Outlook.Until = noon, noon.Add(12*time.Hour)
	return f
}

// scheduled plans facts at a moment, and demands that the schedule passes the independent check.
func scheduled(t *testing.T, f PoolFacts, at time.Time) (PoolBasis, PoolSchedule) {
	t.Helper()
	b, err := Basis(f, at)
	if err != nil {
		t.Fatal(err)
	}
	p, under := b.Problem, Under(f, b)
	if under != nil {
		p = After(p, *under)
	}
	c, err := Course(t.Context(), p, honest(t), func(int64, int64) {})
	if err != nil {
		t.Fatal(err)
	}
	s := Schedule(b, under, c)
	if wrong := append(RecheckCourse(p, c), RecheckSchedule(b, s)...); len(wrong) > 0 {
		t.Fatalf("%v\n%+v", wrong, s)
	}
	return b, s
}

func listing(s PoolSchedule) string {
	words := []string{}
	for _, x := range s.Steps {
		words = append(words, fmt.Sprintf("%s %+d %s", x.At.Format("15:04"), x.Count, x.Type))
	}
	return strings.Join(words, "|")
}

// The case study by its closed form. 90 hours of work by hour 3 need five machines of rate 4, which do 60, and six
// accelerators of rate 5 for an hour, which do 30. That costs $7.82 a round, as in the paper's table.
func TestAScheduleOfTheCaseStudy(t *testing.T) {
	f := caseFacts()
	began := noon.Add(-100 * time.Minute) // so that hours end at 20 past
	f.Machines = PoolMachines{SaidAt: &noon, Machines: []PoolMachine{{Type: "m1.large", As: AsCore, Count: 7, Since: &began}}}
	_, s := scheduled(t, f, noon)
	want := "12:00 +6 c1.medium|12:20 -2 m1.large|13:00 -6 c1.medium|16:00 +6 c1.medium|17:00 -6 c1.medium|20:00 +6 c1.medium|21:00 -6 c1.medium"
	if got := listing(s); got != want || s.Cost.String() != "23.46" || s.Status != PoolOptimal {
		t.Errorf("got %s, %s %s; want %s", got, s.Status, s.Cost, want)
	}

	// What is paid for longer stays longer, and what is needed again before is not given back.
	until := noon.Add(90 * time.Minute)
	f.Machines.Machines = []PoolMachine{{Type: "m1.large", As: AsCore, Count: 6, PaidUntil: &until}, {Type: "c1.medium", As: AsAccelerator, Count: 6, PaidUntil: &until}, {Type: "old", As: AsCore, Count: 1}}
	b, s := scheduled(t, f, noon)
	if w := b.Sources.Warnings; !slices.ContainsFunc(w, func(w capacity.Warning) bool { return w.Code == "unknown_type" && strings.Contains(w.Detail, `"old"`) }) {
		t.Errorf("nobody says that old is no type: %v", w)
	}
	want = "12:00 -1 old|13:30 -6 c1.medium|13:30 -1 m1.large|16:00 +6 c1.medium|17:00 -6 c1.medium|20:00 +6 c1.medium|21:00 -6 c1.medium"
	if got := listing(s); got != want {
		t.Errorf("got %s; want %s", got, want)
	}
}

// Machines rented in the middle of an hour are paid until the middle of one, also after the last round.
func TestMachinesThatAreRentedLateGoLater(t *testing.T) {
	f := caseFacts()
	f.Settings.Hours, f.Settings.Jobs[0].DeadlineHours = 1, 1
	f.Samples[0].DataGB = 0
	_, s := scheduled(t, f, noon.Add(30*time.Minute))
	if got := listing(s); got != "12:30 +18 c1.medium|15:30 -18 c1.medium" {
		t.Errorf("got %s", got)
	}
}

// The current round stays fixed, unless the settings have changed or the data does not fit.
func TestTheRoundUnderWayStands(t *testing.T) {
	f := caseFacts()
	_, first := scheduled(t, f, noon)
	f.Current, f.Number, f.Version = &first, 7, 1
	more := 6.0
	f.Settings.Jobs[0].Submissions = &more
	at := noon.Add(30 * time.Minute)
	if _, s := scheduled(t, f, at); s.Rounds[0].DecidedBy != 7 || !s.Rounds[0].Plan.Cost.Equal(first.Rounds[0].Plan.Cost.Decimal) || s.Rounds[1].Plan.Cost.Equal(first.Rounds[1].Plan.Cost.Decimal) {
		t.Errorf("got %+v", s.Rounds)
	}
	if _, s := scheduled(t, f, noon.Add(4*time.Hour)); s.Rounds[0].DecidedBy != 0 || !s.Rounds[0].From.Equal(noon.Add(4*time.Hour)) {
		t.Errorf("a round that begins: got %+v", s.Rounds)
	}
	if _, s := scheduled(t, f, noon.Add(5*time.Hour)); s.Rounds[0].DecidedBy != 7 || !s.Rounds[0].From.Equal(noon.Add(4*time.Hour)) || s.Rounds[2].DecidedBy != 0 {
		t.Errorf("one that began while nobody planned: got %+v", s.Rounds)
	}
	f.Samples = append(f.Samples, StorageSample{At: at, DataGB: 4300})
	if _, s := scheduled(t, f, at); s.Rounds[0].DecidedBy != 0 || s.Rounds[0].Plan.Mix.Core[0].Count < 6 {
		t.Errorf("got %+v", s.Rounds[0])
	}
	f.Samples = f.Samples[:1]
	f.Settings.Version = 2
	if _, s := scheduled(t, f, at); s.Rounds[0].DecidedBy != 0 || len(s.Warnings) != 1 || s.Warnings[0].Code != "under_way" {
		t.Errorf("got %+v", s.Rounds[0])
	}
}

// Before the first round running machines stay, and an impossible round leaves its machines.
func TestWhatStays(t *testing.T) {
	f := caseFacts()
	f.Machines.Machines = []PoolMachine{{Type: "m1.large", As: AsCore, Count: 9}}
	if _, s := scheduled(t, f, noon.Add(-2*time.Hour)); s.Targets[0].Count != 9 || !s.Steps[0].At.Equal(noon) {
		t.Errorf("got %+v", s)
	}
	highest := int64(5)
	f.Settings.Types[1].Most, f.Settings.Types[0].Most = &highest, &highest
	f.Samples = append(f.Samples, StorageSample{At: noon.Add(2 * time.Hour), DataGB: 4250})
	f.Settings.Jobs[0].Submissions = nil
	f.Outlook.Classes = []inputs.PlannedClass{{Name: "k"}}
	f.Outlook.Classes[0].DeadlineSeconds = 3600
	f.Settings.Jobs[0].Class = "k"
	f.Outlook.Series = []horizon.ForecastSeries{{Class: "k", Hours: []int64{int64(inputs.HourOf(noon)), int64(inputs.HourOf(noon)) + 5}, Jobs: []float64{2, 100}}}
	b, s := scheduled(t, f, noon)
	if got := b.Problem.Jobs[0].Submissions; got[0] != 2 || got[1] != 100 || got[2] != 0 {
		t.Errorf("got %v", got)
	}
	if x := b.Sources.Jobs[0].Hours; x[0].From != FromForecast || x[0].Hours != 2 || x[1].From != FromNowhere || x[1].Hours != 10 {
		t.Errorf("got %+v", x)
	}
	if s.Status != PoolInfeasible || s.Rounds[1].Plan.Status != PoolInfeasible || s.Targets[len(s.Targets)-1].Count != 5 {
		t.Errorf("got %+v", s)
	}
}

// An hour has the mean of its hour of the week, counted here one execution at a time.
func TestSubmissionsAreThoseOfHoursAlike(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	for _, hours := range []int{30, 168, 700} {
		f := caseFacts()
		f.Outlook.Cluster.TimeZone = zone.String()
		f.Settings.Jobs[0].Submissions = nil
		until := time.Date(2026, 3, 10, 5, 0, 0, 0, time.UTC) // a day after clocks went forward
		f.Recorded = RecordedHours{From: until.Add(-time.Duration(hours) * time.Hour), Until: until, Jobs: map[string]map[int32]int64{"nightly": {}}}
		moments := []time.Time{}
		for range 5 * hours {
			at := f.Recorded.From.Add(time.Duration(r.Int64N(int64(hours) * int64(time.Hour))))
			moments = append(moments, at)
			f.Recorded.Jobs["nightly"][inputs.HourOf(at)]++
		}
		b, err := Basis(f, noon)
		if err != nil {
			t.Fatal(err)
		}
		weeks := hours / 168
		for n, got := range b.Problem.Jobs[0].Submissions {
			want := 0.0
			for h := range 4 {
				at := noon.Add(time.Duration(4*n+h) * time.Hour).In(zone)
				if weeks == 0 {
					want += float64(len(moments)) / float64(hours)
					continue
				}
				since, alike, measured := until.Add(-time.Duration(weeks)*168*time.Hour), 0.0, 0.0
				for _, m := range moments {
					if l := m.In(zone); !m.Before(since) && l.Weekday() == at.Weekday() && l.Hour() == at.Hour() {
						alike++
					}
				}
				for x := since; x.Before(until); x = x.Add(time.Hour) {
					if l := x.In(zone); l.Weekday() == at.Weekday() && l.Hour() == at.Hour() {
						measured++
					}
				}
				want += alike / measured
			}
			if math.Abs(got-want) > 1e-9 {
				t.Errorf("%d hours, round %d: got %g, want %g", hours, n, got, want)
			}
		}
	}
}

func TestWhatNobodySaidIsNotInvented(t *testing.T) {
	f := caseFacts()
	f.Samples, f.Settings.Jobs[0].Submissions = nil, nil
	if _, err := Basis(f, noon); err == nil || !strings.Contains(err.Error(), "Nothing is known") {
		t.Errorf("got %v", err)
	}
	given := 1.0
	f.Settings.Jobs[0].Submissions = &given
	if b, err := Basis(f, noon); err != nil || b.Sources.Data.From != FromNowhere || len(b.Sources.Warnings) != 2 {
		t.Errorf("got %+v, %v", b.Sources, err)
	}
	f.Machines.Machines = []PoolMachine{{Type: "m1.large", As: AsCore, Count: 5}}
	if _, err := Basis(f, noon); err == nil || !strings.Contains(err.Error(), "given back safely") {
		t.Errorf("machines that may hold data: got %v", err)
	}
	// Shrinking data is planned as it is; data that jobs leave counts if nothing else is known.
	f.Samples = []StorageSample{{At: noon.Add(-10 * time.Hour), DataGB: 5000}, {At: noon, DataGB: 4000}}
	if b, err := Basis(f, noon); err != nil || b.Sources.Data.GBPerHour != -100 || b.Problem.IncomingGB[0] != 0 || b.Problem.Storage.DataGB != 4000 {
		t.Errorf("got %+v, %v", b, err)
	}
	f.Samples, f.Settings.Jobs[0].LeavesGB = f.Samples[1:], 7
	if b, err := Basis(f, noon); err != nil || b.Problem.IncomingGB[2] != 7 || b.Sources.Data.GrowthFrom != FromJobs {
		t.Errorf("got %+v, %v", b, err)
	}
}

// Steps of random pools, machines and moments keep enough machines running, and no more than are paid for. The check
// replays them.
func TestRandomSchedulesAddUp(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	cases := 25
	if wholeSamples {
		cases = 1000
	}
	for n := range cases {
		q, f := draw(r), caseFacts()
		f.Settings.Hours, f.Settings.Types, f.Settings.StartupHours, f.Settings.Jobs = q.Hours, q.Types, q.StartupHours, nil
		f.Settings.Rounds = int64(2 + r.IntN(3))
		for _, j := range q.Jobs {
			times := float64(r.IntN(3)) / 2
			f.Settings.Jobs = append(f.Settings.Jobs, PoolSource{PoolJob: j, Submissions: &times})
		}
		f.Samples = []StorageSample{{At: noon.Add(-10 * time.Hour), DataGB: q.Storage.DataGB / 2}, {At: noon, DataGB: q.Storage.DataGB}}
		at := noon.Add(time.Duration(r.IntN(600)-60) * time.Minute)
		for _, x := range append(q.Types, PoolType{Name: "gone"}) {
			for _, as := range []string{AsCore, AsAccelerator} {
				m := PoolMachine{Type: x.Name, As: as, Count: int64(r.IntN(4))}
				when := at.Add(time.Duration(r.IntN(300)-150) * time.Minute)
				switch {
				case r.IntN(3) == 0 && when.Before(at):
					m.Since = &when
				case r.IntN(3) == 0:
					m.PaidUntil = &when
				}
				f.Machines.Machines = append(f.Machines.Machines, m)
			}
		}
		_, s := scheduled(t, f, at)
		f.Current, f.Number, f.Version = &s, 1, 1
		_, again := scheduled(t, f, at.Add(time.Duration(r.IntN(600))*time.Minute))
		if n == 0 && len(again.Steps) == 0 {
			t.Error("nothing is tried here")
		}
		// A schedule with a missing step fails the check.
		if len(again.Steps) > 0 {
			again.Steps = again.Steps[1:]
			b, _ := Basis(f, again.From)
			b.At = again.From
			if wrong := RecheckSchedule(b, again); n == 0 && len(wrong) == 0 {
				t.Error("a missing step is not seen")
			}
		}
	}
}
