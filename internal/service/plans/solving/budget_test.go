package solving

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/service/auth"
)

// A key that has used up its seconds is refused until the next hour, and no other key is. The planner never is.
func TestKeysHaveABudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // time begins at midnight UTC
		d := New(nil, 1, 0, nil)
		d.Limit(10*time.Second, time.Now)
		work := func(key string, took time.Duration) error {
			ctx := auth.With(context.Background(), auth.Principal{ID: key})
			_, leave, err := d.turns.enter(ctx)
			if err == nil {
				pass(took)
				leave()
			}
			return err
		}
		for _, took := range []time.Duration{9 * time.Second, 3 * time.Second} { // what has begun is ended
			if err := work("greedy", took); err != nil {
				t.Fatal(err)
			}
		}
		var refused *fault.TooManyError
		if err := work("greedy", 0); !errors.As(err, &refused) {
			t.Fatalf("got %v after 12 s of 10", err)
		}
		if want := "This key has used 12 seconds of solving since 00:00 UTC, and may use 10 in an hour; ask again from 01:00 UTC on"; !strings.HasPrefix(refused.Detail, want) ||
			refused.RetryAfter != time.Hour-12*time.Second {
			t.Errorf("got %q, again after %v", refused.Detail, refused.RetryAfter)
		}
		if err := d.MaySolve(auth.With(context.Background(), auth.Principal{ID: "greedy"})); !errors.As(err, &refused) {
			t.Errorf("a run may be started: %v", err)
		}
		if err := work("modest", time.Second); err != nil {
			t.Errorf("another key: %v", err)
		}
		if err := errors.Join(work(Planner.ID, 30*time.Second), work(Planner.ID, time.Second)); err != nil {
			t.Errorf("the planner: %v", err)
		}
		registry := prometheus.NewRegistry()
		registry.MustRegister(d)
		shows := func(want string) {
			t.Helper()
			shown := httptest.NewRecorder()
			promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(shown, httptest.NewRequest("GET", "/metrics", nil))
			got := ""
			for line := range strings.Lines(shown.Body.String()) {
				if !strings.HasPrefix(line, "#") {
					got += line
				}
			}
			if got != want {
				t.Errorf("metrics show\n%swant\n%s", got, want)
			}
		}
		shows("headroom_key_solve_seconds{key_id=\"greedy\"} 12\nheadroom_key_solve_seconds{key_id=\"modest\"} 1\nheadroom_key_solve_seconds{key_id=\"planner\"} 31\n")
		pass(time.Hour)
		shows("")
		if err := work("greedy", time.Second); err != nil {
			t.Errorf("in the next hour: %v", err)
		}
	})
}
