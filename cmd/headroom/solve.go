package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"headroom/internal/core/capacity"
	tables "headroom/internal/service/report"
)

func solveCommand() *cobra.Command {
	var out output
	var flags optionFlags
	var lines bool
	c := &cobra.Command{
		Use:   "solve [FILE|-]",
		Short: "Say what to rent and which jobs to admit",
		Long: `Reads a problem as JSON, from a file or standard input, and answers with a plan.

With --stream every line of the input is a problem and every line of the output its answer, in the same
order; a line that cannot be answered gets {"error": …} and the rest goes on.`,
		Example: "  headroom solve cluster.json\n  headroom solve -o json --engine exact - < cluster.json\n  headroom solve --stream problems.jsonl -f plans.jsonl",
		Args:    cobra.MaximumNArgs(1),
	}
	out.addFlags(c, "table", "json", "csv")
	flags.add(c)
	addStream(c, &lines)
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if err := out.checkStream(c, lines); err != nil {
			return err
		}
		return flags.check(c)
	}
	return command(c, func(c *cobra.Command, args []string) error {
		p := planner{overrides: flags.overrides(c)}
		defer p.close()
		if lines {
			decode := func(text []byte) (capacity.Problem, error) {
				return capacity.ReadProblem(text, limits, p.overrides...)
			}
			return stream(c, fileArgument(args), out, decode, func(ctx context.Context, problem capacity.Problem) (any, error) {
				return p.solve(ctx, problem)
			})
		}
		return solveOne(c, fileArgument(args), &p, out)
	})
}

// solveOne answers one document.
func solveOne(c *cobra.Command, name string, p *planner, out output) error {
	data, label, err := read(c.Context(), name, c.InOrStdin(), c.ErrOrStderr())
	if err != nil {
		return err
	}
	problem, err := capacity.ReadProblem(data, limits, p.overrides...)
	if err != nil {
		return labelled(label, err)
	}
	answer, err := p.solve(c.Context(), problem)
	p.close() // before writing: a closed pipe ends the program where it stands
	if err != nil {
		return labelled(label, err)
	}
	if err := out.stream(c, map[string]form{
		"table": func(w io.Writer) error { return tables.Plan(w, problem, answer) },
		"json":  asJSON(answer),
		"csv":   func(w io.Writer) error { return tables.ClassesCSV(w, problem, answer) },
	}); err != nil {
		return err
	}
	if answer.Status != capacity.InfeasibleStatus {
		return nil
	}
	if out.format == "table" && out.file == "" { // the conflicts have been read there
		return fail(exitInfeasible, nil)
	}
	conflicts := []error{errors.New(label + ": No plan meets these demands.")}
	for _, f := range answer.Conflicts {
		conflicts = append(conflicts, errors.New(label+": "+tables.Conflict(f)))
	}
	return fail(exitInfeasible, errors.Join(conflicts...))
}
