// Package telemetry is for the operator: a structured log, metrics in a registry of their own, and traces if they are
// configured. It is passed to the packages that need it and is never global.
package telemetry

import (
	"context"
	"io"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"example.org/headroom/internal/core/trace"
)

// Telemetry holds the log, the metrics and the tracer. Its methods are safe for concurrent use.
type Telemetry struct {
	Log      *slog.Logger // constant messages, typed keys
	Registry *prometheus.Registry
	Tracer   *trace.Tracer // nil without tracing

	requests *slog.Logger // the same log, unmasked

	metrics
	deliveries deliveries
}

// New writes its log as JSON lines to w, with tokens and passwords masked.
func New(w io.Writer, level slog.Leveler) *Telemetry {
	t := &Telemetry{
		Log:      slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: mask})),
		requests: slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})),
		Registry: prometheus.NewRegistry(),
		metrics:  newMetrics(),
	}
	t.register(t.Registry)
	t.deliveries = newDeliveries(t.Registry)
	return t
}

// ShowTraces adds a tracer, and counts its sent and dropped spans.
func (t *Telemetry) ShowTraces(tracer *trace.Tracer) {
	t.Tracer = tracer
	for outcome, count := range map[string]func() float64{"sent": tracer.Sent, "dropped": tracer.Dropped} {
		t.Registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "headroom_trace_spans_total",
			Help: "Spans of traces, by what became of them: sent, dropped because too many waited or the collector did not take them.", ConstLabels: prometheus.Labels{"outcome": outcome}}, count))
	}
}

// LogsRequests reports whether lines about requests are written at a level.
func (t *Telemetry) LogsRequests(ctx context.Context, level slog.Level) bool {
	return t.requests.Enabled(ctx, level)
}

// Request writes a line about an answered request, masked like the others but cheaper: there are many of them, and
// their attributes are only numbers and texts.
func (t *Telemetry) Request(ctx context.Context, level slog.Level, attrs ...slog.Attr) {
	for i, a := range attrs {
		if a.Value.Kind() == slog.KindString && suspicious(a.Value.String()) {
			attrs[i].Value = slog.StringValue(masked(a.Value.String()))
		}
	}
	t.requests.LogAttrs(ctx, level, "request", attrs...)
}
