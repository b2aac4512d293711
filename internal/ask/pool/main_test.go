package pool

import (
	"os"
	"testing"

	"headroom/internal/core/lp/worker"
	"headroom/internal/test/solvertest"
)

// wholeSamples asks for all the cases that the figures are promised for.
var wholeSamples = os.Getenv("HEADROOM_LONG") != ""

// cbc is the real solver, in a process of its own.
var cbc *worker.Pool

func TestMain(m *testing.M) {
	os.Exit(solvertest.Run(func() int {
		cbc = worker.New(worker.Config{Processes: 1})
		defer cbc.Close()
		return m.Run()
	}))
}
