package plans

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

type removedSource map[string]Removed

func (s removedSource) RemovedPlans(context.Context) (map[string]Removed, error) { return s, nil }

func TestWhatRetentionRemovedIsShown(t *testing.T) {
	t.Parallel()
	r := &removed{source: removedSource{"shop": {Plans: 18, Last: time.Unix(1_800_000_000, 0)}}}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(r)
	gathered := func() map[string]float64 {
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]float64{}
		for _, f := range families {
			for _, m := range f.Metric {
				all[f.GetName()+" "+m.Label[0].GetValue()] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
		return all
	}
	if got := gathered(); len(got) != 0 {
		t.Errorf("before anything was read: %v", got)
	}
	if err := r.read(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := gathered(); len(got) != 2 || got["headroom_plans_removed_total shop"] != 18 || got["headroom_plans_removed_timestamp_seconds shop"] != 1_800_000_000 {
		t.Errorf("got %v", got)
	}
}
