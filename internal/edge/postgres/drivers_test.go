package postgres_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/heartbeat"
	"example.org/headroom/internal/test/pgtest"
)

// Of drivers that ask at once one is let in; it stays while it asks again, and another follows it when its time is over
// or given up. Each engine and each cluster has its own.
func TestOneDriverActs(t *testing.T) {
	t.Parallel()
	s, ctx := pgtest.OpenWith(t, postgres.Config{URL: pgtest.Database(t), MaxConns: 8}), somebody(t)
	for _, name := range []string{"shop", "lab"} {
		must(s.CreateCluster(ctx, inputs.NewCluster(name)))(t)
	}
	hold := func(cluster, engine, holder string, ttl float64) heartbeat.Driver {
		t.Helper()
		d, err := s.HoldDriver(ctx, cluster, engine, heartbeat.DriverClaim{Holder: holder, TTLSeconds: ttl})
		check(t, err)
		return d
	}
	var let atomic.Int64
	var first atomic.Value
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			if d, err := s.HoldDriver(ctx, "shop", "slurm", heartbeat.DriverClaim{Holder: fmt.Sprint(n), TTLSeconds: 60}); err != nil {
				t.Error(err)
			} else if d.Held {
				let.Add(1)
				first.Store(d.Holder)
			}
		})
	}
	if all.Wait(); let.Load() != 1 {
		t.Errorf("%d of 20 are let in", let.Load())
	}
	if !hold("lab", "slurm", "a", 60).Held || !hold("shop", "spark", "a", 60).Held {
		t.Error("another cluster or engine has the same driver")
	}
	hold("shop", "slurm", first.Load().(string), 0.5) // its last time
	for last := time.Now().Add(10 * time.Second); !hold("shop", "slurm", "a", 60).Held; {
		if time.Now().After(last) {
			t.Fatal("nobody follows")
		}
	}
	if d := hold("shop", "slurm", "b", 60); d.Held || d.Holder != "a" || time.Until(d.ExpiresAt) < 50*time.Second {
		t.Errorf("b is told %+v", d)
	}
	if !hold("shop", "slurm", "a", 60).Held || hold("shop", "slurm", "b", 0).Held || hold("shop", "slurm", "a", 0).Held {
		t.Error("a cannot stay, or somebody has given up and holds")
	}
	if !hold("shop", "slurm", "b", 60).Held {
		t.Error("b does not follow")
	}
	if _, err := s.HoldDriver(ctx, "none", "slurm", heartbeat.DriverClaim{Holder: "a"}); !errors.Is(err, fault.NotFound) {
		t.Errorf("of no cluster it says %v", err)
	}
}
