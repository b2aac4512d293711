package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Every start of the program pays for what its packages make before main, whatever is asked. What they allocate is the
// same each time and on any machine. A library that reads schemas or compiles patterns takes more than a megabyte.
func TestStartIsLean(t *testing.T) {
	t.Parallel()
	const most, mostTogether = 450_000, 1_100_000 // bytes; validator takes 431,680, and all took 1,064,736
	listed, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	ours := strings.Fields(string(listed)) // this binary has the tests' packages as well
	cmd := exec.CommandContext(t.Context(), "headroom", "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	packages, together := 0, 0
	for line := range strings.SplitSeq(string(said), "\n") {
		var name string
		var at, took float64
		var bytes int
		if n, _ := fmt.Sscanf(line, "init %s @%f ms, %f ms clock, %d bytes", &name, &at, &took, &bytes); n < 4 || !slices.Contains(ours, name) || name == "example.org/headroom/cmd/headroom" {
			continue
		}
		packages, together = packages+1, together+bytes
		if bytes > most {
			t.Errorf("%s allocates %d bytes at every start; it can do so where it is first used", name, bytes)
		}
	}
	if packages < 100 || together > mostTogether {
		t.Errorf("%d packages allocate %d bytes at every start, want at most %d", packages, together, mostTogether)
	}
	t.Logf("%d packages allocate %d bytes before main", packages, together)
}
