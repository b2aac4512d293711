package clusters

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/telemetry"
)

// Kept is what a cluster keeps in a table. Bytes are those of its values as they are stored; indexes and free room are
// not counted.
type Kept struct {
	Cluster string
	Table   string
	Rows    int64
	Bytes   int64
}

// KeptLimits bounds what a cluster may keep; 0 is no limit.
type KeptLimits struct{ Rows, Bytes int64 }

// KeptStore measures what clusters keep.
type KeptStore interface {
	// MeasureKept measures all clusters. It does nothing while another server does, within a minute of the last time, and
	// within a hundred times as long as that took.
	MeasureKept(ctx context.Context) error
	// Kept returns when clusters were measured and what those keep that keep most, and those beyond a limit; within a cluster
	// the largest table comes first.
	Kept(ctx context.Context, clusters int, limits KeptLimits) (measured time.Time, all []Kept, err error)
}

// Usage knows what clusters keep, and refuses to add to one that keeps more than it may.
type Usage struct {
	store  KeptStore
	limits KeptLimits
	warn   func(message string, err error)

	mu       sync.RWMutex
	measured time.Time
	kept     map[string][]Kept // by cluster
}

const (
	shownClusters = 100 // by metrics
	measureEvery  = time.Minute
	measureWait   = 10 * time.Minute
)

// NewUsage returns a Usage that knows nothing yet.
func NewUsage(store KeptStore, limits KeptLimits, warn func(message string, err error)) *Usage {
	return &Usage{store: store, limits: limits, warn: warn}
}

// Follow reads at once, measures and reads every minute, and ends with the context; done is closed when it is at rest.
func (u *Usage) Follow(ctx context.Context) (done <-chan struct{}, err error) {
	if err := u.Read(ctx); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for storage.Rest(ctx, measureEvery); ctx.Err() == nil; storage.Rest(ctx, measureEvery) {
			measuring, cancel := context.WithTimeout(ctx, measureWait)
			err := u.store.MeasureKept(measuring)
			if err == nil {
				err = u.Read(measuring)
			}
			cancel()
			if err != nil && ctx.Err() == nil {
				u.warn("what clusters keep not measured", err)
			}
		}
	}()
	return ended, nil
}

// Read reads what was measured last.
func (u *Usage) Read(ctx context.Context) error {
	measured, all, err := u.store.Kept(ctx, shownClusters, u.limits)
	if err != nil {
		return fmt.Errorf("read what clusters keep: %w", err)
	}
	kept := map[string][]Kept{}
	for _, k := range all {
		kept[k.Cluster] = append(kept[k.Cluster], k)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.measured, u.kept = measured, kept
	return nil
}

// Room refuses to add to a cluster that kept more than it may when it was measured last.
func (u *Usage) Room(cluster string) error {
	u.mu.RLock()
	defer u.mu.RUnlock()
	var rows, bytes int64
	for _, k := range u.kept[cluster] {
		rows, bytes = rows+k.Rows, bytes+k.Bytes
	}
	var over, setting string
	switch l := u.limits; {
	case l.Bytes > 0 && bytes > l.Bytes:
		over, setting = fmt.Sprintf("%s, and may keep %s", megabytes(bytes), megabytes(l.Bytes)), "HEADROOM_CLUSTER_BYTES"
	case l.Rows > 0 && rows > l.Rows:
		over, setting = fmt.Sprintf("%d rows, and may keep %d", rows, l.Rows), "HEADROOM_CLUSTER_ROWS"
	default:
		return nil
	}
	var most []string
	for _, k := range u.kept[cluster][:min(3, len(u.kept[cluster]))] {
		most = append(most, fmt.Sprintf("%s %s in %d rows", k.Table, megabytes(k.Bytes), k.Rows))
	}
	return &fault.TooManyError{RetryAfter: measureEvery,
		Detail: fmt.Sprintf("Cluster %q keeps %s. It kept that at %s: %s. Delete what nobody needs, such as executions, forecasts or measurements, have old plans removed with \"headroom server prune\", or have %s raised where the server runs.",
			cluster, over, u.measured.UTC().Format("15:04 UTC"), strings.Join(most, ", "), setting)}
}

// megabytes writes an amount of data for people.
func megabytes(bytes int64) string {
	mb := float64(bytes) / 1e6
	if mb >= 10 {
		return fmt.Sprintf("%.0f MB", mb)
	}
	return fmt.Sprintf("%g MB", math.Ceil(mb*1000)/1000)
}

var (
	keptBytes    = telemetry.ClusterMetric("headroom_cluster_kept_bytes", "What a cluster keeps in a table of the database, as it is stored, of the 100 clusters that keep most.", "table")
	keptRows     = telemetry.ClusterMetric("headroom_cluster_kept_rows", "Rows that a cluster keeps in a table of the database, of the 100 clusters that keep most.", "table")
	keptMeasured = prometheus.NewDesc("headroom_kept_measured_timestamp_seconds", "When it was measured last what clusters keep.", nil, nil)
)

// Describe and Collect show who keeps how much.
func (u *Usage) Describe(to chan<- *prometheus.Desc) {
	to <- keptBytes
	to <- keptRows
	to <- keptMeasured
}

func (u *Usage) Collect(to chan<- prometheus.Metric) {
	u.mu.RLock()
	defer u.mu.RUnlock()
	for _, tables := range u.kept {
		for _, k := range tables {
			to <- prometheus.MustNewConstMetric(keptBytes, prometheus.GaugeValue, float64(k.Bytes), k.Cluster, k.Table)
			to <- prometheus.MustNewConstMetric(keptRows, prometheus.GaugeValue, float64(k.Rows), k.Cluster, k.Table)
		}
	}
	if !u.measured.IsZero() {
		to <- prometheus.MustNewConstMetric(keptMeasured, prometheus.GaugeValue, telemetry.Seconds(u.measured))
	}
}
