// Package solvertest gives the tests of a package the real solver program. A package whose tests solve calls Run:
//
//	func TestMain(m *testing.M) { os.Exit(solvertest.Run(m.Run)) }
package solvertest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// variable names the solver program; lp/worker reads it too, but its own tests use this package.
const variable = "HEADROOM_SOLVER"

// Run runs tests with HEADROOM_SOLVER set to a solver: its earlier value, as under make test, or one that is built
// for them and removed afterwards. It returns the exit code.
func Run(tests func() int) int {
	if os.Getenv(variable) != "" {
		return tests()
	}
	dir, err := os.MkdirTemp("", "solver")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program := filepath.Join(dir, "headroom-solver")
	build := exec.Command("go", "build", "-o", program, "example.org/headroom/cmd/headroom-solver")
	build.Env = append(os.Environ(), "CGO_ENABLED=1")
	if said, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build headroom-solver: %v\n%s", err, said)
		return 1
	}
	if err := os.Setenv(variable, program); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return tests()
}
