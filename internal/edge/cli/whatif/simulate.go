package whatif

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/ask/trial"
	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/edge/cli/question"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	kinds "example.org/headroom/internal/service/question"
	tables "example.org/headroom/internal/service/report"
	"example.org/headroom/openapi"
)

// simulationFlags are the flags that say how a plan is tried.
type simulationFlags struct {
	given    trial.SimulationOptions
	warmUp   float64
	measured string // a file
	compare  []string
}

func (f *simulationFlags) add(c *cobra.Command) {
	f.given = trial.DefaultSimulation()
	c.Flags().Int64Var(&f.given.Seed, "seed", f.given.Seed, "a `number`: the same one gives the same answer")
	c.Flags().Float64Var(&f.given.Hours, "hours", f.given.Hours, "the `hours` that are simulated")
	c.Flags().Float64Var(&f.warmUp, "warm-up", 0, "the first `hours` that are left out, because the cluster begins empty (default a tenth)")
	c.Flags().Int64Var(&f.given.Replications, "replications", f.given.Replications, "how many `times`, each with other random numbers")
	c.Flags().Int64Var(&f.given.MaxEvents, "max-events", f.given.MaxEvents, "how many `events` at most")
	shell.AddChoice(c, &f.given.Policy, "policy", "", "who gets a free slot", trial.SimulateFair, trial.SimulateFIFO,
		trial.SimulateCapacity, trial.SimulateEDF)
	c.Flags().StringSliceVar(&f.compare, "compare", nil,
		"other `policies` whose figures for the same jobs, with the same random numbers, stand beside; separated by commas")
	shell.AddChoice(c, &f.given.Lending, "lending", "", "who may use idle slots (default all, or class where VMs are dedicated)",
		trial.LendAll, trial.LendClass, trial.LendNone)
	shell.AddChoice(c, &f.given.Load, "load", "", "when jobs are submitted", trial.ClosedLoad, trial.PoissonLoad)
	c.Flags().Float64Var(&f.given.ThinkSeconds, "think", 0, "the mean `seconds` from the end of a job to the next one of a closed load")
	shell.AddChoice(c, &f.given.Durations, "durations", "", "how tasks last; measured: as a cluster's history says, else lognormal",
		trial.MeasuredDurations, trial.LognormalDurations, trial.UniformDurations, trial.TriangularDurations, trial.ConstantDurations)
	c.Flags().Float64Var(&f.given.Slow, "slow", 0, "the `part` of tasks that are slow")
	c.Flags().Float64Var(&f.given.SlowBy, "slow-by", 2, "how many `times` as long those take")
	c.Flags().StringVar(&f.measured, "measured", "",
		"a `file` with measured seconds of tasks by class (JSON), such as {\"etl\": {\"map_s\": [12, 14.5, 30]}}")
}

// options returns the options that the flags give.
func (f *simulationFlags) options(c *cobra.Command) (trial.SimulationOptions, error) {
	o := f.given
	if c.Flags().Changed("warm-up") {
		o.WarmUpHours = &f.warmUp
	}
	if o.Slow == 0 && !c.Flags().Changed("slow-by") {
		o.SlowBy = 0
	}
	for _, p := range f.compare {
		o.Compare = append(o.Compare, trial.SimulatedPolicy(p))
	}
	var err error
	if o.Measured, err = readMeasured(c, f.measured); err != nil {
		return o, err
	}
	return o, bySimulationFlag(o.Check(), nil)
}

// readMeasured reads a file of measured seconds; none without a name.
func readMeasured(c *cobra.Command, file string) (map[string]perf.MeasuredTasks, error) {
	if file == "" {
		return nil, nil
	}
	data, label, err := shell.Read(c.Context(), file, c.InOrStdin(), c.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	measured, err := trial.ReadMeasuredTasks(data)
	return measured, shell.Labelled(label, err)
}

// simulationOrigins lists the flags of a simulation's options.
var simulationOrigins = append(
	remote.FlagOrigins("seed", "hours", "executions", "replications", "max-events", "policy", "compare", "lending", "load", "durations", "slow",
		"slow-by", "measured"),
	remote.Origin{Pointer: "/warm_up_hours", Flag: "--warm-up"}, remote.Origin{Pointer: "/think_s", Flag: "--think"}).Under("/options")

// bySimulationFlag makes findings about options and changes name the flags they are about, and those about a file's
// problem the members of the file.
func bySimulationFlag(err error, said []string) error {
	origins := append(remote.Origins{{Pointer: "/changes", Each: said}, {Pointer: "/scenario/changes", Each: said}}, simulationOrigins...)
	return remote.Placed(err, func(pointer string) string {
		if flag := origins.Of(pointer); flag != "" {
			return flag
		}
		return strings.TrimPrefix(pointer, "/problem")
	})
}

var _ = verb(simulateCommand)

func simulateCommand() *cobra.Command {
	var how simulationFlags
	var change changeFlags
	var saved string
	c := &cobra.Command{
		Use:   "simulate [FILE|-] [PLAN]",
		Short: "Try a plan before money is spent: which part of the jobs meets its deadline",
		Long: `Makes the plan of a problem, or takes one from a second file, and runs the jobs that it admits on the slots that it
rents, task by task, in a simulator. The answer says how long executions take, which part of them meets the
deadline, how slots are used, and where executions lie between their bounds.

A closed load has as many users as the plan admits jobs; each submits a job, waits for its end, thinks (--think), and
submits the next. A poisson load has jobs come at random, as often as that many are there at once on average.

Policies that tell nodes from one another (progress-share, max-progress, learned) need nodes that differ, which a plan has
not: "headroom whatif simulate workload" tries them.

Flags such as --demand try the plan of a scenario before it is adopted. With --cluster a server tries the current plan
of one of its clusters, or the plan of a scenario; a long simulation is then a run that is waited for.` + remote.ConnectionHelp,
		Example: "  headroom whatif simulate cluster.json\n  headroom whatif simulate cluster.json plan.json --hours 168 --seed 7\n  headroom whatif simulate cluster.json --demand 'nightly-etl=x1.2' --load poisson -o json\n  headroom whatif simulate --cluster shop --saved black-friday",
		Args:    cobra.MaximumNArgs(2),
	}
	c.AddCommand(simulateWorkloadCommand(), simulateScheduleCommand())
	v := question.Verb[kinds.AskedSimulation, kinds.Simulated]{Kind: kinds.Simulation}
	how.add(c)
	change.add(c)
	c.Flags().StringVar(&saved, "saved", "", "with --cluster: try the plan of its saved scenario of this `name`")
	v.Check = func(_ *cobra.Command, args []string) error {
		changes, _, err := change.changes()
		switch {
		case err != nil:
			return err
		case v.Here() && (saved != "" || v.Async()):
			return errors.New("--saved and --async are for a --cluster; say of which")
		case len(changes) > 0 && (saved != "" || len(args) == 2):
			return errors.New("changes make a plan of their own; leave them out, or --saved and the second file")
		case len(args) == 2 && args[0] == "-" && args[1] == "-":
			return errors.New("the problem and the plan cannot both come from standard input; name a file for one")
		}
		return nil
	}
	v.Mend = func(err error) error {
		_, said, _ := change.changes() // looked at above
		return bySimulationFlag(err, said)
	}
	v.Send = func(c *cobra.Command, cluster, _ string) (openapi.Request, any, error) {
		options, err := how.options(c)
		q := trial.ClusterSimulationQuestion{Options: options}
		if changes, _, _ := change.changes(); saved != "" || len(changes) > 0 {
			q.Scenario = &whatif.AskedScenario{Saved: saved, Changes: changes}
		}
		return openapi.ClusterSimulation(cluster, nil), q, err
	}
	v.Read = func(c *cobra.Command, args []string) (asked kinds.AskedSimulation, err error) {
		if asked.Options, err = how.options(c); err != nil {
			return asked, err
		}
		file := "-"
		if len(args) > 0 {
			file = args[0]
		}
		if asked.Problem, err = question.ProblemToCompare(c, file, v.Options); err != nil {
			return asked, err
		}
		changes, _, _ := change.changes()
		if len(changes) > 0 {
			asked.Problem, err = (whatif.Scenario{Changes: changes}).Apply(asked.Problem)
		}
		if err == nil {
			err = asked.Options.CheckFor(&asked.Problem)
		}
		if err != nil {
			return asked, v.Mend(err)
		}
		plan, err := planToTry(c, args, asked.Problem)
		asked.Plan = &plan
		return asked, err
	}
	return v.Command(c)
}

// planToTry is the plan of the second file, or the problem's.
func planToTry(c *cobra.Command, args []string, problem capacity.Problem) (capacity.Plan, error) {
	if len(args) == 2 {
		pl, _, err := question.ReadPlan(c, args[1])
		return pl, err
	}
	p := question.Planner{}
	defer p.Close()
	pl, err := p.Plan(c.Context(), problem)
	if err != nil || pl.Status != capacity.InfeasibleStatus {
		return pl, err
	}
	conflicts := []error{errors.New("no plan meets these demands")}
	for _, f := range pl.Conflicts {
		conflicts = append(conflicts, errors.New(tables.Conflict(f)))
	}
	return pl, shell.Fail(shell.ExitInfeasible, errors.Join(conflicts...))
}
