package api

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/report/reporting"
	"example.org/headroom/internal/service/runs"
	"example.org/headroom/internal/test/await"
)

// makeReport starts a report and does its run's work, as a server would.
func (s *service) makeReport(cluster, body string) (r reporting.Report) {
	s.Helper()
	var started runs.Run
	s.ask(s.admin, "POST", "/v1/clusters/"+cluster+"/reports", body).want(s, 202).into(s, &started)
	claim, err := s.app.Stores.Runs.ClaimRun(s.Context(), started.ID, map[string]int{reporting.RunKind: 3}, time.Minute)
	if err != nil || claim == nil {
		s.Fatalf("the run is not to be had: %v", err)
	}
	o := runs.Outcome{State: runs.RunSucceeded}
	if o.Make, err = s.app.Reports.MakeForRun(auth.With(s.Context(), claim.By), *claim, func(runs.Progress) {}); err != nil {
		o = runs.Outcome{State: runs.RunFailed, Error: runs.TellRunError(err)}
	}
	s.settle(*claim, o)
	s.ask(s.admin, "GET", "/v1/clusters/"+cluster+"/reports/"+started.ID, nil).want(s, 200).into(s, &r)
	return r
}

// reportInMine returns a report of the cluster "mine", made once.
func (s *service) reportInMine() string {
	s.Helper()
	var l list[reporting.Report]
	s.ask(s.admin, "GET", "/v1/clusters/mine/reports?format=json&limit=1000", nil).want(s, 200).into(s, &l)
	for _, r := range l.Items {
		if r.File != nil {
			return r.ID
		}
	}
	return s.makeReport("mine", `{"every":"day","covers":"behind","format":"csv"}`).ID
}

func TestReportSchedulesAreEditedLikeInputs(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("night")
	at := "/v1/clusters/night/report-schedules"
	before := s.ask(s.admin, "GET", "/v1/clusters/night", nil).want(t, 200)
	made := s.ask(s.admin, "POST", at, `{"name":"month, ahead","every":"month","hour":6}`).want(t, 201)
	var got reporting.ReportSchedule
	made.into(t, &got)
	if got.Covers != reporting.CoversAhead || got.Format != reporting.ReportXLSX || !got.Enabled || got.Keep != 24 || got.NextAt == nil || got.NextAt.Day() != 1 || got.NextAt.Hour() != 6 || !got.NextAt.After(time.Now()) {
		t.Errorf("the schedule is %+v", got)
	}
	one := at + "/" + url.PathEscape(got.Name)
	s.ask(s.admin, "POST", at, `{"name":"month, ahead","every":"day"}`).want(t, 409)
	s.ask(s.admin, "PUT", one, `{"name":"month, ahead","every":"day","enabled":false}`).want(t, 428)
	s.ask(s.admin, "PUT", one, `{"name":"month, ahead","every":"day","enabled":false}`, "If-Match", `"999"`).want(t, 412)
	changed := s.ask(s.admin, "PUT", one, `{"name":"month, ahead","every":"day","enabled":false}`, "If-Match", made.etag()).want(t, 200)
	got = reporting.ReportSchedule{}
	if changed.into(t, &got); got.NextAt != nil || got.Enabled {
		t.Errorf("a schedule that is not enabled is %+v", got)
	}
	for body, pointer := range map[string]string{
		`{"name":"a","every":"hour"}`:                                       "/every",
		`{"name":"a","every":"day","hour":24}`:                              "/hour",
		`{"name":"a","every":"day","covers":"behind","format":"focus"}`:     "/format",
		`{"name":"a","every":"day","keep":0}`:                               "/keep",
		`{"name":"a","every":"day","next_at":"2020-01-01T00:00:00Z","x":1}`: "/x",
	} {
		a := s.ask(s.admin, "POST", at, body)
		if p := a.problem(t); a.StatusCode/100 != 4 || len(p.Errors) == 0 || p.Errors[0].Pointer == nil || *p.Errors[0].Pointer != pointer {
			t.Errorf("%s: got %d %+v, want %s", body, a.StatusCode, p, pointer)
		}
	}
	for i := range reporting.MaxReportSchedules - 1 {
		s.ask(s.admin, "POST", at, fmt.Sprintf(`{"name":"s%d","every":"day"}`, i)).want(t, 201)
	}
	if p := s.ask(s.admin, "POST", at, `{"name":"one too many","every":"day"}`).want(t, 409).problem(t); !strings.Contains(p.Detail, "50") {
		t.Errorf("got %q", p.Detail)
	}
	s.ask(s.admin, "DELETE", one, nil, "If-Match", changed.etag()).want(t, 204)
	if after := s.ask(s.admin, "GET", "/v1/clusters/night", nil).want(t, 200); after.etag() != before.etag() {
		t.Error("a schedule has changed the inputs")
	}
	for last := range await.Tries(20 * time.Second) { // the log waits for older transactions
		audit := s.ask(s.admin, "GET", "/v1/audit?cluster=night&limit=1000", nil).want(t, 200)
		entries := strings.Count(string(audit.text), `"kind":"report_schedule"`)
		if entries == 52 {
			break
		}
		if last {
			t.Errorf("the audit log has %d entries of schedules, want 52", entries)
		}
	}
}

func TestReportsAreMadeListedAndDownloaded(t *testing.T) {
	t.Parallel()
	s := newService(t)
	viewer := s.key("viewer", auth.Viewer, nil)
	s.cluster("night")
	s.ask(s.admin, "POST", "/v1/clusters/night/plans", nil).want(t, 201)
	s.ask(s.admin, "POST", "/v1/clusters/night/observations", `{"vms":3}`).want(t, 201)
	const hostile = "=cmd|'/c calc'!A1 \"; ../x"
	s.ask(s.admin, "POST", "/v1/clusters/night/report-schedules", fmt.Sprintf(`{"name":%q,"every":"day","covers":"behind","format":"csv","keep":2}`, hostile)).want(t, 201)
	request := fmt.Sprintf(`{"schedule":%q}`, hostile)

	// A report that is not made has no file, and answers so; a second request with the same key gives the same
	// report.
	first := s.ask(s.admin, "POST", "/v1/clusters/night/reports", request, "Idempotency-Key", "k").want(t, 202)
	again := s.ask(s.admin, "POST", "/v1/clusters/night/reports", request, "Idempotency-Key", "k").want(t, 202)
	if first.Header.Get("Location") != again.Header.Get("Location") || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Error("a repeated request has made another report")
	}
	waiting := strings.TrimPrefix(first.Header.Get("Location"), "/v1/runs/")
	if p := s.ask(s.admin, "GET", "/v1/clusters/night/reports/"+waiting+"/file", nil).want(t, 409).problem(t); !strings.Contains(p.Detail, "queued") {
		t.Errorf("got %q", p.Detail)
	}

	made := s.makeReport("night", request)
	if made.File == nil || made.State != runs.RunSucceeded || *made.Schedule != hostile || made.File.MediaType != "text/csv; charset=utf-8; header=present" {
		t.Fatalf("the report is %+v", made)
	}
	if strings.Trim(made.File.Name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.") != "" {
		t.Errorf("the file is called %q", made.File.Name)
	}
	file := s.ask(viewer, "GET", made.File.URL, nil).want(t, 200)
	if got := fmt.Sprintf("%x", sha256.Sum256(file.text)); got != made.File.SHA256 || int64(len(file.text)) != made.File.Size || file.etag() != `"`+got+`"` {
		t.Errorf("got %d bytes with the sum %s and the ETag %s, want %+v", len(file.text), got, file.etag(), made.File)
	}
	if got := file.Header.Get("Content-Disposition"); got != `attachment; filename="`+made.File.Name+`"` || file.Header.Get("Content-Type") != made.File.MediaType {
		t.Errorf("the headers are %v", file.Header)
	}
	if lines := strings.Count(string(file.text), "\n"); lines != 25 {
		t.Errorf("%d lines, want 25: %s", lines, file.text)
	}
	s.ask(viewer, "GET", made.File.URL, nil, "If-None-Match", file.etag()).want(t, 304)
	if part := s.ask(viewer, "GET", made.File.URL, nil, "Range", "bytes=10-19").want(t, 206); !bytes.Equal(part.text, file.text[10:20]) {
		t.Errorf("a part is %q", part.text)
	}
	s.ask(viewer, "GET", made.File.URL, nil, "Range", "bytes=99999999-").want(t, 416)
	for _, odd := range []string{"bytes=9-3", "bytes=-5", "bytes=0-1,5-6", "lines=1-2", "bytes=x"} { // an answer is the whole of it
		if whole := s.ask(viewer, "GET", made.File.URL, nil, "Range", odd).want(t, 200); !bytes.Equal(whole.text, file.text) {
			t.Errorf("Range: %s has %d bytes", odd, len(whole.text))
		}
	}
	if head := s.ask(viewer, "HEAD", made.File.URL, nil).want(t, 200); head.Header.Get("Content-Length") != fmt.Sprint(made.File.Size) || len(head.text) > 0 {
		t.Errorf("HEAD answers %v", head.Header)
	}

	// The list has both, its cells are no formulas to spreadsheets, and it holds the configured number.
	for range 3 {
		s.makeReport("night", request)
	}
	var l list[reporting.Report]
	s.ask(viewer, "GET", "/v1/clusters/night/reports?schedule="+url.QueryEscape(hostile), nil).want(t, 200).into(t, &l)
	if len(l.Items) != 3 || l.Items[0].File == nil || l.Items[1].File == nil || l.Items[2].ID != waiting || l.Items[2].State != runs.RunQueued {
		t.Errorf("the list is %+v", l.Items)
	}
	if table := string(s.ask(viewer, "GET", "/v1/clusters/night/reports?format=csv", nil).want(t, 200).text); !strings.Contains(table, `"'=cmd|`) {
		t.Errorf("the table is %s", table)
	}
	s.ask(viewer, "GET", made.File.URL, nil).want(t, 404) // the newest two are left
	s.ask(viewer, "GET", "/v1/clusters/night/reports/x'%20OR%201", nil).want(t, 404)

	// It is none of another cluster's.
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"other"}`).want(t, 201)
	s.ask(viewer, "GET", strings.Replace(l.Items[0].File.URL, "night", "other", 1), nil).want(t, 404)

	// A report that cannot be made gives the reason, in the list too.
	unpriced := s.makeReport("other", `{"every":"day"}`)
	if unpriced.State != runs.RunFailed || unpriced.Error == nil || unpriced.Error.Detail == "" || unpriced.Error.Kind == runs.RunInternal || unpriced.File != nil {
		t.Errorf("a report that cannot be made is %+v", unpriced)
	}
	if p := s.ask(s.admin, "GET", "/v1/clusters/other/reports/"+unpriced.ID+"/file", nil).want(t, 409).problem(t); !strings.Contains(p.Detail, "failed") {
		t.Errorf("got %q", p.Detail)
	}
	s.ask(s.admin, "POST", "/v1/runs/"+unpriced.ID+"/retry", nil).want(t, 202)
	for body, pointer := range map[string]string{`{}`: "/every", `{"schedule":"none"}`: "/schedule", `{"schedule":"none","every":"day"}`: "/schedule", `{"every":"day","covers":"behind","format":"focus"}`: "/format"} {
		if p := s.ask(s.admin, "POST", "/v1/clusters/night/reports", body).want(t, 422).problem(t); p.Errors[0].Pointer == nil || *p.Errors[0].Pointer != pointer {
			t.Errorf("%s: got %+v", body, p.Errors)
		}
	}
}

// Every form of every report is readable in its format.
func TestFormsOfReports(t *testing.T) {
	t.Parallel()
	s := newService(t)
	viewer := s.key("viewer", auth.Viewer, nil)
	s.cluster("night")
	s.ask(s.admin, "POST", "/v1/clusters/night/plans", nil).want(t, 201)
	for _, covers := range []reporting.Covers{reporting.CoversAhead, reporting.CoversBehind} {
		for _, format := range []reporting.ReportFormat{reporting.ReportXLSX, reporting.ReportCSV, reporting.ReportFocus, reporting.ReportJSON} {
			if covers == reporting.CoversBehind && format == reporting.ReportFocus {
				continue
			}
			made := s.makeReport("night", fmt.Sprintf(`{"every":"week","covers":%q,"format":%q}`, covers, format))
			if made.File == nil {
				t.Errorf("%s %s: %+v", covers, format, made.Error)
				continue
			}
			text := s.ask(viewer, "GET", made.File.URL, nil).want(t, 200).text
			readable := false
			switch format {
			case reporting.ReportXLSX:
				_, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
				readable = err == nil
			case reporting.ReportJSON:
				readable = json.Valid(text)
			case reporting.ReportFocus:
				readable = strings.HasPrefix(string(text), "AvailabilityZone,") || strings.Contains(string(text[:min(2000, len(text))]), "BilledCost")
			default:
				readable = strings.Contains(string(text), ",")
			}
			if !readable {
				t.Errorf("%s %s: got %.300s", covers, format, text)
			}
		}
	}
}

// A file of 64 MiB takes no memory to send, for any number and size of its parts. The test runs alone, because other
// tests' memory would be counted.
func TestLargeReportsAreSentInParts(t *testing.T) {
	s := newService(t)
	s.cluster("night")
	var started runs.Run
	s.ask(s.admin, "POST", "/v1/clusters/night/reports", `{"every":"day","covers":"behind","format":"csv"}`).want(t, 202).into(t, &started)
	claim, err := s.app.Stores.Runs.ClaimRun(t.Context(), started.ID, map[string]int{reporting.RunKind: 3}, time.Minute)
	if err != nil || claim == nil {
		t.Fatal(err)
	}
	var in reporting.ReportInput
	if err := json.Unmarshal(claim.Input, &in); err != nil {
		t.Fatal(err)
	}
	part := bytes.Repeat([]byte("0123456789abcdef"), reporting.PartSize/16)
	parts, sum := [][]byte{}, sha256.New()
	for size := 0; size < reporting.MaxReport; size += len(part) {
		parts = append(parts, part)
		sum.Write(part)
	}
	s.settle(*claim, runs.Outcome{State: runs.RunSucceeded, Make: func(ctx context.Context) (runs.Result, error) {
		r := in.Report()
		r.ID, r.File = started.ID, &reporting.ReportFile{Name: "large.csv", Size: reporting.MaxReport}
		_, err := s.app.Stores.Reports.SaveReport(ctx, "night", r, parts, [32]byte(sum.Sum(nil)))
		return runs.Result{Type: "application/json", Body: []byte("{}")}, err
	}})
	alive := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := alive()
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.url+"/v1/clusters/night/reports/"+started.ID+"/file", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.admin)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	got, most := sha256.New(), uint64(0)
	for range 8 {
		if _, err := io.CopyN(got, response.Body, reporting.MaxReport/8); err != nil {
			t.Fatal(err)
		}
		most = max(most, alive())
	}
	if n, _ := io.Copy(got, response.Body); n != 0 || !bytes.Equal(got.Sum(nil), sum.Sum(nil)) {
		t.Errorf("what came is another file, or %d bytes longer", n)
	}
	t.Logf("%d KiB more are held while %d MiB are sent", (int64(most)-int64(before))>>10, reporting.MaxReport>>20)
	if most > before+16<<20 {
		t.Errorf("sending holds %d MiB", (most-before)>>20)
	}
}
