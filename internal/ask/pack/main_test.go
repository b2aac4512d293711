package pack

import (
	"os"
	"testing"

	"example.org/headroom/internal/core/lp/worker"
	"example.org/headroom/internal/test/solvertest"
)

// wholeSamples makes the tests try all cases for which the figures are promised.
var wholeSamples = os.Getenv("HEADROOM_LONG") != ""

// cbc runs the real solver, in a process of its own.
var cbc *worker.Pool

func TestMain(m *testing.M) {
	os.Exit(solvertest.Run(func() int {
		cbc = worker.New(worker.Config{Processes: 1})
		defer cbc.Close()
		return m.Run()
	}))
}
