package timetable

import (
	"os"
	"testing"

	"example.org/headroom/internal/test/solvertest"
)

// The second opinion in these tests is Clp's and CBC's own.
func TestMain(m *testing.M) { os.Exit(solvertest.Run(m.Run)) }
