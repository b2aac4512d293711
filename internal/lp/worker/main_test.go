package worker

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// TestMain builds the real solver program: these tests talk to nothing else.
func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if os.Getenv(parentRole) != "" {
		return beParent()
	}
	if role, is := strings.CutPrefix(filepath.Base(os.Args[0]), rolePrefix); is {
		return beSolver(role)
	}
	dir, err := os.MkdirTemp("", "solver")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, ProgramName)
	build := exec.Command("go", "build", "-o", program, "headroom/cmd/headroom-solver")
	build.Env = append(os.Environ(), "CGO_ENABLED=1")
	if said, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build headroom-solver: %v\n%s", err, said)
		return 1
	}
	os.Setenv(ProgramVariable, program)
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}
