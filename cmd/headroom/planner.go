package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"headroom/internal/core/capacity"
	"headroom/internal/core/lp"
	"headroom/internal/core/lp/worker"
	"headroom/internal/core/plan"
)

// planner solves problems, starting a solver process only when a problem may need one.
type planner struct {
	overrides []func(*capacity.Options)
	pool      *worker.Pool
}

// solver is who is asked besides our own method: none for the exact method, which must work where none is installed.
func (p *planner) solver(engine capacity.Engine) (lp.Solver, error) {
	if engine == capacity.EngineExact {
		return nil, nil
	}
	if p.pool == nil {
		// An engine that was asked for and is not installed is said at once; one that fails later
		// costs the plan a warning. The engine auto may never need it.
		if _, err := worker.Find(); err != nil && engine == capacity.EngineCBC {
			return nil, fmt.Errorf("/options/engine: the engine \"cbc\" is not to be had: %w, or plan without it: --engine exact proves its plans as well", err)
		}
		p.pool = worker.New(worker.Config{Processes: 1})
	}
	return p.pool, nil
}

// series plans problems that differ little from one, in brief.
func (p *planner) series(problem capacity.Problem) (plan.Planner, error) {
	solver, err := p.solver(problem.Options.Engine)
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

func (p *planner) solve(ctx context.Context, problem capacity.Problem) (capacity.Plan, error) {
	solver, err := p.solver(problem.Options.Engine)
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

func (p *planner) close() {
	if p.pool != nil {
		p.pool.Close()
		p.pool = nil
	}
}

// optionFlags are the flags that override a problem's options.
type optionFlags struct {
	given capacity.Options
}

func (f *optionFlags) add(c *cobra.Command) {
	addChoice(c, &f.given.Engine, "engine", "", "override who solves", capacity.EngineCBC, capacity.EngineExact, capacity.EngineAuto)
	addChoice(c, &f.given.Integrality, "integrality", "", "override what must be whole", capacity.Relaxed, capacity.Integer, capacity.Executable)
	addChoice(c, &f.given.Bound, "bound", "", "override which execution time is planned with", capacity.LowerBound, capacity.AverageBound, capacity.UpperBound, capacity.CalibratedBound)
	c.Flags().Float64Var(&f.given.Gap, "gap", 0, "override the relative `gap` at which a plan counts as optimal (0 to 0.1)")
	c.Flags().Int64Var(&f.given.MaxSolveMs, "max-solve-ms", 0, "override the time budget in `milliseconds` (1 to 600000)")
}

func (f *optionFlags) check(c *cobra.Command) error {
	if g := f.given.Gap; !(g >= 0 && g <= capacity.MaxGap) {
		return fmt.Errorf("--gap is %g; it must be from 0 to %g", g, capacity.MaxGap)
	}
	if ms := f.given.MaxSolveMs; c.Flags().Changed("max-solve-ms") && (ms < 1 || ms > capacity.MaxSolveMs) {
		return fmt.Errorf("--max-solve-ms is %d; it must be from 1 to %d", ms, capacity.MaxSolveMs)
	}
	return nil
}

// overrides are the changes that the flags given make.
func (f *optionFlags) overrides(c *cobra.Command) (all []func(*capacity.Options)) {
	for name, change := range map[string]func(*capacity.Options){
		"engine":       func(o *capacity.Options) { o.Engine = f.given.Engine },
		"integrality":  func(o *capacity.Options) { o.Integrality = f.given.Integrality },
		"bound":        func(o *capacity.Options) { o.Bound = f.given.Bound },
		"gap":          func(o *capacity.Options) { o.Gap = f.given.Gap },
		"max-solve-ms": func(o *capacity.Options) { o.MaxSolveMs = f.given.MaxSolveMs },
	} {
		if c.Flags().Changed(name) {
			all = append(all, change) // each changes another member: their order decides nothing
		}
	}
	return all
}

// problemToCompare reads a problem of which many plans are made: the engine is auto unless a flag says otherwise.
func problemToCompare(c *cobra.Command, file string, flags optionFlags) (capacity.Problem, error) {
	data, label, err := read(c.Context(), file, c.InOrStdin(), c.ErrOrStderr())
	if err != nil {
		return capacity.Problem{}, err
	}
	auto := func(o *capacity.Options) { o.Engine = capacity.EngineAuto }
	p, err := capacity.ReadProblem(data, limits, append([]func(*capacity.Options){auto}, flags.overrides(c)...)...)
	return p, labelled(label, err)
}

// readPlan reads a plan as solve writes it, or as "plan get" does: the record of a stored one, with the plan in it.
func readPlan(c *cobra.Command, name string) (pl capacity.Plan, label string, err error) {
	data, label, err := read(c.Context(), name, c.InOrStdin(), c.ErrOrStderr())
	if err != nil {
		return pl, label, err
	}
	pl, err = capacity.ReadPlanOrRecord(data)
	return pl, label, labelled(label, err)
}
