package whatif

import (
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/edge/cli/question"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	kinds "example.org/headroom/internal/service/question"
	"example.org/headroom/openapi"
)

var _ = verb(waitingCommand)

func waitingCommand() *cobra.Command {
	var f monthsFlags
	var texts []string
	var vary []whatif.Vary
	schedules := false
	c := &cobra.Command{
		Use:   "waiting [FILE|-]",
		Short: "Say what letting jobs wait comes to over a range of a parameter, or a grid of two",
		Long: `Makes a schedule, as "headroom whatif schedule" does, at every value of a parameter, or of two as a grid. A parameter is
written as "headroom whatif sweep" has it, with one more:

  due                                   seconds after their arrival by which jobs have ended: due:etl=0,3600..43200/13
                                        An x multiplies: due:*=x0.5..2/4. With 0 they start as they arrive, and count with
                                        the VMs that they hold on average. Less than deadline_s shortens the runs as well

FILE is one of "headroom whatif schedule"; it may have "vary" itself. With --cluster a server plans one of its clusters: the
coming week, or as far as the forecasts go, unless --from and --until say otherwise. There are 100 points at most. Each takes
the time of a plan, and long work is a run that is waited for.` + remote.ConnectionHelp,
		Example: "  headroom whatif waiting day.json --vary due:reports=0..21600/7\n  headroom whatif waiting --cluster shop --from 2026-01-01 --until 2026-01-02 --vary due:nightly-etl=0,43200 --vary price:on_demand=x0.8,1.2 -o xlsx -f waiting.xlsx",
		Args:    cobra.MaximumNArgs(1),
	}
	f.addTime(c)
	c.Flags().StringArrayVar(&texts, "vary", nil, "what takes which values, as `WHAT:OF=VALUES`; give it again for a grid")
	c.Flags().BoolVar(&schedules, "schedules", false, "the schedule of each point too, in JSON")
	v := question.Verb[kinds.AskedWaiting, timetable.SweepAnswer]{Kind: kinds.Waiting}
	v.Mend = func(err error) error {
		said := make([]string, len(texts))
		for i, text := range texts {
			said[i] = "--vary " + text
		}
		return append(remote.Origins{{Pointer: "/schedules", Flag: "--schedules"}, {Pointer: "/vary", Each: said}}, timeOrigins...).Say(err)
	}
	v.Check = func(*cobra.Command, []string) (err error) {
		if v.Here() && (f.from != "" || f.until != "") {
			return errors.New("a file has periods of its own; say --from and --until with --cluster")
		}
		if !v.Here() && len(texts) == 0 {
			return errors.New("say what is to be varied, such as --vary due:etl=0..43200/5")
		}
		if vary, err = readAllVaried(texts); err != nil {
			return err
		}
		return f.check(v.Here())
	}
	v.Send = func(_ *cobra.Command, cluster, _ string) (openapi.Request, any, error) {
		q := timetable.ClusterSweepQuestion{Vary: vary, Schedules: schedules,
			ClusterQuestion: timetable.ClusterQuestion{Span: horizon.Span{From: f.start, Until: f.end}, Scenario: f.scenario()}}
		return openapi.ClusterWaiting(cluster, nil), q, v.Mend(whatif.CheckVaried(vary, false))
	}
	v.Read = func(c *cobra.Command, args []string) (asked kinds.AskedWaiting, err error) {
		data, label, err := shell.Read(c.Context(), shell.FileArgument(args), c.InOrStdin(), c.ErrOrStderr())
		if err != nil {
			return asked, err
		}
		if data, err = withVaried(data, vary, schedules); err != nil {
			return asked, err
		}
		asked.SweepQuestion, err = timetable.ReadSweep(data, shell.Limits, v.Options.Overrides(c)...)
		if len(vary) > 0 {
			err = v.Mend(err)
		}
		return asked, shell.Labelled(label, err)
	}
	return v.Command(c)
}

// withVaried puts parameters into the question of a file.
func withVaried(data []byte, vary []whatif.Vary, schedules bool) ([]byte, error) {
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil {
		return data, nil // the strict reader says what is wrong
	}
	if len(vary) > 0 && members["vary"] != nil {
		return nil, errors.New("the file has a vary of its own; leave --vary out")
	}
	if len(vary) == 0 && members["vary"] == nil {
		return nil, errors.New("say what is to be varied, such as --vary due:etl=0..43200/5")
	}
	for name, value := range map[string]any{"vary": vary, "schedules": schedules} {
		if name == "vary" && len(vary) == 0 || name == "schedules" && !schedules {
			continue
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		members[name] = text
	}
	return json.Marshal(members)
}
