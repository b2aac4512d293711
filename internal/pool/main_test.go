package pool

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"headroom/internal/lp/worker"
)

// wholeSamples asks for all the cases that the figures are promised for.
var wholeSamples = os.Getenv("HEADROOM_LONG") != ""

// cbc is the real solver, in a process of its own.
var cbc *worker.Pool

func TestMain(m *testing.M) { os.Exit(withSolver(m)) }

func withSolver(m *testing.M) int {
	dir, err := os.MkdirTemp("", "solver")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, worker.ProgramName)
	build := exec.Command("go", "build", "-o", program, "headroom/cmd/headroom-solver")
	build.Env = append(os.Environ(), "CGO_ENABLED=1")
	if said, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build headroom-solver: %v\n%s", err, said)
		return 1
	}
	cbc = worker.New(worker.Config{Program: program, Processes: 1})
	defer cbc.Close()
	return m.Run()
}
