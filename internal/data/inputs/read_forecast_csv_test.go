package inputs

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
)

func TestForecastFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ zone, text, want string }{
		"long":            {"UTC", "class,hour,jobs\netl,2026-03-01T22:00:00Z,12\nreport,2026-03-01T22:00:00Z,0.5\n", "etl 03-01T22 12\nreport 03-01T22 0.5\n"},
		"wide":            {"UTC", "hour,etl,report\n2026-03-01T22:00:00Z,12,\n2026-03-01T23:00:00Z,13,4\n", "etl 03-01T22 12\netl 03-01T23 13\nreport 03-01T23 4\n"},
		"arrivals":        {"UTC", "class,hour,arrivals_per_hour\netl,2026-03-01T22:00:00Z,12\n", "etl 03-01T22 12 arrive\n"},
		"both columns":    {"UTC", "hour,class,jobs,arrivals_per_hour\n2026-03-01T22:00:00Z,etl,,12\n2026-03-01T22:00:00Z,report,3,\n", "etl 03-01T22 12 arrive\nreport 03-01T22 3\n"},
		"as Excel writes": {"UTC", "\ufeffClass,Hour,Jobs\r\n\"a,b\",2026-03-01 22:00,1\r\n\r\n,,\r\n", "a,b 03-01T22 1\n"},
		"out of order":    {"UTC", "class,hour,jobs\netl,2026-03-01T23:00Z,2\netl,2026-03-01T22:00Z,1\n", "etl 03-01T22 1\netl 03-01T23 2\n"},
		"offsets":         {"America/New_York", "class,hour,jobs\netl,2026-03-01T23:00:00+01:00,2\netl,2026-03-01t23:00:00z,1\n", "etl 03-01T22 2\netl 03-01T23 1\n"},
		"local":           {"Europe/Berlin", "class,hour,jobs\netl,2026-07-01 00:00,2\netl,2026-07-01T01:00:00,1\n", "etl 06-30T22 2\netl 06-30T23 1\n"},
		"a date":          {"Europe/Berlin", "hour,etl\n2026-03-02,2\n", "etl 03-01T23 2\n"},
		"a formula":       {"UTC", "class,hour,jobs\n'=x,2026-03-01T22:00Z,2\n=x,2026-03-01T23:00Z,2\n", "=x 03-01T22 2\n=x 03-01T23 2\n"},
		"spring":          {"Europe/Berlin", "hour,etl\n2026-03-29 01:00,1\n2026-03-29 03:00,3\n", "etl 03-29T00 1\netl 03-29T01 3\n"},
		"autumn":          {"Europe/Berlin", "hour,etl,report\n2026-10-25 01:00,1,\n2026-10-25 02:00,2,7\n2026-10-25 02:00,3,8\n2026-10-25 03:00,4,\n", "etl 10-24T23 1\netl 10-25T00 2\netl 10-25T01 3\netl 10-25T02 4\nreport 10-25T00 7\nreport 10-25T01 8\n"},
		"autumn, said":    {"Europe/Berlin", "hour,etl\n2026-10-25T02:00:00+01:00,3\n2026-10-25T02:00:00+02:00,2\n", "etl 10-25T00 2\netl 10-25T01 3\n"},
		"half an hour":    {"Asia/Kolkata", "hour,etl\n2026-10-25 05:30,3\n", "etl 10-25T00 3\n"},
		"minus nothing":   {"UTC", "class,hour,jobs\netl,2026-03-01T22:00:00Z,-0\n", "etl 03-01T22 0\n"},
	} {
		series, err := readCSV(c.text, zone(t, c.zone), HolesRefuse)
		if got := rowsOf(series); err != nil || got != c.want {
			t.Errorf("%s: got %s (%v), want %s", name, got, err, c.want)
		}
	}
}

func TestForecastFilesThatAreRefused(t *testing.T) {
	t.Parallel()
	const long = "class,hour,jobs\n"
	for name, c := range map[string]struct{ text, want string }{
		"nothing":            {"", "line 1, column 1: There is no row"},
		"no row":             {long, "line 1, column 1: There is no row"},
		"semicolons":         {"class;hour;jobs\netl;2026-03-01T22:00:00Z;1,5\n", "separated by semicolons"},
		"tabs":               {"class\thour\tjobs\n", "separated by tabs"},
		"UTF-16":             {"\xff\xfec\x00l\x00", "save it as CSV in UTF-8"},
		"a workbook":         {"PK\x03\x04\x14\x00", "a workbook, not CSV"},
		"no hour":            {"class,jobs\netl,1\n", "There is no column \"hour\""},
		"no number":          {"class,hour\netl,2026-03-01T22:00:00Z\n", "There is no column \"jobs\""},
		"another column":     {"class,hour,job\n", "line 1, column 12: There is no column \"job\" beside \"class\"; the others are hour, jobs and arrivals_per_hour. Did you mean \"jobs\"?"},
		"two columns":        {"class,hour,jobs,jobs\n", "two columns \"jobs\""},
		"a class twice":      {"hour,etl,etl\n", "line 1, column 10: There are two columns of the class \"etl\""},
		"unknown class":      {long + "elt,2026-03-01T22:00:00Z,1\n", "line 2, column 1: There is no class \"elt\". Did you mean \"etl\"?"},
		"unknown, wide":      {"hour,reprot\n2026-03-01T22:00:00Z,1\n", "line 1, column 6: There is no class \"reprot\". Did you mean \"report\"?"},
		"no class":           {long + ",2026-03-01T22:00:00Z,1\n", "line 2, column 1: The class is not named here"},
		"no deadline":        {"class,hour,arrivals_per_hour\nreport,2026-03-01T22:00:00Z,1\n", "line 2, column 29: The class \"report\" has no deadline"},
		"half an hour":       {long + "etl,2026-03-01T22:30:00Z,1\n", "line 2, column 5: 2026-03-01T22:30:00Z is 22:30:00 in UTC; a forecast is for a whole hour of UTC. The hour it lies in began at 2026-03-01T22:00:00Z."},
		"half an hour there": {long + "etl,2026-03-01T22:30:00+01:00,1\n", "The hour it lies in began at 2026-03-01T22:00:00+01:00, which is 2026-03-01T21:00:00Z."},
		"no time":            {long + "etl,01.03.2026 22:00,1\n", "line 2, column 5: \"01.03.2026 22:00\" is no time; write it like 2026-03-01T22:00:00Z, or like 2026-03-01 22:00 as clocks in Europe/Berlin show it"},
		"24 o'clock":         {long + "etl,2026-03-01 24:00,1\n", "is no time"},
		"long ago":           {long + "etl,1066-03-01 22:00,1\n", "The year is 1066"},
		"skipped":            {long + "etl,2026-03-29 02:00,1\n", "2026-03-29 02:00 never comes in Europe/Berlin: its clocks go from 2026-03-29 02:00 to 2026-03-29 03:00. Leave the row out"},
		"twice, there once": {long + "etl,2026-10-25 01:00,1\netl,2026-10-25 02:00,1\netl,2026-10-25 03:00,1\n",
			"line 3, column 5: Clocks in Europe/Berlin show 2026-10-25 02:00 twice, and the class \"etl\" has it once. Write 2026-10-25T02:00:00+02:00 or 2026-10-25T02:00:00+01:00, or give both"},
		"twice, backwards":  {long + "etl,2026-10-25 03:00,1\netl,2026-10-25 02:00,1\netl,2026-10-25 02:00,1\n", "those of \"etl\" do not at line 3"},
		"three times":       {long + strings.Repeat("etl,2026-10-25 02:00,1\n", 3), "has it once"},
		"doubled":           {long + "etl,2026-03-01T22:00:00Z,1\netl,2026-03-01T23:00:00Z,1\netl,2026-03-01T23:00:00+01:00,1\n", "line 4, column 1: The class \"etl\" has 2026-03-01T22:00:00Z in line 2 already"},
		"a hole":            {long + "etl,2026-03-01T20:00:00Z,1\netl,2026-03-01T23:00:00Z,1\n", "line 3, column 1: Before this row the class \"etl\" has none for 2 hours, from 2026-03-01T21:00:00Z until 2026-03-01T23:00:00Z. Add what is missing"},
		"negative":          {long + "etl,2026-03-01T22:00:00Z,-1\n", "line 2, column 26: The number of jobs is -1; it cannot be negative"},
		"NaN":               {long + "etl,2026-03-01T22:00:00Z,NaN\n", "is NaN; give a finite number"},
		"infinite":          {long + "etl,2026-03-01T22:00:00Z,-Infinity\n", "is -Infinity; give a finite number"},
		"1e309":             {long + "etl,2026-03-01T22:00:00Z,1e309\n", "is 1e309; it can be 1000000 at most"},
		"hexadecimal":       {long + "etl,2026-03-01T22:00:00Z,0x10\n", "\"0x10\" is no number"},
		"many":              {long + "etl,2026-03-01T22:00:00Z,1000001\n", "is 1000001; it can be 1000000 at most"},
		"many arrivals":     {"class,hour,arrivals_per_hour\netl,2026-03-01T22:00:00Z,3000000\n", "are 1500000 jobs at once with the deadline of 1800 s"},
		"thousands, or not": {long + "etl,2026-03-01T22:00:00Z,\"1,500\"\n", "\"1,500\" is no number. Write 1.5, or 1500 if the comma stands between thousands."},
		"a decimal comma":   {long + "etl,2026-03-01T22:00:00Z,\"1,5\"\n", "\"1,5\" is no number. Write 1.5."},
		"a comma more":      {long + "etl,2026-03-01T22:00:00Z,1,5\n", "line 2, column 1: This row has 4 columns and the first one 3"},
		"empty":             {long + "etl,2026-03-01T22:00:00Z,\n", "line 2, column 26: The number is missing here"},
		"one of each":       {"class,hour,jobs,arrivals_per_hour\netl,2026-03-01T22:00:00Z,1,\netl,2026-03-01T22:00:00Z,,2\n", "line 3, column 1: The class \"etl\" has 2026-03-01T22:00:00Z in line 2 already, and one of the two tells arrivals"},
		"both":              {"class,hour,jobs,arrivals_per_hour\netl,2026-03-01T22:00:00Z,1,2\n", "has both jobs and arrivals_per_hour"},
		"a quotation mark":  {long + "etl,2026-03-01T22:00:00Z,\"1\netl,2026-03-01T23:00:00Z,1\n", "quotation marks do not fit"},
		"an inner one":      {long + "e\"tl,2026-03-01T22:00:00Z,1\n", "line 2, column 2: Here the quotation marks do not fit"},
	} {
		series, err := readCSV(c.text, zone(t, "Europe/Berlin"), HolesRefuse)
		if input := (*fault.InputError)(nil); !errors.As(err, &input) || !strings.Contains(err.Error(), c.want) || series != nil {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestEverythingWrongIsFoundAtOnce(t *testing.T) {
	t.Parallel()
	_, err := readCSV("class,hour,jobs\nelt,x,-1\netl,2026-03-01T22:00:00Z,1\netl,2026-03-01T22:00:00Z,x\netl,2026-03-01T22:30:00Z,1\n", time.UTC, HolesRefuse)
	input := (*fault.InputError)(nil)
	if !errors.As(err, &input) {
		t.Fatal(err)
	}
	var got []string
	for _, f := range input.Findings {
		got = append(got, fmt.Sprintf("%d:%d %s", f.Line, f.Column, f.Code))
	}
	if want := "[2:1 unknown_name 2:5 time 2:7 range 4:1 duplicate 4:26 type 5:5 not_whole]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, err = readCSV("hour,elt,etl,etl\n2026-03-01T22:00:00Z,x,-1,\n", time.UTC, HolesRefuse); !errors.As(err, &input) || len(input.Findings) != 4 {
		t.Errorf("a header with mistakes hides those below it: %v", err)
	}
	_, err = readCSV("class,hour,jobs\n"+strings.Repeat("a,b,c,d\n", 1000), time.UTC, HolesRefuse)
	if !errors.As(err, &input) || len(input.Findings) != fault.MaxFindings {
		t.Errorf("a thousand mistakes: %v", err)
	}
}

func TestHoles(t *testing.T) {
	t.Parallel()
	const text = "hour,etl,report\n2026-03-01T20:00:00Z,1,\n2026-03-01T21:00:00Z,,2\n2026-03-01T23:00:00Z,3,4\n"
	if series, err := readCSV(text, time.UTC, HolesOwn); err != nil || rowsOf(series) != "etl 03-01T20 1\netl 03-01T23 3\netl 03-01T21-03-01T23 none\nreport 03-01T21 2\nreport 03-01T23 4\nreport 03-01T22-03-01T23 none\n" {
		t.Errorf("own: %v, %v", rowsOf(series), err)
	}
	if series, err := readCSV(text, time.UTC, HolesKeep); err != nil || strings.Contains(rowsOf(series), "none") {
		t.Errorf("keep: %v, %v", rowsOf(series), err)
	}
	if _, err := readCSV(text, time.UTC, HolesRefuse); err == nil || strings.Count(err.Error(), "Before this row") != 2 {
		t.Errorf("refuse: %v", err)
	}
}

func TestWhatIsReadIsBounded(t *testing.T) {
	t.Parallel()
	endless := func(text string) io.Reader { return &repeated{text: text} }
	file := ForecastFile{Classes: []PlannedClass{{Name: "etl"}}, Zone: time.UTC, Holes: HolesKeep}
	for name, c := range map[string]struct {
		in   io.Reader
		want string
	}{
		"no end of a line":  {endless(strings.Repeat("x", 4096)), "more than 4 MiB"},
		"no end of a quote": {io.MultiReader(strings.NewReader("class,hour,jobs\netl,2026-03-01T22:00:00Z,1\n\""), endless(strings.Repeat("x\n", 2048))), "line 3, column 1: A row that begins here"},
		"no end of rows":    {io.MultiReader(strings.NewReader("hour,etl\n"), endless(strings.Repeat("2026-03-01T22:00:00Z,1\n", 200))), "more than 1000000 forecasts"},
	} {
		if _, err := file.Read(c.in); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	broken := errors.New("broken")
	if _, err := file.Read(io.MultiReader(strings.NewReader("hour,etl\n"), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("a broken connection: %v", err)
	}
}

// repeated reads a text again and again.
type repeated struct {
	text string
	at   int
}

func (r *repeated) Read(into []byte) (n int, _ error) {
	for n < len(into) {
		copied := copy(into[n:], r.text[r.at:])
		n, r.at = n+copied, (r.at+copied)%len(r.text)
	}
	return n, nil
}

// Local times, written hour by hour of UTC through years of clock changes, are read as the same hours.
func TestLocalTimesAreReadBack(t *testing.T) {
	t.Parallel()
	for _, name := range zones {
		in := zone(t, name)
		for _, from := range []time.Time{time.Date(2010, 12, 30, 0, 0, 0, 0, time.UTC), time.Date(2025, 12, 30, 0, 0, 0, 0, time.UTC)} {
			const hours = 8760 + 100
			var text strings.Builder
			text.WriteString("hour,etl\n")
			for i := range hours {
				fmt.Fprintf(&text, "%s,%d\n", from.Add(time.Duration(i)*time.Hour).In(in).Format("2006-01-02 15:04"), i)
			}
			series, err := readCSV(text.String(), in, HolesRefuse)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			for i, row := range series[0].Rows {
				if !TimeOf(row.Hour).Equal(from.Add(time.Duration(i)*time.Hour)) || row.Jobs != float64(i) {
					t.Fatalf("%s: row %d is %s %v", name, i, TimeOf(row.Hour), row.Jobs)
				}
			}
		}
	}
}

func FuzzForecastFile(f *testing.F) {
	f.Add("class,hour,jobs\netl,2026-03-01T22:00:00Z,12\n", "UTC", "refuse")
	f.Add("hour,etl,report\n2026-10-25 02:00,12,\n2026-10-25 02:00,\"1\",1\n", "Europe/Berlin", "own")
	f.Add("class,hour,arrivals_per_hour\r\netl,2026-03-29 01:30,1e3\r\n", "Australia/Lord_Howe", "keep")
	f.Fuzz(func(t *testing.T, text, name, holes string) {
		in, err := time.LoadLocation(name)
		if err != nil {
			t.Skip()
		}
		series, err := readCSV(text, in, Holes(holes))
		if input := (*fault.InputError)(nil); err != nil {
			if !errors.As(err, &input) || len(input.Findings) == 0 || len(input.Findings) > fault.MaxFindings {
				t.Fatalf("%v", err)
			}
			return
		}
		for _, s := range series {
			for i, row := range s.Rows {
				if !(row.Jobs >= 0 && row.Jobs <= capacity.MaxJobs) || i > 0 && row.Hour <= s.Rows[i-1].Hour {
					t.Fatalf("%s: row %d of %v", s.Class, i, s.Rows)
				}
			}
		}
	})
}
