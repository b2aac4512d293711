// Package telemetry is what the operator at night looks at: a structured log and metrics in a
// registry of their own. It is passed to whoever needs it and is never global.
package telemetry

import (
	"io"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
)

// Telemetry is a log and metrics. Its methods are safe for concurrent use.
type Telemetry struct {
	Log      *slog.Logger // constant messages, typed keys
	Registry *prometheus.Registry

	metrics
}

// New writes its log as JSON lines to w. Tokens and passwords that stray into a line are masked.
func New(w io.Writer, level slog.Leveler) *Telemetry {
	t := &Telemetry{
		Log:      slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: mask})),
		Registry: prometheus.NewRegistry(),
		metrics:  newMetrics(),
	}
	t.register(t.Registry)
	return t
}
