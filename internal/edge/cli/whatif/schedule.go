package whatif

import (
	"github.com/spf13/cobra"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/edge/cli/question"
	"example.org/headroom/internal/edge/cli/shell"
	kinds "example.org/headroom/internal/service/question"
)

var _ = verb(scheduleCommand)

func scheduleCommand() *cobra.Command {
	var maxMs int64
	c := &cobra.Command{
		Use:   "schedule [FILE|-]",
		Short: "Say when jobs that may wait are to start, and which VMs each hour needs",
		Long: `Plans the executions of a horizon together, so that work moves to cheaper hours. FILE is one of "headroom whatif months" whose
periods have arrivals. A class with "due_s" may wait: an execution must have ended that many seconds after it arrives.
Classes without it start as they arrive.

The answer has every start, the VMs and the cost of each hour, the value of what is refused, and what no schedule costs
less than. "saved" compares bill and value refused together with a plan in which nothing waits. The time budget is max_solve_ms of the problem.`,
		Example: "  headroom whatif schedule day.json\n  headroom whatif schedule day.json -o csv -f starts.csv\n  headroom whatif schedule day.json -o json | headroom verify day.json",
	}
	c.Flags().Int64Var(&maxMs, "max-solve-ms", 0, "override the time budget in `milliseconds` (1 to 600000)")
	return question.FileCommand(c, kinds.Schedule, func(data []byte) (horizon.ScheduleQuestion, error) {
		return horizon.ReadSchedule(data, shell.Limits, func(o *capacity.Options) {
			if c.Flags().Changed("max-solve-ms") {
				o.MaxSolveMs = maxMs
			}
		})
	})
}
