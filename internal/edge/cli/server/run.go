package server

import (
	"fmt"
	"io"
	"reflect"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	tables "example.org/headroom/internal/service/report"
	"example.org/headroom/internal/service/runs"
	"example.org/headroom/openapi"
)

func runCommand() *cobra.Command {
	c := remote.Group("run", "Watch, end and repeat work in the background", `

A run is work that a server does in the background, such as a plan made with "plan create --async". It
goes on whatever becomes of who asked for it. Runs are kept for 30 days after their end.`)
	var to remote.Connection
	to.AddFlags(c)
	c.AddCommand(runListCommand(&to), runGetCommand(&to), runWatchCommand(&to), runCancelCommand(&to), runRetryCommand(&to),
		runResultCommand(&to))
	return c
}

func runListCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var cluster, state, kind string
	var most int
	c := &cobra.Command{Use: "list", Short: "List the runs, the newest first", Args: cobra.NoArgs}
	out.AddFlags(c, "table", "json", "csv")
	c.Flags().StringVar(&cluster, "cluster", "", "only runs of this `cluster`")
	c.Flags().StringVar(&kind, "kind", "", "only runs of this `kind`, such as plan")
	shell.AddChoice(c, &state, "state", "", "only runs in this state", "queued", "running", "succeeded", "failed", "cancelled")
	c.Flags().IntVar(&most, "limit", 20, "how many; 0 is all of them")
	c.PreRunE = func(*cobra.Command, []string) error {
		if most < 0 || out.Format == "csv" && most > remote.LargestPage {
			return fmt.Errorf("--limit is %d; give 1 or more (as CSV %d at most), or 0 for all", most, remote.LargestPage)
		}
		return nil
	}
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		l := remote.List{As: reflect.TypeFor[runs.Run](),
			Columns: []string{"id", "kind", "cluster", "state", "progress_done", "progress_total", "by", "created_at"}, Most: most,
			None: "There are no such runs."}
		return remote.WriteList(c, s, out, l, openapi.ListRuns(&openapi.ListRunsQuery{Cluster: cluster, State: state, Kind: kind}))
	})
}

// runVerb is a verb that asks one thing of one run and shows the run.
func runVerb(to *remote.Connection, c *cobra.Command,
	ask func(*cobra.Command, *remote.Service, string) (runs.Run, []byte, error)) *cobra.Command {
	var out shell.Output
	c.Args = cobra.ExactArgs(1)
	out.AddFlags(c, "table", "json")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		r, text, err := ask(c, s, args[0])
		if err != nil {
			return err
		}
		return remote.WriteRun(c, out, r, text)
	})
}

func runGetCommand(to *remote.Connection) *cobra.Command {
	return runVerb(to, &cobra.Command{Use: "get RUN", Short: "Show how far a run is"},
		func(c *cobra.Command, s *remote.Service, id string) (runs.Run, []byte, error) {
			return remote.ReadRun(s.Call(c.Context(), openapi.GetRun(id)))
		})
}

func runCancelCommand(to *remote.Connection) *cobra.Command {
	c := &cobra.Command{Use: "cancel RUN", Short: "End a run",
		Long: "Ends a run. One that is being worked on ends a moment later; what it had until then may be kept. Ending a run that is over is no error."}
	return runVerb(to, c, func(c *cobra.Command, s *remote.Service, id string) (runs.Run, []byte, error) {
		if _, err := s.Call(c.Context(), openapi.CancelRun(id)); err != nil {
			return runs.Run{}, nil, err
		}
		return remote.ReadRun(s.Call(c.Context(), openapi.GetRun(id)))
	})
}

func runRetryCommand(to *remote.Connection) *cobra.Command {
	c := &cobra.Command{Use: "retry RUN", Short: "Begin a run that failed or was cancelled again"}
	return runVerb(to, c, func(c *cobra.Command, s *remote.Service, id string) (runs.Run, []byte, error) {
		return remote.ReadRun(s.Call(c.Context(), openapi.RetryRun(id)))
	})
}

func runResultCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var per string
	c := &cobra.Command{
		Use: "result RUN", Short: "Print what a run made", Args: cobra.ExactArgs(1),
		Long: `Prints what a run made, in the form that it made it in, or of sweeps, simulations, months and purchases in another one. A run
that failed or was cancelled may have made a part.`,
		Example: "  headroom server run result $RUN -o csv -f months.csv",
	}
	shell.AddChoice(c, &out.Format, "output", "o", "another form", "json", "csv", "xlsx", "focus")
	shell.AddChoice(c, &per, "per", "", "what a row of csv of months stands for", string(tables.PerPeriod), string(tables.PerDay),
		string(tables.PerMonth))
	c.Flags().StringVarP(&out.File, "output-file", "f", "", "write to this `file`, wholly or not at all, instead of standard output")
	c.PreRunE = func(c *cobra.Command, _ []string) error { return out.CheckSheet(c) }
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		a, err := s.Call(c.Context(), openapi.GetRunResult(args[0], &openapi.GetRunResultQuery{Format: out.Format, Per: per}))
		if err != nil {
			return err
		}
		return out.Deliver(c.OutOrStdout(), func(w io.Writer) error { _, err := w.Write(a.Body); return err })
	})
}

func runWatchCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	c := &cobra.Command{
		Use: "watch RUN", Short: "Wait for the end of a run",
		Long: `Waits until a run is over and shows how it ended; on a terminal a bar shows how far it is. The run goes
on when this ends before it.

Exit codes: 0 it succeeded, 1 it failed or was cancelled, 3 there is no plan that meets the demands.`,
		Example: "  headroom server run watch $(headroom plan create shop --async -q)",
		Args:    cobra.ExactArgs(1),
	}
	out.AddFlags(c, "table", "json")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		r, text, err := s.WatchRun(c.Context(), c.ErrOrStderr(), args[0])
		if err != nil {
			return err
		}
		if err := remote.WriteRun(c, out, r, text); err != nil {
			return err
		}
		return remote.HowItEnded(r)
	})
}
