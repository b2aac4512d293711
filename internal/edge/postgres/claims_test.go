package postgres_test

import (
	"slices"
	"testing"
	"time"

	"example.org/headroom/internal/test/pgtest"
)

// Where all clusters are due at once, taking one takes as long among many as among few.
func TestClaimsAmongManyClusters(t *testing.T) {
	t.Parallel()
	sizes := []int{100, 3000}
	if long() {
		sizes = []int{1000, 30_000}
	}
	var quick []time.Duration // a tenth is quicker: other work on the machine slows the rest down
	for _, clusters := range sizes {
		url := pgtest.Database(t)
		s := pgtest.OpenWith(t, configOf(url))
		ctx := filled(t, s)
		conn := raw(t, url)
		execute(t, conn, `INSERT INTO clusters (name, description, currency, period_seconds, time_zone, options)
			SELECT 'c-' || n, description, currency, period_seconds, time_zone, options FROM clusters, generate_series(1, $1) n WHERE name = 'night-batch'`, clusters)
		execute(t, conn, `UPDATE planning SET inputs_changed_at = now() - interval '1 minute', changing_since = now() - interval '1 minute' + cluster_id * interval '1 ms'`)
		execute(t, conn, `ANALYZE`)
		var took []time.Duration
		seen := map[string]bool{}
		for range 60 {
			began := time.Now()
			c, _, err := s.Claim(ctx, time.Now(), time.Minute)
			took = append(took, time.Since(began))
			if err != nil || c == nil || seen[c.Cluster] {
				t.Fatalf("got %+v, %v after %d", c, err, len(seen))
			}
			seen[c.Cluster] = true
		}
		slices.Sort(took)
		quick = append(quick, took[len(took)/10])
		t.Logf("%d clusters that are due: a claim takes %v (slowest %v)", clusters, took[len(took)/2].Round(10*time.Microsecond), took[len(took)-1].Round(10*time.Microsecond))
	}
	if quick[1] > 3*quick[0]+time.Millisecond {
		t.Errorf("a claim takes %v among %d clusters and %v among %d", quick[1], sizes[1], quick[0], sizes[0])
	}
}
