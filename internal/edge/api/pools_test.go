package api

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/ask/pool"
	"example.org/headroom/internal/ask/recheck/machines"
	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/lp/worker"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/runs"
)

const smallPool = `{"currency":"USD","hours":4,"types":[{"name":"a","per_hour":"0.34","disk_gb":850,"compute_units":4,"accelerator":false},{"name":"b","per_hour":"0.17","compute_units":5,"core":false}],
	"jobs":[{"name":"j","work":90,"deadline_hours":3}],"storage":{"data_gb":4250,"replication":1}}`

const smallRounds = `{"currency":"USD","hours":4,"types":[{"name":"a","per_hour":"0.34","disk_gb":850,"compute_units":4,"accelerator":false},{"name":"b","per_hour":"0.17","compute_units":5,"core":false}],
	"storage":{"data_gb":4250,"replication":1},"running":[{"type":"a","count":5}],"jobs":[{"name":"j","work":30,"deadline_hours":3,"submissions":[3,0,2]}],"incoming_gb":[0,850]}`

// solved gives a service the real solver.
func solved(t testing.TB) func(*app.Config) {
	t.Helper()
	pool := worker.New(worker.Config{Processes: 1})
	t.Cleanup(func() { pool.Close() })
	return func(c *app.Config) { c.Solver = pool }
}

func TestPoolsOverHTTP(t *testing.T) {
	t.Parallel()
	s := newService(t, solved(t))
	p, err := pool.ReadPool([]byte(smallPool), capacity.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var a pool.PoolPlan
	s.ask(s.admin, "POST", "/v1/pools", smallPool).want(t, 200).into(t, &a)
	if wrong := machines.Pool(p, a); len(wrong) > 0 || a.Status != pool.PoolOptimal || a.Cost.String() != "7.82" {
		t.Errorf("got %+v, wrong %v", a, wrong)
	}

	// The mix of a plan can be evaluated as it is.
	mix, err := json.Marshal(a.Mix)
	if err != nil {
		t.Fatal(err)
	}
	with := func(old, new string) string { return strings.Replace(smallPool, old, new, 1) }
	var e pool.PoolEvaluation
	s.ask(s.admin, "POST", "/v1/pools/evaluate", with(`"hours"`, `"mix":`+string(mix)+`,"hours"`)).want(t, 200).into(t, &e)
	if diff := cmp.Diff(a.PoolOutcome, e.PoolOutcome); diff != "" || !e.DeadlinesMet || !e.StorageMet {
		t.Errorf("got %+v: %s", e, diff)
	}

	for body, want := range map[string]string{
		with(`"work":90`, `"work":90,"memory_gib_per_task":2`):                                             "no_eligible_type /jobs/0",
		with(`"disk_gb":850,`, ``):                                                                         "storage /storage/data_gb",
		with(`"hours":4`, `"startup_hours":3,"hours":4`):                                                   "deadline /jobs/0/deadline_hours",
		strings.ReplaceAll(smallPool, `"compute_units"`, `"most":5,"compute_units"`):                       "",
		strings.ReplaceAll(with(`"work":90`, `"work":900`), `"compute_units"`, `"most":5,"compute_units"`): "deadline /jobs/0/deadline_hours",
	} {
		if want == "" {
			s.ask(s.admin, "POST", "/v1/pools", body).want(t, 200)
			continue
		}
		problem := s.ask(s.admin, "POST", "/v1/pools", body).want(t, 422).problem(t)
		if len(problem.Conflicts) != 1 || problem.Conflicts[0].Code+" "+problem.Conflicts[0].Pointer != want || problem.Hint == nil {
			t.Errorf("got %+v, want %s", problem, want)
		}
	}
	for body, want := range map[string]string{
		with(`"work":90`, `"work":0`):                 "/jobs/0/work",
		with(`"per_hour":"0.34",`, ``):                "/types/0/per_hour",
		with(`"currency":"USD",`, ``):                 "/currency",
		with(`"hours":4`, `"mix":{},"hours":4`):       "/mix",
		with(`"deadline_hours":3`, `"rates":{"c":1}`): "/jobs/0/rates/c",
	} {
		problem := s.ask(s.admin, "POST", "/v1/pools", body)
		if problem.StatusCode != 422 && problem.StatusCode != 400 {
			t.Errorf("%s: got %d", want, problem.StatusCode)
			continue
		}
		if got := problem.problem(t); len(got.Errors) == 0 || *got.Errors[0].Pointer != want {
			t.Errorf("got %+v, want %s", got, want)
		}
	}
	s.ask(s.key("v", auth.Viewer, nil), "POST", "/v1/pools", smallPool).want(t, 403)

	var shares pool.SharePlan
	s.ask(s.admin, "POST", "/v1/share-plans", `{"types":[{"name":"gpu","slots":2},{"name":"plain","slots":4}],"jobs":[{"name":"a","rates":{"gpu":3,"plain":1}},{"name":"b","rates":{"gpu":1,"plain":1}}]}`).want(t, 200).into(t, &shares)
	if shares.Status != pool.PoolOptimal || shares.Jobs[0].Slots["gpu"] != 2 {
		t.Errorf("got %+v", shares)
	}
	if text := s.ask(s.admin, "GET", "/v1/instance-types", nil).want(t, 200).text; !strings.Contains(string(text), `"example_ec2_2011"`) {
		t.Errorf("got %s", text)
	}
}

// Without a solver the answer is 503.
func TestPoolsWithoutASolver(t *testing.T) {
	t.Parallel()
	s := newService(t)
	if p := s.ask(s.admin, "POST", "/v1/pools", smallPool).want(t, 503).problem(t); !strings.Contains(p.Detail, "solver") {
		t.Errorf("got %+v", p)
	}
}

// A cluster's own VM types, their prices of this moment and their quotas.
func TestPoolsOfClusters(t *testing.T) {
	t.Parallel()
	s := newService(t, solved(t))
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"night"}`).want(t, 201)
	for _, part := range [][2]string{
		{"/vm-types", `{"name":"big","vcpu":4,"memory_gib":7.5,"quota":5}`}, {"/vm-types", `{"name":"fast","vcpu":5,"memory_gib":1.7,"in_use":false}`}, {"/vm-types", `{"name":"old","vcpu":90,"in_use":false}`},
		{"/prices", `{"vm_type":"big","price":"0.34","from":"2020-01-01T00:00:00Z","until":null}`}, {"/prices", `{"vm_type":"fast","price":"0.17","from":"2020-01-01T00:00:00Z","until":null}`},
	} {
		s.ask(s.admin, "POST", "/v1/clusters/night"+part[0], part[1]).want(t, 201)
	}
	var a pool.PoolPlan
	s.ask(s.admin, "POST", "/v1/clusters/night/pools", `{"hours":4,"types":[{"name":"big","disk_gb":850,"accelerator":false},{"name":"fast","core":false}],
		"jobs":[{"name":"j","work":90,"deadline_hours":3}],"storage":{"data_gb":4250,"replication":1}}`).want(t, 200).into(t, &a)
	if a.Status != pool.PoolOptimal || a.Cost.String() != "7.82" {
		t.Errorf("got %+v", a)
	}
	// All types that have a price; memory keeps work from one.
	s.ask(s.admin, "POST", "/v1/clusters/night/pools", `{"hours":4,"jobs":[{"name":"j","work":60,"memory_gib_per_task":4}]}`).want(t, 200).into(t, &a)
	if len(a.Jobs[0].On) != 1 || a.Cost.String() != "5.10" || a.Jobs[0].On[0].Type != "big" {
		t.Errorf("got %+v", a)
	}
	if p := s.ask(s.admin, "POST", "/v1/clusters/night/pools", `{"currency":"EUR","hours":4,"jobs":[{"name":"j","work":60}]}`).want(t, 422).problem(t); *p.Errors[0].Pointer != "/currency" {
		t.Errorf("got %+v", p)
	}
	if p := s.ask(s.admin, "POST", "/v1/clusters/night/pools", `{"hours":4,"types":[{"name":"new","compute_units":3}],"jobs":[{"name":"j","work":60}]}`).want(t, 400).problem(t); *p.Errors[0].Pointer != "/types/0/per_hour" {
		t.Errorf("got %+v", p)
	}
	// Measured tasks of a job rate the types: fast does three times as much as big, whose four compute units stay.
	// Without measurements fast would do 5 in an hour, and the work would take three of them.
	s.ask(s.admin, "POST", "/v1/clusters/night/measurements", `{"measurements":[{"job":"sort","kind":"rate","node_type":"big","seconds":30},{"job":"sort","kind":"rate","node_type":"fast","seconds":10}]}`).want(t, 200)
	for body, cost := range map[string]string{`{"name":"sort","work":12}`: "0.17", `{"name":"other","work":12}`: "0.51", `{"name":"sort","work":12,"rates":{"fast":6}}`: "0.34"} {
		s.ask(s.admin, "POST", "/v1/clusters/night/pools", `{"hours":1,"jobs":[`+body+`]}`).want(t, 200).into(t, &a)
		measured := slices.ContainsFunc(a.Warnings, func(w capacity.Warning) bool {
			return w.Code == "rates_from" && strings.Contains(w.Detail, "version 1")
		})
		if a.Cost.String() != cost || measured != (cost == "0.17") {
			t.Errorf("%s: costs %s, want %s; warnings %+v", body, a.Cost.String(), cost, a.Warnings)
		}
	}
	s.ask(s.admin, "POST", "/v1/clusters/none/pools", `{"hours":4,"jobs":[{"name":"j","work":60}]}`).want(t, 404)
}

func TestPoolsAsRuns(t *testing.T) {
	t.Parallel()
	s := works(t, solved(t))
	var now, later pool.PoolPlan
	s.ask(s.admin, "POST", "/v1/pools", smallPool).want(t, 200).into(t, &now)
	run := s.over(s.ask(s.admin, "POST", "/v1/pools", smallPool, "Prefer", "respond-async").want(t, 202).Header.Get("Location"))
	s.ask(s.admin, "GET", "/v1/runs/"+run.ID+"/result", nil).want(t, 200).into(t, &later)
	if diff := cmp.Diff(now, later); diff != "" || run.Kind != "pool" || run.State != runs.RunSucceeded {
		t.Errorf("got %+v: %s", run, diff)
	}
	var rounds, again pool.PoolCourse
	s.ask(s.admin, "POST", "/v1/pools/rounds", smallRounds).want(t, 200).into(t, &rounds)
	run = s.over(s.ask(s.admin, "POST", "/v1/pools/rounds", smallRounds, "Prefer", "respond-async").want(t, 202).Header.Get("Location"))
	s.ask(s.admin, "GET", "/v1/runs/"+run.ID+"/result", nil).want(t, 200).into(t, &again)
	if diff := cmp.Diff(rounds, again); diff != "" || run.Progress != (runs.Progress{Done: 3, Total: 3, Unit: "rounds"}) || rounds.Cost.String() != "24.14" || !rounds.Proved {
		t.Errorf("got %+v, %+v: %s", run, rounds, diff)
	}
	run = s.over(s.ask(s.admin, "POST", "/v1/pools", strings.Replace(smallPool, `"disk_gb":850,`, ``, 1), "Prefer", "respond-async").want(t, 202).Header.Get("Location"))
	if run.State != runs.RunFailed || run.Error == nil || run.Error.Kind != string(fault.Infeasible) || len(run.Error.Conflicts) != 1 {
		t.Errorf("got %+v, %+v", run, run.Error)
	}
}

// A pool's types as a scenario, tried on a capacity problem.
func TestPoolTypesInCapacityPlans(t *testing.T) {
	t.Parallel()
	s := newService(t)
	body := strings.Replace(smallPool, `"name":"j"`, `"name":"a"`, 1)
	made := s.ask(s.admin, "POST", "/v1/pools/vm-types?reference=a&whole_vms=true", body).want(t, 200)
	var whatIf struct{ Scenarios []struct{ Status string } }
	s.ask(s.admin, "POST", "/v1/what-if", `{"problem":`+smallProblem+`,"scenarios":[`+string(made.text)+`]}`).want(t, 200).into(t, &whatIf)
	var scenario whatif.Scenario
	made.into(t, &scenario)
	if add := scenario.Changes[0].Add; add.Speed["a"] != 1.25 || add.VMType.Name != "b" || add.VMType.OnDemand.Price.String() != "0.17" {
		t.Errorf("got %+v", scenario)
	}
	if p := s.ask(s.admin, "POST", "/v1/pools/vm-types?reference=c", body).want(t, 422).problem(t); !strings.Contains(p.Detail, `"c"`) {
		t.Errorf("got %+v", p)
	}
}
