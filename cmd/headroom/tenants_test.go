package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Ten keys that flood a server with solves leave the solves of an eleventh, which asks now and then, at most twice their
// time alone.
func TestTenFloodingTenants(t *testing.T) {
	if !wholeSamples {
		t.Skip("beside other tests times say nothing, and a flood disturbs them: HEADROOM_LONG=1 measures, TestKeysShareTheTurns tries the order in virtual time")
	}
	const solves = 200
	s := startServingWith(t, dataDirectory(t), []string{"HEADROOM_SOLVES_PER_SECOND=100000", "HEADROOM_REQUESTS_PER_SECOND=100000"})
	body := problemText(t, "hard", true, nil)
	keys := makeKeys(t, s, 11)
	eleventh := keys[10]
	measure := func(what string) time.Duration {
		var took []time.Duration
		for range solves {
			began := time.Now()
			status, answer, err := s.ask(t.Context(), eleventh, "/v1/solve", body)
			if err != nil || status != http.StatusOK {
				t.Fatalf("%s: %d, %v: %.200s", what, status, err, answer)
			}
			took = append(took, time.Since(began))
			lasts(300 * time.Millisecond) // somebody who asks for less than a tenth of the processors
		}
		slices.Sort(took)
		t.Logf("%s: median %v, p95 %v, slowest %v", what, share(took, 0.5), share(took, 0.95), share(took, 1))
		return share(took, 0.95)
	}
	quiet := measure("alone")
	ctx, stop := context.WithCancel(t.Context())
	var flood sync.WaitGroup
	var answered, refused, other atomic.Int64
	for _, key := range keys[:10] {
		for range 4 {
			flood.Go(func() {
				for ctx.Err() == nil {
					switch status, _, err := s.ask(ctx, key, "/v1/solve", body); {
					case err != nil:
					case status == http.StatusOK:
						answered.Add(1)
					case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
						refused.Add(1)
						lasts(10 * time.Millisecond) // a client that comes again at once
					default:
						other.Add(1)
					}
				}
			})
		}
	}
	waits(t, "the flood is answered", 30*time.Second, func() bool { return answered.Load() > 40 })
	beside := measure("beside ten flooding keys")
	stop()
	flood.Wait()
	t.Logf("the flood had %d answers, %d were refused, %d otherwise", answered.Load(), refused.Load(), other.Load())
	if beside > 2*quiet {
		t.Errorf("p95 %v beside a flood, %v alone; want at most twice that", beside, quiet)
	}
	if other.Load() > 0 {
		t.Errorf("%d answers of the flood had another status", other.Load())
	}
	if shown := s.get(t, "/metrics"); strings.Count(shown, "headroom_key_solve_seconds{") < 11 {
		t.Error("the metrics do not show what eleven keys have used")
	}
	t.Attr("R14", fmt.Sprintf("ten flooding keys: an eleventh's solve p95 %v, %v alone", beside, quiet))
}
