package inputs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/cli/document"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	desk "example.org/headroom/internal/service/clusters"
	tables "example.org/headroom/internal/service/report"
	"example.org/headroom/openapi"
)

func forecastImportCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	holes, counts := inputs.HolesRefuse, inputs.CountsRunning
	var dryRun bool
	c := &cobra.Command{
		Use: "import CLUSTER FILE|-", Short: "Write the rows of a CSV file, after looking for hours that are missing or doubled",
		Long: `Writes the rows of a CSV file, all or none, in the place of those of the same class and hour. The file has
a row a class and hour, with the columns class, hour, and arrivals_per_hour or jobs (how many run at once);
or a row an hour, with the column hour and one for each class, of which --counts says what they count.
Arrivals keep their meaning when jobs become faster or slower: each holds its VMs until its deadline.

An hour has an offset, such as 2026-03-01T22:00:00Z, or is what clocks in the cluster's time zone show, such
as 2026-03-01 22:00. The hour that clocks skip in spring has no row. Of the hour they repeat in autumn both
rows are there, the earlier first, or it has an offset.

What is wrong is told by line and column, everything at once, and then nothing is written. "headroom
class forecast list -o csv" and "-o csv --wide" write files in the two forms.`,
		Example: "  headroom class forecast import shop 2027.csv --dry-run",
		Args:    cobra.ExactArgs(2),
	}
	out.AddFlags(c, "table", "json")
	shell.AddChoice(c, &holes, "holes", "", "what missing hours inside a class's time mean: a mistake, the class's own maximum, or what is stored", inputs.HolesRefuse, inputs.HolesOwn, inputs.HolesKeep)
	shell.AddChoice(c, &counts, "counts", "", "what the columns of classes count: executions that arrive in the hour, or jobs that run at once", inputs.CountsArrivals, inputs.CountsRunning)
	c.Flags().BoolVar(&dryRun, "dry-run", false, "only say what would be written")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		data, label, err := shell.ReadBy(c.Context(), args[1], c.InOrStdin(), c.ErrOrStderr(), func(in io.Reader) ([]byte, error) {
			return io.ReadAll(io.LimitReader(in, shell.LongestDocument+1))
		})
		if err != nil {
			return err
		}
		a, err := importForecasts(s, c.Context(), args[0], label, data, openapi.PutForecastsQuery{Holes: string(holes), Counts: string(counts), DryRun: dryRun})
		if err != nil {
			return err
		}
		return writtenForms(c, out, a)
	})
}

func importForecasts(s *remote.Service, ctx context.Context, cluster, label string, data []byte, query openapi.PutForecastsQuery) (
	remote.Answer, error,
) {
	a, err := s.Call(ctx, openapi.PutForecasts(cluster, &query), remote.Content("text/csv", data))
	return a, document.OfFile(label, err)
}

// writtenForms prints what a write did.
func writtenForms(c *cobra.Command, out shell.Output, a remote.Answer) error {
	var done inputs.Written
	if err := a.Into(&done); err != nil {
		return err
	}
	return out.Write(c, map[string]shell.Form{"json": remote.Indented(a.Body), "table": func(w io.Writer) error {
		did := "Wrote"
		if done.DryRun {
			did = "A dry run, nothing is written: it would write"
		}
		arrivals := ""
		if done.FromArrivals > 0 {
			arrivals = fmt.Sprintf(" %d tell arrivals.", done.FromArrivals)
		}
		_, err := fmt.Fprintf(w, "%s %s: %d new, %d changed, %d as before; %d deleted.%s\n", did, shell.Counted(done.Written, "row"),
			done.Added, done.Changed, done.Written-done.Added-done.Changed, done.Deleted, arrivals)
		return err
	}})
}

func forecastWeeklyCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var term remote.ForecastFilter
	var week, growth string
	var dryRun bool
	counts := inputs.CountsRunning
	body := map[string]any{}
	c := &cobra.Command{
		Use: "weekly CLUSTER CLASS", Short: "Write the rows that a week and growth make",
		Long: `Writes a row for every hour from --from until --until, in the place of those of the class. The week is on
the clocks of the cluster's time zone: the hour skipped in spring is left out, the one repeated in autumn
comes twice. Growth is smooth, from --from on; a year has 8760 hours and a month 730.
It makes fractions of jobs, and plans in whole jobs round each hour up. With --counts arrivals the numbers
are executions that arrive in an hour, otherwise jobs that run at once.

--week is rules, of which the first that fits an hour counts, or a file with them, with a table of numbers
(24 a line for seven lines from Monday, or 168 in all), or with what "headroom class forecast pattern" writes.`,
		Example: `  headroom class forecast weekly shop nightly-etl --week 'mon-fri 8-18: 40; sat,sun 22-24: 12; else 5' --growth 20%/year --from 2027-01-01 --until 2028-01-01 --dry-run
  headroom class forecast weekly shop nightly-etl --week week.csv --from 2027-01-01 --until 2027-07-01`,
		Args: cobra.ExactArgs(2),
	}
	out.AddFlags(c, "table", "json")
	c.Flags().StringVar(&week, "week", "", "the week: rules or a `file`")
	shell.AddChoice(c, &counts, "counts", "", "what the week counts: executions that arrive in an hour, or jobs that run at once", inputs.CountsArrivals, inputs.CountsRunning)
	c.Flags().StringVar(&growth, "growth", "", "how much more it becomes, as a `rate` such as 20%/year or -1.5%/month")
	c.Flags().StringVar(&term.From, "from", "", "rows from this `time` on, such as 2027-01-01 (in UTC) or 2026-12-31T23:00:00Z")
	c.Flags().StringVar(&term.Until, "until", "", "rows before this `time`")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "only say what would be written")
	c.PreRunE = func(*cobra.Command, []string) error {
		if week == "" || term.From == "" || term.Until == "" {
			return errors.New("give --week, --from and --until")
		}
		if err := growthOf(growth, body); err != nil {
			return err
		}
		return term.Check()
	}
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		body["class"], body["from"], body["until"], body["dry_run"] = args[1], term.From, term.Until, dryRun
		body["counts"] = counts
		label, err := weekOf(week, body)
		if err != nil {
			return err
		}
		s, err := to.Open()
		if err != nil {
			return err
		}
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		a, err := s.Call(c.Context(), openapi.PutWeeklyForecast(args[0]), remote.JSONBody(text))
		if err != nil {
			return document.OfFile(label, err)
		}
		return writtenForms(c, out, a)
	})
}

// growthOf reads growth such as 20%/year into a body.
func growthOf(growth string, body map[string]any) error {
	if growth == "" {
		return nil
	}
	number, per, _ := strings.Cut(strings.ReplaceAll(growth, " ", ""), "/")
	percent, isPercent := strings.CutSuffix(number, "%")
	x, err := strconv.ParseFloat(percent, 64)
	if err != nil || !isPercent || per != "year" && per != "month" {
		return fmt.Errorf("--growth is %q; write it like 20%%/year or 1.5%%/month", growth)
	}
	body["growth_per_"+per] = x / 100
	return nil
}

// weekOf puts what --week gives into a body: text as it is, a file's JSON or its text.
func weekOf(week string, body map[string]any) (label string, err error) {
	text := week
	if !strings.Contains(week, ":") && !strings.HasPrefix(strings.TrimSpace(week), "else") {
		label = week
		data, err := os.ReadFile(week)
		if err != nil {
			return "", fmt.Errorf("%s\n--week is rules such as \"mon-fri 8-18: 40; else 5\", or a file", shell.FileTrouble(week, err))
		}
		text = string(data)
	}
	if start := strings.TrimSpace(text); strings.HasPrefix(start, "{") || strings.HasPrefix(start, "[") {
		var pattern struct {
			Week   json.RawMessage `json:"week"`
			Counts inputs.Counts   `json:"counts"`
		}
		raw := json.RawMessage(text)
		if json.Unmarshal(raw, &pattern) == nil && pattern.Week != nil {
			if raw = pattern.Week; pattern.Counts != "" {
				body["counts"] = pattern.Counts
			}
		}
		if !json.Valid(raw) {
			return "", fmt.Errorf("%s: This is no JSON that can be read", label)
		}
		body["week"] = raw
		return label, nil
	}
	body["week"] = text
	return label, nil
}

func forecastPatternCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var term remote.ForecastFilter
	c := &cobra.Command{
		Use: "pattern CLUSTER CLASS", Short: "Show the mean week of a class's rows",
		Long: `Shows the mean of a class's rows in each hour of the week, on the clocks of the cluster's time zone. As CSV
or JSON it can be edited and given to "headroom class forecast weekly --week".`,
		Example: "  headroom class forecast pattern shop nightly-etl -o csv > week.csv",
		Args:    cobra.ExactArgs(2),
	}
	out.AddFlags(c, "table", "json", "csv")
	c.Flags().StringVar(&term.From, "from", "", "rows from this `time` on")
	c.Flags().StringVar(&term.Until, "until", "", "rows before this `time`")
	c.PreRunE = func(*cobra.Command, []string) error { return term.Check() }
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		query := openapi.GetForecastPatternQuery{Class: args[1], From: term.From, Until: term.Until}
		a, err := s.Call(c.Context(), openapi.GetForecastPattern(args[0], query))
		if err != nil {
			return err
		}
		var p desk.WeekPattern
		if err := a.Into(&p); err != nil {
			return err
		}
		if p.Counts == inputs.CountsArrivals {
			fmt.Fprintln(c.ErrOrStderr(), "These are executions that arrive in an hour; write them back with --counts arrivals.")
		}
		return out.Write(c, map[string]shell.Form{
			"table": func(w io.Writer) error { return tables.Weekdays(p.Week, 2).Text(w) },
			"json":  remote.Indented(a.Body),
			"csv":   func(w io.Writer) error { return tables.Weekdays(p.Week, -1).CSV(w) },
		})
	})
}
