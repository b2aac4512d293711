package pool

import (
	"context"
	"errors"
	"math"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/lp"
)

const (
	// maxShareNodes limits the linear programs for each half of a share plan's proof.
	maxShareNodes = 1_000
	// shareTolerance is the difference of equal shares with rounding errors.
	shareTolerance = 1e-9
)

// Share divides slots of several types among jobs. It first maximises the smallest progress share by weight, then the
// sum of all shares. A solver advises; without one it returns fault.Busy. At the context's deadline the answer is
// the best so far with its bounds.
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
	total := float64(len(p.Jobs)) // until it is known: no share is more than 1
	if err == nil {
		total, err = s.second(ctx, solver, &best)
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return SharePlan{}, context.Cause(ctx)
	}
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return SharePlan{}, noSolver(err)
	}
	return s.plan(best, max(bound, best.smallest), max(total, best.total)), nil
}

// shares is a prepared problem of a share plan: the gain in a job's share from a slot of each type.
type shares struct {
	SharePlanProblem
	adds    [][]float64 // by job and type
	parts   [][]int     // columns by job and type; -1 if a slot adds nothing
	columns int
}

// sharing is a division of the slots.
type sharing struct {
	slots           [][]int64 // by job and type
	smallest, total float64
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

// program returns the program of dividing the slots; worth is a slot's value in the objective. The last column is the
// smallest share by weight.
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
	p.Column(0, 0, s.limit(), false, entries...)
	return &p
}

// first maximises the smallest share, and second, with that fixed, the sum of all shares. Each returns an upper
// bound.
func (s *shares) first(ctx context.Context, solver lp.Solver, best *sharing) (float64, error) {
	p := s.program(func(int, int) float64 { return 0 })
	p.Cost[s.columns] = -1
	return s.half(ctx, solver, p, s.limit(), best, 0, func(a sharing) float64 { return a.smallest })
}

func (s *shares) second(ctx context.Context, solver lp.Solver, best *sharing) (float64, error) {
	p := s.program(func(j, i int) float64 { return s.adds[j][i] })
	lowest := best.smallest * (1 - shareTolerance)
	p.Cost[s.columns], p.Upper[s.columns] = -lackOfShare, lowest
	worth := lackOfShare * lowest
	total, err := s.half(ctx, solver, p, float64(len(s.Jobs))+worth, best, lowest, func(a sharing) float64 { return a.total + worth })
	return total - worth, err
}

// lackOfShare is the cost in bounds of the total for missing the smallest share. So there is always a solution, and
// no claim of infeasibility need be believed.
const lackOfShare = 1e3

// limit returns an upper bound of the smallest share: a job with all slots has the share 1.
func (s *shares) limit() float64 {
	highest := math.Inf(1)
	for _, j := range s.Jobs {
		highest = min(highest, 1/j.Weight)
	}
	return highest
}

// half maximises value over the sharings whose smallest share is at least lowest.
func (s *shares) half(ctx context.Context, solver lp.Solver, p *lp.Program, limit float64, best *sharing, lowest float64, value func(sharing) float64) (float64, error) {
	offer := func(a sharing) {
		if a.smallest >= lowest && value(a) > value(*best)+shareTolerance {
			*best = a
		}
	}
	answer, err := solver.Solve(ctx, p, lp.Options{Seconds: min(advisedMost, advisedShare*float64(s.Options.MaxSolveMs)/1000)})
	if err != nil {
		return limit, err
	}
	if len(answer.X) == p.Columns() && lp.CheckAdvice(p, answer.X, answer.Objective) == nil {
		offer(s.filled(answer.X))
	}
	proof := search{program: p, lower: -limit, nodes: maxShareNodes,
		cost:  func() float64 { return -value(*best) },
		up:    func(bound float64) float64 { return bound },
		offer: func(x []float64) error { offer(s.filled(x)); return nil }}
	bound, err := proof.prove(ctx, solver)
	return -bound, err
}

// filled returns a sharing with the whole slots of a solution, and gives the rest to the jobs with the smallest
// share.
func (s *shares) filled(x []float64) sharing {
	a := sharing{slots: make([][]int64, len(s.Jobs)), smallest: math.Inf(1)}
	has := make([]float64, len(s.Jobs))
	for j := range s.Jobs {
		a.slots[j] = make([]int64, len(s.Types))
	}
	for i, t := range s.Types {
		left := t.Slots
		for j := range s.Jobs {
			if s.parts[j][i] >= 0 {
				n := int64(0)
				if whole := math.Floor(x[s.parts[j][i]] + lp.AdviceTolerance); whole > 0 { // written this way so that NaN counts as none
					n = int64(min(whole, float64(left)))
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
			some := max(1, left/int64(4*len(s.Jobs))) // one by one if few are left
			a.slots[poorest][i] += some
			has[poorest] += float64(some) * s.adds[poorest][i]
			left -= some
		}
	}
	for j := range s.Jobs {
		a.smallest = min(a.smallest, has[j]/s.Jobs[j].Weight)
		a.total += has[j]
	}
	return a
}

func (s *shares) plan(a sharing, bound, total float64) SharePlan {
	out := SharePlan{Status: PoolFeasible, MinShare: a.smallest, ShareBound: bound, Total: a.total, TotalBound: total, Jobs: []SharedJob{}, Warnings: []capacity.Warning{}}
	if bound <= a.smallest+shareTolerance {
		out.ShareBound = a.smallest
		if total <= a.total+shareTolerance*lackOfShare {
			out.TotalBound, out.Status = a.total, PoolOptimal
		}
	}
	for j := range s.Jobs {
		out.Jobs = append(out.Jobs, s.shared(j, func(i int) int64 { return a.slots[j][i] }))
	}
	out.Held = s.held()
	return out
}

// shared returns a job with a number of slots of each type.
func (s *shares) shared(j int, slots func(i int) int64) SharedJob {
	x := SharedJob{Name: s.Jobs[j].Name, Slots: map[string]int64{}}
	for i, t := range s.Types {
		if n := slots(i); n > 0 {
			x.Slots[t.Name] = n
			x.ProgressShare += float64(n) * s.adds[j][i]
		}
	}
	return x
}

// held returns what the jobs hold, or nil if they hold nothing.
func (s *shares) held() *HeldShares {
	h, some := &HeldShares{MinShare: math.Inf(1), Jobs: []SharedJob{}}, false
	for j, job := range s.Jobs {
		some = some || len(job.Holds) > 0
		x := s.shared(j, func(i int) int64 { return job.Holds[s.Types[i].Name] })
		h.MinShare, h.Total, h.Jobs = min(h.MinShare, x.ProgressShare/job.Weight), h.Total+x.ProgressShare, append(h.Jobs, x)
	}
	if !some {
		return nil
	}
	return h
}
