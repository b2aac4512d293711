package api

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"example.org/headroom/internal/ask/goal"
	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/runs"
)

const sweepMoment = `"at":"2026-03-01T22:30:00Z"`

func TestSweepsOverHTTP(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("mine")
	const body = `{` + sweepMoment + `,"vary":[{"what":"deadline","class":"nightly","from":"0.8","to":"1.2","steps":3},{"what":"price","values":[1,2]}]}`
	var a whatif.SweepAnswer
	s.ask(s.admin, "POST", "/v1/clusters/mine/sweeps", body).want(t, 200).into(t, &a)
	if !a.Complete || a.Total != 6 || len(a.Points) != 6 || a.Curve != nil || a.Explanation == "" || len(a.Facts) == 0 {
		t.Fatalf("got %+v", a)
	}

	// Each point equals the scenario of the same changes.
	var w whatif.Comparison
	s.ask(s.admin, "POST", "/v1/clusters/mine/what-if", `{`+sweepMoment+`,"scenarios":[{"changes":[{"what":"deadline","class":"nightly","factor":0.8},{"what":"price","factor":2}]}]}`).want(t, 200).into(t, &w)
	if diff := cmp.Diff(w.Scenarios[0].Cost, a.Points[1].Cost); diff != "" || a.Points[1].VMs != w.Scenarios[0].VMs || a.Points[1].Parameters[0] != 0.8 || a.Points[1].Parameters[1] != 2 {
		t.Errorf("point %+v is not the scenario: %s", a.Points[1], diff)
	}

	// Changes come first, and the varied parameters on top of them.
	var changed whatif.SweepAnswer
	s.ask(s.admin, "POST", "/v1/clusters/mine/sweeps", `{`+sweepMoment+`,"changes":[{"what":"deadline","class":"nightly","factor":0.8}],"vary":[{"what":"price","values":[1,2]}]}`).want(t, 200).into(t, &changed)
	for i := range changed.Points {
		if diff := cmp.Diff(a.Points[i].Cost, changed.Points[i].Cost); diff != "" {
			t.Errorf("with a change, point %d is not that of the grid: %s", i, diff)
		}
	}

	table := s.ask(s.admin, "POST", "/v1/clusters/mine/sweeps?format=csv", body).want(t, 200)
	rows, err := csv.NewReader(bytes.NewReader(table.text)).ReadAll()
	if err != nil || len(rows) != 7 || rows[0][0] != "deadline nightly factor" || rows[2][4] != a.Points[1].Cost.Bill.String() || rows[2][10] != a.Points[1].Cost.Total.String() {
		t.Errorf("as a table: %v, %q", err, rows)
	}
	sheet := s.ask(s.admin, "POST", "/v1/clusters/mine/sweeps?format=xlsx", body).want(t, 200)
	f, err := excelize.OpenReader(bytes.NewReader(sheet.text))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, _ := f.GetCellValue("points", "E3"); got+"0" != rows[2][4] && got != rows[2][4] || sheet.Header.Get("Content-Type") != xlsxType {
		t.Errorf("the spreadsheet says %q, the table %q", got, rows[2][4])
	}

	// The curve of the linear program beside the points of a problem in the request.
	s.ask(s.admin, "POST", "/v1/sweeps", `{"problem":`+smallProblem+`,"vary":[{"what":"price","from":0.5,"to":4,"steps":8}],"curve":true}`).want(t, 200).into(t, &a)
	if a.Curve == nil || !a.Curve.Exact || len(a.Curve.Points) != 3 || a.Curve.Points[1].At != 2 || !a.Curve.Points[1].Cost.Equal(amountOf(t, "2").Decimal) || len(a.Points) != 8 {
		t.Errorf("got the curve %+v", a.Curve)
	}
}

func amountOf(t *testing.T, text string) money.Amount {
	t.Helper()
	m, err := money.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A sweep as a run is cancelled, and its partial result is read in every form. A key starts one run, for any number
// of requests with it; sweeps that are answered at once are computed each time.
func TestAKeyStartsOneSweep(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("mine")
	vary := `"vary":[{"what":"demand","from":1,"to":2,"steps":5}]}`
	for at, body := range map[string]string{"/v1/clusters/mine/sweeps": `{` + sweepMoment + `,` + vary, "/v1/sweeps": `{"problem":` + smallProblem + `,` + vary} {
		first := s.ask(s.admin, "POST", at, body, "Prefer", "respond-async", "Idempotency-Key", at).want(t, 202)
		again := s.ask(s.admin, "POST", at, body, "Prefer", "respond-async", "Idempotency-Key", at).want(t, 202)
		if again.Header.Get("Location") != first.Header.Get("Location") || again.Header.Get("Idempotency-Replayed") != "true" || again.Header.Get("Preference-Applied") != "respond-async" {
			t.Errorf("%s: the same key has started %q and %q, %v", at, first.Header.Get("Location"), again.Header.Get("Location"), again.Header)
		}
		s.ask(s.admin, "POST", at, strings.Replace(body, `"steps":5`, `"steps":6`, 1), "Prefer", "respond-async", "Idempotency-Key", at).want(t, 422)

		for range 2 {
			if a := s.ask(s.admin, "POST", at+"?format=csv", body, "Idempotency-Key", "soon"+at).want(t, 200); a.Header.Get("Idempotency-Replayed") != "" || !strings.Contains(a.Header.Get("Content-Disposition"), "sweep.csv") {
				t.Errorf("%s: an answer at once was kept: %v", at, a.Header)
			}
		}
	}
}

func TestALongSweepIsARun(t *testing.T) {
	t.Parallel()
	s := works(t)
	s.cluster("mine")

	started := s.ask(s.admin, "POST", "/v1/clusters/mine/sweeps", `{`+sweepMoment+`,"vary":[{"what":"demand","from":1,"to":2,"steps":5}]}`, "Prefer", "respond-async").want(t, 202)
	if started.Header.Get("Preference-Applied") != "respond-async" {
		t.Error("the preference is not said to be applied")
	}
	run := s.over(started.Header.Get("Location"))
	var a whatif.SweepAnswer
	s.ask(s.admin, "GET", "/v1/runs/"+run.ID+"/result", nil).want(t, 200).into(t, &a)
	if run.State != runs.RunSucceeded || run.Progress != (runs.Progress{Done: 5, Total: 5, Unit: "points"}) || !a.Complete || len(a.Points) != 5 || run.Kind != "sweep" {
		t.Fatalf("got %+v and %+v", run, a)
	}
	var at whatif.SweepAnswer
	s.ask(s.admin, "POST", "/v1/clusters/mine/sweeps", `{`+sweepMoment+`,"vary":[{"what":"demand","from":1,"to":2,"steps":5}]}`).want(t, 200).into(t, &at)
	if diff := cmp.Diff(at, a); diff != "" {
		t.Errorf("the run found something else than the answer at once: %s", diff)
	}
	for _, format := range []string{"csv", "xlsx"} {
		if got := s.ask(s.admin, "GET", "/v1/runs/"+run.ID+"/result?format="+format, nil).want(t, 200); len(got.text) == 0 || !strings.Contains(got.Header.Get("Content-Disposition"), "sweep."+format) {
			t.Errorf("as %s: %d bytes, %v", format, len(got.text), got.Header)
		}
	}
	s.ask(s.admin, "GET", "/v1/runs/"+run.ID+"/result?format=pdf", nil).want(t, 400)

	// Ten thousand points over a thousand classes are never waited for.
	long := `{"problem":` + manyClasses(t, 1000, capacity.Executable) + `,"vary":[{"what":"demand","from":0.5,"to":2,"steps":100},{"what":"deadline","from":0.9,"to":1.5,"steps":100}]}`
	s.ask(s.key("limited", auth.Planner, []string{"mine"}), "POST", "/v1/sweeps", long, "Prefer", "respond-async").want(t, 403)
	began := time.Now()
	started = s.ask(s.admin, "POST", "/v1/sweeps", long).want(t, 202)
	t.Logf("a long sweep was made a run after %s", time.Since(began))
	location := started.Header.Get("Location")
	s.until(location, func(r runs.Run) bool { return r.Progress.Done > 0 && r.ETASeconds != nil || r.State.Over() })
	// Its points until now can be read.
	s.ask(s.admin, "GET", location, nil).want(t, 200).into(t, &run)
	s.ask(s.admin, "GET", location+"/result", nil).want(t, 200).into(t, &a)
	until := a.Points
	if !run.Partial || run.ResultURL == nil || a.Complete || len(until) == 0 || len(until) == 10_000 {
		t.Errorf("while it runs: %+v with %d points, complete %v", run, len(until), a.Complete)
	}
	began = time.Now()
	s.ask(s.admin, "DELETE", location, nil)
	run = s.over(location)
	t.Logf("it ended %s after it was cancelled, with %d of %d points", time.Since(began), run.Progress.Done, run.Progress.Total)
	s.ask(s.admin, "GET", location+"/result", nil).want(t, 200).into(t, &a)
	if len(a.Points) < len(until) || cmp.Diff(until[0], a.Points[0]) != "" {
		t.Errorf("%d points while it ran, %d at its end", len(until), len(a.Points))
	}
	if run.State != runs.RunCancelled || !run.Partial || a.Complete || a.Total != 10_000 || len(a.Points) == 0 || len(a.Points) == 10_000 {
		t.Errorf("got %+v with %d of %d points, complete %v", run, len(a.Points), a.Total, a.Complete)
	}
	rows, err := csv.NewReader(bytes.NewReader(s.ask(s.admin, "GET", location+"/result?format=csv", nil).want(t, 200).text)).ReadAll()
	if err != nil || len(rows) != len(a.Points)+1 {
		t.Errorf("%d rows of %d points, %v", len(rows), len(a.Points), err)
	}
}

// until waits until a run is so.
func (s *service) until(address string, so func(runs.Run) bool) {
	s.Helper()
	etag := `"0"`
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		a := s.ask(s.admin, "GET", address, nil, "Prefer", "wait=5", "If-None-Match", etag)
		if a.StatusCode == http.StatusNotModified {
			continue
		}
		var r runs.Run
		if a.want(s, 200).into(s, &r); so(r) {
			return
		}
		etag = a.etag()
	}
	s.Fatal("the run does not get there")
}

func TestSweepsThatAreRefused(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("mine")
	small := func(rest string) string { return `{"problem":` + smallProblem + `,` + rest + `}` }
	for _, c := range []struct {
		path, body, want string
		status           int
		cure             string
	}{
		{"/v1/sweeps", small(`"vary":[{"what":"price","from":1,"to":2,"steps":1000000}]`), "/vary/0/steps", 422, "Give 10000 steps at most."},
		{"/v1/sweeps", small(`"vary":[{"what":"price","from":1,"to":2,"steps":1000},{"what":"demand","from":1,"to":2,"steps":1000}]`), "/vary/0/steps", 422, "Give 10 steps at most."},
		{"/v1/sweeps", small(`"vary":[{"what":"price","from":1,"to":2,"steps":9000000000000000000},{"what":"demand","from":1,"to":2,"steps":9000000000000000000}]`), "/vary/0/steps", 422, ""},
		{"/v1/sweeps", small(`"vary":[{"what":"price","from":1,"to":2,"steps":1}]`), "/vary/0/steps", 422, "Give 11"},
		{"/v1/sweeps", small(`"vary":[{"what":"price","from":1}]`), "/vary/0/to", 400, ""},
		{"/v1/sweeps", small(`"vary":[{"what":"price","from":-1,"to":1,"steps":3}]`), "/vary/0/from", 422, ""},
		{"/v1/sweeps", small(`"vary":[{"what":"price","from":1,"to":5000,"steps":3}]`), "/vary/0/to", 422, ""},
		{"/v1/sweeps", small(`"vary":[{"what":"price","from":0,"to":1,"steps":3,"spacing":"geometric"}]`), "/vary/0/spacing", 422, "linearly"},
		{"/v1/sweeps", small(`"vary":[{"what":"price","values":[1],"steps":3}]`), "/vary/0/values", 422, ""},
		{"/v1/sweeps", small(`"vary":[{"what":"price","values":[]}]`), "/vary/0/values", 400, ""},
		{"/v1/sweeps", small(`"vary":[]`), "/vary", 400, ""},
		{"/v1/sweeps", small(`"vary":[{"what":"price","values":["1e400"]}]`), "/vary/0/values/0", 422, ""},
		{"/v1/sweeps", small(`"vary":[{"what":"price","values":[1]},{"what":"price","values":[2]}]`), "/vary/1/what", 422, ""},
		{"/v1/sweeps", small(`"vary":[{"what":"price","class":"a","values":[1]}]`), "/vary/0/class", 422, ""},
		{"/v1/sweeps", small(`"vary":[{"what":"demand","class":"b","values":[1]}]`), "/vary/0/class", 422, ""},
		{"/v1/sweeps", small(`"vary":[{"what":"add_contract","values":[1]}]`), "/vary/0/what", 422, ""},
		{"/v1/sweeps", small(`"vary":[{"what":"promised","by":"value","values":[1,9]}]`), "/vary/0/values", 422, "Promise at most 1"},
		{"/v1/sweeps", small(`"vary":[{"what":"quota","by":"value","values":[1.5]}]`), "/vary/0/values/0", 422, ""},
		{"/v1/sweeps", small(`"curve":true,"vary":[{"what":"demand","from":1,"to":2,"steps":3}]`), "/curve", 422, "points alone"},
		{"/v1/sweeps", small(`"curve":1,"vary":[{"what":"demand","values":[1]}]`), "/curve", 400, ""},
		{"/v1/sweeps", `{"problem":{},"vary":[{"what":"demand","values":[1]}]}`, "/problem/currency", 400, ""},
		{"/v1/clusters/mine/sweeps", `{"vary":[{"what":"deadline","class":"nightli","values":[2]}]}`, "/vary/0/class", 422, `"nightly"`},
		{"/v1/clusters/mine/sweeps", `{"changes":[{"what":"deadline","class":"nightli","factor":2}],"vary":[{"what":"price","values":[1]}]}`, "/changes/0/class", 422, `"nightly"`},
		{"/v1/clusters/mine/sweeps", `{"changes":[{"what":"deadline"}],"vary":[{"what":"price","values":[1]}]}`, "/changes/0", 422, ""},
		{"/v1/clusters/mine/sweeps", `{"vary":[{"what":"deadline","values":[0]}]}`, "/vary/0/values", 422, ""},
		{"/v1/questions", small(`"question":"most_for_budget","budget":{"amount":-1}`), "/budget/amount", 422, ""},
		{"/v1/questions", small(`"question":"most_for_budget","budget":{"amount":1,"currency":"EUR"}`), "/budget/currency", 422, "Give the amount in USD."},
		{"/v1/questions", small(`"question":"most_for_budget"`), "/budget", 400, ""},
		{"/v1/questions", small(`"question":"most_for_budget","class":"a","budget":{"amount":1}`), "/class", 422, ""},
		{"/v1/questions", small(`"question":"most"`), "/question", 422, ""},
		{"/v1/questions", small(`"question":"one_more_job","class":"x"`), "/class", 422, ""},
		{"/v1/questions", small(`"question":"one_more_job"`), "/class", 400, ""},
		{"/v1/questions", small(`"question":"cheapest_deadline","class":"a"`), "/class", 422, ""},
		{"/v1/questions", small(`"question":"cheapest_deadline"`), "/class", 422, ""},
		{"/v1/questions", small(`"question":"cheapest_deadline","extra_percent":-1`), "/extra_percent", 422, ""},
		{"/v1/clusters/mine/questions", `{"question":"one_more_job","class":"nightli"}`, "/class", 422, `"nightly"`},
	} {
		p := s.ask(s.admin, "POST", c.path, c.body).want(t, c.status).problem(t)
		if len(p.Errors) == 0 || p.Errors[0].Pointer == nil || *p.Errors[0].Pointer != c.want {
			text, _ := json.Marshal(p.Errors)
			t.Errorf("%.300s: got %s, want one about %s", c.body, text, c.want)
			continue
		}
		if h := p.Errors[0].Hint; c.cure != "" && (h == nil || !strings.Contains(h.Detail, c.cure)) {
			t.Errorf("%.300s: the cure is %+v, want %q", c.body, h, c.cure)
		}
	}
	s.ask(s.admin, "POST", "/v1/clusters/none/sweeps", `{"vary":[{"what":"deadline","values":[2]}]}`).want(t, 404)
	s.ask(s.admin, "POST", "/v1/clusters/none/questions", `{"question":"cheapest_for_all"}`).want(t, 404)
	s.ask(s.admin, "POST", "/v1/sweeps?format=pdf", small(`"vary":[{"what":"price","values":[1]}]`)).want(t, 400)
}

func TestQuestionsOverHTTP(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("mine")
	for _, q := range []string{
		`"question":"most_for_budget","budget":{"amount":"1000000","per":"month","of":"total","currency":"USD"}`, `"question":"cheapest_for_all"`,
		`"question":"one_more_job","class":"nightly"`, `"question":"cheapest_deadline","class":"nightly","extra_percent":5`, `"question":"cheapest_deadline"`,
	} {
		body := `{` + sweepMoment + `,` + q + `}`
		var a goal.Answer
		s.ask(s.admin, "POST", "/v1/clusters/mine/questions", body).want(t, 200).into(t, &a)
		if a.Explanation == "" || len(a.Facts) == 0 || a.Compared == nil || a.Outcome.Status == capacity.InfeasibleStatus {
			t.Errorf("%s: got %+v", q, a)
		}
		var p capacity.Problem
		s.ask(s.admin, "GET", "/v1/clusters/mine/problem?at=2026-03-01T22:30:00Z", nil).want(t, 200).into(t, &p)
		p.Options.Engine = capacity.EngineAuto
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var same goal.Answer
		s.ask(s.admin, "POST", "/v1/questions", fmt.Sprintf(`{"problem":%s,%s}`, text, q)).want(t, 200).into(t, &same)
		if diff := cmp.Diff(a, same); diff != "" {
			t.Errorf("%s: about the problem itself the answer differs: %s", q, diff)
		}
		for _, format := range []string{"csv", "xlsx"} {
			s.ask(s.admin, "POST", "/v1/clusters/mine/questions?format="+format, body).want(t, 200)
		}
	}

	// A quota below the promised jobs, and a budget that does not pay for them: the answer names the shortage and the
	// cure.
	tight := strings.Replace(smallProblem, `"min":0`, `"min":1`, 1)
	for want, question := range map[string][2]string{
		"/supply/on_demand/quota": {strings.Replace(tight, `"price":"1"`, `"price":"1","quota":0`, 1), "1000"},
		"/budget/amount":          {tight, "1"},
	} {
		p := s.ask(s.admin, "POST", "/v1/questions", `{"problem":`+question[0]+`,"question":"most_for_budget","budget":{"amount":"`+question[1]+`","per":"month"}}`).want(t, 422).problem(t)
		found := false
		for _, f := range p.Conflicts {
			found = found || f.Pointer == want && f.Hint != nil
		}
		if !found {
			t.Errorf("got %+v, want a cure at %s", p.Conflicts, want)
		}
	}
	s.ask(s.key("v", auth.Viewer, nil), "POST", "/v1/clusters/mine/questions", `{"question":"cheapest_for_all"}`).want(t, 403)
}
