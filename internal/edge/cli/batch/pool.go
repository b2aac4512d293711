package batch

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"headroom/internal/ask/pool"
	"headroom/internal/ask/recheck"
	"headroom/internal/core/lp"
	"headroom/internal/core/lp/worker"
	"headroom/internal/edge/cli/shell"
	tables "headroom/internal/service/report"
)

func poolCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "pool",
		Short: "Say how many machines of which kinds to rent for how long",
		Long: `Sizes pools of different machines for work that can be divided: core instances, which hold the data and stay
for a round of hours, and accelerators, which hold none and are given back after whole hours. Every pool is
checked by code that shares nothing with the code that made it, and proved to be the cheapest, or the answer
says how far from it it is at most.

  {"currency": "USD", "hours": 4,
   "types": [{"name": "m1.large", "per_hour": "0.34", "disk_gb": 850, "compute_units": 4, "accelerator": false},
             {"name": "c1.medium", "per_hour": "0.17", "compute_units": 5, "core": false}],
   "jobs": [{"name": "nightly", "work": 90, "deadline_hours": 3}],
   "storage": {"data_gb": 4250, "replication": 1}}

The verbs with --cluster are about the pool of a cluster, which a server plans by itself, round after round: "set" says
by what, "running" which machines run, "sample" how much data there is. "current" says what to rent and to give back.`,
	}
	c.AddCommand(poolPlanCommand(), poolEvaluateCommand(), poolRoundsCommand(), poolShareCommand(), poolTypesCommand(), poolVMTypesCommand())
	c.AddCommand(clusterPoolCommands()...)
	return c
}

func poolPlanCommand() *cobra.Command {
	var out shell.Output
	var maxMs int64
	c := &cobra.Command{
		Use:   "plan [FILE|-]",
		Short: "Find the cheapest pool that does all work in time",
		Long: `Reads a pool problem as JSON, from a file or standard input, and answers the cheapest mix of core instances and
accelerators: which work is done where, and when each job ends.`,
		Example: "  headroom pool plan pool.json\n  headroom pool plan -o json - < pool.json",
		Args:    cobra.MaximumNArgs(1),
	}
	out.AddFlags(c, "table", "json", "csv")
	c.Flags().Int64Var(&maxMs, "max-solve-ms", 0, "override the time budget in `milliseconds` (1 to 600000)")
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		p, label, err := readPool(c, args, func(p *pool.PoolProblem) {
			if c.Flags().Changed("max-solve-ms") {
				p.Options.MaxSolveMs = maxMs
			}
		})
		if err != nil {
			return err
		}
		var a pool.PoolPlan
		if err := solving(c.Context(), p.Options.MaxSolveMs, func(ctx context.Context, solver lp.Solver) (err error) {
			a, err = poolPlanned(ctx, p, solver)
			return err
		}); err != nil {
			return shell.Labelled(label, err)
		}
		return writePool(c, out, a.Status, map[string]shell.Form{
			"table": func(w io.Writer) error { return tables.PoolPlan(w, p.Currency, a) },
			"json":  shell.AsJSON(a),
			"csv":   tables.PoolJobs(a.PoolOutcome).CSV,
		})
	})
}

func poolEvaluateCommand() *cobra.Command {
	var out shell.Output
	c := &cobra.Command{
		Use:   "evaluate [FILE|-]",
		Short: "Say what a given pool costs and when its jobs end",
		Long: `Reads a pool problem with a "mix" and answers what that comes to. Accelerators without hours are kept while there
is work for them.

  "mix": {"core": [{"type": "m1.large", "count": 5}], "accelerators": [{"type": "c1.medium", "count": 6}]}`,
		Example: "  headroom pool evaluate mix.json",
		Args:    cobra.MaximumNArgs(1),
	}
	out.AddFlags(c, "table", "json", "csv")
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		p, label, err := readPool(c, args, nil)
		if err != nil {
			return err
		}
		var e pool.PoolEvaluation
		if err := solving(c.Context(), p.Options.MaxSolveMs, func(ctx context.Context, solver lp.Solver) (err error) {
			e, err = poolEvaluated(ctx, p, solver)
			return err
		}); err != nil {
			return shell.Labelled(label, err)
		}
		return out.Write(c, map[string]shell.Form{
			"table": func(w io.Writer) error { return tables.PoolEvaluation(w, p.Currency, e) },
			"json":  shell.AsJSON(e),
			"csv":   tables.PoolJobs(e.PoolOutcome).CSV,
		})
	})
}

func poolRoundsCommand() *cobra.Command {
	var out shell.Output
	c := &cobra.Command{
		Use:   "rounds [FILE|-]",
		Short: "Say what to rent and what to give back round after round",
		Long: `Reads instance types, what runs, what is submitted in each round and which data comes in, and answers for each
round what to rent and what to give back, of which type and at which hour.

  {"currency": "USD", "hours": 4, "types": [...], "storage": {"data_gb": 4250, "replication": 1},
   "running": [{"type": "m1.large", "count": 5}],
   "jobs": [{"name": "nightly", "work": 30, "deadline_hours": 3, "submissions": [3, 0, 2]}],
   "incoming_gb": [0, 850]}`,
		Example: "  headroom pool rounds rounds.json",
		Args:    cobra.MaximumNArgs(1),
	}
	out.AddFlags(c, "table", "json", "csv")
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		data, label, err := shell.Read(c.Context(), shell.FileArgument(args), c.InOrStdin(), c.ErrOrStderr())
		if err != nil {
			return err
		}
		p, err := pool.ReadPoolCourse(data, shell.Limits)
		if err != nil {
			return shell.Labelled(label, err)
		}
		a, err := pool.Course(c.Context(), p, func(ctx context.Context, q pool.PoolProblem) (a pool.PoolPlan, err error) {
			err = solving(ctx, q.Options.MaxSolveMs, func(ctx context.Context, solver lp.Solver) (err error) {
				a, err = poolPlanned(ctx, q, solver)
				return err
			})
			return a, err
		}, func(int64, int64) {})
		if err == nil {
			err = recheck.PoolFault(recheck.PoolCourse(p, a))
		}
		if err != nil {
			return shell.Labelled(label, err)
		}
		return writePool(c, out, a.Status, map[string]shell.Form{
			"table": func(w io.Writer) error { return tables.PoolCourse(w, p.Currency, a) },
			"json":  shell.AsJSON(a),
			"csv":   tables.PoolChanges(a).CSV,
		})
	})
}

func poolShareCommand() *cobra.Command {
	var out shell.Output
	c := &cobra.Command{
		Use:   "share [FILE|-]",
		Short: "Share slots on different nodes so that the least progress share is as large as it can be",
		Long: `A job's progress share is the rate at which it works on its slots as a share of the rate at which it would on all.
Reads node types with their slots, and jobs with their rates, and answers who gets how many slots of which
type. For whole nodes give nodes as slots.

  {"types": [{"name": "gpu", "slots": 2}, {"name": "plain", "slots": 4}],
   "jobs": [{"name": "ciphers", "rates": {"gpu": 3, "plain": 1}}, {"name": "sort", "rates": {"gpu": 1, "plain": 1}}]}`,
		Example: "  headroom pool share shares.json",
		Args:    cobra.MaximumNArgs(1),
	}
	out.AddFlags(c, "table", "json", "csv")
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		data, label, err := shell.Read(c.Context(), shell.FileArgument(args), c.InOrStdin(), c.ErrOrStderr())
		if err != nil {
			return err
		}
		p, err := pool.ReadSharePlan(data, shell.Limits)
		if err != nil {
			return shell.Labelled(label, err)
		}
		var a pool.SharePlan
		if err := solving(c.Context(), p.Options.MaxSolveMs, func(ctx context.Context, solver lp.Solver) (err error) {
			if a, err = pool.Share(ctx, p, solver); err == nil {
				err = recheck.PoolFault(recheck.Share(p, a))
			}
			return err
		}); err != nil {
			return shell.Labelled(label, err)
		}
		return out.Write(c, map[string]shell.Form{
			"table": func(w io.Writer) error { return tables.SharePlan(w, a) },
			"json":  shell.AsJSON(a),
			"csv":   tables.SharedJobs(a).CSV,
		})
	})
}

func poolTypesCommand() *cobra.Command {
	var out shell.Output
	c := &cobra.Command{
		Use:   "types",
		Short: "List the example instance types of 2011",
		Long: `Lists six types of Amazon EC2 at the prices of 2011, with what a compute unit and a gigabyte cost in a month of 720
hours. They are an example to try things with; -o json has them as pool problems take them.`,
		Args: cobra.NoArgs,
	}
	out.AddFlags(c, "table", "json", "csv")
	return shell.Command(c, func(c *cobra.Command, _ []string) error {
		known := pool.ExampleEC22011()
		return out.Write(c, map[string]shell.Form{"table": tables.Instances(known).Text, "json": shell.AsJSON(known),
			"csv": tables.Instances(known).CSV})
	})
}

func poolVMTypesCommand() *cobra.Command {
	var reference string
	var wholeVMs bool
	var out shell.Output
	c := &cobra.Command{
		Use:   "vm-types [FILE|-]",
		Short: "Make a scenario for capacity plans of a pool's instance types",
		Long: `Reads a pool problem and answers a scenario that adds its instance types to a capacity problem, with the speeds there
of the classes that are named as the jobs are. Speeds are relative to the reference, which is what the problem's
own VMs are.`,
		Example: "  headroom pool vm-types --reference m1.large pool.json > scenario.json\n  headroom what-if problem.json scenario.json",
		Args:    cobra.MaximumNArgs(1),
	}
	out.AddFlags(c, "json")
	c.Flags().StringVar(&reference, "reference", "", "the `type` that the capacity problem's own VMs are")
	c.Flags().BoolVar(&wholeVMs, "whole-vms", false, "speeds of VMs and not of slots, for classes given by their VMs per job")
	_ = c.MarkFlagRequired("reference")
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		p, label, err := readPool(c, args, nil)
		if err != nil {
			return err
		}
		s, err := pool.Scenario(p, reference, wholeVMs)
		if err != nil {
			return shell.Labelled(label, err)
		}
		return out.Write(c, map[string]shell.Form{"json": shell.AsJSON(s)})
	})
}

// writePool prints a pool in the form asked for; one that cannot be done ends with a code of its own.
func writePool(c *cobra.Command, out shell.Output, status pool.PoolStatus, forms map[string]shell.Form) error {
	if err := out.Write(c, forms); err != nil {
		return err
	}
	if status == pool.PoolInfeasible {
		return shell.Fail(shell.ExitInfeasible, nil)
	}
	return nil
}

func readPool(c *cobra.Command, args []string, override func(*pool.PoolProblem)) (pool.PoolProblem, string, error) {
	data, label, err := shell.Read(c.Context(), shell.FileArgument(args), c.InOrStdin(), c.ErrOrStderr())
	if err != nil {
		return pool.PoolProblem{}, label, err
	}
	var overrides []func(*pool.PoolProblem)
	if override != nil {
		overrides = append(overrides, override)
	}
	p, err := pool.ReadPool(data, shell.Limits, overrides...)
	if err != nil {
		err = shell.Labelled(label, err)
	}
	return p, label, err
}

// solving does work with a solver of its own, within a time budget. Without one the work says so itself.
func solving(ctx context.Context, maxSolveMs int64, work func(context.Context, lp.Solver) error) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(maxSolveMs)*time.Millisecond)
	defer cancel()
	if _, err := worker.Find(); err != nil {
		return work(ctx, nil)
	}
	workers := worker.New(worker.Config{Processes: 1})
	defer workers.Close()
	return work(ctx, workers)
}

// poolPlanned is a plan that has passed the independent check.
func poolPlanned(ctx context.Context, p pool.PoolProblem, solver lp.Solver) (pool.PoolPlan, error) {
	a, err := pool.Plan(ctx, p, solver)
	if err == nil {
		err = recheck.PoolFault(recheck.Pool(p, a))
	}
	return a, err
}

// poolEvaluated is an evaluation that has passed the independent check.
func poolEvaluated(ctx context.Context, p pool.PoolProblem, solver lp.Solver) (pool.PoolEvaluation, error) {
	e, err := pool.Evaluate(ctx, p, solver)
	if err == nil {
		err = recheck.PoolFault(recheck.PoolEvaluation(p, e))
	}
	return e, err
}
