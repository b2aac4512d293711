package plans

import (
	"fmt"
	"io"
	"net/http/httptest"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/service/telemetry"
)

// A scrape of 50 clusters of 100 classes each, which autoscaling must not wait for.
func BenchmarkScrape(b *testing.B) {
	shown, now := &Board{now: func() time.Time { return began }, places: map[string]*place{}}, func() time.Time { return began }
	seen := &observed{now: now, latest: map[string]Observation{}}
	for i := range 50 {
		s := &Shown{Current: Current{Record: PlanRecord{PlanSummary: PlanSummary{PeriodSeconds: 3600, CreatedAt: began}}}}
		for j := range 100 {
			s.Plan.Classes = append(s.Plan.Classes, capacity.ClassPlan{Name: fmt.Sprint("class-", j), VMs: 4.8, Admitted: 10, Slots: &capacity.Slots{Map: 20, Reduce: 8}})
		}
		name := fmt.Sprint("cluster-", i)
		shown.places[name] = &place{shown: s}
		seen.latest[name] = Observation{At: began, VMs: 50, DriftVMs: new(2.0), DriftRatio: new(0.05), Utilization: new(0.7)}
	}
	tel := telemetry.New(io.Discard, nil)
	tel.Registry.MustRegister(boardMetrics{Board: shown}, seen)
	for b.Loop() {
		w := httptest.NewRecorder()
		tel.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		if w.Code != 200 {
			b.Fatal(w.Body.String())
		}
		b.ReportMetric(float64(w.Body.Len()), "bytes")
	}
}
