package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// change makes a request with a body and demands a status.
func (s *served) change(t *testing.T, method, path, body string, status int, headers ...string) http.Header {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.address+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+s.key(t))
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != status {
		text, _ := io.ReadAll(response.Body)
		t.Fatalf("%s %s: got %d, want %d: %s", method, path, response.StatusCode, status, text)
	}
	return response.Header
}

// current is the number of the demonstration's current plan.
func (s *served) current(t *testing.T) (number int64) {
	t.Helper()
	var plan struct{ Number int64 }
	if err := json.Unmarshal([]byte(s.get(t, "/v1/clusters/demo/plans/current")), &plan); err != nil {
		t.Fatal(err)
	}
	return plan.Number
}

// planned changes the demonstration's forecast so often and measures how long the new plan takes to be there.
func (s *served) planned(t *testing.T, times int) (took []time.Duration) {
	t.Helper()
	for n := range times {
		before := s.current(t)
		hour := time.Now().UTC().Truncate(time.Hour)
		began := time.Now()
		s.change(t, "PUT", "/v1/clusters/demo/forecasts", fmt.Sprintf(`{"rows":[{"class":"dashboards","hour":%q,"jobs":%d},{"class":"dashboards","hour":%q,"jobs":%d}]}`,
			hour.Format(time.RFC3339), 11+n%12, hour.Add(time.Hour).Format(time.RFC3339), 11+n%12), http.StatusOK)
		waits(t, "a new plan", 10*time.Second, func() bool { return s.current(t) != before })
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took
}

// The planner does not wait for the long work of analysts: a changed forecast is planned about as soon beside it as
// without.
func TestPlansBesideLongWork(t *testing.T) {
	besideOthers(t)
	times := 2
	if wholeSamples {
		times = 40
	}
	s := startServingWith(t, madeDirectory(t), []string{"HEADROOM_SOLVES_PER_SECOND=100000"}, "--demo=still")
	figures := func(what string) time.Duration {
		took := s.planned(t, times)
		t.Logf("%s: a plan after p50 %v, p95 %v, %v at worst", what, share(took, 0.5), share(took, 0.95), took[len(took)-1])
		return share(took, 0.95)
	}
	alone := figures("alone")
	const long = `{"options":{"hours":8760,"replications":20,"max_events":5000000000,"seed":%d}}`
	var runs []string
	for seed := range 2 {
		runs = append(runs, s.change(t, "POST", "/v1/clusters/demo/simulations", fmt.Sprintf(long, seed), http.StatusAccepted, "Prefer", "respond-async").Get("Location"))
	}
	waits(t, "two simulations go on", 20*time.Second, func() bool {
		return strings.Count(s.get(t, "/v1/runs?state=running"), `"kind":"simulation"`) == 2
	})
	beside := figures("beside two simulations")
	ctx, stop := context.WithCancel(t.Context())
	var others sync.WaitGroup
	for path, body := range map[string]string{
		"/v1/clusters/demo/simulations": fmt.Sprintf(long, 3),
		"/v1/clusters/demo/sweeps":      `{"vary":[{"what":"demand","from":0.5,"to":2,"steps":40},{"what":"deadline","from":0.8,"to":1.5,"steps":40}]}`,
		"/v1/clusters/demo/horizons":    fmt.Sprintf(`{"until":%q}`, time.Now().UTC().Truncate(time.Hour).AddDate(0, 10, 0).Format(time.RFC3339)),
	} {
		others.Go(func() {
			for ctx.Err() == nil {
				status, answer, err := s.ask(ctx, s.key(t), path, body)
				if ctx.Err() == nil && (err != nil || status >= 300 && status != http.StatusTooManyRequests) {
					t.Errorf("%s: got %d, %v: %.300s", path, status, err, answer)
					return
				}
			}
		})
	}
	mixed := figures("beside simulations, a sweep and months")
	stop()
	others.Wait()
	for _, run := range runs {
		s.change(t, "DELETE", run, "", http.StatusAccepted)
	}
	for _, p95 := range []time.Duration{beside, mixed} {
		if limit := patience(time.Second) + 2*alone; p95 > limit {
			t.Errorf("got a p95 of %v beside long work and %v without, want less than %v", p95, alone, limit)
		}
	}
}
