package plantest

import (
	"encoding/json"
	"syscall"
	"testing"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/capacity"
)

// CallBody returns the text of a problem with n classes of a study's family.
func CallBody(tb testing.TB, family string, integrality capacity.Integrality, n int) []byte {
	tb.Helper()
	drawn, err := study.Generate(family, n, 1)
	if err != nil {
		tb.Fatal(err)
	}
	p, err := drawn.Profiled()
	if err != nil {
		tb.Fatal(err)
	}
	p.Options.Engine, p.Options.Integrality = capacity.EngineExact, integrality
	text, err := json.Marshal(p)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// CPUSeconds returns the processor time that this process has used, in the program and in the kernel.
func CPUSeconds(tb testing.TB) float64 {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}
