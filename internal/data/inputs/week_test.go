package inputs

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
)

// zones cover all ways of changing clocks: by an hour or half of one, in both halves of the year, at midnight or a
// minute past, and over a whole day. They include a month of fasting and zones without changes.
var zones = []string{"UTC", "Europe/Berlin", "Europe/London", "America/New_York", "America/St_Johns", "America/Goose_Bay", "Asia/Kolkata", "Asia/Kathmandu", "Asia/Beirut",
	"Australia/Sydney", "Australia/Lord_Howe", "Pacific/Chatham", "Pacific/Apia", "Africa/Casablanca", "Africa/Cairo", "America/Sao_Paulo", "Asia/Tehran", "Pacific/Kiritimati"}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func somewhat(t *testing.T, random *rand.Rand) (w Week) {
	t.Helper()
	for i := range w {
		w[i] = float64(random.IntN(1000))
	}
	return w
}

// The rows of a week agree with a walk through the minutes: each minute is in an hour of the week on clocks, and an
// hour of UTC has their mean.
func TestWeeksFollowTheClocks(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(20260329, 6))
	for _, name := range zones {
		in := zone(t, name)
		for _, year := range []int{2010, 2011, 2026} { // in 2011 Samoa left a day out, and Goose Bay changed at 0:01
			from := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
			f := WeeklyForecast{Class: "etl", From: from, Until: from.AddDate(1, 0, 0), Week: somewhat(t, random)}
			got, err := f.Series(in)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Rows) != 8760 {
				t.Fatalf("%s %d: %d rows", name, year, len(got.Rows))
			}
			for i, row := range got.Rows {
				hour := from.Add(time.Duration(i) * time.Hour)
				sum := 0.0
				step := 15 * time.Minute
				if name == "America/Goose_Bay" || name == "America/St_Johns" { // all others change clocks on a quarter of an hour
					step = time.Minute
				}
				for m := time.Duration(0); m < time.Hour; m += step {
					local := hour.Add(m).In(in)
					day := map[string]int{"Monday": 0, "Tuesday": 1, "Wednesday": 2, "Thursday": 3, "Friday": 4, "Saturday": 5, "Sunday": 6}[local.Weekday().String()]
					sum += f.Week[day*24+local.Hour()]
				}
				if want := sum / float64(time.Hour/step); !TimeOf(row.Hour).Equal(hour) || math.Abs(row.Jobs-want) > 1e-9 {
					t.Fatalf("%s, %s: got %s %v, want %v", name, hour, TimeOf(row.Hour), row.Jobs, want)
				}
			}
		}
	}
}

func TestGrowthIsSmooth(t *testing.T) {
	t.Parallel()
	from := moment("2026-01-01T00:00:00Z")
	f := WeeklyForecast{Class: "etl", From: from, Until: from.Add((2*HoursPerYear + 1) * time.Hour), GrowthPerYear: 0.2}
	for i := range f.Week {
		f.Week[i] = 10
	}
	got, err := f.Series(time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	// By repeated multiplication instead of powers.
	factor, want := math.Pow(1.2, 1.0/8760), 10.0
	for i, row := range got.Rows {
		if math.Abs(row.Jobs-want) > 1e-8 {
			t.Fatalf("hour %d: got %v, want %v", i, row.Jobs, want)
		}
		want *= factor
	}
	if last := got.Rows[2*HoursPerYear].Jobs; math.Abs(last-14.4) > 1e-9 {
		t.Errorf("after two years: %v, want 14.4", last)
	}
	f.GrowthPerYear, f.GrowthPerMonth = 0, math.Pow(1.2, 1.0/12)-1
	monthly, err := f.Series(time.UTC)
	if err != nil || math.Abs(monthly.Rows[HoursPerYear].Jobs-12) > 1e-9 {
		t.Errorf("twelve months: %v, %v, want 12", monthly.Rows[HoursPerYear].Jobs, err)
	}
	f.GrowthPerMonth = maxGrowth
	if _, err := f.Series(time.UTC); err == nil || !strings.Contains(err.Error(), "grow less") || !strings.HasPrefix(err.Error(), "/growth_per_month") {
		t.Errorf("too much growth: %v", err)
	}
}

// The mean week of rows made from a week is that week, if local hours are whole.
func TestTheMeanWeekIsTheWeek(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"UTC", "Europe/Berlin", "Pacific/Apia"} {
		f := WeeklyForecast{Class: "etl", From: moment("2026-01-01T00:00:00Z"), Until: moment("2027-01-01T00:00:00Z"), Week: somewhat(t, random)}
		series, err := f.Series(zone(t, name))
		if err != nil {
			t.Fatal(err)
		}
		var mean WeekOf
		for _, row := range series.Rows {
			mean.Add(Forecast{Class: "etl", Hour: TimeOf(row.Hour), Jobs: row.Jobs}, zone(t, name))
		}
		got := mean.Week()
		for i := range got {
			if math.Abs(got[i]-f.Week[i]) > 1e-9 {
				t.Fatalf("%s: hour %d of the week: got %v, want %v", name, i, got[i], f.Week[i])
			}
		}
	}
	var empty WeekOf
	if days := empty.Week().Days(); days.Sun[23] != nil {
		t.Errorf("a week of nothing: %v", *days.Sun[23])
	}
}

func TestParseWeek(t *testing.T) {
	t.Parallel()
	line := "1" + strings.Repeat(",1", 23)
	named := "day,0,1\n"
	for _, day := range weekdays {
		named += day + "," + line + "\r\n"
	}
	for _, c := range []struct {
		text string
		hour int // of the week
		want float64
	}{
		{"mon-fri 8-18: 40; else 5", 8, 40}, {"mon-fri 8-18: 40; else 5", 7, 5}, {"mon-fri 8-18: 40; else 5", 18, 5}, {"mon-fri 8-18: 40; else 5", 5*24 + 9, 5},
		{"else: 2.5", 167, 2.5}, {"ELSE 7", 0, 7}, {"22: 9; else 0", 22, 9}, {"22: 9; else 0", 23, 0}, {"sat-mon: 3\nelse 1", 0, 3}, {"sat-mon: 3\nelse 1", 24, 1},
		{"Tue,thu 0-24: 1e1; else 0;", 3*24 + 23, 10}, {"sunday 3: 8; sun: 4; else 0", 6*24 + 3, 8}, {"sunday 3: 8; sun: 4; else 0", 6*24 + 4, 4},
		{named, 100, 1}, {"\ufeff" + strings.Repeat(line+"\n", 7), 167, 1}, {strings.Repeat("3\n", 168), 5, 3},
	} {
		if w, err := ParseWeek(c.text); err != nil || w[c.hour] != c.want {
			t.Errorf("%q: hour %d is %v (%v), want %v", c.text, c.hour, w[c.hour], err, c.want)
		}
	}
	for text, want := range map[string]string{
		"mon-fri 8-18: 40":              "no rule is for mon 0:00; end with one such as \"else 5\"",
		"mon 22-6: 1; else 0":           "write two rules, 22-24 and 0-6",
		"montag 8: 1; else 0":           "\"montag\" is no day",
		"mon 8-25: 1; else 0":           "are no hours",
		"mon 8-18 40; else: 5":          "has no colon",
		"mon 8-18 40; else 5":           "has no colon",
		"else 5; mon 8-18: 40":          "the rule \"mon 8-18: 40\" never counts, because those before it are for all of its hours",
		"mon: -1; else 0":               "out of range",
		"mon: NaN; else 0":              "is no number",
		"mon: 1e309; else 0":            "out of range",
		"mon: ; else 0":                 "a number is missing",
		"1,2,3":                         "the week has 3 numbers; it has 168",
		"":                              "the week has 0 numbers",
		strings.Repeat("1\n", 9):        "the week has 9 numbers",
		strings.Repeat(line+"\n", 8):    "more than 168",
		"mon," + line + "\nwed," + line: "line 2 is wed; the days are mon, tue",
		strings.Replace(named, "tue,1,1", "tue,1,,1", 1):  "a number is missing",
		strings.Replace(named, "tue,1,1", "tue,1,\"x", 1): "",
	} {
		if _, err := ParseWeek(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: got %v, want %q", text, err, want)
		}
	}
}

func TestReadWeekly(t *testing.T) {
	t.Parallel()
	week := "[" + strings.Repeat("1,", 167) + "1]"
	days := "{"
	for i, day := range weekdays {
		days += strings.Repeat(",", min(i, 1)) + `"` + day + `":[` + strings.Repeat("2,", 23) + "2]"
	}
	days += "}"
	body := func(week, rest string) string {
		return `{"class":"etl","from":"2026-01-01T00:00:00Z","until":"2026-02-01T00:00:00+01:00","week":` + week + rest + `}`
	}
	for text, want := range map[string]float64{week: 1, days: 2, `"mon: 3; else 4"`: 4} {
		if w, err := ReadWeekly([]byte(body(text, `,"growth_per_year":-0.5,"dry_run":true`))); err != nil || w.Week[167] != want || !w.DryRun || w.GrowthPerYear != -0.5 {
			t.Errorf("%.30s: got %v, %v", text, w.Week[167], err)
		}
	}
	for text, want := range map[string]string{
		body("[1,2]", ""):   "/week: Here are 2 numbers; a week has 168",
		body(`{}`, ""):      "/week/mon: The member \"mon\" is missing",
		body(`"mon 8"`, ""): "/week: Line 1: \"mon 8\" is no number",
		body(strings.Replace(days, "[2", "[-2", 1), ""):                                             "/week/mon/0: -2 jobs are out of range",
		body(strings.Replace(days, "[2", "[null", 1), ""):                                           "/week/mon/0: Here a number is needed, not null",
		body(strings.Replace(week, "1", "1e400", 1), ""):                                            "/week/0: 1e400 is too large",
		body(week, `,"growth_per_year":-1`):                                                         "/growth_per_year: The growth is -1",
		body(week, `,"growth_per_year":0.1,"growth_per_month":0.1`):                                 "/growth_per_month: Give growth_per_year or growth_per_month",
		strings.Replace(body(week, ""), "2026-02-01", "2025-02-01", 1):                              "/until: The forecast ends at",
		strings.Replace(body(week, ""), "2026-02-01", "2099-02-01", 1):                              "/until: From 2026",
		strings.Replace(body(week, ""), "01-01T00:00", "01-01T00:30", 1):                            "/from: 2026-01-01T00:30:00Z is not a whole hour",
		strings.Replace(body(week, ""), "2026-01-01T00:00:00Z", "1", 1):                             "/from: \"1\" is no time",
		body(week, `,"grow":1`):                                                                     "/grow: A weekly forecast has no member",
		`{"class":"","from":"2026-01-01T00:00:00Z","until":"2026-02-01T00:00:00Z","week":"else 1"}`: "/class: The class is empty",
	} {
		if _, err := ReadWeekly([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.150s: got %v, want %q", text, err, want)
		}
	}
}

func FuzzReadWeekly(f *testing.F) {
	f.Add([]byte(`{"class":"etl","from":"2026-01-01T00:00:00Z","until":"2026-02-01T00:00:00Z","week":"mon-fri 8-18: 40; else 5","growth_per_year":0.2}`))
	f.Add([]byte(`{"class":"a","from":"2026-01-01T00:00:00Z","until":"2026-01-02T00:00:00Z","week":[1,2,3]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		w, err := ReadWeekly(text)
		if input := (*fault.InputError)(nil); err != nil {
			if !errors.As(err, &input) || len(input.Findings) == 0 {
				t.Fatalf("%v", err)
			}
			return
		}
		series, err := w.Series(time.UTC)
		if err == nil && len(series.Rows) != int(w.Until.Sub(w.From)/time.Hour) {
			t.Fatalf("%d rows", len(series.Rows))
		}
		for _, row := range series.Rows {
			if !(row.Jobs >= 0 && row.Jobs <= capacity.MaxJobs) {
				t.Fatalf("%v", row)
			}
		}
	})
}

// readCSV reads a file about the classes etl (a deadline of 1800 s), report (none) and a,b.
func readCSV(in string, zone *time.Location, holes Holes) ([]Series, error) {
	classes := []PlannedClass{{Name: "etl", DeadlineSeconds: 1800}, {Name: "report"}, {Name: "a,b"}, {Name: "=x"}}
	return ForecastFile{Classes: classes, Zone: zone, Holes: holes}.Read(bytes.NewReader([]byte(in)))
}

// rowsOf returns rows as text.
func rowsOf(series []Series) string {
	var b strings.Builder
	for _, s := range series {
		for _, row := range s.Rows {
			arrive := ""
			if row.Arrives {
				arrive = " arrive"
			}
			fmt.Fprintf(&b, "%s %s %v%s\n", s.Class, TimeOf(row.Hour).Format("01-02T15"), row.Jobs, arrive)
		}
		for _, span := range s.Clear {
			fmt.Fprintf(&b, "%s %s-%s none\n", s.Class, TimeOf(span.From).Format("01-02T15"), TimeOf(span.Until).Format("01-02T15"))
		}
	}
	return b.String()
}
