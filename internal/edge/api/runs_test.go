package api

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/service/runs"
	"example.org/headroom/internal/service/runs/queue"
)

// works returns a service that works on runs.
func works(t testing.TB, configure ...func(*app.Config)) *service {
	t.Helper()
	s := newService(t, configure...)
	s.hears()
	pool, schema := s.store.River()
	r, err := queue.Start(t.Context(), queue.Config{App: s.app, Pool: pool, Schema: schema, AtOnce: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// hears makes the service listen to changes of runs.
func (s *service) hears() {
	listening, stop := context.WithCancel(context.Background())
	heard := s.app.Runs.Watch(listening)
	s.Cleanup(func() { stop(); <-heard })
}

// planRun starts a plan in the background and returns the run's address.
func (s *service) planRun(cluster string) (address string) {
	s.Helper()
	a := s.ask(s.admin, "POST", "/v1/clusters/"+cluster+"/plans", nil, "Prefer", "respond-async").want(s, 202)
	return a.Header.Get("Location")
}

func (s *service) runInMine() (id string) { return strings.TrimPrefix(s.planRun("mine"), "/v1/runs/") }

// claim takes a run as a server that works on it would.
func (s *service) claim(id string) runs.Claim {
	s.Helper()
	c, err := s.app.Stores.Runs.ClaimRun(s.Context(), id, map[string]int{plans.PlanRun: 3}, time.Minute)
	if err != nil || c == nil {
		s.Fatalf("the run is not to be had: %v", err)
	}
	return *c
}

func (s *service) settle(c runs.Claim, o runs.Outcome) {
	s.Helper()
	if _, err := s.app.Stores.Runs.SettleRun(s.Context(), c, o); err != nil {
		s.Fatal(err)
	}
}

func (s *service) finishRun(id string) {
	s.Helper()
	s.settle(s.claim(id), runs.Outcome{State: runs.RunSucceeded, Result: &runs.Result{Type: "application/json", Body: []byte(`{}`)}})
}

func (s *service) run(address string) (r runs.Run) {
	s.Helper()
	s.ask(s.admin, "GET", address, nil).want(s, 200).into(s, &r)
	return r
}

// over waits for the end of a run, by long polls.
func (s *service) over(address string) (r runs.Run) {
	s.Helper()
	etag := `"0"`
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		a := s.ask(s.admin, "GET", address, nil, "Prefer", "wait=5", "If-None-Match", etag)
		if a.StatusCode == http.StatusNotModified {
			continue
		}
		r = runs.Run{}
		a.want(s, 200).into(s, &r)
		if r.State.Over() {
			return r
		}
		etag = a.etag()
	}
	s.Fatalf("the run does not end: %+v", r)
	return r
}

// answer posts a question, and waits for its run where that was started because the machine is busy.
func (s *service) answer(path string, body any, into any) {
	s.Helper()
	a := s.ask(s.admin, "POST", path, body)
	if a.StatusCode == http.StatusAccepted {
		a = s.ask(s.admin, "GET", "/v1/runs/"+s.over(a.Header.Get("Location")).ID+"/result", nil)
	}
	a.want(s, 200).into(s, into)
}

func TestAPlanInTheBackground(t *testing.T) {
	t.Parallel()
	s := works(t)
	s.cluster("c")
	asked := s.ask(s.admin, "POST", "/v1/clusters/c/plans", `{}`, "Prefer", "respond-async; foo=1, wait=3", "Idempotency-Key", "k").want(t, 202)
	address := asked.Header.Get("Location")
	if asked.Header.Get("Preference-Applied") != "respond-async" || !strings.HasPrefix(address, "/v1/runs/") {
		t.Errorf("headers %v", asked.Header)
	}
	r := s.over(address)
	if r.State != runs.RunSucceeded || r.By != "root" || r.Kind != "plan" || r.Cluster == nil || *r.Cluster != "c" || r.Progress != (runs.Progress{Done: 1, Total: 1, Unit: "plan"}) {
		t.Errorf("the run is %+v", r)
	}
	stored := s.ask(s.admin, "GET", "/v1/clusters/c/plans/1", nil).want(t, 200)
	if got := s.ask(s.admin, "GET", address+"/result", nil).want(t, 200); !sameJSON(t, got.text, stored.text) || !sameJSON(t, r.Result, stored.text) {
		t.Errorf("the result is %.300s,\nthe plan %.300s", got.text, stored.text)
	}
	s.ask(s.admin, "GET", address+"/result", nil, "If-None-Match", s.ask(s.admin, "GET", address, nil).etag()).want(t, 304)
	again := s.ask(s.admin, "POST", "/v1/clusters/c/plans", `{}`, "Prefer", "respond-async", "Idempotency-Key", "k").want(t, 202)
	if again.Header.Get("Location") != address || again.Header.Get("Idempotency-Replayed") != "true" || again.Header.Get("Preference-Applied") != "respond-async" {
		t.Errorf("a repetition: %v", again.Header)
	}
	var l list[plans.PlanSummary]
	s.ask(s.admin, "GET", "/v1/clusters/c/plans", nil).want(t, 200).into(t, &l)
	if len(l.Items) != 1 || l.Items[0].CreatedBy != "root" {
		t.Errorf("plans: %+v", l.Items)
	}
}

func sameJSON(t testing.TB, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatal(err)
	}
	one, _ := json.Marshal(x)
	other, _ := json.Marshal(y)
	return string(one) == string(other)
}

func TestAClusterThatCannotBePlannedIsAFailedRun(t *testing.T) {
	t.Parallel()
	s := works(t)
	s.cluster("c")
	s.ask(s.admin, "POST", "/v1/clusters/c/classes", `{"name":"greedy","vms_per_job":100,"jobs":{"min":50,"max":50},"penalty":"1"}`).want(t, 201)
	refused := s.ask(s.admin, "POST", "/v1/clusters/c/plans", nil).want(t, 422).problem(t)
	r := s.over(s.planRun("c"))
	if r.State != runs.RunFailed || r.Error == nil || r.Error.Kind != "infeasible" || r.Error.Detail != refused.Detail || len(r.Error.Conflicts) == 0 || r.Result != nil && string(r.Result) != "null" {
		t.Errorf("the run is %+v %+v, the refusal %+v", r, r.Error, refused)
	}
	p := s.ask(s.admin, "GET", "/v1/runs/"+r.ID+"/result", nil).want(t, 404).problem(t)
	if !strings.Contains(p.Detail, "failed") {
		t.Errorf("says %q", p.Detail)
	}
}

func TestWhatCannotBeAskedOfRuns(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("mine")
	s.cluster("other")
	limited := s.key("limited", auth.Planner, []string{"mine"})
	foreign := strings.TrimPrefix(s.planRun("other"), "/v1/runs/")
	absent := "0197f3a0-0000-7000-8000-000000000000"
	for _, ask := range [][2]string{{"GET", ""}, {"DELETE", ""}, {"POST", "/retry"}, {"GET", "/result"}, {"GET", "/events"}} {
		for _, id := range []string{"nonsense", "%00", "%27%3B--", absent, foreign, strings.ToUpper(absent), strings.Repeat("9", 200)} {
			want := 404
			if id == "%00" {
				want = 400
			}
			s.ask(limited, ask[0], "/v1/runs/"+id+ask[1], nil).want(t, want)
		}
		unseen := s.ask(limited, ask[0], "/v1/runs/"+foreign+ask[1], nil).problem(t)
		missing := s.ask(limited, ask[0], "/v1/runs/"+absent+ask[1], nil).problem(t)
		if unseen.Detail != strings.Replace(missing.Detail, absent, foreign, 1) {
			t.Errorf("one that may not be seen: %q, one that is not there: %q", unseen.Detail, missing.Detail)
		}
	}
	for query, want := range map[string]int{"limit=0": 400, "limit=1001": 400, "limit=x": 400, "state=lost": 400, "cursor=x": 400, "kind=": 400, "colour=red": 400, "cluster=%00": 400,
		"cluster=absent": 200, "kind=absent": 200, "state=queued&limit=1&cluster=mine&kind=plan": 200} {
		s.ask(limited, "GET", "/v1/runs?"+query, nil).want(t, want)
	}
	s.ask(s.admin, "POST", "/v1/clusters/absent/plans", nil, "Prefer", "respond-async").want(t, 404)
	s.ask(s.admin, "POST", "/v1/clusters/mine/plans", `{"at":"tomorrow"}`, "Prefer", "respond-async").want(t, 400)
	s.ask(s.admin, "GET", "/v1/runs/"+foreign+"/events", nil, "Last-Event-ID", "x").want(t, 400)
	waiting := s.runInMine()
	s.ask(s.admin, "GET", "/v1/runs/"+waiting+"/result", nil).want(t, 409)
	p := s.ask(s.admin, "POST", "/v1/runs/"+waiting+"/retry", nil).want(t, 409).problem(t)
	if !strings.Contains(p.Detail, "queued") {
		t.Errorf("says %q", p.Detail)
	}
	s.finishRun(waiting)
	s.ask(s.admin, "POST", "/v1/runs/"+waiting+"/retry", nil).want(t, 409)
	s.ask(s.admin, "DELETE", "/v1/runs/"+waiting, nil).want(t, 204) // over is over
	if r := s.run("/v1/runs/" + waiting); r.State != runs.RunSucceeded {
		t.Errorf("a run that was over is %s", r.State)
	}
}

// A planner cannot end an operator's run.
func TestARunNeedsTheRoleItWasStartedWith(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("c")
	ctx := auth.With(t.Context(), auth.Principal{ID: auth.LocalID, Name: "op", Role: auth.Operator})
	r, err := s.app.Stores.Runs.StartRun(ctx, runs.NewRun{Kind: "import", Cluster: "c", Role: auth.Operator, Input: 1})
	if err != nil {
		t.Fatal(err)
	}
	planner, operator := s.key("p", auth.Planner, nil), s.key("o", auth.Operator, nil)
	s.ask(planner, "DELETE", "/v1/runs/"+r.ID, nil).want(t, 403)
	s.ask(operator, "DELETE", "/v1/runs/"+r.ID, nil).want(t, 204)
	s.ask(planner, "POST", "/v1/runs/"+r.ID+"/retry", nil).want(t, 403)
	s.ask(operator, "POST", "/v1/runs/"+r.ID+"/retry", nil).want(t, 202)
}

func TestAKeyHasSoManyRunsWaiting(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("c")
	first := s.planRun("c")
	for range runs.MaxQueued - 1 {
		s.planRun("c")
	}
	a := s.ask(s.admin, "POST", "/v1/clusters/c/plans", nil, "Prefer", "respond-async", "Idempotency-Key", "k").want(t, 429)
	if a.Header.Get("Retry-After") != "10" || !strings.Contains(a.problem(t).Detail, "100 runs waiting") {
		t.Errorf("refused with %v %s", a.Header, a.text)
	}
	other := s.key("other", auth.Planner, nil)
	s.ask(other, "POST", "/v1/clusters/c/plans", nil, "Prefer", "respond-async").want(t, 202)
	s.ask(s.admin, "DELETE", first, nil).want(t, 204)
	// a refusal is not stored
	s.ask(s.admin, "POST", "/v1/clusters/c/plans", nil, "Prefer", "respond-async", "Idempotency-Key", "k").want(t, 202)
	s.ask(s.admin, "POST", first+"/retry", nil).want(t, 429)
}

func TestRunsAreListedAndFiltered(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("mine")
	s.cluster("other")
	var ids []string
	for _, c := range []string{"mine", "other", "mine"} {
		ids = append(ids, strings.TrimPrefix(s.planRun(c), "/v1/runs/"))
	}
	s.finishRun(ids[0])
	ask := func(token, query string) (found []string) {
		t.Helper()
		cursor := ""
		for {
			var l list[runs.Run]
			s.ask(token, "GET", "/v1/runs?limit=1"+query+cursor, nil).want(t, 200).into(t, &l)
			for _, r := range l.Items {
				if r.Result != nil && string(r.Result) != "null" {
					t.Errorf("a result in the list: %s", r.Result)
				}
				found = append(found, fmt.Sprint(indexOf(ids, r.ID)))
			}
			if l.Next == nil {
				return found
			}
			cursor = "&cursor=" + *l.Next
		}
	}
	limited := s.key("limited", auth.Viewer, []string{"mine"})
	for _, c := range []struct{ token, query, want string }{
		{s.admin, "", "2 1 0"}, {s.admin, "&cluster=mine", "2 0"}, {s.admin, "&state=succeeded", "0"}, {s.admin, "&state=queued", "2 1"}, {s.admin, "&kind=plan", "2 1 0"},
		{s.admin, "&kind=other", ""}, {limited, "", "2 0"}, {limited, "&cluster=other", ""},
	} {
		if got := strings.Join(ask(c.token, c.query), " "); got != c.want {
			t.Errorf("%q lists %q, want %q", c.query, got, c.want)
		}
	}
	a := s.ask(s.admin, "GET", "/v1/runs", nil).want(t, 200)
	s.ask(s.admin, "GET", "/v1/runs", nil, "If-None-Match", a.etag()).want(t, 304)
	csv := s.ask(s.admin, "GET", "/v1/runs?format=csv", nil).want(t, 200)
	if lines := strings.Count(strings.TrimSpace(string(csv.text)), "\n"); lines != 3 {
		t.Errorf("a table of %d rows:\n%s", lines, csv.text)
	}
}

func indexOf(all []string, one string) int {
	for i, x := range all {
		if x == one {
			return i
		}
	}
	return -1
}

// Long polls and streams see every state, and the stream ends with the last.
func TestARunIsWatched(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.hears()
	s.cluster("c")
	address := s.planRun("c")
	id := strings.TrimPrefix(address, "/v1/runs/")
	first := s.ask(s.admin, "GET", address, nil).want(t, 200)
	s.ask(s.admin, "GET", address, nil, "If-None-Match", first.etag()).want(t, 304)
	timed := s.ask(s.admin, "GET", address, nil, "If-None-Match", first.etag(), "Prefer", "wait=1").want(t, 304)
	if timed.Header.Get("Preference-Applied") != "wait=1" {
		t.Errorf("headers %v", timed.Header)
	}

	request, _ := http.NewRequestWithContext(t.Context(), "GET", s.url+address+"/events", nil)
	request.Header.Set("Authorization", "Bearer "+s.admin)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	events := bufio.NewScanner(response.Body)
	next := func() (r runs.Run, more bool) {
		t.Helper()
		for events.Scan() {
			if data, found := strings.CutPrefix(events.Text(), "data: "); found {
				if err := json.Unmarshal([]byte(data), &r); err != nil {
					t.Fatal(err)
				}
				return r, true
			}
		}
		return r, false
	}
	if r, _ := next(); r.State != runs.RunQueued {
		t.Errorf("first %+v", r)
	}
	polled := make(chan answered)
	go func() {
		polled <- s.ask(s.admin, "GET", address, nil, "If-None-Match", first.etag(), "Prefer", "wait=20")
	}()
	c := s.claim(id)
	if a := <-polled; a.StatusCode != 200 {
		t.Errorf("the long poll: %d", a.StatusCode)
	}
	if r, _ := next(); r.State != runs.RunRunning {
		t.Errorf("then %+v", r)
	}
	if _, err := s.app.Stores.Runs.KeepRun(t.Context(), c, runs.Progress{Done: 1, Total: 4, Unit: "steps"}, time.Minute); err != nil {
		t.Fatal(err)
	}
	if r, _ := next(); r.Progress.Done != 1 || r.ETASeconds == nil {
		t.Errorf("then %+v", r)
	}
	s.ask(s.admin, "DELETE", address, nil).want(t, 202)
	s.ask(s.admin, "DELETE", address, nil).want(t, 202) // twice is no error
	if r, _ := next(); !r.Cancelling {
		t.Errorf("then %+v", r)
	}
	s.settle(c, runs.Outcome{State: runs.RunCancelled, Result: &runs.Result{Type: "text/csv", Body: []byte("a,b\n")}})
	last, _ := next()
	if last.State != runs.RunCancelled || !last.Partial || last.ResultURL == nil || last.Cancelling {
		t.Errorf("at last %+v", last)
	}
	if r, more := next(); more {
		t.Errorf("after the last %+v", r)
	}
	a := s.ask(s.admin, "GET", *last.ResultURL, nil).want(t, 200)
	if string(a.text) != "a,b\n" || a.Header.Get("Content-Type") != "text/csv" || a.Header.Get("Content-Disposition") != "attachment" {
		t.Errorf("the result %q with %v", a.text, a.Header)
	}
	end := strings.Trim(s.ask(s.admin, "GET", address, nil).etag(), `"`)
	s.ask(s.admin, "GET", address+"/events", nil, "Last-Event-ID", end).want(t, 204)
}

func TestLargeResultsStandElsewhere(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("mine")
	for size, inline := range map[int]bool{runs.InlineResult: true, runs.InlineResult + 1: false} {
		id := s.runInMine()
		body := `"` + strings.Repeat("x", size-2) + `"`
		s.settle(s.claim(id), runs.Outcome{State: runs.RunSucceeded, Result: &runs.Result{Type: "application/json", Body: []byte(body)}})
		r := s.run("/v1/runs/" + id)
		if got := string(r.Result) == body; got != inline || r.ResultURL == nil {
			t.Errorf("%d bytes inline: %v, want %v", size, got, inline)
		}
		if a := s.ask(s.admin, "GET", *r.ResultURL, nil).want(t, 200); string(a.text) != body {
			t.Errorf("the result has %d bytes", len(a.text))
		}
	}
}
