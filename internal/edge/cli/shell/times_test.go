package shell

import (
	"testing"
	"time"
)

func TestEndsOfKeys(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for s, want := range map[string]string{
		"90d": "2026-05-01T12:00:00Z", "12h": "2026-02-01T00:00:00Z", "30m": "2026-01-31T12:30:00Z", "2027-01-01": "2027-01-01T00:00:00Z",
		"2027-01-01T06:00:00+02:00": "2027-01-01T04:00:00Z",
	} {
		end, err := EndOf(s, now)
		if err != nil || end.UTC().Format(time.RFC3339) != want {
			t.Errorf("%s: got %v, %v; want %s", s, end, err, want)
		}
	}
	for _, s := range []string{"soon", "-1d", "0d", "1e9d", "-5h", "2027-02-30", "d", "99999999d"} {
		if end, err := EndOf(s, now); err == nil {
			t.Errorf("%s: got %v, want an error", s, end)
		}
	}
	if end, err := EndOf("", now); end != nil || err != nil {
		t.Errorf("no end: got %v, %v", end, err)
	}
}
