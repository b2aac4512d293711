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

// observed keeps every cluster's latest observation in memory for Prometheus, so that a scrape needs no database and
// every replica exports the same.
type observed struct {
	source observedSource
	now    func() time.Time

	mu     sync.RWMutex
	latest map[string]Observation
}

// observedSource is the part of the Store that it needs.
type observedSource interface {
	LatestObservations(ctx context.Context) (map[string]Observation, error)
}

func (o *observed) read(ctx context.Context) error {
	latest, err := o.source.LatestObservations(ctx)
	if err != nil {
		return fmt.Errorf("read the latest observations: %w", err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.latest = latest
	return nil
}

// Times for which an observation is exported: its figures while they may still be true, its moment for longer, so
// that an alert can report missing ones.
const (
	observationFresh = time.Hour
	observationKnown = 7 * 24 * time.Hour
)

var (
	observedVMs         = telemetry.ClusterMetric("headroom_observed_vms", "VMs that really run, as observed last; shown for an hour.")
	observedDrift       = telemetry.ClusterMetric("headroom_plan_drift_vms", "VMs that ran less those planned (as autoscalers are told, with a decrease held back), at the last observation.")
	observedDriftRatio  = telemetry.ClusterMetric("headroom_plan_drift_ratio", "headroom_plan_drift_vms in proportion to planned.")
	observedUtilization = telemetry.ClusterMetric("headroom_observed_utilization_ratio", "The part of the running VMs that busy slots took at the last observation.")
	observedAt          = telemetry.ClusterMetric("headroom_observation_timestamp_seconds", "When the cluster was observed last; shown for 7 days.")
)

// Describe names all there is.
func (o *observed) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{observedVMs, observedDrift, observedDriftRatio, observedUtilization, observedAt} {
		to <- d
	}
}

// Collect shows every cluster's latest observation.
func (o *observed) Collect(to chan<- prometheus.Metric) {
	o.mu.RLock()
	latest := maps.Clone(o.latest)
	o.mu.RUnlock()
	now := o.now()
	for cluster, seen := range latest {
		show := func(d *prometheus.Desc, value *float64) {
			if value != nil {
				to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, *value, cluster)
			}
		}
		age := now.Sub(seen.At)
		if age < observationKnown {
			show(observedAt, new(telemetry.Seconds(seen.At)))
		}
		if age < observationFresh {
			show(observedVMs, new(float64(seen.VMs)))
			show(observedDrift, seen.DriftVMs)
			show(observedDriftRatio, seen.DriftRatio)
			show(observedUtilization, seen.Utilization)
		}
	}
}
