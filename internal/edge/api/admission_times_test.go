package api

import (
	"fmt"
	"strings"
	"testing"

	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/slots/dispatch"
	"example.org/headroom/internal/slots/live"
)

// A promise rests on the cluster's own observations of a class's tasks, otherwise on the stored fit of measurements,
// otherwise on the class's profile, and names its basis. Measured usage applies to jobs that give none.
func TestPromisesSayWhatTheyRestOn(t *testing.T) {
	t.Parallel()
	s, agent := planned(t)
	const at = "/v1/clusters/night"
	s.node("a", 4)
	promise := func(demand float64, from ...dispatch.TaskTimesFrom) {
		t.Helper()
		var a live.Admission
		r := s.ask(agent, "POST", admissions, `{"class":"nightly","deadline_s":1,"maps":40,"reduces":8}`).want(t, 200)
		r.into(t, &a)
		if v := a.Deadline; v.DemandSeconds < demand-1e-6 || v.DemandSeconds > demand+1e-6 || fmt.Sprint(v.Times) != fmt.Sprint(from) {
			t.Errorf("the demand is %g by %+v, want %g by %+v", v.DemandSeconds, v.Times, demand, from)
		}
	}
	profile := dispatch.TimesSource{From: dispatch.TimesOfProfile}
	promise(40*30/4+8*60/4, dispatch.TaskTimesFrom{Kind: dispatch.MapTask, TimesSource: profile}, dispatch.TaskTimesFrom{Kind: dispatch.ReduceTask, TimesSource: profile})

	submit := func(body string) (j live.LiveJob) {
		t.Helper()
		s.ask(s.admin, "POST", at+"/jobs", body).want(t, 201).into(t, &j)
		return j
	}
	if j := submit(`{"name":"unmeasured","class":"nightly","maps":1}`); j.Usage != (live.TasksUsage{}) || j.UsageFrom != "" {
		t.Errorf("nobody has measured it: %+v", j)
	}
	s.ask(s.admin, "DELETE", at+"/jobs/1", nil).want(t, 204)
	s.ask(s.admin, "POST", at+"/measurements", `{"measurements":[
		{"job":"nightly","kind":"task_time","residual":1,"seconds":10},{"job":"nightly","kind":"task_time","residual":0.5,"seconds":20},
		{"job":"nightly","kind":"usage","vms":6,"cpu_percent":73,"io_mb_s":50}]}`).want(t, 200)
	fit := dispatch.TimesSource{From: dispatch.TimesOfFit, Version: 1, Tasks: 2}
	promise(40*10/4+8*60/4, dispatch.TaskTimesFrom{Kind: dispatch.MapTask, TimesSource: fit}, dispatch.TaskTimesFrom{Kind: dispatch.ReduceTask, TimesSource: profile})
	s.ask(s.admin, "PUT", at+"/nodes/a", `{"type":"m5.large","cores":4,"slots":{"map":4,"reduce":0},"dedicated":false}`).want(t, 200)
	s.beat("a", `{"seq":2,"running":[],"state":{"residual":0.5}}`)
	promise(40*20/4+8*60/4, dispatch.TaskTimesFrom{Kind: dispatch.MapTask, TimesSource: fit}, dispatch.TaskTimesFrom{Kind: dispatch.ReduceTask, TimesSource: profile})

	j := submit(`{"name":"measured","class":"nightly","maps":1,"reduces":1}`)
	if want := (perf.TaskUsage{CPU: 7.3, Disk: 3}); j.Usage.Map != want || j.Usage.Reduce != want || !strings.Contains(j.UsageFrom, "version 1") {
		t.Errorf("got %+v from %q", j.Usage, j.UsageFrom)
	}
	var kept live.LiveJob
	s.ask(s.admin, "GET", fmt.Sprintf("%s/jobs/%d", at, j.Number), nil).want(t, 200).into(t, &kept)
	if kept.Usage != j.Usage || kept.UsageFrom != j.UsageFrom {
		t.Errorf("kept are %+v from %q", kept.Usage, kept.UsageFrom)
	}
	// Slots are shared, so that the reduce starts after the map, and its time is its own.
	first := s.beat("a", `{"seq":3,"running":[]}`).Assignments[0]
	if first.Class != "nightly" || first.JobName != "measured" {
		t.Errorf("the node is told of a job %q of the class %q", first.JobName, first.Class)
	}
	begun := first.Assignment
	next := s.beat("a", fmt.Sprintf(`{"seq":4,"running":[],"finished":[{"assignment":%d,"seconds":3}]}`, begun))
	seen := dispatch.TimesSource{From: dispatch.TimesOfLive, Tasks: 1}
	promise(40*3/4+8*60/4, dispatch.TaskTimesFrom{Kind: dispatch.MapTask, TimesSource: seen}, dispatch.TaskTimesFrom{Kind: dispatch.ReduceTask, TimesSource: profile})
	s.beat("a", fmt.Sprintf(`{"seq":5,"running":[],"finished":[{"assignment":%d,"seconds":4}]}`, next.Assignments[0].Assignment))
	promise(40*3/4+8*4/4, dispatch.TaskTimesFrom{Kind: dispatch.MapTask, TimesSource: seen}, dispatch.TaskTimesFrom{Kind: dispatch.ReduceTask, TimesSource: seen})

	for _, body := range []string{`{"name":"given","class":"nightly","maps":1,"usage":{"map":{"cpu":2}}}`, `{"name":"unknown","class":"nightly","maps":1,"usage_from":"nobody knows"}`} {
		if j := submit(body); strings.Contains(j.UsageFrom, "fit") || j.Usage.Map.Disk != 0 {
			t.Errorf("what is said is not overruled: %+v from %q", j.Usage, j.UsageFrom)
		}
	}
}
