package history

import (
	"fmt"
	"io"
	"reflect"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/data/history"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	tables "example.org/headroom/internal/service/report"
	"example.org/headroom/openapi"
)

// Command returns the commands about past executions, and what they say of plans.
func Command() *cobra.Command {
	c := remote.Group("history", "Import past executions and measurements of jobs; see how well bounds and plans fit them", `

"import" reads the records of a cluster here and sends what one needs to know of each execution; "watch" does it as
they come into a directory; "read"
does the same without a server and shows the profiles that come of it. "headroom class profile from-history" and
"headroom class forecast from-history" make profiles and forecasts of what was imported.`)
	var to remote.Connection
	to.AddFlags(c)
	c.AddCommand(historyImportCommand(&to), historyWatchCommand(&to), historyReadCommand(), historyListCommand(&to), historyShowCommand(&to), historyJobsCommand(&to),
		historyDeleteCommand(&to), calibrationCommand(), observationCommand(), measurementCommand(), fitCommand())
	return c
}

// executionFlags choose executions.
type executionFlags struct {
	job, user, queue, outcome string
	time                      remote.ForecastFilter // without its class
}

func (f *executionFlags) add(c *cobra.Command, withJob bool) {
	if withJob {
		c.Flags().StringVar(&f.job, "job", "", "only executions of this `job`")
	}
	c.Flags().StringVar(&f.user, "user", "", "only executions of this `user`")
	c.Flags().StringVar(&f.queue, "queue", "", "only executions in this `queue`")
	c.Flags().StringVar(&f.time.From, "from", "", "only executions submitted at this `time` or later, such as 2026-01-31")
	c.Flags().StringVar(&f.time.Until, "until", "", "only executions submitted before this `time`")
}

func (f *executionFlags) addOutcome(c *cobra.Command) {
	shell.AddChoice(c, &f.outcome, "outcome", "", "only executions that ended so", "succeeded", "failed", "killed", "unfinished")
}

func (f *executionFlags) query() openapi.ListExecutionsQuery {
	return openapi.ListExecutionsQuery{Job: f.job, Outcome: f.outcome, User: f.user, Queue: f.queue, From: f.time.From, Until: f.time.Until}
}

func historyListCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var of executionFlags
	var most int
	c := &cobra.Command{Use: "list CLUSTER", Short: "List past executions, those submitted last first", Args: cobra.ExactArgs(1)}
	out.AddFlags(c, "table", "json", "csv")
	of.add(c, true)
	of.addOutcome(c)
	c.Flags().IntVar(&most, "limit", 100, "how many; 0 is all of them")
	c.PreRunE = func(*cobra.Command, []string) error {
		if most < 0 {
			return fmt.Errorf("--limit is %d; give 1 or more, or 0 for all", most)
		}
		if out.Format == "csv" && most > remote.LargestPage {
			return fmt.Errorf("--limit is %d; as CSV give %d at most, or 0 for all", most, remote.LargestPage)
		}
		return of.time.Check()
	}
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		l := remote.List{As: reflect.TypeFor[history.StoredExecution](), Most: most, None: "There are no executions.",
			Columns: []string{"id", "job", "execution", "submitted_at", "seconds", "outcome", "map_slots", "refused"}}
		query := of.query()
		return remote.WriteList(c, s, out, l, openapi.ListExecutions(args[0], &query))
	})
}

func historyJobsCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	c := &cobra.Command{Use: "jobs CLUSTER", Short: "List the jobs that have past executions", Args: cobra.ExactArgs(1)}
	out.AddFlags(c, "table", "json", "csv")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		l := remote.List{As: reflect.TypeFor[history.RecordedJob](), None: "No executions were imported.",
			Columns: []string{"job", "executions", "usable", "refused", "first_at", "last_at", "median_seconds"}}
		return remote.WriteList(c, s, out, l, openapi.ListRecordedJobs(args[0]))
	})
}

func historyShowCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	c := &cobra.Command{Use: "get CLUSTER ID", Short: "Show one past execution with its sample", Args: cobra.ExactArgs(2)}
	out.AddFlags(c, "table", "json")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		a, err := s.Call(c.Context(), openapi.GetExecution(args[0], args[1]))
		if err != nil {
			return err
		}
		var e history.SampledExecution
		if err := a.Into(&e); err != nil {
			return err
		}
		return out.Write(c, map[string]shell.Form{
			"table": func(w io.Writer) error { return executionText(w, e) },
			"json":  remote.Indented(a.Body),
		})
	})
}

// executionText tells of an execution: what is known of it, and what its phases took.
func executionText(w io.Writer, e history.SampledExecution) error {
	fmt.Fprintf(w, "Job %s, execution %s: %s", shell.Shown(e.Job), shell.Shown(e.Execution), e.Outcome)
	if e.SubmittedAt != nil {
		fmt.Fprintf(w, ", submitted %s", e.SubmittedAt.UTC().Format(time.RFC3339))
	}
	if e.Seconds != nil {
		fmt.Fprintf(w, ", took %.1f s", *e.Seconds)
	}
	fmt.Fprintln(w, ".")
	if e.Refused != "" {
		_, err := fmt.Fprintf(w, "No profile is made of it: %s\n", shell.Shown(history.Brief(e.Refused)))
		return err
	}
	t := tables.Table{Columns: []string{"Phase", "Tasks", "Mean s", "p50 s", "p95 s", "Max s"}}
	row := func(name string, tasks int64, d history.Durations) {
		if d.Count == 0 {
			return
		}
		cell := func(x float64) tables.Cell { return tables.Cell{Text: fmt.Sprintf("%.2f", x), Number: true} }
		t.Rows = append(t.Rows, []tables.Cell{{Text: shell.Shown(name)}, {Text: fmt.Sprint(tasks), Number: true}, cell(d.Mean), cell(d.Median),
			cell(d.P95), cell(d.Max)})
	}
	var left history.LeftOut
	var notes []string
	overhead, slots := 0.0, ""
	if s := e.Sample; s != nil {
		row("map", s.Map.Count, s.Map)
		row("first shuffle", s.First.Count, s.First)
		row("shuffle", s.Shuffle.Count, s.Shuffle)
		row("reduce", s.Reduce.Count, s.Reduce)
		left, notes, overhead = s.Left, s.Notes, s.Profile.OverheadSeconds
		slots = fmt.Sprintf("%d map and %d reduce attempts", s.MapSlots, s.ReduceSlots)
	}
	if c := e.Chain; c != nil {
		for i, p := range c.Phases {
			row(fmt.Sprintf("%d %s", i+1, p.Name), p.Tasks, p.Task)
		}
		left, notes, overhead = c.Left, c.Notes, c.OverheadSeconds
		slots = shell.Counted(int64(c.MapSlots), "attempt")
	}
	if err := t.Text(w); err != nil {
		return err
	}
	fmt.Fprintf(w, "At most %s ran at once; %.1f s are overhead. Left out: %d failed, %d killed, %d speculative.\n", slots, overhead,
		left.Failed, left.Killed, left.Speculative)
	for _, n := range notes {
		fmt.Fprintf(w, "Note: %s\n", shell.Shown(n))
	}
	return nil
}

func historyDeleteCommand(to *remote.Connection) *cobra.Command {
	var of executionFlags
	c := &cobra.Command{Use: "delete CLUSTER", Short: "Delete past executions, after asking",
		Example: "  headroom history delete shop --job 'nightly etl' --until 2025-01-01"}
	of.add(c, true)
	of.addOutcome(c)
	c.PreRunE = func(*cobra.Command, []string) error { return of.time.Check() }
	const question = "Delete those past executions of cluster %q? Profiles made of them stay."
	return remote.Deletion(c, to, "execution", question, func(cluster string) openapi.Request {
		query := openapi.DeleteExecutionsQuery(of.query())
		return openapi.DeleteExecutions(cluster, &query)
	})
}
