package web_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestScenarioAddresses runs ui/test/addresses.ts: scenarios are read as they were written, and addresses that are
// broken, however that may be, are read as far as they can be.
func TestScenarioAddresses(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Fatal("node is missing: scripts/setup installs it")
	}
	script, rounds := filepath.Join(t.TempDir(), "addresses.mjs"), 1_000
	if long() {
		rounds = 300_000
	}
	build := exec.Command("go", "tool", "-modfile=../../tools/go.mod", "esbuild", "ui/test/addresses.ts", "--bundle", "--format=esm", "--target=es2022", "--outfile="+script, "--tsconfig=ui/tsconfig.json", "--log-level=warning")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("it is not built: %v\n%s", err, said)
	}
	for _, seed := range []int{1, os.Getpid()} {
		said, err := exec.Command("node", script, fmt.Sprint(seed), fmt.Sprint(rounds)).CombinedOutput()
		if err != nil {
			t.Fatalf("with the seed %d: %v\n%.2000s", seed, err, said)
		}
		t.Logf("seed %d: %s", seed, said)
	}
}
