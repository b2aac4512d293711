package whatif

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/edge/cli/question"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	kinds "example.org/headroom/internal/service/question"
	"example.org/headroom/openapi"
)

var _ = verb(scheduleCommand)

func scheduleCommand() *cobra.Command {
	var f monthsFlags
	var budgets []string
	var spans []timetable.SpanBudget
	c := &cobra.Command{
		Use:   "schedule [FILE|-]",
		Short: "Say when jobs that may wait are to start, and which VMs each hour needs",
		Long: `Plans the executions of a time together, so that work moves to cheaper hours. FILE is one of "headroom whatif months" whose
periods have arrivals. A class with "due_s" may wait: an execution must have ended that many seconds after it arrives.
Classes without it start as they arrive. With --cluster a server plans one of its clusters by its forecasts, prices and
contracts: the coming week, or as far as the forecasts go, unless --from and --until say otherwise.

The answer has every start, the VMs and the cost of each hour, the value of what is refused, and what no schedule costs
less than. "saved" compares bill and value refused together with the cheapest plan found in which nothing waits. The time budget is
max_solve_ms of the problem. "budgets" of a file, or --budget, bound what the VMs of some hours cost together.` + remote.ConnectionHelp,
		Example: "  headroom whatif schedule day.json\n  headroom whatif schedule day.json -o csv -f starts.csv\n  headroom whatif schedule day.json -o json | headroom verify day.json\n  headroom whatif schedule --cluster shop --from 2026-01-01 --until 2026-01-03",
		Args:    cobra.MaximumNArgs(1),
	}
	f.addTime(c)
	c.Flags().StringArrayVar(&budgets, "budget", nil, "with --cluster: the most that VMs may cost in some hours, as `FROM..UNTIL=AMOUNT`; repeat it for more")
	v := question.Verb[kinds.AskedSchedule, timetable.Answer]{Kind: kinds.Schedule, Formats: []string{"csv"}, AtOnce: true}
	v.Mend = func(err error) error {
		return timeOrigins.Say(err)
	}
	v.Check = func(*cobra.Command, []string) error {
		if v.Here() && (f.from != "" || f.until != "") {
			return errors.New("a file has periods of its own; say --from and --until with --cluster")
		}
		if v.Here() && len(budgets) > 0 {
			return errors.New("a file has budgets of its own; say --budget with --cluster")
		}
		var err error
		if spans, err = budgetsOf(budgets); err != nil {
			return err
		}
		return f.check(v.Here())
	}
	v.Send = func(_ *cobra.Command, cluster, _ string) (openapi.Request, any, error) {
		return openapi.ClusterSchedule(cluster), timetable.ClusterQuestion{Span: horizon.Span{From: f.start, Until: f.end}, Scenario: f.scenario(), Budgets: spans}, nil
	}
	v.Read = func(c *cobra.Command, args []string) (asked kinds.AskedSchedule, err error) {
		data, label, err := shell.Read(c.Context(), shell.FileArgument(args), c.InOrStdin(), c.ErrOrStderr())
		if err != nil {
			return asked, err
		}
		asked.Question, err = timetable.Read(data, shell.Limits, v.Options.Overrides(c)...)
		return asked, shell.Labelled(label, err)
	}
	return v.Command(c)
}

// budgetsOf reads budgets such as 2026-01-01..2026-01-08=900.
func budgetsOf(texts []string) (all []timetable.SpanBudget, err error) {
	for _, text := range texts {
		span, amount, is := strings.Cut(text, "=")
		from, until, both := strings.Cut(span, "..")
		b := timetable.SpanBudget{}
		for end, into := range map[string]*time.Time{from: &b.From, until: &b.Until} {
			moment, known := shell.MomentOf(end)
			both = both && known && into.UnmarshalText([]byte(moment)) == nil
		}
		if b.VMCost, err = money.Parse(amount); !is || !both || err != nil {
			return nil, fmt.Errorf("--budget is %q; give one such as 2026-01-01..2026-01-08=900", text)
		}
		all = append(all, b)
	}
	return all, nil
}
