// Package telemetry is what the operator at night looks at: a structured log and metrics in a
// registry of their own. It is passed to whoever needs it and is never global.
package telemetry

import (
	"io"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
)

// Telemetry is a log and metrics.
type Telemetry struct {
	Log      *slog.Logger
	Registry *prometheus.Registry
}

// New writes its log as JSON lines to w.
func New(w io.Writer, level slog.Leveler) *Telemetry {
	return &Telemetry{
		Log:      slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})),
		Registry: prometheus.NewRegistry(),
	}
}
