package whatif

import (
	"github.com/spf13/cobra"

	"example.org/headroom/internal/ask/trial"
	"example.org/headroom/internal/edge/cli/question"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	kinds "example.org/headroom/internal/service/question"
	"example.org/headroom/openapi"
)

var _ = verb(targetCommand)

func targetCommand() *cobra.Command {
	given := trial.DefaultTarget()
	var measured string
	c := &cobra.Command{
		Use:   "target [FILE|-]",
		Short: "Find few slots with which classes keep targets such as 99 of 100 runs in time",
		Long: `Classes with a "target" such as 0.99 get a promise: a small factor on their predicted time with which at least that part
of their executions ends within the deadline, shown with their "confidence" (0.95). The simulator judges: a search narrows
the factors of all classes, and fresh executions check the plan with them. A factor that is smaller by a few percent may
do too. Executions that the plan refuses do not count.

The answer has the problem with the promises: "headroom solve" plans with them. --lending says whether idle slots of
others count; by default the problem's "sharing" says it. The same seed gives the same answer.` + remote.ConnectionHelp,
		Example: "  headroom whatif target targets.json\n  headroom whatif target targets.json --lending class -o json",
		Args:    cobra.MaximumNArgs(1),
	}
	f := c.Flags()
	f.Int64Var(&given.Seed, "seed", given.Seed, "a `number`: the same one gives the same answer")
	f.Int64Var(&given.Executions, "executions", given.Executions, "how many `executions` of a class are simulated at a time, or more where its target needs more")
	f.Int64Var(&given.Replications, "replications", given.Replications, "how many `times` each simulation is made, each with other random numbers")
	f.Int64Var(&given.MaxEvents, "max-events", given.MaxEvents, "how many `events` at most; fewer executions are simulated where they are not enough")
	shell.AddChoice(c, &given.Policy, "policy", "", "who gets a free slot", trial.SimulateFair, trial.SimulateFIFO, trial.SimulateCapacity, trial.SimulateEDF)
	shell.AddChoice(c, &given.Lending, "lending", "", "who may use idle slots (default all, or class where VMs are dedicated)", trial.LendAll,
		trial.LendClass, trial.LendNone)
	shell.AddChoice(c, &given.Load, "load", "", "when jobs are submitted", trial.ClosedLoad, trial.PoissonLoad)
	f.Float64Var(&given.ThinkSeconds, "think", 0, "the mean `seconds` from the end of a job to the next one of a closed load")
	shell.AddChoice(c, &given.Durations, "durations", "", "how tasks last; measured: as a cluster's history says, else lognormal",
		trial.MeasuredDurations, trial.LognormalDurations, trial.UniformDurations, trial.TriangularDurations, trial.ConstantDurations)
	f.Float64Var(&given.Slow, "slow", 0, "the `part` of tasks that are slow")
	f.Float64Var(&given.SlowBy, "slow-by", 2, "how many `times` as long those take")
	f.StringVar(&measured, "measured", "", "a `file` with measured seconds of tasks by class (JSON), such as {\"etl\": {\"map_s\": [12, 14.5, 30]}}")
	v := question.Verb[kinds.AskedTargets, trial.TargetAnswer]{Kind: kinds.Targets, Bar: "targets"}
	v.Mend = func(err error) error { return bySimulationFlag(err, nil) }
	options := func(c *cobra.Command) (o trial.TargetOptions, err error) {
		o = given
		if o.Slow == 0 && !c.Flags().Changed("slow-by") {
			o.SlowBy = 0
		}
		if o.Measured, err = readMeasured(c, measured); err != nil {
			return o, err
		}
		return o, v.Mend(o.CheckOptions())
	}
	v.Send = func(c *cobra.Command, cluster, _ string) (openapi.Request, any, error) {
		o, err := options(c)
		return openapi.ClusterTargets(cluster, nil), trial.ClusterTargetQuestion{Options: o}, err
	}
	v.Read = func(c *cobra.Command, args []string) (asked kinds.AskedTargets, err error) {
		if asked.Options, err = options(c); err != nil {
			return asked, err
		}
		if asked.Problem, err = question.ProblemToCompare(c, shell.FileArgument(args), v.Options); err != nil {
			return asked, err
		}
		return asked, v.Mend(asked.Check())
	}
	return v.Command(c)
}
