package live

import (
	"fmt"
	"testing"
)

// Reduces are measured if they cannot have waited for maps.
func TestReducesAreMeasured(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		slots     SlotLayout
		slowstart float64
		measured  int64
	}{
		{"shared slots", SlotsShared, 0.5, 1},
		{"after all maps", SlotsSeparate, 1, 1},
		{"after half of the maps", SlotsSeparate, 0.5, 0},
	} {
		l := newLittle(t, 1)
		s := l.store.Settings
		s.Slots = c.slots
		l.change(func(c *Cluster) error { return c.SetSettings(l.now, s, l.store.choices()) })
		l.change(func(cl *Cluster) error {
			_, err := cl.Submit(l.now, LiveJobRequest{Name: "j", Class: "j", Maps: 2, Reduces: 1, Slowstart: c.slowstart, MaxAttempts: 4, Weight: 1}, "test")
			return err
		})
		l.beat(0, `{"seq":1,"running":[]}`)
		l.now += 7
		l.beat(0, `{"seq":2,"running":[],"finished":[{"assignment":1},{"assignment":2,"seconds":5}]}`)
		l.now += 3
		l.beat(0, `{"seq":3,"running":[],"finished":[{"assignment":3,"seconds":2.5}]}`)
		if got := l.job(1); got != `done {"total":2,"waiting":0,"running":0,"done":2,"failures":0,"lost":0}` {
			t.Fatalf("%s: %s", c.name, got)
		}
		m := l.store.Measured["j"]
		if m.Times.Added != 2 || m.Reduces.Times.Added != c.measured || (m.Reduces.Fit != nil) != (c.measured > 0) {
			t.Errorf("%s: measured are %d maps and %d reduces, fit %v", c.name, m.Times.Added, m.Reduces.Times.Added, m.Reduces.Fit)
		}
		if c.measured > 0 && fmt.Sprint(m.Reduces.Fit.Seconds(1), m.Fit.Seconds(1)) != "2.5 6" {
			t.Errorf("%s: a reduce takes %g s, a map %g s", c.name, m.Reduces.Fit.Seconds(1), m.Fit.Seconds(1))
		}
	}
}
