package perf_test

import (
	"fmt"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
)

// A phase of 300 tasks with a mean of 30 s and a maximum of 60 s, on 50 slots. It takes at least 9000/50 s and at
// most (9000 − 60)/50 + 60 s.
func ExampleBounds() {
	answer, err := perf.Bounds(perf.BoundsQuestion{Phase: &perf.PhaseQuestion{Tasks: 300, MeanSeconds: 30, MaxSeconds: 60, Slots: 50}})
	if err != nil {
		fmt.Println(err)
		return
	}
	if phase, ok := answer.(perf.PhaseAnswer); ok {
		fmt.Printf("%.1f to %.1f s\n", phase.LowerSeconds, phase.UpperSeconds)
	}
	// Output:
	// 180.0 to 238.8 s
}

// A map-only job of 100 tasks: 3000 s of work and 10 s of overhead. The upper form holds two longest tasks back.
func ExampleDemands() {
	d := perf.Demands(capacity.Profile{MapTasks: 100, MapAvgSeconds: 30, MapMaxSeconds: 60, OverheadSeconds: 10})
	for _, form := range []capacity.Demand{d.Lower, d.Average, d.Upper} {
		fmt.Printf("%g s of map work, %g s fixed\n", form.MapWorkSeconds, form.FixedSeconds)
	}
	// Output:
	// 3000 s of map work, 10 s fixed
	// 2940 s of map work, 70 s fixed
	// 2880 s of map work, 130 s fixed
}

// Two jobs at once share 20 map slots: 2940 · 2/20 + 70 s.
func ExampleTime() {
	fmt.Println(perf.Time(capacity.Demand{MapWorkSeconds: 2940, FixedSeconds: 70}, 2, 20, 1))
	// Output:
	// 364
}

// Four times the VMs halve the time: seconds = 100 · VMs^−0.5.
func ExampleFitPower() {
	fit, err := perf.FitPower([]perf.Measurement{{VMs: 1, Seconds: 100}, {VMs: 4, Seconds: 50}, {VMs: 16, Seconds: 25}}, perf.FitLog)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("a %.1f, b %.1f; on 25 VMs %.1f s\n", fit.A, fit.B, perf.Power(fit.PowerModel, 25))
	// Output:
	// a 100.0, b -0.5; on 25 VMs 20.0 s
}

// One core of four is busy, so three quarters of the node are left.
func ExampleResidual() {
	fmt.Println(perf.Residual(4, 100))
	// Output:
	// 0.75
}
