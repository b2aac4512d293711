// Package telemetry is what the operator at night looks at: a structured log and metrics in a
// registry of their own. It is passed to whoever needs it and is never global.
package telemetry

import (
	"context"
	"io"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
)

// Telemetry is a log and metrics. Its methods are safe for concurrent use.
type Telemetry struct {
	Log      *slog.Logger // constant messages, typed keys
	Registry *prometheus.Registry

	requests *slog.Logger // the same log, unmasked

	metrics
	deliveries deliveries
}

// New writes its log as JSON lines to w. Tokens and passwords that stray into a line are masked.
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

// LogsRequests says whether lines about requests of a level are written.
func (t *Telemetry) LogsRequests(ctx context.Context, level slog.Level) bool {
	return t.requests.Enabled(ctx, level)
}

// Request writes a line about an answered request, masked like the others but cheaper: there are
// many of them, and their attributes are numbers and texts alone.
func (t *Telemetry) Request(ctx context.Context, level slog.Level, attrs ...slog.Attr) {
	for i, a := range attrs {
		if a.Value.Kind() == slog.KindString && suspicious(a.Value.String()) {
			attrs[i].Value = slog.StringValue(masked(a.Value.String()))
		}
	}
	t.requests.LogAttrs(ctx, level, "request", attrs...)
}
