package api

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/service/clusters"
)

const classesOfRuns = "/v1/clusters/mine/classes/from-history"

// makeClasses makes classes of past runs, or proposes them.
func (s *service) makeClasses(t *testing.T, body string) (made clusters.ClassesMade) {
	t.Helper()
	s.ask(s.admin, "POST", classesOfRuns, body).want(t, 200).into(t, &made)
	return made
}

// A class of past runs has the profile, deadline, calibration and forecast that other operations make of the same runs. A dry
// run says the same, and stores nothing.
func TestClassesAreMadeOfHistories(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("mine")
	const at = "/v1/clusters/mine/"
	if made := s.makeClasses(t, `{}`); len(made.Classes) != 0 || made.LeftOut.Count != 0 {
		t.Errorf("of no runs it makes %+v", made)
	}
	s.ask(s.admin, "POST", at+"executions", executionBatch{nightly(15)}).want(t, 200)
	s.ask(s.admin, "POST", at+"executions", `{"executions":[{"job":"broken","execution":"b1","outcome":"failed","refused":"It failed: no room left."},
		{"job":"untimed","execution":"u1","outcome":"succeeded","sample":{"profile":{"map_tasks":1,"reduce_tasks":0,"map_avg_s":2,"map_max_s":2},"map":{"count":1,"mean":2,"max":2,"p50":2,"p95":2}}}]}`).want(t, 200)

	before := s.ask(s.admin, "GET", "/v1/clusters/mine", nil).want(t, 200).etag()
	proposed := s.makeClasses(t, `{"slots":2,"dry_run":true}`)
	if after := s.ask(s.admin, "GET", "/v1/clusters/mine", nil).etag(); after != before || !proposed.DryRun {
		t.Errorf("a dry run changed the cluster: %s, then %s", before, after)
	}
	s.ask(s.admin, "GET", at+"profiles/nightly-etl-v2", nil).want(t, 404)
	made := s.makeClasses(t, `{"slots":2}`)
	if len(made.Classes) != 1 || len(proposed.Classes) != 1 {
		t.Fatalf("made %+v, proposed %+v", made.Classes, proposed.Classes)
	}
	var class inputs.PlannedClass
	s.ask(s.admin, "GET", at+"classes/nightly-etl-v2", nil).want(t, 200).into(t, &class)
	for what, c := range map[string]inputs.PlannedClass{"stored": class, "proposed": proposed.Classes[0].Class, "made": made.Classes[0].Class} {
		// Fridays have three runs at once, each of which counts for an hour and a half.
		if c.DeadlineSeconds != 5400 || c.Jobs != clusters.Promised(3) || c.SlotsPerVM.Map != 2 || c.Profile == nil || *c.Profile != (inputs.ProfileRef{Name: "nightly-etl-v2", Version: 1}) || c.Calibration == nil || *c.Calibration != *class.Calibration {
			t.Errorf("%s is %+v", what, c)
		}
	}
	if got := fmt.Sprint(made.LeftOut.First); made.LeftOut.Count != 2 || !strings.Contains(got, "b1 It failed: no room left.") && !strings.Contains(got, "no room left") || !strings.Contains(got, "the columns start and finish") {
		t.Errorf("left out are %s", got)
	}
	if got := made.Classes[0]; got.Runs != 19 || *got.MedianSeconds != 5400 || got.Arrivals != "9 a week, at the hours of the last 2 weeks on record" || !strings.Contains(fmt.Sprint(got.Assumed), "is done within 1h30m, as 19 of 19 runs were") {
		t.Errorf("it says %+v", got)
	}

	// The other operations make nothing else of the same runs.
	var profile clusters.ProfileMade
	s.ask(s.admin, "POST", at+"profiles/from-history", `{"job":"Nightly ETL (v2)"}`).want(t, 200).into(t, &profile)
	if profile.Changed {
		t.Errorf("its profile is not what that operation makes: %+v", profile.Profile)
	}
	var calibration clusters.ClassCalibration
	s.ask(s.admin, "GET", at+"classes/nightly-etl-v2/calibration?coverage=0.95", nil).want(t, 200).into(t, &calibration)
	if r := calibration.Recommends; r == nil || calibration.InUse == nil || r.Bound != calibration.InUse.Bound || r.Factor != calibration.InUse.Factor || calibration.Adoption == nil {
		t.Errorf("its calibration is %+v, recommended is %+v", calibration.InUse, r)
	}
	var forecast clusters.ForecastMade
	now := s.app.Now().UTC().Truncate(time.Hour)
	s.ask(s.admin, "POST", at+"forecasts/from-history", fmt.Sprintf(`{"class":"nightly-etl-v2","job":"Nightly ETL (v2)","measured_from":"2026-01-05T23:00:00Z","measured_until":"2026-01-19T23:00:00Z","from":%q,"until":%q,"dry_run":true}`,
		now.Format(time.RFC3339), made.Until.Format(time.RFC3339))).want(t, 200).into(t, &forecast)
	if w := forecast.Written; w.Written < 92*24-1 || w.Added+w.Changed > 1 || math.Abs(made.Until.Sub(now).Hours()-92*24) > 1 {
		t.Errorf("its forecast is not what that operation makes: %+v until %s", w, made.Until)
	}

	// What is there stays as it is.
	again := s.makeClasses(t, `{"slots":2}`)
	if len(again.Classes) != 0 || !strings.Contains(fmt.Sprint(again.LeftOut.First), `There is a class "nightly-etl-v2" already`) {
		t.Errorf("again: %+v", again)
	}
	other := s.makeClasses(t, `{"slots":2,"jobs":[{"job":"Nightly ETL (v2)","name":"other","deadline_s":7200},{"job":"untimed","deadline_s":60}]}`)
	if len(other.Classes) != 2 || other.Classes[0].Class.DeadlineSeconds != 7200 || other.Classes[1].Class.Calibration != nil || !strings.Contains(fmt.Sprint(other.Classes[1].Assumed), "untimed is done within 1m}") {
		t.Errorf("under another name: %+v", other)
	}
}

// Of many jobs a request makes a hundred, and says that others wait.
func TestClassesOfManyHistories(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("mine")
	var all executionBatch
	for job := range 103 {
		one := nightly(1)[0]
		one.Job, one.Execution = fmt.Sprintf("job %d", job), fmt.Sprintf("run of %d", job)
		all.Executions = append(all.Executions, one)
	}
	s.ask(s.admin, "POST", "/v1/clusters/mine/executions", all).want(t, 200)
	made := s.makeClasses(t, `{"slots":2,"dry_run":true}`)
	if len(made.Classes) != 100 || made.MoreJobs != 3 || made.LeftOut.Count != 0 || made.Next == "" {
		t.Errorf("of 103 jobs it makes %d, %d wait after %q, %d are left out", len(made.Classes), made.MoreJobs, made.Next, made.LeftOut.Count)
	}

	// Requests that follow each other make each class once, and tell each run that is left out once.
	for job := range 60 {
		s.ask(s.admin, "POST", "/v1/clusters/mine/executions", fmt.Sprintf(`{"executions":[{"job":"job %d failed","execution":"f%[1]d","outcome":"failed","refused":"It failed."},
			{"job":"job %[1]d failed","execution":"g%[1]d","outcome":"failed","refused":"It failed."}]}`, job)).want(t, 200)
	}
	classes, left := map[string]int{}, int64(0)
	for _, dry := range []string{"true", "false"} {
		for after, requests := "", 0; requests == 0 || after != ""; requests++ {
			made = s.makeClasses(t, fmt.Sprintf(`{"slots":2,"after":%q,"dry_run":%s}`, after, dry))
			for _, c := range made.Classes {
				classes[c.Class.Name]++
			}
			left, after = left+made.LeftOut.Count, made.Next
			if requests > 3 {
				t.Fatal("the requests do not end")
			}
		}
	}
	if left != 2*120 || len(classes) != 103 || slices.ContainsFunc(slices.Collect(maps.Values(classes)), func(n int) bool { return n != 2 }) {
		t.Errorf("%d runs are left out, want 240; %d classes are made: %v", left, len(classes), classes)
	}
	s.ask(s.admin, "POST", classesOfRuns, `{"after":"a","jobs":[{"job":"job 1"}]}`).want(t, 422)
}

// A request that cannot be kept is refused as a whole, with the place of what is wrong, and nothing is made.
func TestClassesOfHistoriesAreRefused(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("mine")
	s.ask(s.admin, "POST", "/v1/clusters/mine/executions", executionBatch{nightly(15)}).want(t, 200)
	s.ask(s.admin, "POST", "/v1/clusters/mine/executions", `{"executions":[{"job":"broken","execution":"b1","outcome":"failed","refused":"It failed."}]}`).want(t, 200)
	s.ask(s.admin, "POST", "/v1/clusters/mine/profiles", strings.Replace(someProfile, `"etl"`, `"typed"`, 1)).want(t, 201)
	const job = `{"job":"Nightly ETL (v2)"`
	for _, c := range []struct{ body, where, says string }{
		{`{"slots":2,"jobs":[{"job":"Nightly ETL (v3)"}]}`, "/jobs/0/job", "There is no run of the job"},
		{`{"slots":2,"jobs":[` + job + `},{"job":"broken"}]}`, "/jobs/1/job", "tells how long its tasks take"},
		{`{"slots":2,"jobs":[` + job + `,"name":"nightly"}]}`, "/jobs/0/name", `There is a class "nightly" already`},
		{`{"slots":2,"jobs":[` + job + `,"name":"typed"}]}`, "/jobs/0/name", "was not made of the job"},
		{`{"slots":2,"jobs":[` + job + `},` + job + `,"name":"b"}]}`, "/jobs/1/job", "keep one"},
		{`{"slots":2,"jobs":[` + job + `,"deadline_s":1}]}`, "/jobs/0/deadline_s", "deadline"},
		{`{"slots":2,"until":"2020-01-01T00:00:00Z"}`, "/until", "before"},
		{`{"jobs":[` + job + `}]}`, "/slots", "how many processors"},
		{`{}`, "/slots", "give the type its vcpu"},
	} {
		p := s.ask(s.admin, "POST", classesOfRuns, c.body).want(t, 422).problem(t)
		if p.at() != c.where || !strings.Contains(p.Errors[0].Detail, c.says) {
			t.Errorf("%s is refused with %+v, want %q at %s", c.body, p, c.says, c.where)
		}
	}
	s.ask(s.admin, "GET", "/v1/clusters/mine/profiles/nightly-etl-v2", nil).want(t, 404)

	// Without a price nothing could be planned.
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"bare"}`).want(t, 201)
	s.ask(s.admin, "POST", "/v1/clusters/bare/executions", executionBatch{nightly(15)}).want(t, 200)
	for _, step := range []struct{ says, add, body string }{
		{"The cluster has no VM type", "vm-types", `{"name":"m5.xlarge","in_use":true}`},
		{"There is no on-demand price", "prices", `{"vm_type":"m5.xlarge","price":"0.192","from":"2020-01-01T00:00:00Z","until":null}`},
	} {
		if p := s.ask(s.admin, "POST", "/v1/clusters/bare/classes/from-history", `{}`).want(t, 422).problem(t); !strings.Contains(fmt.Sprint(p.Errors), step.says) {
			t.Errorf("it says %+v, want %q", p.Errors, step.says)
		}
		s.ask(s.admin, "POST", "/v1/clusters/bare/"+step.add, step.body).want(t, 201)
	}
	var made clusters.ClassesMade
	s.ask(s.admin, "POST", "/v1/clusters/bare/classes/from-history", `{}`).want(t, 200).into(t, &made)
	if len(made.Classes) != 1 || made.Classes[0].Class.SlotsPerVM.Map != 4 || !strings.Contains(fmt.Sprint(made.Assumed), "m5.xlarge runs 4 tasks at once") {
		t.Errorf("made %+v", made)
	}
}

// Of requests at the same time for overlapping classes one is kept, whole; of the others nothing is left.
func TestClassesOfHistoriesAreMadeWholly(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("mine")
	for _, job := range []string{"a", "b", "c"} {
		batch := executionBatch{nightly(15)}
		for i := range batch.Executions {
			batch.Executions[i].Job, batch.Executions[i].Execution = job, job+batch.Executions[i].Execution
		}
		s.ask(s.admin, "POST", "/v1/clusters/mine/executions", batch).want(t, 200)
	}
	var asking sync.WaitGroup
	status := make([]int, 12)
	pairs := []string{"a b", "b c", "c a"}
	for i := range status {
		jobs := strings.Fields(pairs[i%3])
		asking.Go(func() {
			status[i] = s.ask(s.admin, "POST", classesOfRuns, fmt.Sprintf(`{"slots":2,"jobs":[{"job":%q},{"job":%q}]}`, jobs[0], jobs[1])).StatusCode
		})
	}
	asking.Wait()
	var kept string
	for i, code := range status {
		switch {
		case code == http.StatusOK && kept == "":
			kept = pairs[i%3]
		case code != http.StatusConflict && code != http.StatusUnprocessableEntity:
			t.Errorf("the answers are %v", status)
		}
	}
	var classes, profiles, forecasts list[struct{ Name, Class string }]
	s.ask(s.admin, "GET", "/v1/clusters/mine/classes", nil).want(t, 200).into(t, &classes)
	s.ask(s.admin, "GET", "/v1/clusters/mine/profiles", nil).want(t, 200).into(t, &profiles)
	s.ask(s.admin, "GET", "/v1/clusters/mine/forecasts?limit=1000", nil).want(t, 200).into(t, &forecasts)
	found := map[string]map[string]bool{"classes": {}, "profiles": {}, "forecasts": {}}
	for what, items := range map[string][]struct{ Name, Class string }{"classes": classes.Items, "profiles": profiles.Items, "forecasts": forecasts.Items} {
		for _, item := range items {
			if name := item.Name + item.Class; len(name) == 1 {
				found[what][name] = true
			}
		}
	}
	want := strings.Fields(kept)
	slices.Sort(want)
	for _, what := range []string{"classes", "profiles"} {
		if got := slices.Sorted(maps.Keys(found[what])); !slices.Equal(got, want) {
			t.Errorf("%s are there of %v, want of %v", what, got, want)
		}
	}
	if !found["forecasts"][want[0]] {
		t.Errorf("forecasts are there of %v", found["forecasts"])
	}
}
