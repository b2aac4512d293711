package main

import (
	"math"
	"testing"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/schedule"
)

// The program that peers are given says what Headroom plans: its schedules fit into it and cost the same there.
func TestPeersAreGivenWhatHeadroomSchedules(t *testing.T) {
	for seed := range uint64(8) {
		c := study.DrawCluster(seed, 12, 6, 20, horizonDue)
		p, steps := horizonOf(c), len(c.Prices)
		pl := schedule.Solve(t.Context(), p, nil, schedule.Options{})
		program := p.Program(steps)
		x := make([]float64, 0, program.Columns())
		for step, vms := range pl.VMs {
			for _, tier := range p.Supply[step] {
				n := min(vms, tier.VMs)
				x, vms = append(x, float64(n)), vms-n
			}
		}
		waited := int64(0)
		for k, class := range p.Classes {
			refused := make([]float64, steps-horizonDue)
			taken, started := make([]float64, len(class.Runs)*len(refused)), make([]float64, len(class.Runs)*steps)
			for _, s := range pl.Starts {
				switch {
				case s.Class != k:
				case s.Run == schedule.Refused:
					refused[s.Arrived] += float64(s.Jobs)
				default:
					taken[s.Run*len(refused)+s.Arrived] += float64(s.Jobs)
					started[s.Run*steps+s.At] += float64(s.Jobs)
					if s.At > s.Arrived+class.First {
						waited += s.Jobs
					}
				}
			}
			x = append(x, refused...)
			for r := range class.Runs {
				x = append(append(x, taken[r*len(refused):(r+1)*len(refused)]...), started[r*steps:(r+1)*steps]...)
			}
		}
		if cost := planned(program, x); math.Abs(cost-pl.Cost()) > 1e-9*pl.Cost() {
			t.Errorf("seed %d: in the program the schedule costs %g, want %g", seed, cost, pl.Cost())
		}
		if waited == 0 {
			t.Errorf("seed %d: nothing waits", seed)
		}
	}
}
