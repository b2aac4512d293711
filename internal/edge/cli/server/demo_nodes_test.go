package server

import (
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// The demonstration says what runs often enough that no alert tells of its silence, also where it fails a few times.
func TestDemoIsObservedInTime(t *testing.T) {
	text, err := os.ReadFile("../../../../deploy/prometheus/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	alert := regexp.MustCompile(`headroom_observation_timestamp_seconds[^>]*> ([0-9]+)`).FindSubmatch(text)
	if alert == nil {
		t.Fatal("no alert waits for observations")
	}
	seconds, err := strconv.Atoi(string(alert[1]))
	if err != nil {
		t.Fatal(err)
	}
	if patience := time.Duration(seconds) * time.Second; 3*observeEvery > patience {
		t.Errorf("an observation every %v, and the alert waits for %v", observeEvery, patience)
	}
}
