package api

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/test/await"
)

const shorter = `{"name":"shorter","note":"for the audit","changes":[{"what":"deadline","class":"nightly","factor":0.9}]}`

func TestSavedScenarios(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("mine")
	before := s.ask(s.admin, "GET", "/v1/clusters/mine", nil).want(t, 200)
	var c inputs.Cluster
	before.into(t, &c)

	planner, viewer := s.key("p", auth.Planner, nil), s.key("v", auth.Viewer, nil)
	const at = "/v1/clusters/mine/scenarios"
	created := s.ask(planner, "POST", at, shorter).want(t, 201)
	if got := created.Header.Get("Location"); got != at+"/shorter" {
		t.Errorf("Location is %s", got)
	}
	s.ask(planner, "POST", at, shorter).want(t, 409)
	read := s.ask(viewer, "GET", at+"/shorter", nil).want(t, 200)
	var kept whatif.Scenario
	read.into(t, &kept)
	if kept.Name != "shorter" || kept.Note != "for the audit" || len(kept.Changes) != 1 || *kept.Changes[0].Factor != 0.9 || kept.Version != 1 || read.etag() != `"1"` {
		t.Errorf("got %+v with %s", kept, read.etag())
	}
	s.ask(viewer, "GET", at+"/shorter", nil, "If-None-Match", read.etag()).want(t, 304)

	other := strings.Replace(shorter, "0.9", "0.8", 1)
	s.ask(planner, "PUT", at+"/shorter", other).want(t, 428)
	s.ask(viewer, "PUT", at+"/shorter", other, "If-Match", `"1"`).want(t, 403)
	if got := s.ask(planner, "PUT", at+"/shorter", other, "If-Match", `"1"`).want(t, 200).etag(); got != `"2"` {
		t.Errorf("after a change the ETag is %s", got)
	}
	s.ask(planner, "PUT", at+"/shorter", other, "If-Match", `"1"`).want(t, 412)
	s.ask(planner, "PUT", at+"/longer", other, "If-Match", `"1"`).want(t, 422) // another name
	var l list[whatif.Scenario]
	s.ask(viewer, "GET", at, nil).want(t, 200).into(t, &l)
	if len(l.Items) != 1 || *l.Items[0].Changes[0].Factor != 0.8 {
		t.Errorf("listed %+v", l.Items)
	}
	if got := s.ask(viewer, "GET", at+"?format=csv", nil).want(t, 200).text; !strings.Contains(string(got), `shorter,for the audit,"[{""what"":""deadline"",""class"":""nightly"",""factor"":0.8}]",2,`) {
		t.Errorf("as a table: %s", got)
	}

	s.ask(planner, "DELETE", at+"/shorter", nil, "If-Match", `"2"`).want(t, 204)
	s.ask(viewer, "GET", at+"/shorter", nil).want(t, 404)
	if got := s.ask(planner, "POST", at, shorter).want(t, 201).etag(); got != `"3"` {
		t.Errorf("made anew the ETag is %s, which somebody has seen", got)
	}

	// The author is on record, and no plan is due.
	want := []struct{ Action, Kind, Name, By string }{{"create", "scenario", "shorter", "p"}, {"delete", "scenario", "shorter", "p"}, {"update", "scenario", "shorter", "p"}}
	for last := range await.Tries(30 * time.Second) { // an entry shows once no older transaction of the server is open
		var audit list[struct{ Action, Kind, Name, By string }]
		s.ask(s.admin, "GET", "/v1/audit?cluster=mine&limit=3", nil).want(t, 200).into(t, &audit)
		diff := cmp.Diff(want, audit.Items)
		if diff == "" {
			break
		}
		if last {
			t.Fatalf("audit: %s", diff)
		}
	}
	var after inputs.Cluster
	s.ask(s.admin, "GET", "/v1/clusters/mine", nil).want(t, 200).into(t, &after)
	if after.InputsVersion != c.InputsVersion {
		t.Errorf("the inputs' version went from %d to %d, though no plan depends on a scenario", c.InputsVersion, after.InputsVersion)
	}
}

func TestScenariosThatAreRefused(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("mine")
	for _, c := range []struct {
		body, want string
		status     int
	}{
		{`{"name":"a"}`, "/changes", 400},
		{`{"name":"a","changes":[{"what":"dedline","factor":1}]}`, "/changes/0/what", 400},
		{`{"name":"a","changes":[{"what":"deadline","factor":"x"}]}`, "/changes/0/factor", 400},
		{`{"name":"a","changes":[{"what":"deadline","factor":1,"clas":"x"}]}`, "/changes/0/clas", 400},
		{`{"name":"a","changes":[{"what":"deadline"}]}`, "/changes/0", 422},
		{`{"name":"a","changes":[{"what":"deadline","factor":1,"value":2}]}`, "/changes/0/value", 422},
		{`{"name":"a","changes":[{"what":"price","class":"nightly","factor":1}]}`, "/changes/0/class", 422},
		{`{"name":"compare","changes":[]}`, "/name", 422},
		{`{"name":" a","changes":[]}`, "/name", 422},
	} {
		p := s.ask(s.admin, "POST", "/v1/clusters/mine/scenarios", c.body).want(t, c.status).problem(t)
		if len(p.Errors) == 0 || p.Errors[0].Pointer == nil || *p.Errors[0].Pointer != c.want {
			t.Errorf("%s: got %+v, want one about %s", c.body, p.Errors, c.want)
		}
	}
}

func TestWhatIfOverHTTP(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("mine")
	s.ask(s.admin, "POST", "/v1/clusters/mine/scenarios", shorter).want(t, 201)
	const moment = "2026-03-01T22:30:00Z"
	var w whatif.Comparison
	s.ask(s.admin, "POST", "/v1/clusters/mine/what-if",
		`{"at":"`+moment+`","scenarios":[{"saved":"shorter"},{"name":"none","changes":[]},{"name":"no room","changes":[{"what":"drop_contract","contract":"three-year"},{"what":"quota","value":0}]}]}`).want(t, 200).into(t, &w)
	if w.Base.Plan == nil || len(w.Scenarios) != 3 || w.Scenarios[0].Name != "shorter" || w.Scenarios[0].Plan == nil || len(w.Scenarios[0].Difference.Classes) != 2 {
		t.Fatalf("got %+v", w)
	}
	if got := w.Scenarios[1].Sentence; got != "No change changes nothing." {
		t.Errorf("got %q", got)
	}
	if a := w.Scenarios[2]; a.Status != capacity.InfeasibleStatus || len(a.Conflicts) == 0 || a.Plan != nil || a.Difference != nil {
		t.Errorf("got %+v", a)
	}

	// The same by the problem itself, changed by hand.
	var p capacity.Problem
	s.ask(s.admin, "GET", "/v1/clusters/mine/problem?at="+moment, nil).want(t, 200).into(t, &p)
	for i := range p.Classes {
		if p.Classes[i].Name == "nightly" {
			p.Classes[i].DeadlineSeconds *= 0.9
		}
	}
	var pl capacity.Plan
	s.ask(s.admin, "POST", "/v1/solve", p).want(t, 200).into(t, &pl)
	if got := w.Scenarios[0]; !got.Cost.Total.Equal(pl.Cost.Total.Decimal) || got.VMs.Total != pl.VMs.Total {
		t.Errorf("the scenario costs %s, the changed problem %s", got.Cost.Total, pl.Cost.Total)
	}

	// A saved one by its address, and several of them.
	var one, two whatif.Comparison
	s.ask(s.admin, "GET", "/v1/clusters/mine/scenarios/shorter/answer?at="+moment, nil).want(t, 200).into(t, &one)
	s.ask(s.admin, "GET", "/v1/clusters/mine/scenarios/compare?name=shorter&name=shorter&at="+moment, nil).want(t, 200).into(t, &two)
	for _, a := range []whatif.ScenarioAnswer{one.Scenarios[0], two.Scenarios[0], two.Scenarios[1]} {
		if a.Sentence != w.Scenarios[0].Sentence || a.Name != "shorter" {
			t.Errorf("got %s %q, want %q", a.Name, a.Sentence, w.Scenarios[0].Sentence)
		}
	}
	s.ask(s.admin, "GET", "/v1/clusters/mine/scenarios/compare", nil).want(t, 400)
	s.ask(s.admin, "GET", "/v1/clusters/mine/scenarios/compare?name=a", nil).want(t, 404)
	s.ask(s.admin, "GET", "/v1/clusters/mine/scenarios/compare?name=a&name=b&name=c&name=d&name=e", nil).want(t, 400)
	s.ask(s.key("v", auth.Viewer, nil), "GET", "/v1/clusters/mine/scenarios/shorter/answer", nil).want(t, 403)

	table := s.ask(s.admin, "POST", "/v1/clusters/mine/what-if?format=csv", `{"at":"`+moment+`","scenarios":[{"saved":"shorter"}]}`).want(t, 200)
	rows, err := csv.NewReader(strings.NewReader(string(table.text))).ReadAll()
	if err != nil || len(rows) != 3 || rows[1][0] != "base" || rows[2][3] != w.Scenarios[0].Cost.Total.String() {
		t.Errorf("as a table: %v, %q", err, rows)
	}
}

// A question about a stored plan is about that plan's inputs, whatever has changed since. In classes it is far shorter.
func TestQuestionsAboutAStoredPlan(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("mine")
	const moment, changes = "2026-03-01T22:30:00Z", `[{"what":"deadline","class":"nightly","factor":0.9}]`
	var made struct{ Number int64 }
	s.ask(s.admin, "POST", "/v1/clusters/mine/plans", `{"at":"`+moment+`"}`).want(t, 201).into(t, &made)
	about := fmt.Sprintf(`"plan":%d`, made.Number)
	ask := func(about, detail string) (w whatif.Comparison) {
		s.ask(s.admin, "POST", "/v1/clusters/mine/what-if", `{`+about+`,"detail":"`+detail+`","scenarios":[{"changes":`+changes+`}]}`).want(t, 200).into(t, &w)
		return w
	}
	full := ask(`"at":"`+moment+`"`, "full")
	stored := s.ask(s.admin, "GET", "/v1/clusters/mine/classes/nightly", nil).want(t, 200)
	var class map[string]any
	stored.into(t, &class)
	class["jobs"] = map[string]any{"min": 0, "max": 1}
	for _, member := range []string{"version", "created_at", "updated_at", "created_by", "updated_by"} {
		delete(class, member)
	}
	s.ask(s.admin, "PUT", "/v1/clusters/mine/classes/nightly", class, "If-Match", stored.etag()).want(t, 200)
	if diff := cmp.Diff(full, ask(about, "full"), cmpopts.IgnoreFields(capacity.Proof{}, "SolveMs")); diff != "" {
		t.Errorf("the stored plan is answered otherwise: %s", diff)
	}

	brief := ask(about, "classes")
	answer := brief.Scenarios[0]
	if brief.Base.Plan != nil || answer.Plan != nil || answer.Difference.Classes != nil || len(answer.Classes) != len(full.Base.Plan.Classes) {
		t.Fatalf("in classes it has %d classes, and a plan", len(answer.Classes))
	}
	for i, c := range answer.Classes {
		was, is := full.Base.Plan.Classes[i], full.Scenarios[0].Plan.Classes[i]
		want := whatif.ClassOutcome{Name: is.Name, Admitted: whatif.BothFigures{From: was.Admitted, To: is.Admitted}, VMs: whatif.BothFigures{From: was.VMs, To: is.VMs}, Reason: is.Reason}
		if diff := cmp.Diff(want, c); diff != "" {
			t.Error(diff)
		}
	}

	var a whatif.SweepAnswer
	s.ask(s.admin, "POST", "/v1/clusters/mine/sweeps", `{`+about+`,"changes":`+changes+`,"vary":[{"what":"price","values":[1]}]}`).want(t, 200).into(t, &a)
	if diff := cmp.Diff(full.Scenarios[0].Cost, a.Points[0].Cost); diff != "" {
		t.Errorf("a point of the stored plan is not its scenario: %s", diff)
	}
}

func TestWhatIfRefusals(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("mine")
	for _, c := range []struct {
		path, body, want string
		status           int
	}{
		{"/v1/what-if", `{"problem":` + smallProblem + `,"scenarios":[{"changes":[]},{"changes":[{"what":"price","factor":1},{"what":"deadline","class":"b","factor":1}]}]}`, "/scenarios/1/changes/1/class", 422},
		{"/v1/what-if", `{"problem":` + smallProblem + `,"scenarios":[]}`, "/scenarios", 400},
		{"/v1/what-if", `{"problem":{},"scenarios":[{"changes":[]}]}`, "/problem/currency", 400},
		{"/v1/what-if", `{"problem":` + smallProblem + `,"scenarios":[{"saved":"x"}]}`, "/scenarios/0/saved", 400},
		{"/v1/what-if", `{`, "", 400},
		{"/v1/clusters/mine/what-if", `{"scenarios":[{"saved":"x"}]}`, "/scenarios/0/saved", 422},
		{"/v1/clusters/mine/what-if", `{"scenarios":[{"changes":[{"what":"demand","class":"nightli","factor":2}]}]}`, "/scenarios/0/changes/0/class", 422},
		{"/v1/clusters/mine/what-if", `{"plan":7,"scenarios":[{"changes":[]}]}`, "/plan", 422},
		{"/v1/clusters/mine/what-if", `{"plan":0,"scenarios":[{"changes":[]}]}`, "/plan", 422},
		{"/v1/clusters/mine/what-if", `{"plan":1,"at":"2026-03-01T22:30:00Z","scenarios":[{"changes":[]}]}`, "/plan", 422},
		{"/v1/clusters/mine/sweeps", `{"plan":7,"vary":[{"what":"price","values":[1]}]}`, "/plan", 422},
		{"/v1/clusters/mine/what-if", `{"detail":"full","scenarios":[` + strings.Repeat(`{"changes":[]},`, 4) + `{"changes":[]}]}`, "/detail", 422},
		{"/v1/clusters/mine/what-if", `{"scenarios":[` + strings.Repeat(`{"changes":[]},`, 1000) + `{"changes":[]}]}`, "/scenarios", 422},
	} {
		p := s.ask(s.admin, "POST", c.path, c.body).want(t, c.status).problem(t)
		if len(p.Errors) == 0 || p.Errors[0].Pointer == nil || *p.Errors[0].Pointer != c.want {
			t.Errorf("%.200s: got %+v, want one about %s", c.body, p.Errors, c.want)
		}
	}
	s.ask(s.admin, "POST", "/v1/clusters/none/what-if", `{"scenarios":[{"changes":[]}]}`).want(t, 404)
	s.ask(s.admin, "POST", "/v1/clusters/none/what-if", `{"plan":1,"scenarios":[{"changes":[]}]}`).want(t, 404)
	s.ask(s.admin, "POST", "/v1/clusters/mine/what-if?format=pdf", `{"scenarios":[{"changes":[]}]}`).want(t, 400)
}

// TestManyScenariosAtOnce asks a thousand over a hundred classes. It logs the time and does not judge it: other tests
// run beside it.
func TestManyScenariosAtOnce(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for _, integrality := range []capacity.Integrality{capacity.Relaxed, capacity.Integer, capacity.Executable} {
		askMany(t, s, integrality)
	}
}

func askMany(t *testing.T, s *service, integrality capacity.Integrality) {
	text := manyClasses(t, 100, integrality)
	ask := func(n int) (whatif.Comparison, time.Duration) {
		var scenarios []string
		for i := range n {
			scenarios = append(scenarios, fmt.Sprintf(`{"name":"s%d","changes":[{"what":%q,"factor":%.3f}]}`, i, []string{"deadline", "demand", "price", "penalty"}[i%4], 0.9+0.0002*float64(i)))
		}
		body := `{"problem":` + text + `,"detail":"summary","scenarios":[` + strings.Join(scenarios, ",") + `]}`
		began := time.Now()
		answer := s.ask(s.admin, "POST", "/v1/what-if", body).want(t, 200)
		took := time.Since(began)
		var w whatif.Comparison
		answer.into(t, &w)
		return w, took
	}
	n := 100
	if os.Getenv("HEADROOM_LONG") == "1" {
		n = 1000
	}
	w, took := ask(n)
	proved := 0
	for i, a := range w.Scenarios {
		if a.Name != fmt.Sprintf("s%d", i) || a.Difference == nil || a.Difference.Classes != nil || a.Plan != nil {
			t.Fatalf("row %d: %+v", i, a)
		}
		if a.Status == capacity.Optimal {
			proved++
		}
	}
	_, one := ask(1)
	t.Logf("%s: %d scenarios took %s, %d of them proved; one took %s", integrality, n, took, proved, one)
}

func manyClasses(t testing.TB, n int, integrality capacity.Integrality) string {
	t.Helper()
	drawn, err := study.Generate("mixed", n, 1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := drawn.Profiled()
	if err != nil {
		t.Fatal(err)
	}
	p.Options.Integrality, p.Options.Engine = integrality, capacity.EngineAuto
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
