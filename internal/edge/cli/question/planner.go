// Package question holds what commands need that ask a kind of question: of a file, which is answered on this machine,
// or of a server. It brings a solver where one is installed.
package question

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/lp/worker"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/edge/cli/shell"
)

// Planner solves problems, starting a solver process only when a problem may need one.
type Planner struct {
	Overrides []func(*capacity.Options)
	Pool      *worker.Pool
	Needed    bool // the flag --engine asks for the engine, so that it must be there
}

// solver returns the solver that options ask, none for the exact method. Where no solver is installed and no flag asks
// for one, the engine is auto: our own method plans, and a plan that it cannot prove has a warning.
func (p *Planner) solver(o *capacity.Options) (lp.Solver, error) {
	if o.Engine == capacity.EngineExact {
		return nil, nil
	}
	if p.Pool == nil {
		if _, err := worker.Find(); err != nil && o.Engine == capacity.EngineCBC {
			if p.Needed {
				return nil, fmt.Errorf("--engine: the engine \"cbc\" is not to be had: %w, or plan without it: --engine exact proves its plans as well", err)
			}
			o.Engine = capacity.EngineAuto
		}
		p.Pool = worker.New(worker.Config{Processes: 1})
	}
	return p.Pool, nil
}

// PlanLike plans problems that differ little from one, in brief.
func (p *Planner) PlanLike(problem capacity.Problem) (plan.Planner, error) {
	solver, err := p.solver(&problem.Options)
	if err != nil {
		return nil, err
	}
	series := plan.NewSeries(problem, solver)
	return func(ctx context.Context, problem capacity.Problem) (capacity.Plan, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Duration(problem.Options.MaxSolveMs)*time.Millisecond)
		defer cancel()
		return series.Solve(ctx, problem)
	}, nil
}

// Plan answers a problem within its time budget.
func (p *Planner) Plan(ctx context.Context, problem capacity.Problem) (capacity.Plan, error) {
	solver, err := p.solver(&problem.Options)
	if err != nil {
		return capacity.Plan{}, err
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, time.Duration(problem.Options.MaxSolveMs)*time.Millisecond)
	defer cancel()
	answer, err := plan.Solve(ctx, problem, solver)
	if err != nil {
		return capacity.Plan{}, err
	}
	if answer.Proof != nil {
		answer.Proof.SolveMs = float64(time.Since(began).Microseconds()) / 1000
	}
	return answer, nil
}

// Budgeted does work within a time budget, with a solver where one is installed.
func (p *Planner) Budgeted(ctx context.Context, maxSolveMs int64, work func(context.Context, lp.Solver) error) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(maxSolveMs)*time.Millisecond)
	defer cancel()
	if p.Pool == nil {
		if _, err := worker.Find(); err != nil {
			return work(ctx, nil) // which says itself where that matters
		}
		p.Pool = worker.New(worker.Config{Processes: 1})
	}
	return work(ctx, p.Pool)
}

func (p *Planner) Close() {
	if p.Pool != nil {
		p.Pool.Close()
		p.Pool = nil
	}
}

// OptionFlags are the flags that override a problem's options.
type OptionFlags struct {
	Given capacity.Options
}

func (f *OptionFlags) Add(c *cobra.Command) {
	shell.AddChoice(c, &f.Given.Engine, "engine", "", "override who solves", capacity.EngineCBC, capacity.EngineExact, capacity.EngineAuto)
	shell.AddChoice(c, &f.Given.Integrality, "integrality", "", "override what must be whole", capacity.Relaxed, capacity.Integer,
		capacity.Executable)
	shell.AddChoice(c, &f.Given.Bound, "bound", "", "override which execution time is planned with", capacity.LowerBound,
		capacity.AverageBound, capacity.UpperBound, capacity.CalibratedBound)
	c.Flags().Float64Var(&f.Given.Gap, "gap", 0, "override the relative `gap` at which a plan counts as optimal (0 to 0.1)")
	c.Flags().Int64Var(&f.Given.MaxSolveMs, "max-solve-ms", 0, "override the time budget in `milliseconds` (1 to 600000)")
}

// Check looks at the flags by themselves. A cluster is planned with options of its own, which they do not reach.
func (f *OptionFlags) Check(c *cobra.Command, here bool) error {
	for _, name := range []string{"engine", "integrality", "bound", "gap", "max-solve-ms"} {
		if !here && c.Flags().Changed(name) {
			return fmt.Errorf("--%s is for a problem in a file; a cluster has options of its own: change them with headroom cluster edit, or leave --%s out", name, name)
		}
	}
	if g := f.Given.Gap; !(g >= 0 && g <= capacity.MaxGap) {
		return fmt.Errorf("--gap is %g; it must be from 0 to %g", g, capacity.MaxGap)
	}
	if ms := f.Given.MaxSolveMs; c.Flags().Changed("max-solve-ms") && (ms < 1 || ms > capacity.MaxSolveMs) {
		return fmt.Errorf("--max-solve-ms is %d; it must be from 1 to %d", ms, capacity.MaxSolveMs)
	}
	return nil
}

// Overrides are the changes that the flags given make.
func (f *OptionFlags) Overrides(c *cobra.Command) (all []func(*capacity.Options)) {
	for name, change := range map[string]func(*capacity.Options){
		"engine":       func(o *capacity.Options) { o.Engine = f.Given.Engine },
		"integrality":  func(o *capacity.Options) { o.Integrality = f.Given.Integrality },
		"bound":        func(o *capacity.Options) { o.Bound = f.Given.Bound },
		"gap":          func(o *capacity.Options) { o.Gap = f.Given.Gap },
		"max-solve-ms": func(o *capacity.Options) { o.MaxSolveMs = f.Given.MaxSolveMs },
	} {
		if c.Flags().Changed(name) {
			all = append(all, change) // each changes another member: their order decides nothing
		}
	}
	return all
}

// ProblemToCompare reads a problem of which many plans are made: the engine is auto unless a flag says otherwise.
func ProblemToCompare(c *cobra.Command, file string, flags OptionFlags) (capacity.Problem, error) {
	data, label, err := shell.Read(c.Context(), file, c.InOrStdin(), c.ErrOrStderr())
	if err != nil {
		return capacity.Problem{}, err
	}
	auto := func(o *capacity.Options) { o.Engine = capacity.EngineAuto }
	p, err := capacity.ReadProblem(data, shell.Limits, append([]func(*capacity.Options){auto}, flags.Overrides(c)...)...)
	return p, shell.Labelled(label, err)
}

// ReadPlan reads a plan as solve writes it, or as "plan get" does: the record of a stored one, with the plan in it.
func ReadPlan(c *cobra.Command, name string) (pl capacity.Plan, label string, err error) {
	data, label, err := shell.Read(c.Context(), name, c.InOrStdin(), c.ErrOrStderr())
	if err != nil {
		return pl, label, err
	}
	pl, err = capacity.ReadPlanOrRecord(data)
	return pl, label, shell.Labelled(label, err)
}
