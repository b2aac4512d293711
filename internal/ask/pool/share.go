package pool

import (
	"context"
	"errors"
	"math"

	"headroom/internal/core/capacity"
	"headroom/internal/core/lp"
)

const (
	// mostShareNodes is how many linear programs each half of a share plan's proof is worth.
	mostShareNodes = 1_000
	// shareTolerance is by how much shares may differ that are the same but for rounding.
	shareTolerance = 1e-9
)

// Share says who gets how many slots of which type: first the least progress share by weight is as large as it can be,
// then all of them together are. A solver advises; without one it is capacity.Busy. When the context's deadline comes,
// the answer is the best so far with its bounds.
func Share(ctx context.Context, p SharePlanProblem, solver lp.Solver) (SharePlan, error) {
	if err := p.Validate(); err != nil {
		return SharePlan{}, err
	}
	if solver == nil {
		return SharePlan{}, noSolver(lp.ErrUnavailable)
	}
	s := newSharing(p)
	best := s.filled(make([]float64, s.columns))
	bound, err := s.first(ctx, solver, &best)
	total := float64(len(p.Jobs)) // what is not known: no share is more than 1
	if err == nil {
		total, err = s.second(ctx, solver, &best)
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return SharePlan{}, context.Cause(ctx)
	}
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return SharePlan{}, noSolver(err)
	}
	return s.plan(best, max(bound, best.least), max(total, best.total)), nil
}

// shares is a share plan's problem made ready: what a slot of each type adds to a job's share.
type shares struct {
	SharePlanProblem
	adds    [][]float64 // by job and type
	parts   [][]int     // columns by job and type; -1 where a slot adds nothing
	columns int
}

// sharing is who gets what.
type sharing struct {
	slots        [][]int64 // by job and type
	least, total float64
}

func newSharing(p SharePlanProblem) *shares {
	s := &shares{SharePlanProblem: p}
	for _, j := range p.Jobs {
		everything := 0.0
		for _, t := range p.Types {
			everything += float64(t.Slots) * j.Rates[t.Name]
		}
		adds, parts := make([]float64, len(p.Types)), make([]int, len(p.Types))
		for i, t := range p.Types {
			adds[i], parts[i] = j.Rates[t.Name]/everything, -1
			if adds[i] > 0 && t.Slots > 0 {
				parts[i] = s.columns
				s.columns++
			}
		}
		s.adds, s.parts = append(s.adds, adds), append(s.parts, parts)
	}
	return s
}

// program is the problem of giving slots away; worth is what a slot of each kind is worth to the objective. The last
// column is the least share by weight.
func (s *shares) program(worth func(j, i int) float64) *lp.Program {
	var p lp.Program
	for _, t := range s.Types {
		p.Row(math.Inf(-1), float64(t.Slots))
	}
	entries := []lp.Entry{}
	for j := range s.Jobs {
		row := p.Row(0, math.Inf(1))
		entries = append(entries, lp.Entry{Row: row, Coefficient: -1})
		for i, t := range s.Types {
			if s.parts[j][i] >= 0 {
				p.Column(-worth(j, i), 0, float64(t.Slots), true, lp.Entry{Row: i, Coefficient: 1}, lp.Entry{Row: row, Coefficient: s.adds[j][i] / s.Jobs[j].Weight})
			}
		}
	}
	p.Column(0, 0, s.most(), false, entries...)
	return &p
}

// first makes the least share as large as it can be, and second, for that, all shares together. Each says what none is
// larger than.
func (s *shares) first(ctx context.Context, solver lp.Solver, best *sharing) (float64, error) {
	p := s.program(func(int, int) float64 { return 0 })
	p.Cost[s.columns] = -1
	return s.half(ctx, solver, p, s.most(), best, 0, func(a sharing) float64 { return a.least })
}

func (s *shares) second(ctx context.Context, solver lp.Solver, best *sharing) (float64, error) {
	p := s.program(func(j, i int) float64 { return s.adds[j][i] })
	least := best.least * (1 - shareTolerance)
	p.Cost[s.columns], p.Upper[s.columns] = -lackOfShare, least
	worth := lackOfShare * least
	total, err := s.half(ctx, solver, p, float64(len(s.Jobs))+worth, best, least, func(a sharing) float64 { return a.total + worth })
	return total - worth, err
}

// lackOfShare is what it costs in bounds of the total when the least share is not reached: then there is always a
// solution, and no claim that there is none has to be believed.
const lackOfShare = 1e3

// most is what no least share is larger than: a job that has everything has the share 1.
func (s *shares) most() float64 {
	most := math.Inf(1)
	for _, j := range s.Jobs {
		most = min(most, 1/j.Weight)
	}
	return most
}

// half makes the value of the best sharing as large as it can be, of those whose least share is not below least.
func (s *shares) half(ctx context.Context, solver lp.Solver, p *lp.Program, most float64, best *sharing, least float64, value func(sharing) float64) (float64, error) {
	offer := func(a sharing) {
		if a.least >= least && value(a) > value(*best)+shareTolerance {
			*best = a
		}
	}
	answer, err := solver.Solve(ctx, p, lp.Options{Seconds: min(advisedMost, advisedShare*float64(s.Options.MaxSolveMs)/1000)})
	if err != nil {
		return most, err
	}
	if len(answer.X) == p.Columns() && lp.CheckAdvice(p, answer.X, answer.Objective) == nil {
		offer(s.filled(answer.X))
	}
	proof := search{program: p, least: -most, nodes: mostShareNodes,
		cost:  func() float64 { return -value(*best) },
		up:    func(bound float64) float64 { return bound },
		offer: func(x []float64) error { offer(s.filled(x)); return nil }}
	bound, err := proof.prove(ctx, solver)
	return -bound, err
}

// filled is a sharing that gives jobs what a solution says in whole slots, and what is left to those that have least.
func (s *shares) filled(x []float64) sharing {
	a := sharing{slots: make([][]int64, len(s.Jobs)), least: math.Inf(1)}
	has := make([]float64, len(s.Jobs))
	for j := range s.Jobs {
		a.slots[j] = make([]int64, len(s.Types))
	}
	for i, t := range s.Types {
		left := t.Slots
		for j := range s.Jobs {
			if s.parts[j][i] >= 0 {
				n := int64(0)
				if said := math.Floor(x[s.parts[j][i]] + lp.AdviceTolerance); said > 0 { // written this way so that NaN is none
					n = int64(min(said, float64(left)))
				}
				a.slots[j][i] = n
				has[j] += float64(n) * s.adds[j][i]
				left -= n
			}
		}
	}
	for i, t := range s.Types {
		left := t.Slots
		for j := range s.Jobs {
			left -= a.slots[j][i]
		}
		for left > 0 {
			poorest := -1
			for j := range s.Jobs {
				if s.parts[j][i] >= 0 && (poorest < 0 || has[j]/s.Jobs[j].Weight < has[poorest]/s.Jobs[poorest].Weight) {
					poorest = j
				}
			}
			if poorest < 0 {
				break
			}
			some := max(1, left/int64(4*len(s.Jobs))) // one by one where few are left
			a.slots[poorest][i] += some
			has[poorest] += float64(some) * s.adds[poorest][i]
			left -= some
		}
	}
	for j := range s.Jobs {
		a.least = min(a.least, has[j]/s.Jobs[j].Weight)
		a.total += has[j]
	}
	return a
}

func (s *shares) plan(a sharing, bound, total float64) SharePlan {
	out := SharePlan{Status: PoolFeasible, LeastShare: a.least, ShareBound: bound, Total: a.total, TotalBound: total, Jobs: []SharedJob{}, Warnings: []capacity.Warning{}}
	if bound <= a.least+shareTolerance {
		out.ShareBound = a.least
		if total <= a.total+shareTolerance*lackOfShare {
			out.TotalBound, out.Status = a.total, PoolOptimal
		}
	}
	for j, job := range s.Jobs {
		x := SharedJob{Name: job.Name, Slots: map[string]int64{}}
		for i, t := range s.Types {
			if n := a.slots[j][i]; n > 0 {
				x.Slots[t.Name] = n
				x.ProgressShare += float64(n) * s.adds[j][i]
			}
		}
		out.Jobs = append(out.Jobs, x)
	}
	return out
}
