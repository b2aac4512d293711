package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// deliveries counts attempts to deliver to webhooks.
type deliveries struct {
	total *prometheus.CounterVec
	took  prometheus.Histogram
}

// Outcomes of an attempt.
var deliveryOutcomes = []string{"delivered", "again", "failed"}

func newDeliveries(r *prometheus.Registry) deliveries {
	d := deliveries{
		total: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "headroom_webhook_deliveries_total",
			Help: "Attempts to deliver to webhooks, by outcome: delivered, again (failed, and tried again later), failed (given up)."}, []string{"outcome"}),
		took: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "headroom_webhook_delivery_duration_seconds",
			Help: "Time of an attempt to deliver to a webhook.", Buckets: []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}}),
	}
	for _, o := range deliveryOutcomes {
		d.total.WithLabelValues(o)
	}
	r.MustRegister(d.total, d.took)
	return d
}

// Delivery counts an attempt to deliver to a webhook: "delivered", "again" or "failed".
func (t *Telemetry) Delivery(outcome string, took time.Duration) {
	t.deliveries.total.WithLabelValues(oneOf(deliveryOutcomes, outcome)).Inc()
	t.deliveries.took.Observe(took.Seconds())
}
