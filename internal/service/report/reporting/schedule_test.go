package reporting

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/core/fault"
)

// walked returns every moment of a schedule between two others. It reads a zone's clocks each quarter of an hour, and
// finds the first moment at which they show a day's hour or later. It uses nothing but the clocks.
func walked(s ReportSchedule, from, until time.Time, zone *time.Location) (moments []time.Time) {
	days := map[string]bool{} // whose moment has come, or of which a part was seen
	seen := map[string]bool{}
	var waiting []string // days whose hour is still to come, in order
	for at := from.Add(-72 * time.Hour); at.Before(until); at = at.Add(15 * time.Minute) {
		clock := at.In(zone)
		day := clock.Format("2006-01-02")
		if !seen[day] {
			seen[day] = true
			switch {
			case s.Every == EveryWeek && clock.Weekday() != time.Monday, s.Every == EveryMonth && clock.Day() != 1:
			default:
				waiting = append(waiting, day)
			}
		}
		for len(waiting) > 0 && !days[waiting[0]] && (waiting[0] < day || waiting[0] == day && int64(clock.Hour()) >= s.Hour) {
			days[waiting[0]] = true
			waiting = waiting[1:]
			if !at.Before(from) {
				moments = append(moments, at.UTC())
			}
		}
	}
	return moments
}

func TestScheduleFollowsTheClocksOfItsZone(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{
		"UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Asia/Kathmandu", "Australia/Lord_Howe", // half an hour of summer
		"America/Nuuk",                                                                                                                                                          // its clocks go from 23:00 to midnight
		"America/Havana", "America/Sao_Paulo", "Asia/Beirut", "Africa/Casablanca", "Pacific/Apia", "Pacific/Chatham", "America/St_Johns", "Atlantic/Azores", "Antarctica/Troll", // two hours of summer
	} {
		location, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		from, until := time.Date(2023, 12, 20, 0, 0, 0, 0, time.UTC), time.Date(2025, 1, 20, 0, 0, 0, 0, time.UTC)
		switch zone {
		case "Pacific/Apia": // which has left out 30 December 2011, a Friday
			from, until = time.Date(2011, 11, 1, 0, 0, 0, 0, time.UTC), time.Date(2012, 6, 1, 0, 0, 0, 0, time.UTC)
		case "America/Sao_Paulo": // which had summer time until 2019, from midnight
			from, until = time.Date(2017, 9, 1, 0, 0, 0, 0, time.UTC), time.Date(2019, 3, 1, 0, 0, 0, 0, time.UTC)
		}
		n := 0
		for _, every := range []Every{EveryDay, EveryWeek, EveryMonth} {
			for _, hour := range []int64{0, 1, 2, 3, 6, 12, 22, 23} {
				s := ReportSchedule{Every: every, Hour: hour}
				want := walked(s, from, until, location)
				last := from.Add(-time.Second)
				for i, at := range want {
					next := s.Next(last, location)
					if !next.Equal(at) {
						t.Fatalf("%s, every %s at %d: after %s comes %s, the clocks say %s", zone, every, hour, last.In(location), next.In(location), at.In(location))
					}
					if got := s.Last(next, location); !got.Equal(next) {
						t.Fatalf("%s, every %s at %d: the last moment until %s is %s", zone, every, hour, next, got)
					}
					if got := s.Last(next.Add(-time.Nanosecond), location); i > 0 && !got.Equal(last) {
						t.Fatalf("%s, every %s at %d: the last moment before %s is %s, not %s", zone, every, hour, next, got, last)
					}
					last, n = next, n+1
				}
				if next := s.Next(last, location); next.Before(until) {
					t.Fatalf("%s, every %s at %d: %s is one too many", zone, every, hour, next)
				}
			}
		}
		t.Logf("%s: %d moments", zone, n)
	}
}

// Reports of a schedule follow each other without a gap or an hour twice, ahead and behind, in every zone.
func TestSpansOfAScheduleFollowEachOther(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"UTC", "Europe/Berlin", "Asia/Kolkata", "America/Nuuk", "Australia/Lord_Howe", "America/New_York"} {
		location, _ := time.LoadLocation(zone)
		for _, every := range []Every{EveryDay, EveryWeek, EveryMonth} {
			for hour := range int64(24) {
				s := ReportSchedule{Every: every, Hour: hour, Covers: CoversAhead}
				past := s
				past.Covers = CoversBehind
				at := s.Next(time.Date(2024, 2, 10, 0, 0, 0, 0, time.UTC), location)
				_, end := past.Span(at, location)
				hours := 0.0
				for range 60 {
					from, until := s.Span(at, location)
					next := s.Next(at, location)
					before, then := past.Span(next, location)
					if !from.Equal(end) || !before.Equal(from) || !then.Equal(until) || !until.After(from) || from.Truncate(time.Hour) != from {
						t.Fatalf("%s, every %s at %d: from %s until %s after %s, and behind from %s until %s", zone, every, hour, from, until, end, before, then)
					}
					if d := at.Sub(from); d < 0 || d >= time.Hour {
						t.Fatalf("%s, every %s at %d: the report of %s begins %s", zone, every, hour, at, from)
					}
					hours += until.Sub(from).Hours()
					at, end = next, until
				}
				if every == EveryDay && (hours < 59*24 || hours > 61*24) {
					t.Fatalf("%s: 60 days have %v hours", zone, hours)
				}
			}
		}
	}
}

func TestReportsAroundAMoment(t *testing.T) {
	t.Parallel()
	berlin, _ := time.LoadLocation("Europe/Berlin")
	for _, c := range []struct {
		every       Every
		covers      Covers
		at          string
		from, until string
	}{
		{EveryDay, CoversAhead, "2024-03-30T09:17:05Z", "2024-03-30T09:00:00Z", "2024-03-31T08:00:00Z"},
		{EveryDay, CoversAhead, "2024-03-30T01:30:00Z", "2024-03-30T01:00:00Z", "2024-03-31T01:00:00Z"}, // 2:00 does not come: 3:00
		{EveryDay, CoversBehind, "2024-10-27T12:00:00Z", "2024-10-26T11:00:00Z", "2024-10-27T12:00:00Z"},
		{EveryWeek, CoversBehind, "2024-05-01T12:59:59Z", "2024-04-24T12:00:00Z", "2024-05-01T12:00:00Z"},
		{EveryMonth, CoversAhead, "2024-01-31T11:00:00Z", "2024-01-31T11:00:00Z", "2024-02-29T11:00:00Z"},
		{EveryMonth, CoversBehind, "2024-03-31T10:00:00Z", "2024-02-29T11:00:00Z", "2024-03-31T10:00:00Z"},
		{EveryMonth, CoversAhead, "2024-12-15T00:00:00Z", "2024-12-15T00:00:00Z", "2025-01-15T00:00:00Z"},
	} {
		at, _ := time.Parse(time.RFC3339, c.at)
		from, until := around(c.every, c.covers, at, berlin)
		if got, want := from.Format(time.RFC3339)+" "+until.Format(time.RFC3339), c.from+" "+c.until; got != want {
			t.Errorf("a %s %s of %s is %s, want %s", c.every, c.covers, c.at, got, want)
		}
	}
}

func TestReportScheduleFaults(t *testing.T) {
	t.Parallel()
	good := ReportSchedule{Name: "n", Every: EveryWeek, Covers: CoversBehind, Format: ReportCSV, Keep: 3}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(*ReportSchedule){
		"/name":   func(s *ReportSchedule) { s.Name = "a\nb" },
		"/format": func(s *ReportSchedule) { s.Format = ReportFocus },
	} {
		s := good
		change(&s)
		if err := s.Validate(); err == nil || !strings.Contains(fmt.Sprintf("%+v", err.(*fault.InputError).Findings), what) {
			t.Errorf("%s: got %v", what, err)
		}
	}
}

// For any name of a schedule, its file's name is accepted by headers, shells and file systems.
func TestNamesOfReportFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"month ahead", "../../etc/passwd", "a\"; rm -rf /; \"", "=HYPERLINK(1)", "CON", "报告", "\u202egpj.exe", strings.Repeat("x y", 100), "-", "%2e%2e%2f", "a\\b:c*d?e", "🙂🙂"} {
		r := Report{Schedule: &name, Every: EveryMonth, Covers: CoversAhead, Format: ReportXLSX, At: time.Date(2026, 3, 1, 5, 0, 0, 0, time.UTC)}
		got := r.fileName("shop")
		if !strings.HasPrefix(got, "shop-") || !strings.HasSuffix(got, "-month-ahead-2026-03-01T0500Z.xlsx") || len(got) > 130 ||
			strings.Trim(got, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.") != "" || strings.Contains(got, "..") {
			t.Errorf("%q becomes %q", name, got)
		}
	}
}
