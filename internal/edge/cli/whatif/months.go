package whatif

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/edge/cli/question"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	kinds "example.org/headroom/internal/service/question"
	tables "example.org/headroom/internal/service/report"
	"example.org/headroom/openapi"
)

// monthsFlags are those of the verbs that ask about months.
type monthsFlags struct {
	from, until string
	saved       string // scenario
	detail      horizon.Detail
	start, end  time.Time // what from and until say
}

func (f *monthsFlags) add(c *cobra.Command) {
	f.addTime(c)
	shell.AddChoice(c, &f.detail, "detail", "", "how much of it as JSON", horizon.DetailSummary, horizon.DetailPeriods,
		horizon.DetailClasses)
}

// addTime adds the flags of a time, and of a scenario that is laid over it.
func (f *monthsFlags) addTime(c *cobra.Command) {
	c.Flags().StringVar(&f.from, "from", "", "the first hour, as a `time` such as 2026-01-01 or 2026-01-01T08:00:00Z")
	c.Flags().StringVar(&f.until, "until", "", "the end, as a `time`")
	c.Flags().StringVar(&f.saved, "saved", "", "with --cluster: under its saved scenario of this `name`")
}

// addAssume adds the flag that says what follows forecasts.
func addAssume(c *cobra.Command, assume *horizon.Assumption, usage string) {
	shell.AddChoice(c, assume, "assume", "", usage, horizon.LastWeekRepeats, horizon.LastMonthRepeats, horizon.FlatDemand, horizon.DemandEnds)
}

// scenario returns the saved scenario that the flags name, or nil.
func (f *monthsFlags) scenario() *whatif.AskedScenario {
	if f.saved == "" {
		return nil
	}
	return &whatif.AskedScenario{Saved: f.saved}
}

// timeOrigins lists the flags of a time.
var timeOrigins = append(remote.FlagOrigins("from", "until"), remote.Origin{Pointer: "/scenario", Flag: "--saved"})

// check looks at the flags by themselves.
func (f *monthsFlags) check(here bool) error {
	if here && f.saved != "" {
		return errors.New("saved scenarios are a cluster's; say of which with --cluster")
	}
	for _, end := range []struct {
		flag, text string
		into       *time.Time
	}{{"--from", f.from, &f.start}, {"--until", f.until, &f.end}} {
		if end.text == "" {
			continue
		}
		text, ok := shell.MomentOf(end.text)
		if !ok || end.into.UnmarshalText([]byte(text)) != nil {
			return fmt.Errorf("%s is %q; give a time such as 2026-01-01 or 2026-01-01T08:00:00Z", end.flag, end.text)
		}
	}
	return nil
}

// document reads a file: a horizon, or with --from and --until a problem that stays as it is all that time. More
// members may be put into it.
func (f *monthsFlags) document(c *cobra.Command, args []string, more map[string]any) (data []byte, label string, err error) {
	data, label, err = shell.Read(c.Context(), shell.FileArgument(args), c.InOrStdin(), c.ErrOrStderr())
	if err != nil {
		return nil, "", err
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil {
		return data, label, nil // the strict reader says what is wrong
	}
	timed := f.from != "" || f.until != ""
	switch {
	case members["periods"] != nil && timed:
		return nil, "", fmt.Errorf("%s has periods of its own; leave --from and --until out", label)
	case members["periods"] == nil && members["classes"] != nil:
		if f.start.IsZero() || f.end.IsZero() {
			return nil, "", fmt.Errorf("%s is a problem without a time; say --from and --until, or give a horizon with periods", label)
		}
		seconds := int64(f.end.Sub(f.start) / time.Second)
		if seconds <= 0 {
			return nil, "", fmt.Errorf("the time ends at %s and does not begin before that; give a later --until", f.until)
		}
		members = map[string]json.RawMessage{"problem": data}
		period := map[string]any{"start": f.start, "seconds": seconds}
		if seconds%3600 == 0 {
			period = map[string]any{"start": f.start, "hours": seconds / 3600}
		}
		more = withMember(more, "periods", []any{period})
	}
	if f.detail != "" {
		more = withMember(more, "detail", f.detail)
	}
	if len(more) == 0 {
		return data, label, nil
	}
	for name, value := range more {
		if members[name], err = json.Marshal(value); err != nil {
			return nil, "", err
		}
	}
	data, err = json.Marshal(members)
	return data, label, err
}

// withoutOffers leaves out of a file what only purchases are weighed with, so that one file serves both verbs.
func withoutOffers(data []byte) []byte {
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil || members["offers"] == nil {
		return data
	}
	delete(members, "offers")
	delete(members, "factors")
	delete(members, "assume")
	if rest, err := json.Marshal(members); err == nil {
		return rest
	}
	return data
}

func withMember(members map[string]any, name string, value any) map[string]any {
	if members == nil {
		members = map[string]any{}
	}
	members[name] = value
	return members
}

var _ = verb(monthsCommand)

func monthsCommand() *cobra.Command {
	var f monthsFlags
	var change changeFlags
	var assume horizon.Assumption
	withWaiting := false
	c := &cobra.Command{
		Use:   "months [FILE|-]",
		Short: "Say what the bill of the coming months is, by month, day and contract",
		Long: `Plans every hour of a time and adds up what it comes to: by month and day of the calendar (UTC), by contract with
what of it is used and idle, by class of jobs.

FILE has a problem, its periods (how many jobs of each class there are, and when) and its contracts with their terms;
offers in it, which "headroom whatif purchase" weighs, are left out. A file with a problem alone is planned as it stands from
--from until --until. With --cluster a server plans one of its clusters by its forecasts, prices and contracts: the
coming year, or as far as the forecasts go, unless --from and --until say otherwise. To look further, --assume says what
follows the forecasts: last_week_repeats, last_month_repeats, flat (their average) or ends. Flags such as --demand are a
scenario that is laid over all of it, and so is --saved, one of the cluster's. Then the same time is planned as it is too, and
both bills stand beside each other with their difference. Long work is a run that is waited for.

As a table it is for people; csv has a row for each period, day or month (--per), xlsx is a workbook for the books,
and focus has rows in the shape of FOCUS 1.2 for cost tools.` + remote.ConnectionHelp,
		Example: "  headroom whatif months year.json\n  headroom whatif months cluster.json --from 2026-01-01 --until 2027-01-01 -o csv --per month\n  headroom whatif months year.json --demand 'nightly-etl=x1.2'\n  headroom whatif months --cluster shop --until 2028-01-01 --assume last_week_repeats\n  headroom whatif months --cluster shop --saved black-friday\n  headroom whatif months --cluster shop -o xlsx -f months.xlsx",
		Args:    cobra.MaximumNArgs(1),
	}
	f.add(c)
	change.add(c)
	change.addDue(c)
	v := question.Verb[kinds.AskedMonths, horizon.Answer]{Kind: kinds.Months, Bar: "months"}
	v.Mend = func(err error) error {
		_, said, _ := change.changes() // looked at by Check
		return append(remote.Origins{{Pointer: "/changes", Each: said}, {Pointer: "/scenario/changes", Each: said}}, monthsOrigins...).Say(err)
	}
	addAssume(c, &assume, "with --cluster: what follows the forecasts, until the end")
	c.Flags().BoolVar(&withWaiting, "with-waiting", false, "also say what the bill is where jobs wait that may, by a schedule of up to 2,208 hours")
	shell.AddChoice(c, &v.Per, "per", "", "what a row of csv stands for", tables.PerPeriod, tables.PerDay, tables.PerMonth)
	v.Check = func(*cobra.Command, []string) error {
		if v.Here() && assume != "" {
			return errors.New("--assume follows the forecasts of a --cluster; a file says itself how many jobs there are")
		}
		if changes, _, err := change.changes(); err != nil || f.saved == "" || len(changes) == 0 {
			return errors.Join(err, f.check(v.Here()))
		}
		return errors.New("changes are a scenario of their own; leave them out, or --saved")
	}
	v.Send = func(_ *cobra.Command, cluster, format string) (openapi.Request, any, error) {
		q := horizon.ClusterHorizonQuestion{Span: horizon.Span{From: f.start, Until: f.end}, Scenario: f.scenario(), Assume: assume, Detail: f.detail, WithWaiting: withWaiting}
		if changes, _, _ := change.changes(); len(changes) > 0 {
			q.Scenario = &whatif.AskedScenario{Changes: changes}
		}
		return openapi.ClusterHorizon(cluster, &openapi.ClusterHorizonQuery{Format: format, Per: string(v.Per)}), q, nil
	}
	v.Read = func(c *cobra.Command, args []string) (kinds.AskedMonths, error) {
		var more map[string]any
		if withWaiting {
			more = withMember(more, "with_waiting", true)
		}
		data, label, err := f.document(c, args, more)
		if err != nil {
			return kinds.AskedMonths{}, err
		}
		laid := false
		asked, err := kinds.ReadMonths(withoutOffers(data), shell.Limits, func(q *horizon.HorizonQuestion) error {
			changes, _, _ := change.changes()
			if len(changes) == 0 {
				return nil
			}
			if q.Scenario != nil {
				return fmt.Errorf("%s has a scenario of its own; leave it out, or the flags that change something", label)
			}
			laid, q.Scenario = true, &whatif.AskedScenario{Changes: changes}
			return v.Mend(q.Check())
		}, v.Options.Overrides(c)...)
		if err != nil && !laid {
			return kinds.AskedMonths{}, shell.Labelled(label, err)
		}
		return asked, v.Mend(err)
	}
	return v.Command(c)
}

// monthsOrigins lists the flags of questions about months and purchases.
var monthsOrigins = append(remote.FlagOrigins("detail", "gap", "assume", "with-waiting", "vm-type", "leave-out"), timeOrigins...)
