package api

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/ask/trial"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/data/inputs"
)

const promisedClass = `{"name":"promised","profile":{"name":"etl"},"deadline_s":3000,"target":0.9,"slots_per_vm":{"map":2,"reduce":2},"jobs":{"min":2,"max":2},"penalty":"50"}`

const fewExecutions = `"options":{"executions":40,"replications":2,"lending":"class"}`

// A problem's promises come with the problem, and solving that gives the plan that was judged.
func TestPromisesOverHTTP(t *testing.T) {
	t.Parallel()
	s := newService(t)
	problem := strings.Replace(profiledProblem, `"deadline_s"`, `"target":0.9,"deadline_s"`, 1)
	var a, again trial.TargetAnswer
	s.ask(s.admin, "POST", "/v1/targets", `{"problem":`+problem+`,`+fewExecutions+`}`).want(t, 200).into(t, &a)
	if len(a.Classes) != 1 || a.Classes[0].Promise == nil || a.Problem == nil || a.Options.Lending != trial.LendClass {
		t.Fatalf("got %+v", a)
	}
	s.ask(s.admin, "POST", "/v1/targets", `{"problem":`+problem+`,`+fewExecutions+`}`).want(t, 200).into(t, &again)
	if diff := cmp.Diff(a, again); diff != "" {
		t.Errorf("the same seed came to something else: %s", diff)
	}
	pl, err := capacity.ReadPlan(s.ask(s.admin, "POST", "/v1/solve", a.Problem).want(t, 200).text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a.Classes[0].Promise, pl.Classes[0].Promise); diff != "" || pl.VMs.Total != a.VMs {
		t.Errorf("the plan has %v VMs, want %v, and another promise: %s", pl.VMs.Total, a.VMs, diff)
	}
	for body, pointer := range map[string]string{
		`{"problem":` + profiledProblem + `}`:                                                                          "/problem/classes",
		`{"problem":` + strings.Replace(problem, "0.9", "1.5", 1) + `}`:                                                "/problem/classes/0/target",
		`{"problem":` + strings.Replace(problem, `"deadline_s":300`, `"deadline_s":56`, 1) + `,` + fewExecutions + `}`: "/problem/classes/0/target",
		`{"problem":` + problem + `,"options":{"executions":3}}`:                                                       "/options/executions",
		`{"problem":` + problem + `,"options":{"max_events":3}}`:                                                       "/options/max_events",
	} {
		if p := s.ask(s.admin, "POST", "/v1/targets", body).want(t, 422).problem(t); len(p.Errors) == 0 || p.Errors[0].Pointer == nil || *p.Errors[0].Pointer != pointer {
			t.Errorf("%s: got %+v, want %s", body, p, pointer)
		}
	}
}

// A cluster's promises are stored with its classes and enter its plans, which warn where there is none, or where it was
// found for something else.
func TestPromisesOfClustersEnterTheirPlans(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("mine")
	const class = "/v1/clusters/mine/classes/promised"
	s.ask(s.admin, "POST", "/v1/clusters/mine/classes", promisedClass).want(t, 201)
	planned := func() (of capacity.ClassPlan, warned string) {
		t.Helper()
		var stored struct{ Plan capacity.Plan }
		s.ask(s.admin, "POST", "/v1/clusters/mine/plans", `{}`).want(t, 201).into(t, &stored)
		for _, c := range stored.Plan.Classes {
			if c.Name == "promised" {
				of = c
			}
		}
		for _, w := range stored.Plan.Warnings {
			warned += " " + w.Code
		}
		return of, warned
	}
	if of, warned := planned(); of.Promise != nil || !strings.Contains(warned, "no_promise") {
		t.Fatalf("before: %+v, warned of%s", of.Promise, warned)
	}
	var a trial.TargetAnswer
	s.ask(s.admin, "POST", "/v1/clusters/mine/targets", `{`+fewExecutions+`}`).want(t, 200).into(t, &a)
	of, warned := planned()
	if diff := cmp.Diff(a.Classes[0].Promise, of.Promise); diff != "" || warned != "" || a.Problem != nil {
		t.Errorf("warned of%q; the plan has another promise: %s", warned, diff)
	}
	var stored inputs.PlannedClass
	got := s.ask(s.admin, "GET", class, nil).want(t, 200)
	got.into(t, &stored)
	if stored.Promise == nil || stored.Promise.Factor != a.Classes[0].Promise.Factor || stored.Version != 2 {
		t.Errorf("stored is %+v, version %d", stored.Promise, stored.Version)
	}
	text := strings.Replace(string(got.text), `"deadline_s":3000`, `"deadline_s":3100`, 1)
	s.ask(s.admin, "PUT", class, text, "If-Match", got.etag()).want(t, 200)
	if of, warned = planned(); of.Promise == nil || !strings.Contains(warned, "promise_out_of_range") {
		t.Errorf("with another deadline: %+v, warned of%s", of.Promise, warned)
	}
}
