package api

import (
	"bytes"
	"encoding/csv"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/ask/trial"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/data/history"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/runs"
	"example.org/headroom/internal/slots/sim"
)

const profiledProblem = `{"currency":"USD","supply":{"on_demand":{"price":"0.2"}},"classes":[{"name":"etl","profile":{"map_tasks":20,"reduce_tasks":6,"map_avg_s":30,"map_max_s":40,
	"first_shuffle_avg_s":5,"first_shuffle_max_s":8,"shuffle_avg_s":12,"shuffle_max_s":20,"reduce_avg_s":9,"reduce_max_s":15},
	"deadline_s":300,"slots_per_vm":{"map":2,"reduce":1},"jobs":{"min":2,"max":6},"penalty":"5"}],"options":{"engine":"exact"}}`

func simulated(options string) string {
	return `{"problem":` + profiledProblem + `,"options":{` + options + `}}`
}

func TestSimulationsOverHTTP(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("mine")
	body := simulated(`"hours":4,"replications":3,"seed":7`)
	var a, again trial.Answer
	s.ask(s.admin, "POST", "/v1/simulations", body).want(t, 200).into(t, &a)
	if a.Executions == 0 || a.Judged < a.Executions || !strings.HasPrefix(a.Sentence, "With this plan ") || len(a.Classes) != 1 || a.Classes[0].Jobs != 6 || a.Options.Seed != 7 || *a.Options.WarmUpHours != 0.4 {
		t.Fatalf("got %+v", a)
	}
	s.ask(s.admin, "POST", "/v1/simulations", body).want(t, 200).into(t, &again)
	if diff := cmp.Diff(a, again); diff != "" {
		t.Errorf("the same seed came to something else: %s", diff)
	}

	// It is the plan's own simulation, with nothing of the service in it.
	q, err := trial.ReadSimulation([]byte(body), capacity.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	pl, err := plan.Solve(t.Context(), q.Problem, nil)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := trial.New(q.Problem, pl, q.Options, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := alone.Work(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(alone.Answer(), a); diff != "" {
		t.Errorf("without the service it comes to something else: %s", diff)
	}

	rows, err := csv.NewReader(bytes.NewReader(s.ask(s.admin, "POST", "/v1/simulations?format=csv", body).want(t, 200).text)).ReadAll()
	if err != nil || len(rows) != 2 || rows[0][0] != "class" || rows[1][0] != "etl" {
		t.Errorf("as a table: %v, %q", err, rows)
	}
	if sheet := s.ask(s.admin, "POST", "/v1/simulations?format=xlsx", body).want(t, 200); sheet.Header.Get("Content-Type") != xlsxType {
		t.Errorf("the spreadsheet is %v", sheet.Header)
	}

	// A cluster's current plan, and scenarios before they are adopted.
	const short = `"options":{"hours":2,"replications":2}`
	s.ask(s.admin, "POST", "/v1/clusters/mine/plans", `{}`).want(t, 201)
	s.ask(s.admin, "POST", "/v1/clusters/mine/simulations", `{`+short+`}`).want(t, 200).into(t, &a)
	var current currentPlan
	s.ask(s.admin, "GET", "/v1/clusters/mine/plans/current", nil).want(t, 200).into(t, &current)
	var planned capacity.Plan
	if planned, err = capacity.ReadPlan(current.Plan); err != nil {
		t.Fatal(err)
	}
	if a.VMs != planned.VMs.Total || a.Cost.Total.Cmp(planned.Cost.Total.Decimal) != 0 || a.Executions == 0 {
		t.Errorf("got %v VMs and %d executions, want those of the current plan with %v VMs", a.VMs, a.Executions, planned.VMs.Total)
	}
	s.ask(s.admin, "POST", "/v1/clusters/mine/scenarios", `{"name":"hurry","changes":[{"what":"deadline","factor":0.8}]}`).want(t, 201)
	var hurried trial.Answer
	s.ask(s.admin, "POST", "/v1/clusters/mine/simulations", `{"scenario":{"saved":"hurry"},`+short+`}`).want(t, 200).into(t, &hurried)
	s.ask(s.admin, "POST", "/v1/clusters/mine/simulations", `{"scenario":{"changes":[{"what":"deadline","factor":0.8}]},`+short+`}`).want(t, 200).into(t, &again)
	if diff := cmp.Diff(hurried, again); diff != "" {
		t.Errorf("the saved scenario comes to something else than its changes: %s", diff)
	}
	if got, want := hurried.Classes[0].Deadline.Seconds, 0.8*a.Classes[0].Deadline.Seconds; got != want {
		t.Errorf("got a deadline of %g s under the scenario, want %g", got, want)
	}
}

func TestALongSimulationIsARun(t *testing.T) {
	t.Parallel()
	s := works(t)
	body := simulated(`"hours":4,"replications":3`)
	started := s.ask(s.admin, "POST", "/v1/simulations", body, "Prefer", "respond-async").want(t, 202)
	run := s.over(started.Header.Get("Location"))
	var a, at trial.Answer
	s.ask(s.admin, "GET", "/v1/runs/"+run.ID+"/result", nil).want(t, 200).into(t, &a)
	if run.State != runs.RunSucceeded || run.Progress.Done != run.Progress.Total || run.Progress.Total == 0 || run.Kind != "simulation" {
		t.Errorf("got %+v", run)
	}
	s.ask(s.admin, "POST", "/v1/simulations", body).want(t, 200).into(t, &at)
	if diff := cmp.Diff(at, a); diff != "" {
		t.Errorf("the run found something else than the answer at once: %s", diff)
	}
	for _, format := range []string{"csv", "xlsx"} {
		if got := s.ask(s.admin, "GET", "/v1/runs/"+run.ID+"/result?format="+format, nil).want(t, 200); len(got.text) == 0 || !strings.Contains(got.Header.Get("Content-Disposition"), "simulation."+format) {
			t.Errorf("as %s: %d bytes, %v", format, len(got.text), got.Header)
		}
	}
	s.ask(s.admin, "GET", "/v1/runs/"+run.ID+"/result?format=focus", nil).want(t, 400)

	// A hundred years are never waited for, and end on request.
	long := simulated(`"hours":8784,"replications":100,"max_events":5000000000`)
	s.ask(s.key("limited", auth.Planner, []string{"mine"}), "POST", "/v1/simulations", long, "Prefer", "respond-async").want(t, 403)
	began := time.Now()
	location := s.ask(s.admin, "POST", "/v1/simulations", long).want(t, 202).Header.Get("Location")
	t.Logf("a long simulation was made a run after %s", time.Since(began))
	s.until(location, func(r runs.Run) bool { return r.Progress.Done > 0 || r.State.Over() })
	began = time.Now()
	s.ask(s.admin, "DELETE", location, nil)
	run = s.over(location)
	t.Logf("it ended %s after it was cancelled, with %d of %d steps", time.Since(began), run.Progress.Done, run.Progress.Total)
	if run.State != runs.RunCancelled || run.Partial {
		t.Errorf("got %+v", run)
	}
	s.ask(s.admin, "GET", location+"/result", nil).want(t, 404)

	// The part finished until then is stored.
	long = simulated(`"hours":200,"replications":1000,"max_events":5000000000`)
	location = s.ask(s.admin, "POST", "/v1/simulations", long, "Prefer", "respond-async").want(t, 202).Header.Get("Location")
	s.until(location, func(r runs.Run) bool { return r.Progress.Done > 3000 || r.State.Over() })
	s.ask(s.admin, "DELETE", location, nil)
	run = s.over(location)
	s.ask(s.admin, "GET", location+"/result", nil).want(t, 200).into(t, &a)
	if run.State != runs.RunCancelled || !run.Partial || a.Replications < 1 || a.Replications >= 1000 || a.Executions == 0 || a.Warnings[0].Code != "ended" {
		t.Errorf("got %+v, %d replications and %+v", run, a.Replications, a.Warnings)
	}
}

func TestSimulationsThatAreRefused(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("mine")
	const mine = "/v1/clusters/mine/simulations"
	for _, c := range []struct {
		path, body, want string
		status           int
	}{
		{"/v1/simulations", simulated(`"seed":-1`), "/options/seed", 422},
		{"/v1/simulations", simulated(`"hours":876000`), "/options/hours", 422},
		{"/v1/simulations", simulated(`"hours":0`), "/options/hours", 422},
		{"/v1/simulations", simulated(`"hours":"1"`), "/options/hours", 400},
		{"/v1/simulations", simulated(`"hours":2,"warm_up_hours":2`), "/options/warm_up_hours", 422},
		{"/v1/simulations", simulated(`"replications":1001`), "/options/replications", 422},
		{"/v1/simulations", simulated(`"max_events":0`), "/options/max_events", 422},
		{"/v1/simulations", simulated(`"policy":"lottery"`), "/options/policy", 422},
		{"/v1/simulations", simulated(`"compare":["fifo","fifo"]`), "/options/compare/1", 422},
		{"/v1/simulations", simulated(`"policy":"fifo","lending":"class"`), "/options/lending", 422},
		{"/v1/simulations", simulated(`"think_s":-1`), "/options/think_s", 422},
		{"/v1/simulations", simulated(`"load":"poisson","think_s":1`), "/options/think_s", 422},
		{"/v1/simulations", simulated(`"slow":0.1`), "/options/slow_by", 422},
		{"/v1/simulations", simulated(`"measured":{"etl":{"map_s":[1,-2]}}`), "/options/measured/etl/map_s/1", 422},
		{"/v1/simulations", simulated(`"measured":{"elt":{"map_s":[1]}}`), "/options/measured/elt", 422},
		{"/v1/simulations", simulated(`"measured":{"etl":{"stage_s":[[1]]}}`), "/options/measured/etl", 422},
		{"/v1/simulations", simulated(`"users":3`), "/options/users", 400},
		{"/v1/simulations", `{"problem":` + smallProblem + `}`, "/problem/classes", 422},
		{"/v1/simulations", `{"problem":{}}`, "/problem/currency", 400},
		{mine, `{"scenario":{"saved":"none"}}`, "/scenario/saved", 422},
		{mine, `{"scenario":{"changes":[{"what":"deadline","class":"nightli","factor":2}]}}`, "/scenario/changes/0/class", 422},
		{mine, `{"options":{"seed":1.5}}`, "/options/seed", 422},
	} {
		p := s.ask(s.admin, "POST", c.path, c.body).want(t, c.status).problem(t)
		if len(p.Errors) == 0 || p.Errors[0].Pointer == nil || *p.Errors[0].Pointer != c.want {
			t.Errorf("%.300s: got %+v, want one about %s", c.body, p.Errors, c.want)
		}
	}
	s.ask(s.admin, "POST", mine, `{}`).want(t, 404) // it has no plan yet
	s.ask(s.admin, "POST", "/v1/clusters/none/simulations", `{}`).want(t, 404)
	s.ask(s.key("v", auth.Viewer, nil), "POST", mine, `{}`).want(t, 403)
	tight := strings.Replace(profiledProblem, `"price":"0.2"`, `"price":"0.2","quota":0`, 1)
	if p := s.ask(s.admin, "POST", "/v1/simulations", `{"problem":`+tight+`}`).want(t, 422).problem(t); len(p.Conflicts) == 0 {
		t.Errorf("got %+v, want why there is no plan", p)
	}
	if a := s.ask(s.admin, "POST", "/v1/simulations", simulated(`"max_events":5`)).want(t, 200); !strings.Contains(string(a.text), `"stopped":"events"`) {
		t.Errorf("got %s", a.text)
	}
}

// Tasks of a class whose profile was made of executions last as long as measured: most short and a few long, which no
// distribution with their mean and maximum matches.
func TestSimulationsDrawFromThePast(t *testing.T) {
	t.Parallel()
	s := works(t)
	s.cluster("mine")
	quantiles := make([]float64, history.QuantileCount)
	for i := range quantiles {
		if quantiles[i] = 10; i > 15 {
			quantiles[i] = 70
		}
	}
	execution := func(id string, day int) history.Record {
		d := history.Durations{Count: 4, Mean: 25, Max: 70, Median: 10, P95: 70, Quantiles: quantiles}
		at := time.Date(2026, 1, day, 22, 0, 0, 0, time.UTC)
		r := history.Record{Facts: history.Facts{Job: "etl", Execution: id, SubmittedAt: new(at), FinishedAt: new(at.Add(time.Hour))},
			Sample: &history.Sample{Seconds: new(3600.0), Map: d, MapSlots: 2, Profile: capacity.Profile{MapTasks: 4, MapAvgSeconds: 25, MapMaxSeconds: 70}}}
		if err := r.Check(); err != nil {
			t.Fatal(err)
		}
		return r
	}
	s.ask(s.admin, "POST", "/v1/clusters/mine/executions", executionBatch{[]history.Record{execution("1", 5), execution("2", 6), execution("3", 7)}}).want(t, 200)
	s.ask(s.admin, "POST", "/v1/clusters/mine/profiles/from-history", `{"job":"etl","profile":"measured"}`).want(t, 200)
	s.ask(s.admin, "POST", "/v1/clusters/mine/classes", `{"name":"past","profile":{"name":"measured"},"deadline_s":300,"slots_per_vm":{"map":4,"reduce":1},"jobs":{"min":1,"max":2},"penalty":"100"}`).want(t, 201)
	s.ask(s.admin, "POST", "/v1/clusters/mine/plans", `{}`).want(t, 201)
	// An execution that came after the profile was made is not one of it.
	s.ask(s.admin, "POST", "/v1/clusters/mine/executions", executionBatch{[]history.Record{execution("4", 9)}}).want(t, 200)
	ask := func(options string) (past trial.Class) {
		t.Helper()
		var a trial.Answer
		asked := s.ask(s.admin, "POST", "/v1/clusters/mine/simulations", `{"options":{"hours":8,"replications":2`+options+`}}`)
		if asked.StatusCode == http.StatusAccepted { // the machine is busy
			asked = s.ask(s.admin, "GET", *s.over(asked.Header.Get("Location")).ResultURL, nil)
		}
		asked.want(t, 200).into(t, &a)
		for _, c := range a.Classes {
			if c.Name == "past" {
				past = c
			} else if c.MeasuredExecutions != 0 {
				t.Errorf("%q draws from %d executions", c.Name, c.MeasuredExecutions)
			}
		}
		return past
	}
	drawn, said := ask(""), ask(`,"durations":"lognormal"`)
	if drawn.MeasuredExecutions != 3 || said.MeasuredExecutions != 0 {
		t.Errorf("drawn from %d executions, and as a lognormal from %d; want 3 and none", drawn.MeasuredExecutions, said.MeasuredExecutions)
	}
	if drawn.Response.Deviation < 1.2*said.Response.Deviation {
		t.Errorf("response times deviate by %g s, and by %g with a lognormal; want more", drawn.Response.Deviation, said.Response.Deviation)
	}
	if given := ask(`,"measured":{"past":{"map_s":[25]}}`); given.MeasuredExecutions != 0 || given.Response.Deviation > drawn.Response.Deviation/2 {
		t.Errorf("given seconds: got %+v", given.Response)
	}
}

// A workload is simulated at once or as a run, equally to the simulator itself, and policies are listed side by side.
func TestWorkloadsAreSimulated(t *testing.T) {
	t.Parallel()
	s := works(t)
	workload := func(more string) string {
		return `{"nodes":[{"type":"gpu","count":2,"slots":{"shared":2}},{"type":"old","count":3,"slots":{"shared":1},"background":{"kind":"uniform","low":0.2,"high":0.8,"every_s":60}}],
		  "classes":[{"name":"etl","rates":{"gpu":4},"deadline_s":60,"profile":{"map_tasks":12,"map_avg_s":5,"map_max_s":9,"reduce_tasks":2,"reduce_avg_s":3,"reduce_max_s":5,"shuffle_avg_s":1,"shuffle_max_s":2,"first_shuffle_avg_s":1,"first_shuffle_max_s":2},"load":{"kind":"poisson","per_hour":120}},
		    {"name":"curve","task_time":{"a":10,"b":-1,"c":0,"d":0},"deadlines":{"low_s":20,"high_s":80},"profile":{"map_tasks":6,"map_avg_s":4,"map_max_s":4,"reduce_tasks":0},"load":{"kind":"poisson","per_hour":60}}],
		  "known":"given","horizon_s":2000,"replications":3,"seed":5` + more + `}`
	}
	const path = "/v1/simulations/workload"
	compare := `,"policy":{"kind":"max-progress"},"compare":[{"kind":"fifo"},{"kind":"edf","admission":"strict"}]`
	var got sim.Report
	s.ask(s.admin, "POST", path, workload(compare)).want(t, 200).into(t, &got)
	in, err := sim.Read([]byte(workload(compare)))
	if err != nil {
		t.Fatal(err)
	}
	want, err := sim.Run(t.Context(), in, 1)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got.Compared) != 9 {
		t.Errorf("%d rows compared; the simulator says (-), the service (+):\n%s", len(got.Compared), diff)
	}
	rows, err := csv.NewReader(bytes.NewReader(s.ask(s.admin, "POST", path+"?format=csv", workload(compare)).want(t, 200).text)).ReadAll()
	if err != nil || len(rows) != 10 || rows[0][0] != "policy" {
		t.Errorf("got %v, %v; want a row for each policy and class", rows, err)
	}
	rows, err = csv.NewReader(bytes.NewReader(s.ask(s.admin, "POST", path+"?format=csv", workload("")).want(t, 200).text)).ReadAll()
	if err != nil || len(rows) != 3 || rows[0][0] != "class" {
		t.Errorf("got %v, %v; want a row for each class", rows, err)
	}
	// In the background the answer is the same.
	started := s.ask(s.admin, "POST", path, workload(compare), "Prefer", "respond-async").want(t, 202)
	run := s.over(started.Header.Get("Location"))
	var later sim.Report
	s.ask(s.admin, "GET", "/v1/runs/"+run.ID+"/result", nil).want(t, 200).into(t, &later)
	if diff := cmp.Diff(got, later); diff != "" || run.State != runs.RunSucceeded {
		t.Errorf("a run that is %s comes to something else:\n%s", run.State, diff)
	}
	for _, format := range []string{"csv", "xlsx"} {
		s.ask(s.admin, "GET", "/v1/runs/"+run.ID+"/result?format="+format, nil).want(t, 200)
	}
	for _, c := range []struct {
		body, pointer string
		status        int
	}{
		{workload(`,"sead":1`), "/sead", 400},
		{strings.Replace(workload(""), `"known":"given"`, `"known":"guessed"`, 1), "/known", 422},
		{workload(`,"policy":{"kind":"learned"}`), "/heartbeat_s", 422},
		{workload(`,"limits":{"jobs":1000000}`), "/classes", 422},
		{strings.Replace(workload(""), `"gpu":4`, `"gpu":0`, 1), "/classes/0/rates/gpu", 422},
		{strings.Replace(workload(""), `"shared":2`, `"shared":0`, 1), "/nodes/0/slots", 422},
		{`{"classes":[]}`, "/slots/map", 422},
	} {
		if p := s.ask(s.admin, "POST", path, c.body).want(t, c.status).problem(t); len(p.Errors) == 0 || p.Errors[0].Pointer == nil || *p.Errors[0].Pointer != c.pointer {
			t.Errorf("%.80s…: got %+v, want %s", c.body[max(0, len(c.body)-80):], p.Errors, c.pointer)
		}
	}
}
