package api

import (
	"bytes"
	"encoding/csv"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"example.org/headroom/internal/data/inputs"
)

// rows writes a forecast for each of some hours.
func (s *service) rows(cluster, class string, from time.Time, hours int) {
	s.Helper()
	for hours > 0 {
		n := min(hours, 5000)
		var body forecastRows
		for i := range n {
			body.Rows = append(body.Rows, inputs.Forecast{Class: class, Hour: from.Add(time.Duration(i) * time.Hour), Jobs: float64(i % 12)})
		}
		s.ask(s.admin, "PUT", "/v1/clusters/"+cluster+"/forecasts", body).want(s, 200)
		from, hours = from.Add(time.Duration(n)*time.Hour), hours-n
	}
}

func TestPaging(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("night")
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s.rows("night", "ad-hoc", start, 250)
	const forecasts = "/v1/clusters/night/forecasts?class=ad-hoc"
	link := regexp.MustCompile(`^<([^>]+)>; rel="next"$`)
	var got []time.Time
	pages := 0
	for at := forecasts + "&limit=60"; at != ""; pages++ {
		a := s.ask(s.admin, "GET", at, nil).want(t, 200)
		var page list[inputs.Forecast]
		a.into(t, &page)
		for _, f := range page.Items {
			got = append(got, f.Hour)
		}
		next := link.FindStringSubmatch(a.Header.Get("Link"))
		if (next == nil) != (page.Next == nil) {
			t.Fatalf("Link %q and next_cursor %v do not agree", a.Header.Get("Link"), page.Next)
		}
		at = ""
		if next != nil {
			if at = next[1]; at != forecasts+"&limit=60" && !strings.Contains(at, "cursor="+url.QueryEscape(*page.Next)) {
				t.Errorf("Link %q does not hold the cursor %q", at, *page.Next)
			}
		}
	}
	if pages != 5 || len(got) != 250 || !got[249].Equal(start.Add(249*time.Hour)) {
		t.Errorf("%d pages with %d rows", pages, len(got))
	}
	var page list[inputs.Forecast]
	s.ask(s.admin, "GET", forecasts, nil).want(t, 200).into(t, &page)
	if len(page.Items) != 100 {
		t.Errorf("a page has %d items unless asked otherwise", len(page.Items))
	}
	for query, parameter := range map[string]string{"limit=0": "limit", "limit=1001": "limit", "limit=ten": "limit", "limit=": "limit", "limit=1&limit=2": "limit", "limit=%2b5": "limit",
		"cursor=nonsense": "cursor", "cursor=": "cursor", "cursor=%00": "cursor", "cursor=%ff": "cursor", "lmit=5": "lmit", "format=xml": "format", "from=yesterday": "from"} {
		p := s.ask(s.admin, "GET", "/v1/clusters/night/forecasts?"+query, nil).want(t, 400).problem(t)
		if p.at() != parameter {
			t.Errorf("?%s is refused with %+v", query, p)
		}
	}
	if p := s.ask(s.admin, "GET", "/v1/clusters/night/forecasts?lmit=5", nil).problem(t); p.Hint == nil || p.Hint.Value != "limit" {
		t.Errorf("lmit: the hint is %+v", p.Hint)
	}
	s.ask(s.admin, "GET", "/v1/clusters/night/forecasts?class=%zz", nil).want(t, 400)

	// A list's ETag is that of its content.
	first := s.ask(s.admin, "GET", forecasts, nil)
	s.ask(s.admin, "GET", forecasts, nil, "If-None-Match", first.etag()).want(t, 304)
	s.rows("night", "ad-hoc", start, 1)
	s.ask(s.admin, "GET", forecasts, nil, "If-None-Match", first.etag()).want(t, 304) // the same rows
	s.ask(s.admin, "DELETE", forecasts+"&until=2026-01-01T01:00:00Z", nil).want(t, 200)
	s.ask(s.admin, "GET", forecasts, nil, "If-None-Match", first.etag()).want(t, 200)
	s.ask(s.admin, "DELETE", "/v1/clusters/night/forecasts", nil).want(t, 400)
}

// Every list is available as a table whose rows are the items.
func TestListsAsTables(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("night")
	s.ask(s.admin, "POST", "/v1/clusters/night/classes", `{"name":"=1+1","demand":{"map_work_s":10,"reduce_work_s":0,"fixed_s":-1},"deadline_s":60,"slots_per_vm":{"map":1,"reduce":1},"jobs":{"min":0,"max":1},"penalty":1}`).want(t, 201)
	s.ask(s.admin, "POST", "/v1/clusters/night/vm-types", `{"name":"odd, \"quoted\"","description":"two\nlines","in_use":false}`).want(t, 201)
	s.ask(s.admin, "POST", "/v1/clusters/night/plans", nil).want(t, 201)
	s.ask(s.admin, "POST", "/v1/clusters/night/admissions", `{"class":"nightly","holder":"=1+1"}`).want(t, 201)
	s.ask(s.admin, "POST", "/v1/clusters/night/observations", `{"vms":3}`).want(t, 201)
	s.ask(s.admin, "POST", "/v1/clusters/night/plans", nil, "Prefer", "respond-async").want(t, 202)
	s.ask(s.admin, "POST", "/v1/allowed-hosts", `{"host":"hooks.example.com"}`).want(t, 201)
	var hook struct{ ID string }
	s.ask(s.admin, "POST", "/v1/webhooks", someWebhook).want(t, 201).into(t, &hook)
	s.ask(s.admin, "POST", "/v1/webhooks/"+hook.ID+"/test", nil).want(t, 200)
	s.ask(s.admin, "POST", "/v1/clusters/night/scenarios", `{"name":"more","changes":[{"what":"demand","factor":1.5}]}`).want(t, 201)
	s.ask(s.admin, "POST", "/v1/clusters/night/offers", `{"name":"one-year","vm_type":"small","price":"0.1","term_years":1,"note":"=1+1"}`).want(t, 201)
	s.ask(s.admin, "POST", "/v1/clusters/night/report-schedules", `{"name":"=1+1","every":"day","covers":"behind"}`).want(t, 201)
	s.makeReport("night", `{"schedule":"=1+1"}`)
	s.ask(s.admin, "POST", "/v1/clusters/night/packings", smallBatch).want(t, 201)
	s.ask(s.admin, "POST", "/v1/clusters/night/executions", strings.Replace(someExecution, `"nightly etl"`, `"=1+1"`, 1)).want(t, 200)
	s.ask(s.admin, "POST", "/v1/clusters/night/measurements", strings.ReplaceAll(someMeasurements, `"sort"`, `"=1+1"`)).want(t, 200)
	s.ask(s.admin, "POST", "/v1/clusters/night/measurements", someMeasurements).want(t, 200)
	s.ask(s.admin, "PUT", "/v1/clusters/night/nodes/n", `{"type":"=1+1","cores":1,"slots":{"map":1,"reduce":0}}`).want(t, 200)
	s.ask(s.admin, "POST", "/v1/clusters/night/jobs", `{"name":"=1+1","maps":1}`).want(t, 201)
	s.beat("n", `{"seq":1,"running":[]}`)
	s.planned("night")
	s.ask(s.admin, "POST", "/v1/clusters/night/pool/storage-samples", `{"samples":[{"data_gb":1}]}`).want(t, 200)
	lists := 0
	each(s.doc, func(method, path string, _ *openapi3.PathItem, op *openapi3.Operation) {
		if !strings.HasPrefix(op.OperationID, "list") {
			return
		}
		lists++
		at := strings.NewReplacer("{cluster}", "night", "{name}", "etl", "{id}", hook.ID, "{job}", "sort", "{kind}", "power").Replace(path)
		var items list[map[string]any]
		s.ask(s.admin, "GET", at, nil).want(t, 200).into(t, &items)
		a := s.ask(s.admin, "GET", at+"?format=csv", nil).want(t, 200)
		if !strings.HasPrefix(a.Header.Get("Content-Type"), "text/csv") || !regexp.MustCompile(`^attachment; filename="[a-z-]+\.csv"$`).MatchString(a.Header.Get("Content-Disposition")) {
			t.Errorf("%s as a table: %v", op.OperationID, a.Header)
		}
		table, err := csv.NewReader(strings.NewReader(string(a.text))).ReadAll()
		if err != nil || len(table) != len(items.Items)+1 || len(items.Items) == 0 {
			t.Errorf("%s has %d items and %d lines (%v)", op.OperationID, len(items.Items), len(table), err)
			return
		}
		for j, column := range table[0] {
			for i, item := range items.Items {
				if value, ok := item[column].(string); ok && table[i+1][j] != value && table[i+1][j] != "'"+value {
					t.Errorf("%s: row %d has the %s %q, the item %q", op.OperationID, i, column, table[i+1][j], value)
				}
			}
		}
		accepted := s.ask(s.admin, "GET", at, nil, "Accept", "text/csv").want(t, 200)
		if diff := cmp.Diff(string(a.text), string(accepted.text)); diff != "" && op.OperationID != "listAudit" {
			t.Errorf("%s: Accept and format differ:\n%s", op.OperationID, diff)
		}
		s.ask(s.admin, "HEAD", at+"?format=csv", nil).want(t, 200)
		sheet := s.ask(s.admin, "GET", at+"?format=xlsx", nil).want(t, 200)
		if sheet.Header.Get("Content-Type") != xlsxType || !strings.HasSuffix(sheet.Header.Get("Content-Disposition"), `.xlsx"`) {
			t.Errorf("%s as a spreadsheet: %v", op.OperationID, sheet.Header)
		}
		if op.OperationID != "listAudit" { // which grows
			sameCells(t, op.OperationID, table, sheet.text)
		}
	})
	if lists < 11 {
		t.Errorf("only %d lists", lists)
	}
	classes := s.ask(s.admin, "GET", "/v1/clusters/night/classes?format=csv", nil)
	if !strings.Contains(string(classes.text), "\n'=1+1,") {
		t.Errorf("a formula gets out: %s", classes.text)
	}
	if got := s.ask(s.admin, "GET", "/v1/clusters", nil, "Accept", "application/json, text/csv;q=0.5").Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("who prefers JSON gets %s", got)
	}
}

// A table without a limit has every row, also beyond the longest page, and its heading once.
func TestWholeTables(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("night")
	rows := many(2500, 30_000)
	s.rows("night", "ad-hoc", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), rows)
	whole := s.ask(s.admin, "GET", "/v1/clusters/night/forecasts?class=ad-hoc&format=csv", nil).want(t, 200)
	if lines := strings.Count(string(whole.text), "\n"); lines != rows+1 || strings.Count(string(whole.text), "class,hour,jobs") != 1 {
		t.Errorf("%d rows are %d lines", rows, lines)
	}
	part := s.ask(s.admin, "GET", "/v1/clusters/night/forecasts?class=ad-hoc&format=csv&limit=10", nil).want(t, 200)
	if strings.Count(string(part.text), "\n") != 11 || !strings.Contains(part.Header.Get("Link"), "format=csv") {
		t.Errorf("a limited table: %v\n%s", part.Header, part.text)
	}
}

func TestMethodsAndAddresses(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for _, c := range []struct {
		method, path string
		status       int
		allow        []string
	}{
		{"GET", "/v1/nothing", 404, nil},
		{"GET", "/", 404, nil},
		{"PATCH", "/v1/clusters", 405, []string{"GET", "POST"}},
		{"GET", "/v1/solve", 405, []string{"POST"}},
		{"OPTIONS", "/v1/clusters/night", 405, []string{"GET", "PUT", "DELETE"}},
		{"GET", "/v1/clusters/", 404, nil},
		{"GET", "/v1/clusters/night/../../keys", 404, nil},
	} {
		a := s.ask(s.admin, c.method, c.path, nil).want(t, c.status)
		for _, m := range c.allow {
			if !strings.Contains(strings.Join(a.Header.Values("Allow"), ","), m) {
				t.Errorf("%s %s allows %v", c.method, c.path, a.Header.Values("Allow"))
			}
		}
	}
	if got := s.ask(s.admin, http.MethodHead, "/v1/clusters", nil).want(t, 200); len(got.text) > 0 {
		t.Errorf("HEAD has the body %s", got.text)
	}
}

// sameCells compares a spreadsheet with a table: the same columns and rows, numbers and moments with their types, and
// texts unchanged, without formulas.
func sameCells(t *testing.T, what string, table [][]string, sheet []byte) {
	t.Helper()
	f, err := excelize.OpenReader(bytes.NewReader(sheet))
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	defer f.Close()
	name := f.GetSheetName(0)
	rows, err := f.GetRows(name, excelize.Options{RawCellValue: true})
	if err != nil || len(rows) != len(table) {
		t.Errorf("%s: %d rows, want %d (%v)", what, len(rows), len(table), err)
		return
	}
	for i, row := range table {
		for j, want := range row {
			at, _ := excelize.CoordinatesToCellName(j+1, i+1)
			got, _ := f.GetCellValue(name, at, excelize.Options{RawCellValue: true})
			formula, _ := f.GetCellFormula(name, at)
			x, number := strconv.ParseFloat(want, 64)
			y, typed := strconv.ParseFloat(got, 64)
			moment, isMoment := time.Parse(time.RFC3339, want)
			whole, part := math.Modf(y)
			day := time.Date(1899, 12, 30+int(whole), 0, 0, 0, int(part*24*float64(time.Hour)), time.UTC)
			switch {
			case formula != "":
				t.Errorf("%s: %s is the formula %q", what, at, formula)
			case got == want, "'"+got == want:
			case number == nil && typed == nil && math.Abs(x-y) <= 1e-12*math.Abs(x):
			case isMoment == nil && typed == nil && moment.Sub(day).Abs() < time.Second:
			case (want == "true" || want == "false") && got == map[string]string{"true": "1", "false": "0"}[want]:
			default:
				t.Errorf("%s: %s is %q, in the table %q", what, at, got, want)
			}
		}
	}
}
