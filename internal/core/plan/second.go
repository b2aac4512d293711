package plan

import (
	"context"
	"errors"
	"math"
	"strings"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/plan/integer"
	"example.org/headroom/internal/core/words"
)

// The second engine. CBC solves what the core left open, starting from the core's answer. Its plan
// counts only by what it costs when we add it up, and it proves nothing.

const (
	// provedShare of the time budget, and provedNodes, are all that a solve is worth once its
	// answer has been proved.
	provedShare = 0.2
	provedNodes = 5_000
)

// second holds the answer of the other engine.
type second struct {
	engine  string
	agreed  *bool
	jobs    []int64 // its plan, if it is cheaper
	cut     bool    // by the clock, where it had no other limit
	warning *capacity.Warning
}

// claimed returns the cost of a plan by the solver's own count, which was started from a plan of a known cost. A plan
// that costs more misses a row by the solver's tolerance: it is the best plan of another program than ours.
func claimed(p *lp.Program, sol lp.Solution, start []float64, cost float64) float64 {
	for j, c := range p.Cost {
		cost -= c * start[j]
	}
	return cost + sol.Objective
}

// cut says that a solver without a limit on its nodes was ended by the clock.
func cut(sol lp.Solution) bool { return sol.Status == lp.Feasible || sol.Status == lp.Stopped }

// ask lets the solver try to do better than the search. It works while the caller does other things, until the caller
// asks for its answer, which must be done.
func (m *model) ask(ctx context.Context, solver lp.Solver, f integer.Modeller, s *integer.Search, r integer.Result, proved bool) (answer func() second) {
	if solver == nil {
		return func() second { return second{warning: unavailable(lp.ErrUnavailable)} }
	}
	p := integer.ProgramOf(f, s, r.Jobs)
	o := lp.Options{Gap: max(m.Options.Gap, integer.ProofResolution), AbsGap: integer.ProofResolution * math.Max(1, math.Abs(r.Objective)), Start: p.Start}
	if proved {
		o.Seconds, o.Nodes = provedShare*float64(m.Options.MaxSolveMs)/1000, provedNodes
	}
	var sol lp.Solution
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		sol, err = solver.Solve(ctx, &p.Program, o)
	}()
	return func() second {
		<-done
		if err != nil {
			return second{warning: unavailable(err)}
		}
		return m.judge(f, r, &p, sol, proved)
	}
}

// judge says what a solver's answer is worth.
func (m *model) judge(f integer.Modeller, r integer.Result, p *integer.Program, sol lp.Solution, proved bool) second {
	answer := second{engine: sol.Engine, cut: !proved && cut(sol)}
	if len(sol.X) == 0 {
		if sol.Status == lp.Infeasible || sol.Status == lp.Unbounded { // we hold a plan: it is wrong
			answer.agreed = new(bool)
		}
		return answer
	}
	if lp.CheckAdvice(&p.Program, sol.X, sol.Objective) != nil { // no answer to what was asked
		answer.agreed = new(bool)
		return answer
	}
	jobs := append([]int64(nil), r.Jobs...)
	p.Jobs(sol.X, jobs)
	cost := f.Objective(jobs, integer.VMsFor(f, jobs))
	within := max(m.Options.Gap, integer.ProofResolution) * math.Max(1, math.Abs(r.Objective))
	switch {
	case cost < r.Objective-within:
		answer.jobs = jobs
		answer.agreed = new(bool)
	case cost < r.Objective && !proved:
		answer.jobs = jobs
	}
	if sol.Status == lp.Optimal && answer.agreed == nil {
		agreed := cost <= r.Objective+within
		if agreed || cost <= claimed(&p.Program, sol, p.Start, r.Objective)+within {
			answer.agreed = &agreed
		}
	}
	return answer
}

// askLinear compares the closed form with Clp.
func (m *model) askLinear(ctx context.Context, solver lp.Solver, r *relaxation) second {
	if solver == nil {
		return second{warning: unavailable(lp.ErrUnavailable)}
	}
	p := relaxedProgram(r)
	sol, err := solver.Solve(ctx, &p, lp.Options{})
	if err != nil {
		return second{warning: unavailable(err)}
	}
	answer := second{engine: sol.Engine}
	if sol.Status == lp.Optimal || sol.Status == lp.Infeasible {
		agreed := sol.Status == lp.Optimal && sameOptimum(sol, r.objective)
		answer.agreed = &agreed
	}
	return answer
}

// linearAgreement is Clp's own tolerance for a linear program: relative to the objective, and what one of a column may
// cost too much.
const linearAgreement = 1e-7

// sameOptimum says that Clp's optimum is this one.
func sameOptimum(sol lp.Solution, objective float64) bool {
	size := math.Max(1, math.Abs(objective))
	for _, x := range sol.X {
		size += math.Abs(x)
	}
	return math.Abs(sol.Objective-objective) <= linearAgreement*size
}

// relaxedProgram is P2 as a linear program: tiers first, then classes; row 0 is capacity.
func relaxedProgram(r *relaxation) lp.Program {
	var p lp.Program
	row := p.Row(math.Inf(-1), 0)
	most := 1.0 // VMs that all jobs together could use; a wider column only widens the noise of its price
	for i := range r.classes {
		most += r.classes[i].gamma * r.classes[i].high
	}
	for k, price := range r.supply.Price {
		from, to := r.supply.Tier(k)
		p.Column(price, 0, min(float64(to-from), most), false, lp.Entry{Row: row, Coefficient: -1})
	}
	for i := range r.classes {
		c := &r.classes[i]
		p.Column(-c.penalty, c.low, c.high, false, lp.Entry{Row: row, Coefficient: c.gamma})
	}
	return p
}

func unavailable(err error) *capacity.Warning {
	var why []string
	for _, known := range []error{lp.ErrBusy, lp.ErrCrashed, lp.ErrUnavailable} {
		if errors.Is(err, known) {
			why = append(why, known.Error())
		}
	}
	return new(words.Unanswered(strings.Join(why, ": ")))
}
