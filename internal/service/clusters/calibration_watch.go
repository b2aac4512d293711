package clusters

import (
	"context"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/service/telemetry"
)

// DriftMetrics keeps in memory how classes fit their calibrations, for Prometheus.
type DriftMetrics struct {
	source interface {
		ClassDrifts(ctx context.Context, cluster string) ([]ClassDrift, error)
	}

	mu      sync.RWMutex
	classes []ClassDrift // by cluster and name
}

// DriftMetrics returns a collector of the drifts, which is empty until they are read.
func (d *Desk) DriftMetrics() *DriftMetrics { return &DriftMetrics{source: d.calibrations} }

// Read reads the drifts of all clusters.
func (c *DriftMetrics) Read(ctx context.Context) error {
	all, err := c.source.ClassDrifts(ctx, "")
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.classes = all
	return nil
}

var (
	calibrationDrift    = telemetry.ClusterMetric("headroom_class_calibration_drift", "1 while the executions of a class no longer fit its calibration, being slower or faster.", "class", "direction")
	calibrationCoverage = telemetry.ClusterMetric("headroom_class_calibration_coverage_ratio", "The part of a class's executions since its calibration, or since the drift began, that kept their calibrated time.", "class")
	calibrationCount    = telemetry.ClusterMetric("headroom_class_calibration_executions", "How many executions headroom_class_calibration_coverage_ratio is of.", "class")
)

// Describe names all there is.
func (c *DriftMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{calibrationDrift, calibrationCoverage, calibrationCount} {
		to <- d
	}
}

// Collect shows every class that has a calibration of its executions; of clusters with very many, none.
func (c *DriftMetrics) Collect(to chan<- prometheus.Metric) {
	c.mu.RLock()
	all := c.classes
	c.mu.RUnlock()
	classes := map[string]int{}
	for _, d := range all {
		classes[d.Cluster]++
	}
	for _, d := range all {
		if classes[d.Cluster] > telemetry.MaxClassSeries {
			continue
		}
		show := func(desc *prometheus.Desc, value float64, labels ...string) {
			to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, append([]string{d.Cluster, d.Class}, labels...)...)
		}
		show(calibrationDrift, telemetry.Truth(d.Drift.State == perf.Slower), string(perf.Slower))
		show(calibrationDrift, telemetry.Truth(d.Drift.State == perf.Faster), string(perf.Faster))
		show(calibrationCount, float64(d.Drift.Executions))
		if d.Drift.Executions > 0 {
			show(calibrationCoverage, 1-float64(d.Drift.Exceeded)/float64(d.Drift.Executions))
		}
	}
}
