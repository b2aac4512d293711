package api

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/test/await"
)

// shownPlan returns a service with a cluster that has a plan.
func shownPlan(t *testing.T) *service {
	s := newService(t)
	s.cluster("night")
	s.ask(s.admin, "POST", "/v1/clusters/night/plans", nil).want(t, 201)
	s.shows("night", 1)
	return s
}

// shows waits until a plan is answered from memory.
func (s *service) shows(cluster string, number int64) {
	s.Helper()
	await.Until(s, 10*time.Second, fmt.Sprintf("plan %d of %s is shown", number, cluster), func() bool {
		shown := s.app.Plans.Board.Find(cluster)
		return shown != nil && shown.Record.Number == number
	})
}

const scalingOfNight = "/v1/clusters/night/plans/current/scaling"

// Only a cluster that has never had a plan gives 503: KEDA leaves the replicas alone then.
func TestScalingWithoutAPlanIsNotToBeHadYet(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"night"}`).want(t, 201)
	a := s.ask(s.admin, "GET", scalingOfNight, nil).want(t, 503)
	if a.Header.Get("Retry-After") == "" || !strings.Contains(a.problem(t).Detail, "no plan yet") {
		t.Errorf("got %q: %s", a.Header.Get("Retry-After"), a.text)
	}
	s.ask(s.admin, "GET", scalingOfNight+"?headroom=much", nil).want(t, 400)
	s.ask(s.admin, "GET", strings.Replace(scalingOfNight, "night", "unknown", 1), nil).want(t, 404)
}

// Polls are answered while the database is away, every one marked, and the database gets no queries.
func TestPollsNeedNoDatabase(t *testing.T) {
	t.Parallel()
	s := shownPlan(t)
	current := s.ask(s.admin, "GET", "/v1/clusters/night/plans/current", nil).want(t, 200)
	before := s.store.Stat().AcquireCount()
	for range 20 {
		s.ask(s.admin, "GET", scalingOfNight, nil).want(t, 200)
		s.ask(s.admin, "GET", "/v1/clusters/night/plans/current", nil).want(t, 200)
		s.ask(s.admin, "GET", "/v1/clusters/night/plans/1", nil).want(t, 200)
		s.ask(s.admin, "GET", "/v1/clusters/night/plans/current", nil, "If-None-Match", current.etag()).want(t, 304)
	}
	if got := s.store.Stat().AcquireCount() - before; got > 5 { // the board itself asks now and then
		t.Errorf("80 polls asked the database %d times", got)
	}
}

// A long poll answers when the plan changes, and after its time.
func TestLongPoll(t *testing.T) {
	t.Parallel()
	s := shownPlan(t)
	const at = "/v1/clusters/night/plans/current"
	etag := s.ask(s.admin, "GET", at, nil).want(t, 200).etag()
	began := time.Now()
	a := s.ask(s.admin, "GET", at, nil, "If-None-Match", etag, "Prefer", "respond-async, wait=1").want(t, 304)
	if took := time.Since(began); took < time.Second || a.Header.Get("Preference-Applied") != "wait=1" {
		t.Errorf("it took %s, want a second; %q was applied", took, a.Header.Get("Preference-Applied"))
	}
	done := make(chan answered, 1)
	go func() {
		done <- s.ask(s.admin, "GET", at, nil, "If-None-Match", etag, "Prefer", "wait=30")
	}()
	s.ask(s.admin, "POST", "/v1/clusters/night/plans", nil).want(t, 201)
	select {
	case a := <-done:
		var got currentPlan
		a.want(t, 200).into(t, &got)
		if got.Number != 2 || a.etag() == etag {
			t.Errorf("got plan %d with ETag %s, want 2 with another one than before", got.Number, a.etag())
		}
	case <-time.After(10 * time.Second):
		t.Error("the poll did not hear of the new plan")
	}
}

// Watchers of a deleted cluster get no further events, and an error on their next request.
func TestWatchersOfDeletedClustersAreLetGo(t *testing.T) {
	t.Parallel()
	s := shownPlan(t)
	f := s.follow(s.admin, "")
	defer f.close()
	if got := f.next(); got != 1 {
		t.Fatalf("the first event is of plan %d, want 1", got)
	}
	const at = "/v1/clusters/night"
	ended := make(chan int64, 1)
	go func() { ended <- f.next() }()
	s.ask(s.admin, "DELETE", at, nil, "If-Match", s.ask(s.admin, "GET", at, nil).want(t, 200).etag()).want(t, 204)
	select {
	case got := <-ended:
		if got != 0 {
			t.Errorf("after the deletion comes %d, want the end", got)
		}
	case <-time.After(10 * time.Second):
		t.Error("the stream goes on")
	}
	s.ask(s.admin, "GET", at+"/plans/events", nil).want(t, 404)
}

func TestPreferredWait(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"wait=5": 5 * time.Second, `respond-async; a=1, Wait = "7"`: 7 * time.Second, "wait=600": time.Minute, "wait=-1": 0, "wait": 0, "": 0, "await=3": 0, "wait=99999999999999": 0} {
		if got := preferredWait(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

// follower reads a stream.
type follower struct {
	lines *bufio.Scanner
	close func()
}

func (s *service) follow(token, last string) *follower {
	s.Helper()
	return s.followFor(token, last, "")
}

func (s *service) followFor(token, last, query string) *follower {
	s.Helper()
	ctx, cancel := context.WithCancel(s.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", s.url+"/v1/clusters/night/plans/events"+query, nil)
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	response, err := followers.Do(r)
	if err != nil || response.StatusCode != 200 {
		s.Fatalf("got %v (%v), want a stream", response, err)
	}
	return &follower{lines: bufio.NewScanner(response.Body), close: func() { cancel(); _ = response.Body.Close() }}
}

var followers = &http.Client{Transport: &http.Transport{MaxConnsPerHost: 0}}

// next returns the number of the next plan; -1 is a reset, 0 the end.
func (f *follower) next() (number int64) {
	event := ""
	for f.lines.Scan() {
		switch name, value, _ := strings.Cut(f.lines.Text(), ": "); name {
		case "event":
			event = value
		case "data":
			if event == "reset" {
				return -1
			}
			var p plans.PlanSummary
			if err := json.Unmarshal([]byte(value), &p); err != nil || p.Cluster != "night" {
				return -2
			}
			return p.Number
		}
	}
	return 0
}

func TestWatchingPlans(t *testing.T) {
	t.Parallel()
	s := shownPlan(t)
	more := func(number int64) {
		s.ask(s.admin, "POST", "/v1/clusters/night/plans", nil).want(t, 201)
		s.shows("night", number)
	}
	f := s.follow(s.admin, "")
	defer f.close()
	if got := f.next(); got != 1 {
		t.Fatalf("the first event is of plan %d, want 1", got)
	}
	more(2)
	if got := f.next(); got != 2 {
		t.Fatalf("then comes plan %d, want 2", got)
	}
	more(3)
	more(4)
	back := s.follow(s.admin, "1")
	defer back.close()
	for want := int64(2); want <= 4; want++ {
		if got := back.next(); got != want {
			t.Fatalf("after plan 1 comes %d, want %d", got, want)
		}
	}
	lost := s.follow(s.admin, "99")
	defer lost.close()
	if first, then := lost.next(), lost.next(); first != -1 || then != 4 {
		t.Errorf("after an unknown plan come %d and %d, want a reset and the current plan", first, then)
	}
	s.ask(s.admin, "GET", "/v1/clusters/night/plans/events", nil, "Last-Event-ID", "x").want(t, 400)
	s.ask(s.admin, "GET", "/v1/clusters/unknown/plans/events", nil).want(t, 404)
}

// A key that is revoked ends its streams within seconds.
func TestRevokedKeysWatchNoLonger(t *testing.T) {
	t.Parallel()
	s := shownPlan(t)
	ctx := auth.With(t.Context(), auth.Principal{ID: auth.LocalID, Role: auth.Admin})
	key, token, err := s.app.Auth.CreateKey(ctx, auth.Key{Name: "short", Role: auth.Viewer})
	if err != nil {
		t.Fatal(err)
	}
	f := s.follow(token, "")
	defer f.close()
	if got := f.next(); got != 1 {
		t.Fatalf("got plan %d, want 1", got)
	}
	if err := s.app.Auth.RevokeKey(ctx, key.ID); err != nil {
		t.Fatal(err)
	}
	ended := make(chan int64, 1)
	go func() { ended <- f.next() }()
	select {
	case got := <-ended:
		if got != 0 {
			t.Errorf("got plan %d after the key was revoked", got)
		}
	case <-time.After(2 * lookEvery):
		t.Error("the stream goes on")
	}
}

// A new plan reaches every watcher within a second.
func TestManyWatchers(t *testing.T) {
	t.Parallel()
	n := 200
	if os.Getenv("HEADROOM_LONG") != "" {
		n = 2000
	}
	s := shownPlan(t)
	var opened, got sync.WaitGroup
	late, slowest, began := 0, time.Duration(0), time.Time{}
	var mu sync.Mutex
	for range n {
		opened.Add(1)
		got.Go(func() {
			f := s.follow(s.admin, "")
			defer f.close()
			first := f.next()
			opened.Done()
			then := f.next()
			mu.Lock()
			defer mu.Unlock()
			if slowest = max(slowest, time.Since(began)); first != 1 || then != 2 {
				late++
			}
		})
	}
	opened.Wait()
	record := s.ask(s.admin, "GET", "/v1/clusters/night/plans/1", nil).want(t, 200)
	var was plans.PlanRecord
	record.into(t, &was)
	stored, err := s.app.Stores.Plans.Plan(t.Context(), "night", plans.PlanRef{Number: 1})
	if err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	began = time.Now()
	mu.Unlock()
	if _, err := s.app.Plans.Save(auth.With(t.Context(), auth.Principal{ID: auth.LocalID, Role: auth.Admin}), stored); err != nil {
		t.Fatal(err)
	}
	got.Wait()
	t.Logf("%d watchers had the plan after %s", n, slowest)
	if late > 0 || slowest > time.Second {
		t.Errorf("%d of %d watchers saw something else; the slowest took %s, want at most a second", late, n, slowest)
	}
}
