package worker

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"example.org/headroom/internal/test/solvertest"
)

// TestMain finds the real solver program, the only one in these tests.
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
	code := solvertest.Run(m.Run)
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}
