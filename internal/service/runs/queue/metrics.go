package queue

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.org/headroom/internal/service/runs"
)

type metrics struct {
	total   *prometheus.CounterVec
	running *prometheus.GaugeVec
	took    *prometheus.HistogramVec
}

// runBuckets are in seconds: a plan takes milliseconds, a long study hours.
var runBuckets = []float64{0.01, 0.05, 0.25, 1, 5, 15, 60, 300, 900, 3600, 14400}

func newMetrics(kinds map[string]Kind) metrics {
	m := metrics{
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "headroom_runs_total", Help: "Background runs that this server ended, by kind and final state."}, []string{"kind", "state"}),
		running: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "headroom_runs_running", Help: "Background runs that this server works on, by kind."}, []string{"kind"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "headroom_run_duration_seconds", Help: "Time of an attempt at a background run, by kind.", Buckets: runBuckets}, []string{"kind"}),
	}
	for kind := range kinds {
		for _, state := range []runs.RunState{runs.RunSucceeded, runs.RunFailed, runs.RunCancelled} {
			m.total.WithLabelValues(kind, string(state))
		}
		m.running.WithLabelValues(kind)
	}
	return m
}

func (m metrics) register(r *prometheus.Registry) error {
	return errors.Join(r.Register(m.total), r.Register(m.running), r.Register(m.took))
}

// began counts an attempt; the returned function must be called at its end.
func (m metrics) began(kind string) (ended func()) {
	start := time.Now()
	m.running.WithLabelValues(kind).Inc()
	return func() {
		m.running.WithLabelValues(kind).Dec()
		m.took.WithLabelValues(kind).Observe(time.Since(start).Seconds())
	}
}

// ended counts a finished run.
func (m metrics) ended(kind string, state runs.RunState) {
	if state.Over() {
		m.total.WithLabelValues(kind, string(state)).Inc()
	}
}
