package solving

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.org/headroom/internal/core/fault"
)

// budget counts, hour by hour, for how long each key's work has had a place to solve in. A key that has used up its
// share of an hour is refused until the next one. What has begun is ended, and the planner is never refused.
type budget struct {
	perHour time.Duration // of one key; 0 is no limit
	now     func() time.Time
	hour    time.Time
	used    map[string]time.Duration // in that hour, by principal
}

// turn forgets the hour before.
func (b *budget) turn() {
	if hour := b.now().UTC().Truncate(time.Hour); !hour.Equal(b.hour) {
		b.hour, b.used = hour, map[string]time.Duration{}
	}
}

func (b *budget) add(key string, took time.Duration) {
	b.turn()
	b.used[key] += took
}

// check refuses a key that has used up its hour.
func (b *budget) check(key string) error {
	b.turn()
	if used := b.used[key]; b.perHour > 0 && used >= b.perHour {
		next := b.hour.Add(time.Hour)
		return &fault.TooManyError{RetryAfter: max(time.Second, next.Sub(b.now()).Round(time.Second)),
			Detail: fmt.Sprintf("This key has used %.0f seconds of solving since %s, and may use %.0f in an hour; ask again from %s on, or have HEADROOM_KEY_SOLVE_SECONDS raised where the server runs.",
				used.Seconds(), b.hour.Format("15:04 UTC"), b.perHour.Seconds(), next.Format("15:04 UTC"))}
	}
	return nil
}

// shownKeys is the number of keys that metrics show, those that have used most.
const shownKeys = 100

var keySeconds = prometheus.NewDesc("headroom_key_solve_seconds",
	"Time for which a key's work had a place to solve in, in this hour (UTC), of the 100 keys that used most. The planner is a key, too.", []string{"key_id"}, nil)

// Describe and Collect show who used how much.
func (d *Desk) Describe(to chan<- *prometheus.Desc) { to <- keySeconds }

func (d *Desk) Collect(to chan<- prometheus.Metric) {
	d.turns.mu.Lock()
	d.turns.spent.turn()
	used := maps.Clone(d.turns.spent.used)
	d.turns.mu.Unlock()
	keys := slices.SortedFunc(maps.Keys(used), func(a, b string) int { return cmp.Or(cmp.Compare(used[b], used[a]), cmp.Compare(a, b)) })
	for _, key := range keys[:min(len(keys), shownKeys)] {
		to <- prometheus.MustNewConstMetric(keySeconds, prometheus.GaugeValue, used[key].Seconds(), key)
	}
}
