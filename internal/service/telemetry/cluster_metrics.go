package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// MaxClassSeries is the number of classes above which a cluster's classes get no series.
const MaxClassSeries = 1000

func ClusterMetric(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, append([]string{"cluster"}, labels...), nil)
}

func Seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

func Truth(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
