package main

import (
	"io"

	"github.com/spf13/cobra"

	"headroom/internal/capacity"
	"headroom/internal/perf"
	tables "headroom/internal/report"
)

func boundsCommand() *cobra.Command {
	var out output
	c := &cobra.Command{
		Use:   "bounds [FILE|-]",
		Short: "Say how long a phase or a job takes on given slots",
		Long: `Reads a question as JSON, from a file or standard input, and answers with bounds on the time.
Its member "kind" is phase, two_jobs, shared_phase or job.`,
		Example: `  echo '{"kind": "phase", "tasks": 300, "mean_s": 30, "max_s": 60, "slots": 50}' | headroom bounds`,
		Args:    cobra.MaximumNArgs(1),
	}
	out.addFlags(c, "table", "json", "csv")
	return command(c, func(c *cobra.Command, args []string) error {
		data, label, err := read(fileArgument(args), c.InOrStdin(), c.ErrOrStderr())
		if err != nil {
			return err
		}
		question, err := capacity.ReadBounds(data)
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
