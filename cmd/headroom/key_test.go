package main

import (
	"testing"
	"time"
)

func TestEndsOfKeys(t *testing.T) {
	t.Parallel()
	began := time.Now()
	if _, err := endOf("soon", began); err == nil {
		t.Error("soon is no end")
	}
	for s, want := range map[string]time.Duration{"90d": 90 * 24 * time.Hour, "12h": 12 * time.Hour, "30m": 30 * time.Minute} {
		if end, err := endOf(s, began); err != nil || end.Sub(began).Round(time.Hour) != want.Round(time.Hour) {
			t.Errorf("%s: got %v, %v", s, end, err)
		}
	}
	for _, s := range []string{"-1d", "0d", "1e9d", "-5h", "2027-02-30", "d"} {
		if end, err := endOf(s, began); err == nil {
			t.Errorf("%s: got %v, want an error", s, end)
		}
	}
}
