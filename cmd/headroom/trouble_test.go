package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/test/await"
)

// Who reads a plan at the terminal reads first that its inputs have changed since and cannot be planned, why, and a cure.
func TestCommandsTellThatPlanningFails(t *testing.T) {
	dir := madeDirectory(t)
	startServing(t, dir)
	for _, name := range []string{"HEADROOM_URL", "HEADROOM_API_KEY", "DATABASE_URL"} {
		t.Setenv(name, "")
	}
	t.Setenv("HEADROOM_DATA_DIR", dir)
	headroom := func(args ...string) string {
		t.Helper()
		var out, trouble bytes.Buffer
		if code := run(t.Context(), args, strings.NewReader(""), &out, &trouble); code != shell.ExitOK {
			t.Fatalf("headroom %v: exit code %d: %s", args, code, &trouble)
		}
		return out.String()
	}
	headroom("cluster", "create", "--name", "mine", "--currency", "USD")
	headroom("supply", "vm-type", "create", "mine", "--name", "m5", "--quota", "20")
	headroom("supply", "price", "create", "mine", "--vm-type", "m5", "--price", "0.2", "--from", "2026-01-01T00:00:00Z")
	etl := filepath.Join(t.TempDir(), "etl.json")
	if err := os.WriteFile(etl, []byte(`{"name":"etl","vms_per_job":2,"jobs":{"min":2,"max":4},"penalty":5}`), 0o600); err != nil {
		t.Fatal(err)
	}
	headroom("class", "create", "mine", etl)
	headroom("plan", "create", "mine")
	if got := headroom("plan", "get", "mine"); !strings.HasPrefix(got, "Plan ") {
		t.Errorf("a plan of its inputs: %s", got)
	}
	headroom("supply", "vm-type", "edit", "mine", "m5", "--quota", "0")
	await.Until(t, 20*time.Second, "planning fails", func() bool { return strings.Contains(headroom("cluster", "list"), "not planned anew: ") })
	await.Until(t, 20*time.Second, "the plan in memory says so", func() bool { return !strings.HasPrefix(headroom("plan", "get", "mine"), "Plan ") })
	for _, args := range [][]string{{"plan", "get", "mine"}, {"plan", "get", "mine", "current"}, {"plan", "explain", "mine"}, {"plan", "explain", "mine", "etl"}} {
		first, _, _ := strings.Cut(headroom(args...), "\n")
		for _, want := range []string{"The change of 20", " could not be planned: ", "quota", "Raise the quota to 4", ", of older inputs, stays in force."} {
			if !strings.Contains(first, want) {
				t.Errorf("%v begins with %q, want %q", args, first, want)
			}
		}
	}
	if got := headroom("plan", "get", "mine", "1"); strings.Contains(got, "could not be planned") {
		t.Errorf("of a plan by its number: %s", got)
	}
	headroom("supply", "vm-type", "edit", "mine", "m5", "--quota", "20")
	await.Until(t, 20*time.Second, "it is planned again", func() bool { return strings.HasPrefix(headroom("plan", "get", "mine"), "Plan ") })
}
