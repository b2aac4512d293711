package whatif

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/ask/trial"
	"example.org/headroom/internal/edge/cli/question"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	kinds "example.org/headroom/internal/service/question"
	"example.org/headroom/openapi"
)

func simulateScheduleCommand() *cobra.Command {
	var time monthsFlags
	how := trial.DefaultSchedule()
	var measured, label string // of the file that was read
	c := &cobra.Command{
		Use:   "schedule [FILE|-]",
		Short: "Try a schedule: which part of the executions end in time",
		Long: `Makes the schedule of "headroom whatif schedule", and runs each of its executions on the slots that it gives them, task by
task, in a simulator. The answer says which part of them end by when they are due, which while the schedule has VMs for
them, and for how long the others hold VMs. No execution uses slots that another leaves idle.

With --cluster a server tries the schedule of one of its clusters: of the coming week, or as far as the forecasts go,
unless --from and --until say otherwise.` + remote.ConnectionHelp,
		Example: "  headroom whatif simulate schedule profiled.json --replications 20\n  headroom whatif simulate schedule --cluster shop --from 2026-01-01 --until 2026-01-02",
		Args:    cobra.MaximumNArgs(1),
	}
	time.addTime(c)
	c.Flags().Int64Var(&how.Seed, "seed", how.Seed, "a `number`: the same one gives the same answer")
	c.Flags().Int64Var(&how.Replications, "replications", how.Replications, "how many `times`, each with other random numbers")
	shell.AddChoice(c, &how.Durations, "durations", "", "how tasks last; measured: as a cluster's history says, else lognormal",
		trial.MeasuredDurations, trial.LognormalDurations, trial.UniformDurations, trial.TriangularDurations, trial.ConstantDurations)
	c.Flags().Float64Var(&how.Slow, "slow", 0, "the `part` of tasks that are slow")
	c.Flags().Float64Var(&how.SlowBy, "slow-by", 2, "how many `times` as long those take")
	c.Flags().StringVar(&measured, "measured", "", "a `file` with measured seconds of tasks by class (JSON), such as {\"etl\": {\"map_s\": [12, 14.5, 30]}}")
	v := question.Verb[kinds.AskedSimulation, kinds.Simulated]{Kind: kinds.Simulation}
	v.Mend = func(err error) error {
		origins := append(remote.FlagOrigins("seed", "replications", "durations", "slow", "slow-by", "measured").Under("/options"), timeOrigins...)
		return remote.Placed(err, func(pointer string) string {
			if flag := origins.Of(pointer); flag != "" {
				return flag
			}
			return strings.TrimPrefix(label+": "+pointer, ": ")
		})
	}
	options := func(c *cobra.Command) (o trial.ScheduleOptions, err error) {
		if o = how; o.Slow == 0 && !c.Flags().Changed("slow-by") {
			o.SlowBy = 0
		}
		if o.Measured, err = readMeasured(c, measured); err != nil {
			return o, err
		}
		return o, v.Mend(o.Check())
	}
	v.Check = func(*cobra.Command, []string) error {
		if v.Here() && (time.from != "" || time.until != "") {
			return errors.New("a file has periods of its own; say --from and --until with --cluster")
		}
		return time.check(v.Here())
	}
	v.Send = func(c *cobra.Command, cluster, _ string) (openapi.Request, any, error) {
		o, err := options(c)
		q := timetable.ClusterQuestion{Span: horizon.Span{From: time.start, Until: time.end}, Scenario: time.scenario()}
		return openapi.ClusterScheduleSimulation(cluster, nil), trial.ClusterScheduleQuestion{ClusterQuestion: q, Options: o}, err
	}
	v.Read = func(c *cobra.Command, args []string) (asked kinds.AskedSimulation, err error) {
		o, err := options(c)
		if err != nil {
			return asked, err
		}
		data, name, err := shell.Read(c.Context(), shell.FileArgument(args), c.InOrStdin(), c.ErrOrStderr())
		if err != nil {
			return asked, err
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(data, &members) == nil && members["options"] != nil {
			return asked, errors.New(strings.TrimSpace(name + " has options of its own; leave them out, and give flags"))
		}
		q, err := trial.ReadSchedule(data, shell.Limits, v.Options.Overrides(c)...)
		if err != nil {
			return asked, shell.Labelled(name, err)
		}
		q.Options, label = o, name
		asked.Schedule = &q
		return asked, v.Mend(o.CheckFor(&q.Problem))
	}
	return v.Command(c)
}
