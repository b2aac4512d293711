package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/service/runs"
)

// worker is the server that works on a run of a kind.
func (r *replicas) worker(t *testing.T, kind string) (at *served) {
	t.Helper()
	waits(t, "somebody works on the run", 30*time.Second, func() bool {
		r.mu.Lock()
		servers := r.servers
		r.mu.Unlock()
		for _, s := range servers {
			if s.gauge(t, `headroom_runs_running{kind="`+kind+`"}`) > 0 {
				at = s
				return true
			}
		}
		return false
	})
	return at
}

// over waits until a run is over.
func (r *replicas) over(t *testing.T, location string) (run runs.Run) {
	t.Helper()
	waits(t, "the run is over", 3*time.Minute, func() bool {
		text := r.want(t, http.StatusOK, "GET", location, "").text
		if err := json.Unmarshal([]byte(text), &run); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return run.State.Over()
	})
	return run
}

// A sweep begins anew when the server that works on it is gone, and comes to the same; a plan that a run makes is made
// once. In the long run servers are killed, and the others wait for the lease; else they are stopped, and give back
// what they work on.
func TestRunsOutliveTheirServer(t *testing.T) {
	t.Parallel()
	rounds, steps := 1, 30
	if wholeSamples {
		rounds, steps = 6, 60
	}
	instance, err := study.Generate("hard", 20, 7)
	if err != nil {
		t.Fatal(err)
	}
	problem := instance.Problem()
	problem.Options.Engine = capacity.EngineExact
	text, err := json.Marshal(problem)
	if err != nil {
		t.Fatal(err)
	}
	r := startReplicas(t, 3)
	r.cluster(t, "planned")
	sweep := fmt.Sprintf(`{"problem":%s,"vary":[{"what":"demand","from":0.5,"to":2,"steps":%d},{"what":"price","from":0.9,"to":1.5,"steps":%d}]}`, text, steps, steps)
	begin := func(key string) string {
		return r.want(t, http.StatusAccepted, "POST", "/v1/sweeps", sweep, "Prefer", "respond-async", "Idempotency-Key", key).header.Get("Location")
	}
	undisturbed := begin("undisturbed")
	if run := r.over(t, undisturbed); run.State != runs.RunSucceeded || run.Attempt != 1 {
		t.Fatalf("got %+v", run)
	}
	want := r.want(t, http.StatusOK, "GET", undisturbed+"/result", "").text
	if !strings.Contains(want, `"complete":true`) {
		t.Fatalf("the sweep came to %.500s", want)
	}
	taken := 0
	for round := range rounds {
		location := begin(fmt.Sprint("disturbed-", round))
		s := r.worker(t, "sweep")
		plans := r.want(t, http.StatusAccepted, "POST", "/v1/clusters/planned/plans", "{}", "Prefer", "respond-async", "Idempotency-Key", fmt.Sprint("plan-", round)).header.Get("Location")
		if wholeSamples {
			r.lose(t, s)
			r.add(t)
		} else {
			r.leave(t, s)
		}
		began := time.Now()
		run := r.over(t, location)
		if run.State != runs.RunSucceeded {
			t.Fatalf("round %d: got %+v %+v", round, run, run.Error)
		}
		t.Logf("round %d: done %v after its server was gone, in attempt %d", round, time.Since(began).Round(time.Millisecond), run.Attempt)
		if run.Attempt > 1 {
			taken++
		}
		if got := r.want(t, http.StatusOK, "GET", location+"/result", "").text; got != want {
			t.Errorf("round %d: the sweep came to other points than undisturbed", round)
		}
		if run := r.over(t, plans); run.State != runs.RunSucceeded {
			t.Errorf("round %d: the plan's run: %+v %+v", round, run, run.Error)
		}
	}
	if wholeSamples && taken == 0 || !wholeSamples && taken > 0 { // what is given back does not count as an attempt
		t.Errorf("%d of %d runs took a second attempt", taken, rounds)
	}
	var made int
	if err := r.database.QueryRow(t.Context(), `SELECT count(*) FROM plans WHERE created_by <> 'planner'`).Scan(&made); err != nil || made != rounds {
		t.Errorf("%d runs made %d plans (%v)", rounds, made, err)
	}
}
