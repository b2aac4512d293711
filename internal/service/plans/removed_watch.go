package plans

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.org/headroom/internal/service/telemetry"
)

// Removed counts the plans of a cluster that retention has removed, those of its pool included.
type Removed struct {
	Plans int64
	Last  time.Time // when some were removed last
}

// removed exports the plans removed by retention to Prometheus. Retention runs beside the servers, so only the store
// knows them.
type removed struct {
	source interface {
		RemovedPlans(ctx context.Context) (map[string]Removed, error)
	}
	mu  sync.RWMutex
	all map[string]Removed
}

func (r *removed) read(ctx context.Context) error {
	all, err := r.source.RemovedPlans(ctx)
	if err != nil {
		return fmt.Errorf("read which plans were removed: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = all
	return nil
}

var (
	removedPlans = telemetry.ClusterMetric("headroom_plans_removed_total", "Plans of the cluster and its pool that retention has removed.")
	removedAt    = telemetry.ClusterMetric("headroom_plans_removed_timestamp_seconds", "When retention removed plans of the cluster last.")
)

// Describe names all there is.
func (r *removed) Describe(to chan<- *prometheus.Desc) {
	to <- removedPlans
	to <- removedAt
}

// Collect exports every cluster with removed plans.
func (r *removed) Collect(to chan<- prometheus.Metric) {
	r.mu.RLock()
	all := maps.Clone(r.all)
	r.mu.RUnlock()
	for cluster, x := range all {
		to <- prometheus.MustNewConstMetric(removedPlans, prometheus.CounterValue, float64(x.Plans), cluster)
		to <- prometheus.MustNewConstMetric(removedAt, prometheus.GaugeValue, telemetry.Seconds(x.Last), cluster)
	}
}
