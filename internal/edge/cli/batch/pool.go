package batch

import (
	"github.com/spf13/cobra"

	"example.org/headroom/internal/ask/pool"
	"example.org/headroom/internal/edge/cli/question"
	"example.org/headroom/internal/edge/cli/shell"
	kinds "example.org/headroom/internal/service/question"
	tables "example.org/headroom/internal/service/report"
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

The commands with --cluster are about the pool of a cluster, which a server plans by itself, round after round: "edit" says
by what, "running" which machines run, "sample" how much data there is. "current" says what to rent and to give back.`,
	}
	c.AddCommand(poolPlanCommand(), poolEvaluateCommand(), poolRoundsCommand(), poolShareCommand(), poolTypesCommand(), poolVMTypesCommand())
	c.AddCommand(clusterPoolCommands()...)
	return c
}

func poolPlanCommand() *cobra.Command {
	var maxMs int64
	c := &cobra.Command{
		Use:   "plan [FILE|-]",
		Short: "Find the cheapest pool that does all work in time",
		Long: `Reads a pool problem as JSON, from a file or standard input, and answers the cheapest mix of core instances and
accelerators: which work is done where, and when each job ends.`,
		Example: "  headroom batch pool plan pool.json\n  headroom batch pool plan -o json - < pool.json",
	}
	c.Flags().Int64Var(&maxMs, "max-solve-ms", 0, "override the time budget in `milliseconds` (1 to 600000)")
	return question.FileCommand(c, kinds.Pool, func(data []byte) (pool.PoolProblem, error) {
		return pool.ReadPool(data, shell.Limits, func(p *pool.PoolProblem) {
			if c.Flags().Changed("max-solve-ms") {
				p.Options.MaxSolveMs = maxMs
			}
		})
	})
}

func poolEvaluateCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "evaluate [FILE|-]",
		Short: "Say what a given pool costs and when its jobs end",
		Long: `Reads a pool problem with a "mix" and answers what that comes to. Accelerators without hours are kept while there
is work for them.

  "mix": {"core": [{"type": "m1.large", "count": 5}], "accelerators": [{"type": "c1.medium", "count": 6}]}`,
		Example: "  headroom batch pool evaluate mix.json",
	}
	return question.FileCommand(c, kinds.PoolMix, func(data []byte) (pool.PoolProblem, error) { return pool.ReadPool(data, shell.Limits) })
}

func poolRoundsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "rounds [FILE|-]",
		Short: "Say what to rent and what to give back round after round",
		Long: `Reads instance types, what runs, what is submitted in each round and which data comes in, and answers for each
round what to rent and what to give back, of which type and at which hour.

  {"currency": "USD", "hours": 4, "types": [...], "storage": {"data_gb": 4250, "replication": 1},
   "running": [{"type": "m1.large", "count": 5}],
   "jobs": [{"name": "nightly", "work": 30, "deadline_hours": 3, "submissions": [3, 0, 2]}],
   "incoming_gb": [0, 850]}`,
		Example: "  headroom batch pool rounds rounds.json",
	}
	return question.FileCommand(c, kinds.PoolRounds, func(data []byte) (pool.PoolCourseProblem, error) { return pool.ReadPoolCourse(data, shell.Limits) })
}

func poolShareCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "share [FILE|-]",
		Short: "Share slots on different nodes so that the least progress share is as large as it can be",
		Long: `A job's progress share is the rate at which it works on its slots as a share of the rate at which it would on all.
Reads node types with their slots, and jobs with their rates, and answers who gets how many slots of which
type. For whole nodes give nodes as slots. Of jobs that say what they hold it says what that comes to as well.

  {"types": [{"name": "gpu", "slots": 2}, {"name": "plain", "slots": 4}],
   "jobs": [{"name": "ciphers", "rates": {"gpu": 3, "plain": 1}}, {"name": "sort", "rates": {"gpu": 1, "plain": 1}, "holds": {"gpu": 2}}]}`,
		Example: "  headroom batch pool share shares.json",
	}
	return question.FileCommand(c, kinds.Shares, func(data []byte) (pool.SharePlanProblem, error) { return pool.ReadSharePlan(data, shell.Limits) })
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
		Example: "  headroom batch pool vm-types --reference m1.large pool.json > scenario.json\n  headroom whatif problem.json --scenario scenario.json",
		Args:    cobra.MaximumNArgs(1),
	}
	out.AddFlags(c, "json")
	c.Flags().StringVar(&reference, "reference", "", "the `type` that the capacity problem's own VMs are")
	c.Flags().BoolVar(&wholeVMs, "whole-vms", false, "speeds of VMs and not of slots, for classes given by their VMs per job")
	_ = c.MarkFlagRequired("reference")
	shell.Require(c, "reference")
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		data, label, err := shell.Read(c.Context(), shell.FileArgument(args), c.InOrStdin(), c.ErrOrStderr())
		if err != nil {
			return err
		}
		p, err := pool.ReadPool(data, shell.Limits)
		if err != nil {
			return shell.Labelled(label, err)
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
