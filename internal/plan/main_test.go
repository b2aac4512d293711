package plan

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"headroom/internal/lp/worker"
)

// TestMain builds the real solver program: the second opinion in these tests is Clp's and CBC's own.
func TestMain(m *testing.M) {
	os.Exit(withSolver(m))
}

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
	os.Setenv(worker.ProgramVariable, program)
	return m.Run()
}
