package schedule

import (
	"math"

	"example.org/headroom/internal/core/lp"
)

// Program writes the problem as a program in whole numbers, for any solver. It counts the executions of an arrival that take a
// run, and the runs that start in a step, and ties both by their sums. Steps are those of one type. Spot VMs, their starts, budgets and
// types by the time are not written.
func (p *Problem) Program(steps int) *lp.Program {
	var m lp.Program
	capacityRow := make([]int, len(p.Supply))
	for t := range p.Supply {
		capacityRow[t] = m.Row(math.Inf(-1), 0)
	}
	type entries = []lp.Entry
	for t, tiers := range p.Supply {
		for _, tier := range tiers {
			m.Column(tier.Price, 0, float64(min(tier.VMs, 100_000)), true, entries{{Row: capacityRow[t], Coefficient: -1}}...)
		}
	}
	for _, c := range p.Classes {
		served := make([]int, steps)
		for at, n := range c.Arrivals {
			served[at] = m.Row(float64(n), float64(n))
			m.Column(c.Penalty, 0, float64(n), true, lp.Entry{Row: served[at], Coefficient: 1})
		}
		for _, r := range c.Runs {
			// By the end of each step no more have started than arrived, and all that are due have.
			begun, due := make([]int, steps), make([]int, steps)
			for t := range steps {
				begun[t], due[t] = m.Row(math.Inf(-1), 0), m.Row(0, math.Inf(1))
			}
			for at, n := range c.Arrivals {
				column := entries{{Row: served[at], Coefficient: 1}}
				for t := at + c.First; t < steps; t++ {
					column = append(column, lp.Entry{Row: begun[t], Coefficient: -1})
				}
				last := at + c.window(at) - len(r.Load)
				most := float64(n)
				if last < at+c.First {
					most = 0
				}
				for t := max(0, last); t < steps; t++ {
					column = append(column, lp.Entry{Row: due[t], Coefficient: -1})
				}
				m.Column(0, 0, most, true, column...)
			}
			for s := range steps {
				var column entries
				for t := s; t < steps; t++ {
					column = append(column, lp.Entry{Row: begun[t], Coefficient: 1}, lp.Entry{Row: due[t], Coefficient: 1})
				}
				most := math.Inf(1)
				if s+len(r.Load) > steps {
					most = 0
				}
				for i, x := range r.Load {
					if s+i < steps {
						column = append(column, lp.Entry{Row: capacityRow[r.First+s+i], Coefficient: float64(x) / float64(p.Unit)})
					}
				}
				m.Column(0, 0, most, true, column...)
			}
		}
	}
	return &m
}
