package api

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/ask/trial"
	"example.org/headroom/internal/core/capacity"
)

const smallSchedule = `{"problem":{"currency":"EUR","options":{"max_solve_ms":60000},"supply":{"on_demand":{"price":"9"}},"classes":[{"name":"etl","vms_per_job":"2","deadline_s":3600,"due_s":14400,"jobs":{"min":0,"max":0},"penalty":"50"}]},
 "periods":[{"start":"2026-03-02T00:00:00Z","hours":1,"arrivals":[3],"on_demand_price":"1"},{"start":"2026-03-02T01:00:00Z","hours":1,"arrivals":[0],"on_demand_price":"4"},{"start":"2026-03-02T02:00:00Z","hours":2,"arrivals":[0],"on_demand_price":"2"}]}`

// A server answers a schedule at once, checked, and refuses what it cannot plan at its member.
func TestSchedulesAreAnswered(t *testing.T) {
	t.Parallel()
	s := newService(t)
	var a timetable.Answer
	s.ask(s.admin, "POST", "/v1/schedule", smallSchedule).want(t, 200).into(t, &a)
	if a.Cost.Bill.String() != "12.00" || a.Saved.String() != "12.00" || !a.Proof.Checked || len(a.Hours) != 4 {
		t.Errorf("got a bill of %s, %s saved, %d hours: %s", a.Cost.Bill, a.Saved, len(a.Hours), a.Explanation)
	}
	text, err := os.ReadFile("../../../openapi/examples/day-with-windows.json")
	if err != nil {
		t.Fatal(err)
	}
	if s.ask(s.admin, "POST", "/v1/schedule", string(text)).want(t, 200).into(t, &a); len(a.Schedule) == 0 || a.Saved.Sign() <= 0 {
		t.Errorf("the example has %d starts and saves %s", len(a.Schedule), a.Saved)
	}
	s.ask(s.admin, "POST", "/v1/horizons", smallSchedule).want(t, 422)
}

// The schedule of a cluster is that of its forecasts, prices and contracts as a document. What a schedule does not plan
// with is said.
func TestSchedulesOfClustersAreThoseOfTheirForecasts(t *testing.T) {
	t.Parallel()
	s := newService(t)
	const at = "/v1/clusters/lab"
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"lab","currency":"EUR","options":{"engine":"exact"}}`).want(t, 201)
	for _, part := range [][2]string{
		{"/vm-types", `{"name":"m"}`},
		{"/prices", `{"vm_type":"m","price":"1","from":"2026-03-02T00:00:00Z","until":"2026-03-02T01:00:00Z"}`},
		{"/prices", `{"vm_type":"m","price":"4","from":"2026-03-02T01:00:00Z","until":"2026-03-02T02:00:00Z"}`},
		{"/prices", `{"vm_type":"m","price":"2","from":"2026-03-02T02:00:00Z","until":null}`},
		{"/classes", `{"name":"etl","vms_per_job":"2","deadline_s":3600,"due_s":14400,"jobs":{"min":0,"max":3},"penalty":"50"}`},
		{"/classes", `{"name":"web","vms_per_job":"0.5","deadline_s":1800,"jobs":{"min":0,"max":4},"penalty":"50"}`},
	} {
		s.ask(s.admin, "POST", at+part[0], part[1]).want(t, 201)
	}
	s.ask(s.admin, "PUT", at+"/forecasts", `{"rows":[{"class":"etl","hour":"2026-03-02T00:00:00Z","arrivals":3},{"class":"etl","hour":"2026-03-02T01:00:00Z","arrivals":0},
		{"class":"web","hour":"2026-03-02T00:00:00Z","jobs":2},{"class":"web","hour":"2026-03-02T01:00:00Z","jobs":1}]}`).want(t, 200)
	var got, want timetable.Answer
	const span = `{"from":"2026-03-02T00:00:00Z","until":"2026-03-02T02:00:00Z"}`
	s.ask(s.admin, "POST", at+"/schedules", span).want(t, 200).into(t, &got)
	// Two jobs of half an hour at once are four arrivals an hour. etl may run until five hours after 01:00.
	document := `{"problem":{"currency":"EUR","options":{"engine":"exact"},"supply":{"on_demand":{"price":"1"}},"classes":[{"name":"etl","vms_per_job":"2","deadline_s":3600,"due_s":14400,"jobs":{"min":0,"max":3},"penalty":"50"},
	 {"name":"web","vms_per_job":"0.5","deadline_s":1800,"jobs":{"min":0,"max":4},"penalty":"50"}]},
	 "periods":[{"start":"2026-03-02T00:00:00Z","hours":1,"arrivals":[3,4],"on_demand_price":"1"},{"start":"2026-03-02T01:00:00Z","hours":1,"arrivals":[0,2],"on_demand_price":"4"},
	  {"start":"2026-03-02T02:00:00Z","hours":5,"arrivals":[0,0],"on_demand_price":"2"}]}`
	s.ask(s.admin, "POST", "/v1/schedule", document).want(t, 200).into(t, &want)
	if diff := cmp.Diff(want.Hours, got.Hours); diff != "" || got.Cost.Total.String() != want.Cost.Total.String() || !got.Proof.Checked {
		t.Errorf("the schedule differs (-want +got):\n%s\n%s\n%s", diff, want.Explanation, got.Explanation)
	}
	var codes []string
	for _, w := range got.Warnings {
		codes = append(codes, w.Code)
	}
	if diff := cmp.Diff([]string{"counted_as_arrivals"}, codes); diff != "" || !strings.Contains(got.Warnings[0].Detail, `of "web"`) {
		t.Errorf("it warns of %v", got.Warnings)
	}

	// Months count all jobs as they arrive, and warn of those that may wait.
	var months horizon.Answer
	s.ask(s.admin, "POST", at+"/horizons", span).want(t, 200).into(t, &months)
	if i := slices.IndexFunc(months.Warnings, func(w capacity.Warning) bool { return w.Code == "windows_left_out" }); i < 0 || !strings.HasPrefix(months.Warnings[i].Detail, `Jobs of "etl" may wait`) {
		t.Errorf("months warn of %v", months.Warnings)
	}

	// They say what waiting does where they are asked: what the schedule does, by month.
	months = horizon.Answer{}
	s.ask(s.admin, "POST", at+"/horizons", span[:len(span)-1]+`,"with_waiting":true}`).want(t, 200).into(t, &months)
	w := months.WithWaiting
	if w == nil || !w.Bill.Equal(got.Cost.Bill.Decimal) || !w.AtOnce.Bill.Equal(got.AtOnce.Bill.Decimal) || !w.Saved.Equal(got.Saved.Decimal) || !w.Until.Equal(got.Hours[len(got.Hours)-1].Start.Add(time.Hour)) ||
		!w.Gap.Equal(got.Cost.Total.Sub(got.Proof.Bound.Decimal)) || len(w.Months) != 1 || !w.Months[0].Bill.Equal(w.Bill.Decimal) {
		t.Errorf("got %+v, and the schedule is %+v, %+v", w, got.Cost, got.AtOnce.Cost)
	}
	if !strings.Contains(months.Explanation, "A schedule of whole executions, the last of which may run until 2026-03-02 07:00 UTC, has a VM bill of ") ||
		slices.ContainsFunc(months.Warnings, func(w capacity.Warning) bool { return w.Code == "windows_left_out" }) {
		t.Errorf("months say %q and warn of %v", months.Explanation, months.Warnings)
	}
	for wrong, want := range map[string]string{
		`{"from":"2026-03-02T00:00:00Z","until":"2026-12-02T00:00:00Z","with_waiting":true}`:  "a schedule has 2208 at most",
		span[:len(span)-1] + `,"with_waiting":true,"assume":"flat"}`:                          "A schedule goes on with no demand that is assumed.",
		`{"from":"2026-03-02T00:00:00Z","until":"2026-03-02T02:00:00Z","with_waiting":"yes"}`: "",
	} {
		if said := string(s.ask(s.admin, "POST", at+"/horizons", wrong).text); !strings.Contains(said, want) || !strings.Contains(said, "/with_waiting") {
			t.Errorf("%s is answered %s", wrong, said)
		}
	}

	// Under a scenario twice as many arrive.
	s.ask(s.admin, "POST", at+"/schedules", span[:len(span)-1]+`,"scenario":{"changes":[{"what":"demand","class":"etl","factor":2}]}}`).want(t, 200).into(t, &got)
	if n := len(got.Schedule); n == 0 || got.Classes[0].Arrived != 6 {
		t.Errorf("under a scenario %d starts, %+v", n, got.Classes)
	}

	// The class keeps the time, documents carry it, and plans of a moment do not look at it.
	var class map[string]any
	s.ask(s.admin, "GET", at+"/classes/etl", nil).want(t, 200).into(t, &class)
	if class["due_s"] != 14400.0 {
		t.Errorf("the class is %v", class)
	}
	exported := string(s.ask(s.admin, "GET", at+"/document", nil).want(t, 200).text)
	if strings.Count(exported, "due_s") != 1 {
		t.Errorf("the document is %s", exported)
	}
	problem := string(s.ask(s.admin, "GET", at+"/problem?at=2026-03-02T00:10:00Z", nil).want(t, 200).text)
	if strings.Contains(problem, "due_s") {
		t.Errorf("the problem of a moment is %s", problem)
	}

	// What cannot be planned is refused with its cure.
	change := func(path string, change func(map[string]any)) {
		t.Helper()
		a := s.ask(s.admin, "GET", at+path, nil).want(t, 200)
		var whole map[string]any
		a.into(t, &whole)
		for _, computed := range []string{"version", "inputs_version", "created_at", "updated_at", "warnings"} {
			delete(whole, computed)
		}
		change(whole)
		text, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		s.ask(s.admin, "PUT", at+path, text, "If-Match", a.etag()).want(t, 200)
	}
	refused := func(part string) {
		t.Helper()
		if p := s.ask(s.admin, "POST", at+"/schedules", span).want(t, 422).problem(t); !strings.Contains(p.Detail+fmt.Sprint(p.Errors), part) {
			t.Errorf("it says %s %v, want %q", p.Detail, p.Errors, part)
		}
	}
	change("/classes/etl", func(c map[string]any) { c["due_s"] = 1800 })
	refused("runs for 3600 s or more")
	change("/classes/etl", func(c map[string]any) { c["due_s"] = 14400; delete(c, "deadline_s") })
	refused("no deadline")
	change("/classes/etl", func(c map[string]any) { c["deadline_s"] = 3600; c["jobs"] = map[string]int{"min": 1, "max": 3} })
	if s.ask(s.admin, "POST", at+"/schedules", span).want(t, 200).into(t, &got); !strings.Contains(fmt.Sprint(got.Warnings), "promises_left_out") {
		t.Errorf("it warns of %v", got.Warnings)
	}
	s.ask(s.admin, "POST", at+"/vm-types", `{"name":"other"}`).want(t, 201)
	s.ask(s.admin, "POST", at+"/prices", `{"vm_type":"other","price":"0.5","from":"2026-03-02T01:00:00Z","until":null}`).want(t, 201)
	s.ask(s.admin, "POST", at+"/prices", `{"vm_type":"other","price":"9","from":"2026-03-02T00:00:00Z","until":"2026-03-02T01:00:00Z"}`).want(t, 201)
	got = timetable.Answer{}
	if s.ask(s.admin, "POST", at+"/schedules", span).want(t, 200).into(t, &got); len(got.Hours[0].ByType) != 2 || got.Schedule[0].Type != "other" || !got.Proof.Checked {
		t.Errorf("of two types the schedule is %+v %+v", got.Hours[0], got.Schedule)
	}
	change("/classes/web", func(c map[string]any) { delete(c, "deadline_s") })
	refused("has no deadline_s")
	change("", func(c map[string]any) {
		c["options"] = map[string]string{"engine": "exact", "sharing": "dedicated"}
	})
	refused("dedicated")
	s.ask(s.admin, "POST", at+"/schedules", `{"from":"2026-03-02T00:30:00Z"}`).want(t, 422)
	s.ask(s.admin, "POST", at+"/schedules", `{"detail":"classes"}`).want(t, 400)
}

// smallTimed is a schedule whose executions have tasks.
const smallTimed = `{"problem":{"currency":"EUR","options":{"engine":"exact"},"supply":{"on_demand":{"price":"9"}},"classes":[{"name":"etl","profile":{"map_tasks":30,"map_avg_s":200,"map_max_s":300,"reduce_tasks":0},"slots_per_vm":{"map":2,"reduce":2},"deadline_s":3600,"due_s":14400,"jobs":{"min":0,"max":0},"penalty":"50"}]},
 "periods":[{"start":"2026-03-02T00:00:00Z","hours":1,"arrivals":[3],"on_demand_price":"1"},{"start":"2026-03-02T01:00:00Z","hours":1,"arrivals":[0],"on_demand_price":"4"},{"start":"2026-03-02T02:00:00Z","hours":2,"arrivals":[0],"on_demand_price":"2"}]}`

// A schedule is tried with the same outcome at once and as a run, from a document and of a cluster.
func TestSchedulesAreTried(t *testing.T) {
	t.Parallel()
	s := works(t)
	const at = "/v1/clusters/lab"
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"lab","currency":"EUR","options":{"engine":"exact"}}`).want(t, 201)
	for _, part := range [][2]string{
		{"/vm-types", `{"name":"m"}`},
		{"/prices", `{"vm_type":"m","price":"1","from":"2026-03-02T00:00:00Z","until":"2026-03-02T01:00:00Z"}`},
		{"/prices", `{"vm_type":"m","price":"4","from":"2026-03-02T01:00:00Z","until":"2026-03-02T02:00:00Z"}`},
		{"/prices", `{"vm_type":"m","price":"2","from":"2026-03-02T02:00:00Z","until":null}`},
		{"/profiles", `{"name":"tasks","profile":{"map_tasks":30,"map_avg_s":200,"map_max_s":300,"reduce_tasks":0}}`},
		{"/classes", `{"name":"etl","profile":{"name":"tasks"},"slots_per_vm":{"map":2,"reduce":2},"deadline_s":3600,"due_s":14400,"jobs":{"min":0,"max":3},"penalty":"50"}`},
	} {
		s.ask(s.admin, "POST", at+part[0], part[1]).want(t, 201)
	}
	s.ask(s.admin, "PUT", at+"/forecasts", `{"rows":[{"class":"etl","hour":"2026-03-02T00:00:00Z","arrivals":3}]}`).want(t, 200)
	const of = `{"from":"2026-03-02T00:00:00Z","until":"2026-03-02T01:00:00Z","options":{"replications":20,"seed":3}}`
	var document, cluster, later trial.ScheduleAnswer
	s.answer("/v1/simulations/schedule", strings.Replace(smallTimed, `"periods"`, `"options":{"replications":20,"seed":3},"periods"`, 1), &document)
	s.answer(at+"/simulations/schedule", of, &cluster)
	run := s.over(s.ask(s.admin, "POST", at+"/simulations/schedule", of, "Prefer", "respond-async").want(t, 202).Header.Get("Location"))
	s.ask(s.admin, "GET", "/v1/runs/"+run.ID+"/result", nil).want(t, 200).into(t, &later)
	if document.Executions != 60 || document.Sentence != cluster.Sentence || later.Sentence != cluster.Sentence {
		t.Errorf("a document: %s\na cluster: %s\nas a run: %s", document.Sentence, cluster.Sentence, later.Sentence)
	}
	for _, bad := range [][2]string{
		{`{"options":{"replications":0}}`, "/options/replications"}, {`{"options":{"hours":3}}`, "/options"},
		{`{"options":{"measured":{"nix":{"map_s":[1]}}}}`, "/options/measured/nix"},
	} {
		if r := s.ask(s.admin, "POST", at+"/simulations/schedule", bad[0]); r.StatusCode/100 != 4 || !strings.Contains(string(r.text), bad[1]) {
			t.Errorf("%s is answered with %d: %s", bad[0], r.StatusCode, r.text)
		}
	}
}

// Schedules of a cluster keep to budgets, which verify checks, also over a range and in trials. Prices of starts are then left out.
func TestBudgetsOfClusters(t *testing.T) {
	t.Parallel()
	s := works(t)
	s.waiting("lab")
	s.ask(s.admin, "PUT", "/v1/clusters/lab/vm-types/m", `{"name":"m","start_price":"0.5"}`, "If-Match", `"1"`).want(t, 200)
	const span = `"from":"2026-03-02T00:00:00Z","until":"2026-03-02T06:00:00Z"`
	budgets := func(most string) string { return `"budgets":[{` + span + `,"vm_cost":"` + most + `"}]` }
	asked := func(address, more string, into any) {
		t.Helper()
		s.answer("/v1/clusters/lab/"+address, `{`+span+more+`}`, into)
	}
	var free, tight timetable.Answer
	asked("schedules", "", &free)
	asked("schedules", ","+budgets("30"), &tight)
	most := decimal.NewFromInt(30)
	cost := func(a *timetable.Answer) (sum decimal.Decimal) {
		for _, h := range a.Hours[:6] {
			sum = sum.Add(h.Cost.Decimal)
		}
		return sum
	}
	if bill := cost(&tight); len(tight.Budgets) != 1 || !tight.Budgets[0].Bill.Equal(bill) || bill.GreaterThan(most) || !cost(&free).GreaterThan(most) {
		t.Errorf("hours cost %s within a budget of 30, and %s without: %+v", bill, cost(&free), tight.Budgets)
	}
	if !slices.ContainsFunc(tight.Warnings, func(w capacity.Warning) bool { return w.Code == "starts_left_out" }) {
		t.Errorf("nothing says that prices of starts are left out: %v", tight.Warnings)
	}
	var over timetable.SweepAnswer
	asked("waiting", `,"vary":[{"what":"due","class":"reports","by":"value","values":["0","21600"]}],"schedules":true,`+budgets("30"), &over)
	for i := range over.Points {
		if p := &over.Points[i]; p.Schedule == nil || len(p.Schedule.BudgetPrices) != 1 {
			t.Errorf("point %d: %s %+v", i, p.Conflict, p.Schedule)
		}
	}
	if r := s.ask(s.admin, "POST", "/v1/clusters/lab/schedules", `{`+span+`,"budgets":[{"from":"2026-03-02T00:30:00Z","until":"2026-03-02T06:00:00Z","vm_cost":"9"}]}`); r.StatusCode != 422 || !strings.Contains(string(r.text), "/budgets/0/from") {
		t.Errorf("a budget from half past: %d %s", r.StatusCode, r.text)
	}
}
