package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"headroom/internal/core/perf"
	tables "headroom/internal/service/report"
)

func boundsCommand() *cobra.Command {
	var out output
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
	out.addFlags(c, "table", "json", "csv")
	addStream(c, &lines)
	c.PreRunE = func(c *cobra.Command, _ []string) error { return out.checkStream(c, lines) }
	return command(c, func(c *cobra.Command, args []string) error {
		if lines {
			return stream(c, fileArgument(args), out, perf.ReadBounds, func(_ context.Context, q perf.BoundsQuestion) (any, error) {
				return perf.Bounds(q)
			})
		}
		data, label, err := read(c.Context(), fileArgument(args), c.InOrStdin(), c.ErrOrStderr())
		if err != nil {
			return err
		}
		question, err := perf.ReadBounds(data)
		if err != nil {
			return labelled(label, err)
		}
		answer, err := perf.Bounds(question)
		if err != nil {
			return labelled(label, err)
		}
		return out.write(c, map[string]form{
			"table": func(w io.Writer) error { return tables.BoundsText(w, answer) },
			"json":  asJSON(answer),
			"csv":   tables.Bounds(answer).CSV,
		})
	})
}
