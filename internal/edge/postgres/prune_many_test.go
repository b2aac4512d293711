package postgres_test

import (
	"os"
	"testing"
	"time"

	"headroom/internal/edge/postgres"
	"headroom/internal/test/pgtest"
)

// Prints the cost of removing many plans; the figures are for reading.
func TestRemovingManyPlans(t *testing.T) {
	t.Parallel()
	plans := int64(2000)
	if os.Getenv("HEADROOM_LONG") != "" {
		plans = 100_000
	}
	url := pgtest.Database(t)
	s := pgtest.OpenWith(t, configOf(url))
	ctx := filled(t, s)
	must(s.SavePlan(ctx, record(night)))(t)
	more(t, url, plans)
	age(t, url)
	size := func() (bytes int64) {
		check(t, raw(t, url).QueryRow(ctx, `SELECT pg_total_relation_size('stored_plans')`).Scan(&bytes))
		return bytes
	}
	full := size()
	var slowest time.Duration
	saved, stop, ended := 0, make(chan struct{}), make(chan struct{})
	go func() { // plans are made all the while
		defer close(ended)
		for {
			began := time.Now()
			if _, err := s.SavePlan(ctx, record(night)); err != nil {
				t.Error(err)
				return
			}
			slowest = max(slowest, time.Since(began))
			saved++
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	began := time.Now()
	did := prune(t, url, postgres.Retention{OlderThan: year, Keep: 100})
	took := time.Since(began)
	close(stop)
	<-ended
	if len(did) != 1 || did[0].Plans < plans-100-1 {
		t.Fatalf("it removed %+v", did)
	}
	emptied := size()
	more(t, url, 2*plans)
	t.Logf("%d plans removed in %v, %d were made meanwhile, the slowest in %v; the table had %d MB, has %d MB, and with as many new ones %d MB",
		did[0].Plans, took.Round(time.Millisecond), saved, slowest.Round(time.Millisecond), full>>20, emptied>>20, size()>>20)
	if again := size(); again > full*7/4 { // twice as much without that room
		t.Errorf("what was removed left no room: %d bytes before, %d after", full, again)
	}
}
