package hooks

import (
	"context"
	"fmt"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/telemetry"
)

// Failing keeps in memory which webhooks fail, for Prometheus. Between attempts at a delivery lie hours, in which nothing
// else tells of them.
type Failing struct {
	store Store

	mu  sync.RWMutex
	all []Webhook
}

// Failing returns a collector of the webhooks that fail, which is empty until they are read.
func (d *Desk) Failing() *Failing { return &Failing{store: d.store} }

// Read reads which webhooks fail, and which were disabled because they did. One that somebody disabled is left out.
func (f *Failing) Read(ctx context.Context) error {
	listed, err := f.store.Webhooks(ctx, storage.Page{Limit: MaxWebhooks})
	if err != nil {
		return fmt.Errorf("read which webhooks fail: %w", err)
	}
	var all []Webhook
	for _, w := range listed.Items {
		if w.FailingSince != nil && (w.Enabled || w.DisabledReason != "") {
			all = append(all, w)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = all
	return nil
}

var webhookFailing = prometheus.NewDesc("headroom_webhook_failing_since_timestamp_seconds",
	"Since when nothing was delivered to a webhook, while its deliveries fail: state retried, or disabled because they did for 3 days or the target was gone.", []string{"webhook", "state"}, nil)

// Describe names all there is.
func (f *Failing) Describe(to chan<- *prometheus.Desc) { to <- webhookFailing }

// Collect shows every webhook that fails.
func (f *Failing) Collect(to chan<- prometheus.Metric) {
	f.mu.RLock()
	all := f.all
	f.mu.RUnlock()
	for _, w := range all {
		state := "retried"
		if !w.Enabled {
			state = "disabled"
		}
		to <- prometheus.MustNewConstMetric(webhookFailing, prometheus.GaugeValue, telemetry.Seconds(*w.FailingSince), w.Name, state)
	}
}
