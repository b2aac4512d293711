package main

import (
	"strings"
	"testing"
)

func TestPackingsBesideTheSwarm(t *testing.T) {
	var out, progress strings.Builder
	if err := run(t.Context(), []string{"-only", "packings", "-packings", "2"}, &out, &progress); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), "\n2 random batches of 5 to 12 jobs: the swarm's packings are ") || !strings.Contains(out.String(), "CPU milliseconds: exact ") {
		t.Errorf("got %q", out.String())
	}
	if err := run(t.Context(), []string{"-packings", "-1"}, &out, &progress); err == nil {
		t.Error("a negative number of packings is taken")
	}
}
