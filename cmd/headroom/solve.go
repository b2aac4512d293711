package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"headroom/internal/core/capacity"
	"headroom/internal/core/lp"
	"headroom/internal/core/lp/worker"
	"headroom/internal/core/plan"
	tables "headroom/internal/service/report"
)

func solveCommand() *cobra.Command {
	var out output
	var flags optionFlags
	var lines bool
	c := &cobra.Command{
		Use:   "solve [FILE|-]",
		Short: "Say what to rent and which jobs to admit",
		Long: `Reads a problem as JSON, from a file or standard input, and answers with a plan.

With --stream every line of the input is a problem and every line of the output its answer, in the same
order; a line that cannot be answered gets {"error": …} and the rest goes on.`,
		Example: "  headroom solve cluster.json\n  headroom solve -o json --engine exact - < cluster.json\n  headroom solve --stream problems.jsonl -f plans.jsonl",
		Args:    cobra.MaximumNArgs(1),
	}
	out.addFlags(c, "table", "json", "csv")
	flags.add(c)
	addStream(c, &lines)
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if err := out.checkStream(c, lines); err != nil {
			return err
		}
		return flags.check(c)
	}
	return command(c, func(c *cobra.Command, args []string) error {
		p := planner{overrides: flags.overrides(c)}
		defer p.close()
		if lines {
			decode := func(text []byte) (capacity.Problem, error) {
				return capacity.ReadProblem(text, limits, p.overrides...)
			}
			return stream(c, fileArgument(args), out, decode, func(ctx context.Context, problem capacity.Problem) (any, error) {
				return p.solve(ctx, problem)
			})
		}
		return solveOne(c, fileArgument(args), &p, out)
	})
}

// solveOne answers one document.
func solveOne(c *cobra.Command, name string, p *planner, out output) error {
	data, label, err := read(c.Context(), name, c.InOrStdin(), c.ErrOrStderr())
	if err != nil {
		return err
	}
	problem, err := capacity.ReadProblem(data, limits, p.overrides...)
	if err != nil {
		return labelled(label, err)
	}
	answer, err := p.solve(c.Context(), problem)
	p.close() // before writing: a closed pipe ends the program where it stands
	if err != nil {
		return labelled(label, err)
	}
	if err := out.stream(c, map[string]form{
		"table": func(w io.Writer) error { return tables.Plan(w, problem, answer) },
		"json":  asJSON(answer),
		"csv":   func(w io.Writer) error { return tables.ClassesCSV(w, problem, answer) },
	}); err != nil {
		return err
	}
	if answer.Status != capacity.InfeasibleStatus {
		return nil
	}
	if out.format == "table" && out.file == "" { // the conflicts have been read there
		return fail(exitInfeasible, nil)
	}
	conflicts := []error{errors.New(label + ": No plan meets these demands.")}
	for _, f := range answer.Conflicts {
		conflicts = append(conflicts, errors.New(label+": "+tables.Conflict(f)))
	}
	return fail(exitInfeasible, errors.Join(conflicts...))
}

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
