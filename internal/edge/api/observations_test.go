package api

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/test/await"
)

func init() { // types that the overlay names
	overlaid["list[capacity.Observation]"] = reflect.TypeFor[list[plans.Observation]]()
	collectTypes(reflect.TypeFor[plans.ObservationRequest]())
	collectTypes(reflect.TypeFor[plans.Observation]())
}

const observations = "/v1/clusters/night/observations"

func TestObservations(t *testing.T) {
	t.Parallel()
	s, agent := planned(t)
	var plan plans.PlanSummary
	s.ask(s.admin, "GET", "/v1/clusters/night/plans/1", nil).want(t, 200).into(t, &plan)
	s.ask(agent, "GET", observations+"/latest", nil).want(t, 404)

	var o plans.Observation
	a := s.ask(agent, "POST", observations, fmt.Sprintf(`{"vms":%v,"slots":{"map":2,"reduce":1}}`, plan.VMs+5)).want(t, 201)
	a.into(t, &o)
	if o.PlanNumber == nil || *o.PlanNumber != 1 || *o.PlannedVMs != plan.VMs || *o.DriftVMs != 5 || *o.DriftRatio != 5/plan.VMs || *o.PlanStale || o.ObservedBy != "host-7" {
		t.Errorf("got %s, want a drift of 5 from plan 1 of %v VMs", a.text, plan.VMs)
	}
	if at := a.Header.Get("Location"); at != observations+"/"+o.ID {
		t.Errorf("it is at %q", at)
	}
	latest := s.ask(agent, "GET", observations+"/latest", nil).want(t, 200)
	if same := s.ask(s.admin, "GET", observations+"/"+o.ID, nil).want(t, 200); string(same.text) != string(latest.text) || string(same.text) != string(a.text) {
		t.Errorf("got %s, %s and %s, want the same", a.text, same.text, latest.text)
	}
	s.ask(agent, "GET", observations+"/latest", nil, "If-None-Match", latest.etag()).want(t, 304)

	if o.PlanVMs != nil || len(o.Warnings) != 0 {
		t.Errorf("got %s", a.text)
	}

	// Late news go into the history alone.
	var late plans.Observation
	s.ask(agent, "POST", observations, fmt.Sprintf(`{"vms":7,"at":%q}`, time.Now().Add(-time.Hour).Format(time.RFC3339))).want(t, 201).into(t, &late)
	if late.PlanNumber != nil || late.Slots != nil || late.Utilization != nil {
		t.Errorf("got %+v, want that there was no plan an hour ago", late)
	}
	s.ask(agent, "GET", observations+"/latest", nil, "If-None-Match", latest.etag()).want(t, 304)
	var rows list[plans.Observation]
	s.ask(s.key("look", auth.Viewer, nil), "GET", observations, nil).want(t, 200).into(t, &rows)
	if len(rows.Items) != 2 || rows.Items[0].ID != o.ID || rows.Items[1].ID != late.ID {
		t.Errorf("got %+v, want the newest first", rows.Items)
	}
	s.ask(agent, "GET", observations+"?until="+time.Now().Add(-time.Minute).UTC().Format(time.RFC3339), nil).want(t, 200).into(t, &rows)
	if len(rows.Items) != 1 || rows.Items[0].ID != late.ID {
		t.Errorf("got %+v, want the one of an hour ago", rows.Items)
	}

	// A report sent twice is stored once.
	for range 2 {
		s.ask(agent, "POST", observations, `{"vms":8}`, "Idempotency-Key", "tick-1").want(t, 201)
	}
	if table := s.ask(agent, "GET", observations+"?format=csv", nil).want(t, 200); strings.Count(string(table.text), "\n") != 4 {
		t.Errorf("got %s, want a heading and 3 rows", table.text)
	}
}

func TestObservationsThatCannotBe(t *testing.T) {
	t.Parallel()
	s, agent := planned(t)
	in := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339) }
	for body, want := range map[string]int{
		`{}`: 400, `{"vms":-1}`: 400, `{"vms":1.5}`: 400, `{"vms":1e10}`: 400, `{"vms":"3"}`: 400, `{"vms":null}`: 400, `{"vms":NaN}`: 400, `{"vms":1,"vms":2}`: 400,
		`{"vms":1,"slots":{"map":1}}`: 400, `{"vms":1,"slots":{"map":-1,"reduce":0}}`: 400, `{"vms":1,"slots":{"map":1e13,"reduce":0}}`: 400, `{"vms":1,"slots":[1,2]}`: 400,
		`{"vms":1,"at":"yesterday"}`: 400, `{"vms":1,"at":"` + in(2*time.Minute) + `"}`: 422, `{"vms":1,"at":"` + in(-169*time.Hour) + `"}`: 422, `{"vms":1,"at":"9999-12-31T23:59:59Z"}`: 422,
		`{"vms":1,"at":"0001-01-01T00:00:00Z"}`: 400, `{"vms":1,"more":2}`: 400, `[]`: 400, ``: 400,
	} {
		if a := s.ask(agent, "POST", observations, body); a.StatusCode != want {
			t.Errorf("%s: got %d %s, want %d", body, a.StatusCode, a.text, want)
		}
	}
	for path, want := range map[string]int{observations + "/newest": 400, observations + "/01999f2e-6d0c-7c4b-8f2f-0a5e5a6f7b8c": 404, observations + "?from=x": 400, observations + "?limit=0": 400} {
		if a := s.ask(agent, "GET", path, nil); a.StatusCode != want {
			t.Errorf("%s: got %d %s, want %d", path, a.StatusCode, a.text, want)
		}
	}
	if p := s.ask(agent, "GET", observations+"?from="+in(0)+"&until="+in(-time.Hour), nil).want(t, 400).problem(t); !strings.Contains(p.Detail+fmt.Sprint(p.Errors), "from must not be after until") {
		t.Errorf("got %+v", p)
	}
	s.ask(s.key("plans", auth.Planner, nil), "POST", observations, `{"vms":1}`).want(t, 403)
	s.ask(s.key("other", auth.Agent, []string{"day"}), "POST", observations, `{"vms":1}`).want(t, 404)
	var rows list[plans.Observation]
	s.ask(agent, "GET", observations, nil).want(t, 200).into(t, &rows)
	if len(rows.Items) != 0 {
		t.Errorf("what was refused is kept: %+v", rows.Items)
	}
}

// Running VMs are compared with the targets of autoscalers, which are higher while a decrease is held back.
func TestDriftIsFromWhatAutoscalersAreTold(t *testing.T) {
	t.Parallel()
	s, agent := planned(t)
	change := func(path, member string, value any) {
		t.Helper()
		a := s.ask(s.admin, "GET", "/v1/clusters/night"+path, nil).want(t, 200)
		var whole map[string]any
		a.into(t, &whole)
		for _, computed := range []string{"version", "inputs_version", "created_at", "updated_at", "warnings"} {
			delete(whole, computed)
		}
		whole[member] = value
		s.ask(s.admin, "PUT", "/v1/clusters/night"+path, whole, "If-Match", a.etag()).want(t, 200)
	}
	change("", "hold_s", 600)
	change("/classes/nightly", "jobs", map[string]int{"min": 2, "max": 2})
	s.ask(s.admin, "POST", "/v1/clusters/night/plans", nil).want(t, 201)
	var told plans.Scaling
	s.ask(s.admin, "GET", scalingOfNight, nil).want(t, 200).into(t, &told)
	if !told.VMs.Held {
		t.Fatalf("no decrease is held back: %+v", told.VMs)
	}
	var o plans.Observation
	for _, at := range []string{"", fmt.Sprintf(`,"at":%q`, time.Now().UTC().Format(time.RFC3339Nano))} {
		a := s.ask(agent, "POST", observations, fmt.Sprintf(`{"vms":%d%s}`, told.VMs.Total, at)).want(t, 201)
		a.into(t, &o)
		if o.PlannedVMs == nil || *o.PlannedVMs != float64(told.VMs.Total) || *o.DriftVMs != 0 || o.PlanVMs == nil || *o.PlanVMs != float64(told.VMs.Planned) || *o.PlanNumber != 2 {
			t.Errorf("autoscalers are told %+v, the observation is %s", told.VMs, a.text)
		}
	}
	s.ask(agent, "POST", observations, `{"vms":1,"slots":{"map":500,"reduce":0}}`).want(t, 201).into(t, &o)
	if len(o.Warnings) != 1 || o.Warnings[0].Pointer != "/slots" || !strings.Contains(o.Warnings[0].Detail, "and 1 run") {
		t.Errorf("more busy slots than there are: got %+v", o.Warnings)
	}
}

// Many clients report running VMs at once; every replica's metrics show the latest.
func TestObservationsAreShownToPrometheus(t *testing.T) {
	t.Parallel()
	s, agent := planned(t)
	var plan plans.PlanSummary
	s.ask(s.admin, "GET", "/v1/clusters/night/plans/1", nil).want(t, 200).into(t, &plan)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() { s.ask(agent, "POST", observations, fmt.Sprintf(`{"vms":%d}`, i)).want(t, 201) })
	}
	all.Wait()
	s.ask(agent, "POST", observations, fmt.Sprintf(`{"vms":%v,"slots":{"map":0,"reduce":0}}`, plan.VMs+1)).want(t, 201)
	s.metric("headroom_observed_vms{cluster=\"night\"}", fmt.Sprint(plan.VMs+1))
	s.metric("headroom_plan_drift_vms{cluster=\"night\"}", "1")
	s.metric("headroom_plan_drift_ratio{cluster=\"night\"}", fmt.Sprint(1/plan.VMs))
	s.metric("headroom_observed_utilization_ratio{cluster=\"night\"}", "0")
}

// Every job that asks for a place is counted by its answer; a repeated answer does not count.
func TestAdmissionsAreCounted(t *testing.T) {
	t.Parallel()
	s, agent := planned(t)
	for range 2 {
		s.ask(agent, "POST", admissions, `{"class":"nightly"}`, "Idempotency-Key", "job-1").want(t, 201)
	}
	s.ask(agent, "POST", admissions, `{"class":"unheard-of"}`).want(t, 200)
	s.metric(`headroom_admissions_total{outcome="admitted"}`, "1")
	s.metric(`headroom_admissions_total{outcome="not_planned"}`, "1")
	s.metric(`headroom_admissions_total{outcome="full"}`, "0")
}

// metric waits until a series has a value.
func (s *service) metric(series, want string) {
	s.Helper()
	got := ""
	for range await.Tries(10 * time.Second) {
		r, err := http.NewRequestWithContext(s.Context(), "GET", s.url+"/metrics", nil)
		if err != nil {
			s.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+s.admin)
		for line := range strings.Lines(string(s.send(r).text)) {
			if value, found := strings.CutPrefix(line, series+" "); found {
				if got = strings.TrimSpace(value); got == want {
					return
				}
			}
		}
	}
	s.Errorf("%s is %q, want %s", series, got, want)
}
