package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/data/history"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/clusters"
	"example.org/headroom/openapi"
)

func ProfileFromHistoryCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var of executionFlags
	q := clusters.ProfileFromHistory{}
	c := &cobra.Command{
		Use: "from-history CLUSTER JOB", Short: "Make a profile of past executions of a job",
		Long: `Merges the past executions of a job that were imported ("headroom history import") to a profile and adds it
as a version; where the latest version says the same, nothing is added. Classes keep the version they name.`,
		Example: "  headroom class profile from-history shop 'nightly etl' --profile etl --last 30 --dry-run",
		Args:    cobra.ExactArgs(2),
	}
	out.AddFlags(c, "table", "json")
	of.add(c, false)
	c.Flags().StringVar(&q.Profile, "profile", "", "the profile's `name` (default: one made of the job's)")
	c.Flags().Int64Var(&q.Last, "last", 0, "only so many executions, those submitted last")
	c.Flags().BoolVar(&q.DryRun, "dry-run", false, "only say what would be added")
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if c.Flags().Changed("last") && q.Last < 1 {
			return fmt.Errorf("--last is %d; give 1 or more, or leave it out for all", q.Last)
		}
		q.Job, q.User, q.Queue = args[1], of.user, of.queue
		var err error
		q.From, q.Until, err = of.moments()
		return err
	}
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		a, err := askWith(c, to, q, openapi.ProfileFromHistory(args[0]))
		if err != nil {
			return err
		}
		var made clusters.ProfileMade
		if err := a.Into(&made); err != nil {
			return err
		}
		return out.Write(c, map[string]shell.Form{
			"table": func(w io.Writer) error { return profileMadeText(w, made) },
			"json":  remote.Indented(a.Body),
		})
	})
}

// moments are the flags' times.
func (f *executionFlags) moments() (from, until *time.Time, err error) {
	if err := f.time.Check(); err != nil {
		return nil, nil, err
	}
	for _, flag := range []struct {
		text string
		to   **time.Time
	}{{f.time.From, &from}, {f.time.Until, &until}} {
		if flag.text != "" {
			t, err := time.Parse(time.RFC3339Nano, flag.text)
			if err != nil {
				return nil, nil, fmt.Errorf("%q is no time; write one like 2026-01-31T06:00:00Z", flag.text)
			}
			*flag.to = &t
		}
	}
	return from, until, nil
}

// fromHistoryOrigins lists what gives the members of questions about imported executions.
var fromHistoryOrigins = append(
	remote.FlagOrigins("profile", "last", "user", "queue", "from", "until", "counts", "statistic", "repeat", "measured-from", "measured-until",
		"dry-run"),
	remote.Origin{Pointer: "/job", Flag: "the job"}, remote.Origin{Pointer: "/class", Flag: "the class"})

// askWith sends a question made of flags and arguments.
func askWith(c *cobra.Command, to *remote.Connection, question any, request openapi.Request) (remote.Answer, error) {
	s, err := to.Open()
	if err != nil {
		return remote.Answer{}, err
	}
	body, err := json.Marshal(question)
	if err != nil {
		return remote.Answer{}, err
	}
	a, err := s.Call(c.Context(), request, remote.JSONBody(body))
	return a, fromHistoryOrigins.Say(err)
}

// profileMadeText says what profile was made, of how many executions, and how they differ.
func profileMadeText(w io.Writer, made clusters.ProfileMade) error {
	var b bytes.Buffer
	what := "Added version %d of profile %s"
	switch {
	case !made.Changed:
		what = "Nothing was added, since version %d of profile %s says the same"
	case made.DryRun:
		what = "A dry run, which changes nothing: it would add version %d of profile %s"
	}
	fmt.Fprintf(&b, what+", of %s of %s.\n", made.Profile.Version, shell.Shown(made.Profile.Name),
		shell.Counted(made.Merged.Executions, "execution"), shell.Shown(made.Merged.Name))
	if p := made.Merged.Profile; p.Stages != nil {
		fmt.Fprintf(&b, "%s, overhead %.1f s.\n", shell.Counted(int64(len(p.Stages)), "stage"), p.OverheadSeconds)
	} else {
		fmt.Fprintf(&b, "%s of %.1f s (longest %.1f s), %s", shell.Counted(p.MapTasks, "map"), p.MapAvgSeconds, p.MapMaxSeconds, shell.Counted(p.ReduceTasks, "reduce"))
		if p.ReduceTasks > 0 {
			fmt.Fprintf(&b, " with a shuffle of %.1f s (%.1f s) and a reduce of %.1f s (%.1f s)", p.ShuffleAvgSeconds, p.ShuffleMaxSeconds,
				p.ReduceAvgSeconds, p.ReduceMaxSeconds)
		}
		fmt.Fprintf(&b, ", overhead %.1f s.\n", p.OverheadSeconds)
	}
	if s, known := made.Merged.Spread["seconds"]; known {
		fmt.Fprintf(&b, "Executions took from %.1f to %.1f s, half of them %.1f s or less.\n", s.Min, s.Max, s.Median)
	}
	for _, warning := range made.Merged.Warnings {
		fmt.Fprintf(&b, "Warning: %s\n", shell.Shown(warning))
	}
	for _, r := range made.Merged.Refused[:min(len(made.Merged.Refused), fewRefusals)] {
		r.Detail = history.Brief(r.Detail)
		fmt.Fprintf(&b, "Left out: %s\n", shell.Shown(r.Error()))
	}
	_, err := w.Write(b.Bytes())
	return err
}

func ForecastFromHistoryCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var repeats, measured executionFlags
	q := clusters.ForecastFromHistory{Counts: inputs.CountsArrivals, Repeat: clusters.RepeatWeekly}
	var statistic string
	c := &cobra.Command{
		Use: "from-history CLUSTER CLASS JOB", Short: "Make a forecast of a class of past executions of a job",
		Long: `Counts the executions of a job that were imported ("headroom history import") by the hour in which they
arrived, and writes that as the forecast of a class. With --repeat weekly each hour of the week, on the clocks
of the cluster's time zone, gets the mean (--statistic average) or the maximum (most) over the weeks measured,
from --from until --until; with --repeat none the rows are the hours measured.

With --counts running it measures how many were there at once, on the cluster that they ran on. A class
that runs faster or slower than there needs other VMs than such a forecast says.`,
		Example: "  headroom class forecast from-history shop nightly-etl 'nightly etl' --until 2030-01-01",
		Args:    cobra.ExactArgs(3),
	}
	out.AddFlags(c, "table", "json")
	shell.AddChoice(c, &q.Counts, "counts", "", "executions that arrive in an hour, or those that run at once", inputs.CountsArrivals, inputs.CountsRunning)
	shell.AddChoice(c, &statistic, "statistic", "", "what counts of an hour (default: average of arrivals, most of those that run at once)", "", clusters.StatisticMost, clusters.StatisticAverage)
	shell.AddChoice(c, &q.Repeat, "repeat", "", "whether the week measured repeats", clusters.RepeatWeekly, clusters.RepeatNone)
	c.Flags().StringVar(&q.User, "user", "", "only executions of this `user`")
	c.Flags().StringVar(&q.Queue, "queue", "", "only executions in this `queue`")
	c.Flags().StringVar(&measured.time.From, "measured-from", "", "the `time` from when it is measured (default: the first execution)")
	c.Flags().StringVar(&measured.time.Until, "measured-until", "",
		"the `time` until when it is measured (default: the end of the last execution)")
	c.Flags().StringVar(&repeats.time.From, "from", "", "the `time` from when the week repeats (default: this hour)")
	c.Flags().StringVar(&repeats.time.Until, "until", "", "the `time` until when the week repeats")
	c.Flags().BoolVar(&q.DryRun, "dry-run", false, "only say what would be written")
	c.PreRunE = func(_ *cobra.Command, args []string) (err error) {
		q.Class, q.Job, q.Statistic = args[1], args[2], statistic
		if q.MeasuredFrom, q.MeasuredUntil, err = measured.moments(); err != nil {
			return err
		}
		q.From, q.Until, err = repeats.moments()
		return err
	}
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		a, err := askWith(c, to, q, openapi.ForecastFromHistory(args[0]))
		if err != nil {
			return err
		}
		var made clusters.ForecastMade
		if err := a.Into(&made); err != nil {
			return err
		}
		return out.Write(c, map[string]shell.Form{
			"json": remote.Indented(a.Body),
			"table": func(w io.Writer) error {
				did, peak := "Wrote", fmt.Sprintf("%.3g", made.Peak)
				if made.Written.DryRun || q.DryRun {
					did = "A dry run, nothing is written: it would write"
				}
				switch {
				case made.Counts != inputs.CountsArrivals:
					peak += " at once"
				case peak == "1":
					peak += " arrival in an hour"
				default:
					peak += " arrivals in an hour"
				}
				_, err := fmt.Fprintf(w, "Measured %s of %s in %s from %s until %s; the peak is %s, at %s.\n"+
					"%s %s for class %s: %d new, %d changed, %d as before.\n",
					shell.Counted(made.Executions, "execution"), shell.Shown(made.Job), shell.Counted(made.Hours, "hour"),
					made.MeasuredFrom.UTC().Format(time.RFC3339), made.MeasuredUntil.UTC().Format(time.RFC3339),
					peak, made.PeakAt.UTC().Format(time.RFC3339), did, shell.Counted(made.Written.Written, "row"), shell.Shown(made.Class),
					made.Written.Added, made.Written.Changed, made.Written.Written-made.Written.Added-made.Written.Changed)
				for _, warning := range made.Warnings {
					if err == nil {
						_, err = fmt.Fprintf(w, "Warning: %s\n", shell.Shown(warning))
					}
				}
				return err
			},
		})
	})
}
