package timetables_test

import (
	"os"
	"testing"

	"example.org/headroom/internal/test/solvertest"
)

func TestMain(m *testing.M) { os.Exit(solvertest.Run(m.Run)) }
