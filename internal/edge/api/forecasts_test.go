package api

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/service/clusters"
)

const (
	atForecasts = "/v1/clusters/night/forecasts"
	csvType     = "text/csv; charset=utf-8"
)

func (s *service) inputsVersion(cluster string) (version int64) {
	s.Helper()
	var c inputs.Cluster
	s.ask(s.admin, "GET", "/v1/clusters/"+cluster, nil).want(s, 200).into(s, &c)
	return c.InputsVersion
}

func (s *service) imports(t testing.TB, path, csv string, want string) {
	t.Helper()
	if got := strings.TrimSpace(string(s.ask(s.admin, "PUT", path, csv, "Content-Type", csvType).want(t, 200).text)); got != want {
		t.Errorf("PUT %s: got %s, want %s", path, got, want)
	}
}

// Who gives a class another number of jobs is told where a forecast says it for this hour, and only then.
func TestJobsBesideAForecast(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("night")
	s.ask(s.admin, "DELETE", atForecasts+"?class=nightly", nil).want(t, 200)
	const at = "/v1/clusters/night/classes/nightly"
	replace := func(member string, value any) inputs.PlannedClass {
		t.Helper()
		var c map[string]any
		now := s.ask(s.admin, "GET", at, nil).want(t, 200)
		now.into(t, &c)
		for _, computed := range []string{"version", "created_at", "updated_at", "warnings"} {
			delete(c, computed)
		}
		c[member] = value
		var replaced inputs.PlannedClass
		s.ask(s.admin, "PUT", at, c, "If-Match", now.Header.Get("ETag")).want(t, 200).into(t, &replaced)
		return replaced
	}
	said := func(c inputs.PlannedClass) bool {
		return slices.ContainsFunc(c.Warnings, func(w capacity.Warning) bool { return w.Code == "forecast_counts" && w.Pointer == "/jobs" })
	}
	if c := replace("jobs", map[string]any{"min": 1, "max": 3}); said(c) {
		t.Errorf("without a forecast: %+v", c.Warnings)
	}
	hour := time.Now().UTC().Truncate(time.Hour) // the test may meet the next one
	s.imports(t, atForecasts, fmt.Sprintf("class,hour,jobs\nnightly,%s,2\nnightly,%s,2\n", hour.Format(time.RFC3339), hour.Add(time.Hour).Format(time.RFC3339)),
		`{"written":2,"added":2,"changed":0,"deleted":0}`)
	if c := replace("penalty", "7.50"); said(c) {
		t.Errorf("with the same jobs: %+v", c.Warnings)
	}
	if c := replace("jobs", map[string]any{"min": 1, "max": 5}); !said(c) {
		t.Errorf("beside a forecast: %+v", c.Warnings)
	}
	// A document that is applied says it too.
	for most, told := range map[float64]int{5: 0, 6: 1} {
		now := s.ask(s.admin, "GET", "/v1/clusters/night/document", nil).want(t, 200)
		var doc map[string]any
		now.into(t, &doc)
		for _, c := range doc["classes"].([]any) {
			if class := c.(map[string]any); class["name"] == "nightly" {
				class["jobs"] = map[string]any{"min": 1, "max": most}
			}
		}
		var applied clusters.Applied
		s.ask(s.admin, "PUT", "/v1/clusters/night/document?dry_run=true", doc).want(t, 200).into(t, &applied)
		if len(applied.Warnings) != told || told > 0 && !strings.HasSuffix(applied.Warnings[0].Pointer, "/jobs") {
			t.Errorf("%g jobs: %+v", most, applied)
		}
	}
}

// A file is written once, as one change of the inputs; the same file again changes nothing.
func TestForecastFilesAreWrittenOnce(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("night")
	s.ask(s.admin, "DELETE", atForecasts+"?class=nightly", nil).want(t, 200)
	before := s.inputsVersion("night")
	const file = "class,hour,arrivals_per_hour,jobs\nnightly,2026-03-01T20:00:00Z,4,\nnightly,2026-03-01T21:00:00Z,8,\nad-hoc,2026-03-01T20:00:00Z,,1.5\n"
	s.imports(t, atForecasts+"?dry_run=true", file, `{"written":3,"added":3,"changed":0,"deleted":0,"from_arrivals":2,"dry_run":true}`)
	if rows := s.ask(s.admin, "GET", atForecasts+"?format=csv", nil).want(t, 200); string(rows.text) != "class,hour,jobs,arrivals_per_hour\n" || s.inputsVersion("night") != before {
		t.Errorf("a dry run wrote %s", rows.text)
	}
	s.imports(t, atForecasts, file, `{"written":3,"added":3,"changed":0,"deleted":0,"from_arrivals":2}`)
	s.imports(t, atForecasts, file, `{"written":3,"added":0,"changed":0,"deleted":0,"from_arrivals":2}`)
	if got := s.inputsVersion("night"); got != before+1 {
		t.Errorf("two writes of the same moved the version from %d to %d", before, got)
	}
	const want = "class,hour,jobs,arrivals_per_hour\nad-hoc,2026-03-01T20:00:00Z,1.5,\nnightly,2026-03-01T20:00:00Z,,4\nnightly,2026-03-01T21:00:00Z,,8\n"
	if rows := s.ask(s.admin, "GET", atForecasts+"?format=csv", nil).want(t, 200); string(rows.text) != want {
		t.Errorf("got %s, want %s", rows.text, want)
	}
	// A file with a fault in its last row writes none.
	p := s.ask(s.admin, "PUT", atForecasts, strings.ReplaceAll(file, "4", "5")+"nihgtly,2026-03-01T22:00:00Z,4,\nnightly,2026-03-01T22:30:00Z,4,\n", "Content-Type", csvType).want(t, 422).problem(t)
	if len(p.Errors) != 2 || p.Errors[0].Line != 5 || p.Errors[0].Column != 1 || !strings.Contains(p.Errors[0].Hint.Detail, `"nightly"`) || p.Errors[1].Line != 6 {
		t.Errorf("got %+v", p.Errors)
	}
	if got := s.inputsVersion("night"); got != before+1 {
		t.Errorf("a file with mistakes moved the version")
	}
	// Missing hours are a mistake, the class's own maximum, or the stored rows.
	const holes = "hour,nightly\n2026-03-01T19:00:00Z,1\n2026-03-01T22:00:00Z,2\n"
	if p := s.ask(s.admin, "PUT", atForecasts, holes, "Content-Type", csvType).want(t, 422).problem(t); p.Errors[0].Code != "hole" {
		t.Errorf("got %+v", p)
	}
	s.imports(t, atForecasts+"?holes=keep", holes, `{"written":2,"added":2,"changed":0,"deleted":0}`)
	s.imports(t, atForecasts+"?holes=own&dry_run=true", holes, `{"written":2,"added":0,"changed":0,"deleted":2,"dry_run":true}`)
	s.imports(t, atForecasts+"?holes=own", holes, `{"written":2,"added":0,"changed":0,"deleted":2}`)
	// The same of JSON.
	const rows = `{"rows":[{"class":"nightly","hour":"2026-03-01T19:00:00Z","jobs":7}]}`
	for _, c := range []struct{ query, want string }{{"?dry_run=true", `"changed":1,"deleted":0,"dry_run":true`}, {"", `"changed":1,"deleted":0`}, {"", `"changed":0`}} {
		if a := s.ask(s.admin, "PUT", atForecasts+c.query, rows).want(t, 200); !strings.Contains(string(a.text), c.want) {
			t.Errorf("JSON%s: got %s", c.query, a.text)
		}
	}
	s.ask(s.admin, "PUT", atForecasts+"?holes=own", rows).want(t, 400)
	s.ask(s.admin, "PUT", atForecasts+"?holes=maybe", rows).want(t, 400)
}

// An export in either form, imported again, changes nothing, for any names of the classes.
func TestForecastTablesAreReadBack(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("night")
	names := []string{"=1+1", "+a", "@x", "a,b", `"`, "é", "a\u00a0b", "'", "日本語", strings.Repeat("x", 200), "jobs", "2026-01-01", "'quoted'"}
	random := rand.New(rand.NewPCG(3, 4))
	var body forecastRows
	for i, name := range names {
		s.ask(s.admin, "POST", "/v1/clusters/night/classes", fmt.Sprintf(`{"name":%q,"vms_per_job":"1","jobs":{"min":0,"max":12},"penalty":1}`, name)).want(t, 201)
		for h := range 60 {
			if hour := time.Date(2026, 10, 24, h, 0, 0, 0, time.UTC); i%2 == 0 || h%7 > 0 { // some have holes
				body.Rows = append(body.Rows, inputs.Forecast{Class: name, Hour: hour, Jobs: random.Float64() * 1000 / float64(1+random.IntN(1e6))})
			}
		}
	}
	s.ask(s.admin, "PUT", atForecasts, body).want(t, 200)
	version := s.inputsVersion("night")
	for _, form := range []string{"", "&wide=true"} {
		file := s.ask(s.admin, "GET", atForecasts+"?format=csv"+form, nil).want(t, 200)
		s.imports(t, atForecasts+"?holes=own", string(file.text), fmt.Sprintf(`{"written":%d,"added":0,"changed":0,"deleted":0}`, len(body.Rows)+1))
		// Imported into nothing, it restores the rows.
		s.ask(s.admin, "DELETE", atForecasts+"?from=2000-01-01T00:00:00Z", nil).want(t, 200)
		s.imports(t, atForecasts+"?holes=own", string(file.text), fmt.Sprintf(`{"written":%d,"added":%d,"changed":0,"deleted":0}`, len(body.Rows)+1, len(body.Rows)+1))
		if again := s.ask(s.admin, "GET", atForecasts+"?format=csv"+form, nil).want(t, 200); string(again.text) != string(file.text) {
			t.Errorf("the table%s has become another", form)
		}
	}
	if got := s.inputsVersion("night"); got != version+4 { // two deletions and two imports of the deleted rows
		t.Errorf("the version went from %d to %d", version, got)
	}
	part := s.ask(s.admin, "GET", atForecasts+"?format=csv&wide=true&class=jobs&from=2026-10-25T00:00:00Z&until=2026-10-25T02:00:00Z", nil).want(t, 200)
	if lines := strings.Split(string(part.text), "\n"); len(lines) != 4 || lines[0] != "hour,jobs" {
		t.Errorf("got %q", lines)
	}
	s.ask(s.admin, "GET", atForecasts+"?wide=true", nil).want(t, 400)
	s.ask(s.admin, "GET", atForecasts+"?wide=true&format=csv&limit=5", nil).want(t, 400)
	s.ask(s.admin, "POST", "/v1/clusters/night/classes", `{"name":"Hour","vms_per_job":"1","jobs":{"min":0,"max":12},"penalty":1}`).want(t, 201)
	s.ask(s.admin, "PUT", atForecasts, `{"rows":[{"class":"Hour","hour":"2026-03-01T19:00:00Z","jobs":7}]}`).want(t, 200)
	s.ask(s.admin, "GET", atForecasts+"?wide=true&format=csv", nil).want(t, 409)
}

func TestWeeklyForecasts(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("night")
	c := s.ask(s.admin, "GET", "/v1/clusters/night", nil).want(t, 200)
	s.ask(s.admin, "PUT", "/v1/clusters/night", `{"name":"night","time_zone":"Europe/Berlin","options":{"engine":"exact"}}`, "If-Match", c.etag()).want(t, 200)
	version := s.inputsVersion("night")
	weekly := func(more string) string {
		return `{"class":"nightly","from":"2026-10-19T00:00:00Z","until":"2026-11-02T00:00:00Z","week":"mon-fri 8-18: 40; sun 2: 7; else 5"` + more + `}`
	}
	ask := func(body, want string) {
		t.Helper()
		if got := strings.TrimSpace(string(s.ask(s.admin, "POST", atForecasts+"/weekly", body).want(t, 200).text)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	ask(weekly(`,"dry_run":true`), `{"written":336,"added":336,"changed":0,"deleted":0,"dry_run":true}`)
	ask(weekly(""), `{"written":336,"added":336,"changed":0,"deleted":0}`)
	ask(weekly(""), `{"written":336,"added":0,"changed":0,"deleted":0}`)
	if got := s.inputsVersion("night"); got != version+1 {
		t.Errorf("the version went from %d to %d", version, got)
	}
	rows := string(s.ask(s.admin, "GET", atForecasts+"?format=csv&class=nightly", nil).want(t, 200).text)
	for _, want := range []string{"2026-10-23T06:00:00Z,40", "2026-10-23T05:00:00Z,5", "2026-10-25T00:00:00Z,7", "2026-10-25T01:00:00Z,7", "2026-10-25T02:00:00Z,5", "2026-10-30T06:00:00Z,5", "2026-10-30T07:00:00Z,40"} {
		if !strings.Contains(rows, "nightly,"+want+",\n") {
			t.Errorf("there is no row %s", want)
		}
	}
	// The mean week gives the same rows again.
	var p clusters.WeekPattern
	s.ask(s.admin, "GET", atForecasts+"/pattern?class=nightly&from=2026-10-19T00:00:00Z", nil).want(t, 200).into(t, &p)
	if p.Rows != 336 || p.TimeZone != "Europe/Berlin" || *p.Week.Sun[2] != 7 || *p.Week.Fri[17] != 40 || *p.Week.Fri[18] != 5 {
		t.Errorf("got %+v", p)
	}
	var back struct {
		Class string          `json:"class"`
		From  string          `json:"from"`
		Until string          `json:"until"`
		Week  inputs.WeekDays `json:"week"`
	}
	back.Class, back.From, back.Until, back.Week = "nightly", "2026-10-19T00:00:00Z", "2026-11-02T00:00:00Z", p.Week
	if a := s.ask(s.admin, "POST", atForecasts+"/weekly", back).want(t, 200); !strings.Contains(string(a.text), `"added":0,"changed":0`) {
		t.Errorf("the mean week made other rows: %s", a.text)
	}
	s.ask(s.admin, "GET", atForecasts+"/pattern?class=ad-hoc", nil).want(t, 404)
	s.ask(s.admin, "GET", atForecasts+"/pattern", nil).want(t, 400)
	if p := s.ask(s.admin, "POST", atForecasts+"/weekly", strings.Replace(weekly(""), `"nightly"`, `"nihgtly"`, 1)).want(t, 422).problem(t); p.at() != "/class" {
		t.Errorf("an unknown class: %+v", p)
	}
	if p := s.ask(s.admin, "POST", atForecasts+"/weekly", weekly(`,"growth_per_year":1e3,"growth_per_month":2`)).want(t, 422).problem(t); p.at() != "/growth_per_month" {
		t.Errorf("two growths: %+v", p)
	}
	s.ask(s.admin, "POST", "/v1/clusters/day/forecasts/weekly", weekly("")).want(t, 404)
}

// Damaged files are refused in words, and never the server's fault.
func TestDamagedForecastFiles(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("night")
	files := []string{
		"class,hour,jobs\nnightly,2026-03-01T20:00:00Z,4\nnightly,2026-03-01T21:00:00Z,8\n\"ad-hoc\",2026-03-01 20:00,1.5\r\n",
		"\ufeffhour,nightly,ad-hoc\r\n2026-10-25T00:00:00+01:00,1,2\r\n2026-10-25 01:00,,3\r\n",
		"class,hour,arrivals_per_hour\nnightly,2026-03-01T20:00:00Z,4\n",
	}
	pieces := []string{",", "\n", "\"", ";", "\x00", "\xff", "NaN", "1e309", "-1", "\ufeff", "hour", "class", "2026-13-45", "+25:00", "0000-01-01T00:00:00Z", "9999-12-31 23:00", "'", "=", strings.Repeat("9", 400), "nightly"}
	random := rand.New(rand.NewPCG(8, 15))
	var refused, accepted int
	for range many(100, 10_000) {
		text := files[random.IntN(len(files))]
		for range random.IntN(4) {
			i, j := random.IntN(len(text)+1), random.IntN(len(text)+1)
			switch random.IntN(3) {
			case 0:
				text = text[:i] + pieces[random.IntN(len(pieces))] + text[i:]
			case 1:
				text = text[:min(i, j)] + text[min(max(i, j), min(i, j)+9):]
			case 2:
				text = text[:i] + text[min(i, j):]
			}
		}
		holes := []string{"refuse", "own", "keep"}[random.IntN(3)]
		switch a := s.ask(s.admin, "PUT", atForecasts+"?holes="+holes, text, "Content-Type", csvType); {
		case a.StatusCode >= 500:
			t.Fatalf("%q: %d %s", text, a.StatusCode, a.text)
		case a.StatusCode >= 400:
			if refused++; a.problem(t).Detail == "" {
				t.Errorf("%q: %s", text, a.text)
			}
		default:
			accepted++
		}
	}
	if refused < many(10, 30) || accepted < many(10, 30) {
		t.Errorf("%d were refused and %d accepted; both should be frequent", refused, accepted)
	}
	s.ask(s.admin, "PUT", atForecasts, "", "Content-Type", csvType).want(t, 400)
	s.ask(s.admin, "PUT", atForecasts, files[0], "Content-Type", "text/csv; charset=latin1").want(t, 415)
	s.ask(s.admin, "PUT", atForecasts, files[0], "Content-Type", csvType, "Content-Encoding", "gzip").want(t, 415)
	s.ask(s.admin, "POST", "/v1/clusters", files[0], "Content-Type", csvType).want(t, 415)
	s.ask(s.admin, "PUT", "/v1/clusters/day/forecasts", files[0], "Content-Type", csvType).want(t, 404)
	s.ask(s.admin, "PUT", atForecasts, strings.Repeat("\n", largestTable+1), "Content-Type", csvType).want(t, 413)
}

// A year of fifty classes is one file. HEADROOM_LONG has them all.
func TestAYearOfForecasts(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"night"}`).want(t, 201)
	classes, hours := many(5, 50), 8760
	var names []string
	for i := range classes {
		names = append(names, fmt.Sprintf("class-%02d", i))
		s.ask(s.admin, "POST", "/v1/clusters/night/classes", fmt.Sprintf(`{"name":%q,"vms_per_job":"1","jobs":{"min":0,"max":12},"penalty":1}`, names[i])).want(t, 201)
	}
	var long, wide strings.Builder
	long.WriteString("class,hour,jobs\n")
	wide.WriteString("hour," + strings.Join(names, ",") + "\n")
	from := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	for h := range hours {
		hour := from.Add(time.Duration(h) * time.Hour).Format(time.RFC3339)
		wide.WriteString(hour)
		for i, name := range names {
			jobs := fmt.Sprintf("%.2f", float64((h*7+i)%4000)/100)
			fmt.Fprintf(&long, "%s,%s,%s\n", name, hour, jobs)
			wide.WriteString("," + jobs)
		}
		wide.WriteString("\n")
	}
	version, n := s.inputsVersion("night"), classes*hours
	for _, c := range []struct{ name, text, want string }{
		{"new", long.String(), fmt.Sprintf(`"written":%d,"added":%d,"changed":0`, n, n)},
		{"again", long.String(), fmt.Sprintf(`"written":%d,"added":0,"changed":0`, n)},
		{"again, wide", wide.String(), fmt.Sprintf(`"written":%d,"added":0,"changed":0`, n)},
	} {
		began := time.Now()
		a := s.ask(s.admin, "PUT", atForecasts, c.text, "Content-Type", csvType).want(t, 200)
		took := time.Since(began)
		t.Logf("%s: %d rows of %d MB in %s, %.0f a second", c.name, n, len(c.text)>>20, took.Round(time.Millisecond), float64(n)/took.Seconds())
		if !strings.Contains(string(a.text), c.want) || took > time.Minute {
			t.Errorf("%s: got %s after %s, want %s", c.name, a.text, took, c.want)
		}
	}
	if got := s.inputsVersion("night"); got != version+1 {
		t.Errorf("the version went from %d to %d", version, got)
	}
	table := s.ask(s.admin, "GET", atForecasts+"?format=csv&wide=true", nil).want(t, 200)
	trimmed := strings.NewReplacer(".00,", ",", "0,", ",")
	if got, want := strings.Count(string(table.text), "\n"), hours+1; got != want || !strings.HasPrefix(trimmed.Replace(string(table.text)), trimmed.Replace(wide.String()[:60])) {
		t.Errorf("the table has %d lines, want %d", got, want)
	}
}

// Many concurrent imports into one cluster and others all get an answer, and the last rows are whole files.
func TestImportsAtOnce(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("night")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			var file strings.Builder
			file.WriteString("hour,nightly,ad-hoc\n")
			for h := range 500 {
				fmt.Fprintf(&file, "%s,%d,%d\n", time.Date(2027, 1, 1, h, 0, 0, 0, time.UTC).Format(time.RFC3339), i, i)
			}
			r, err := http.NewRequestWithContext(t.Context(), "PUT", s.url+atForecasts, strings.NewReader(file.String()))
			if err != nil {
				t.Error(err)
				return
			}
			r.Header = http.Header{"Content-Type": {csvType}, "Authorization": {"Bearer " + s.admin}}
			if a := s.send(r); a.StatusCode != 200 {
				t.Errorf("import %d: %d %s", i, a.StatusCode, a.text)
			}
		})
	}
	all.Wait()
	rows := strings.Split(strings.TrimSpace(string(s.ask(s.admin, "GET", atForecasts+"?format=csv&wide=true&from="+url.QueryEscape("2027-01-01T00:00:00Z"), nil).want(t, 200).text)), "\n")
	var kinds []string
	for _, row := range rows[1:] {
		kinds = append(kinds, strings.SplitN(row, ",", 2)[1])
	}
	slices.Sort(kinds)
	if kinds = slices.Compact(kinds); len(kinds) != 1 {
		t.Errorf("rows of several imports: %v", kinds)
	}
}
