package plan

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/edge/cli/shell"
	tables "example.org/headroom/internal/service/report"
)

// BoundsCommand returns the command that predicts how long jobs take.
func BoundsCommand() *cobra.Command {
	var out shell.Output
	var lines bool
	c := &cobra.Command{
		Use:   "bounds [FILE|-]",
		Short: "Say how long a phase or a job takes on given slots",
		Long: `Reads a question as JSON, from a file or standard input, and answers with bounds on the time.
Its member "kind" is phase, two_jobs, shared_phase or job.

With --stream every line of the input is a question and every line of the output its answer, in the
same order; a line that cannot be answered gets {"error": …} and the rest goes on.`,
		Example: `  echo '{"kind": "phase", "tasks": 300, "mean_s": 30, "max_s": 60, "slots": 50}' | headroom bounds`,
		Args:    cobra.MaximumNArgs(1),
	}
	out.AddFlags(c, "table", "json", "csv")
	shell.AddStream(c, &lines)
	c.PreRunE = func(c *cobra.Command, _ []string) error { return out.CheckStream(c, lines) }
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		if lines {
			return shell.Stream(c, shell.FileArgument(args), out, perf.ReadBounds, func(_ context.Context, q perf.BoundsQuestion) (any, error) {
				return perf.Bounds(q)
			})
		}
		data, label, err := shell.Read(c.Context(), shell.FileArgument(args), c.InOrStdin(), c.ErrOrStderr())
		if err != nil {
			return err
		}
		question, err := perf.ReadBounds(data)
		if err != nil {
			return shell.Labelled(label, err)
		}
		answer, err := perf.Bounds(question)
		if err != nil {
			return shell.Labelled(label, err)
		}
		return out.Write(c, map[string]shell.Form{
			"table": func(w io.Writer) error { return tables.BoundsText(w, answer) },
			"json":  shell.AsJSON(answer),
			"csv":   tables.Bounds(answer).CSV,
		})
	})
}
