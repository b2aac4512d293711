package pack

import (
	"testing"
	"time"
)

func TestUntilClocksShow(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		from string
		hour int
		want float64 // hours
	}{
		{"2026-01-10T21:00:00Z", 6, 8}, // 22:00 there
		{"2026-01-10T05:00:00Z", 6, 24},
		{"2026-01-10T04:59:59Z", 6, 1. / 3600},
		{"2026-03-28T21:00:00Z", 6, 7}, // an hour is skipped in the night
		{"2026-10-24T20:00:00Z", 6, 9}, // and repeated
		{"2026-12-31T22:00:00Z", 6, 7},
	} {
		from, err := time.Parse(time.RFC3339, c.from)
		if err != nil {
			t.Fatal(err)
		}
		if got := UntilClock(from, c.hour, 0, zone); got != c.want*3600 {
			t.Errorf("from %s: got %g h, want %g", c.from, got/3600, c.want)
		}
	}
}
