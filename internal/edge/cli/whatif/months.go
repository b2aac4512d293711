package whatif

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"headroom/internal/ask/horizon"
	"headroom/internal/core/capacity"
	"headroom/internal/edge/cli/question"
	"headroom/internal/edge/cli/remote"
	"headroom/internal/edge/cli/shell"
	tables "headroom/internal/service/report"
	"headroom/internal/service/runs"
	"headroom/openapi"
)

// monthsFlags are those of the verbs that ask about months: of a file, or of a server's cluster.
type monthsFlags struct {
	to          remote.Connection
	out         shell.Output
	options     question.OptionFlags
	about       question.Subject
	from, until string
	detail      horizon.Detail
	start, end  time.Time // what from and until say
}

func (f *monthsFlags) add(c *cobra.Command) {
	f.about.Connection = &f.to
	f.to.AddFlags(c)
	f.about.AddFlags(c)
	f.about.AddAsync(c)
	f.out.AddFlags(c, "table", "json", "csv", "xlsx", "focus")
	f.options.Add(c)
	c.Flags().StringVar(&f.from, "from", "", "the first hour, as a `time` such as 2026-01-01 or 2026-01-01T08:00:00Z")
	c.Flags().StringVar(&f.until, "until", "", "the end, as a `time`")
	shell.AddChoice(c, &f.detail, "detail", "", "how much of it as JSON", horizon.DetailSummary, horizon.DetailPeriods,
		horizon.DetailClasses)
}

// check looks at the flags by themselves.
func (f *monthsFlags) check(c *cobra.Command, args []string) error {
	if err := errors.Join(f.about.CheckFile(args), f.about.CheckAsync()); err != nil {
		return err
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
	if err := f.out.CheckSheet(c); err != nil {
		return err
	}
	return f.options.Check(c)
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
			return nil, "", fmt.Errorf("the time ends at %s, before it begins; give a later --until", f.until)
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

// format returns the format that a server is asked for, "" for JSON.
func (f *monthsFlags) format() string {
	if f.out.Format == "table" || f.out.Format == "json" {
		return ""
	}
	return f.out.Format
}

// there asks a server for months or a purchase; the answer is the document, or the file that was asked for.
func (f *monthsFlags) there(c *cobra.Command, request openapi.Request, question any, per string) (*remote.Answer, error) {
	return f.about.There(c, f.about.Async, request, question, &openapi.GetRunResultQuery{Format: f.format(), Per: per})
}

// deliver writes a file as the server made it.
func (f *monthsFlags) deliver(c *cobra.Command, a *remote.Answer) error {
	return f.out.Deliver(c.OutOrStdout(), func(w io.Writer) error { _, err := w.Write(a.Body); return err })
}

func monthsCommand() *cobra.Command {
	var f monthsFlags
	var per string
	c := &cobra.Command{
		Use:   "months [FILE|-]",
		Short: "Say what the coming months cost, by month, day and contract",
		Long: `Plans every hour of a time and adds up what it comes to: by month and day of the calendar (UTC), by contract with
what of it is used and idle, by class of jobs.

FILE has a problem, its periods (how many jobs of each class there are, and when) and its contracts with their terms;
offers in it, which "headroom purchase" weighs, are left out. A file with a problem alone is planned as it stands from
--from until --until. With --cluster a server plans one of its clusters by its forecasts, prices and contracts: the
coming year, or as far as the forecasts go, unless --from and --until say otherwise. Long work is then a run that is
waited for.

As a table it is for people; csv has a row for each period, day or month (--per), xlsx is a workbook for the books,
and focus has rows in the shape of FOCUS 1.2 for cost tools.` + remote.ConnectionHelp,
		Example: "  headroom months year.json\n  headroom months cluster.json --from 2026-01-01 --until 2027-01-01 -o csv --per month\n  headroom months --cluster shop -o xlsx -f months.xlsx",
		Args:    cobra.MaximumNArgs(1),
	}
	f.add(c)
	shell.AddChoice(c, &per, "per", "", "what a row of csv stands for", string(tables.PerPeriod), string(tables.PerDay),
		string(tables.PerMonth))
	c.PreRunE = f.check
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		if !f.about.Here() {
			q := horizon.ClusterHorizonQuestion{Span: horizon.Span{From: f.start, Until: f.end}, Detail: f.detail}
			a, err := f.there(c, openapi.ClusterHorizon(f.about.Cluster, &openapi.ClusterHorizonQuery{Format: f.format(), Per: per}), q, per)
			if err != nil || a == nil {
				return monthsOrigins.Say(err)
			}
			if f.format() != "" {
				return f.deliver(c, a)
			}
			var answered horizon.Answer
			if err := a.Into(&answered); err != nil {
				return err
			}
			return f.writeMonths(c, horizon.Horizon{}, answered, per)
		}
		data, label, err := f.document(c, args, nil)
		if err != nil {
			return err
		}
		data = withoutOffers(data)
		q, err := horizon.ReadHorizon(data, shell.Limits, f.options.Overrides(c)...)
		if err != nil {
			return shell.Labelled(label, err)
		}
		answered, err := monthsHere(c, q)
		if err != nil {
			return err
		}
		if f.out.Format == "json" {
			answered.Show(q.Detail)
		}
		return f.writeMonths(c, q.Horizon, answered, per)
	})
}

// monthsOrigins lists the flags of questions about months and purchases.
var monthsOrigins = remote.FlagOrigins("from", "until", "detail", "gap", "vm-type", "leave-out")

// bar is a bar on a terminal for work that is done here.
func bar(c *cobra.Command, kind string) (show func(done, total int), finish func()) {
	b := remote.NewRunBar(c.ErrOrStderr())
	return func(done, total int) {
		b.Show(runs.Run{Kind: kind, State: runs.RunRunning, Progress: runs.Progress{Done: int64(done), Total: int64(total)}})
	}, b.Finish
}

func monthsHere(c *cobra.Command, q horizon.HorizonQuestion) (horizon.Answer, error) {
	var p question.Planner
	defer p.Close()
	solve, err := p.Series(q.Problem)
	if err != nil {
		return horizon.Answer{}, err
	}
	show, finish := bar(c, "months")
	defer finish()
	return horizon.Plan(c.Context(), q.Horizon, solve, runtime.GOMAXPROCS(0), show)
}

func (f *monthsFlags) writeMonths(c *cobra.Command, h horizon.Horizon, a horizon.Answer, per string) error {
	span := tables.PerPeriod
	if per != "" {
		span = tables.Span(per)
	}
	err := f.out.Write(c, map[string]shell.Form{
		"table": func(w io.Writer) error { return tables.HorizonText(w, a) },
		"json":  shell.AsJSON(a),
		"csv":   tables.Horizon(a, span).CSV,
		"xlsx":  func(w io.Writer) error { return tables.HorizonWorkbook(w, h, a) },
		"focus": func(w io.Writer) error { return tables.Focus(w, h, a, tables.FocusNames{}) },
	})
	warn(c, a.Warnings)
	if err == nil && a.Status == capacity.InfeasibleStatus {
		return shell.Fail(shell.ExitInfeasible, nil) // the answer says when and why
	}
	return err
}

// warn tells warnings beside an answer.
func warn(c *cobra.Command, warnings []capacity.Warning) {
	for _, w := range warnings {
		fmt.Fprintln(c.ErrOrStderr(), "headroom: "+shell.Shown(w.Detail))
	}
}
