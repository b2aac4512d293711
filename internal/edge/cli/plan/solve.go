package plan

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/ask/goal"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/edge/cli/question"
	"example.org/headroom/internal/edge/cli/shell"
	tables "example.org/headroom/internal/service/report"
)

// SolveCommand returns the command that solves a problem.
func SolveCommand() *cobra.Command {
	var out shell.Output
	var flags question.OptionFlags
	var lines bool
	c := &cobra.Command{
		Use:   "solve [FILE|-]",
		Short: "Say what to rent and which jobs to admit, for a problem in a file",
		Long: `Reads a problem as JSON, from a file or standard input, and answers with a plan.

With --stream every line of the input is a problem and every line of the output its answer, in the same
order; a line that cannot be answered gets {"error": …} and the rest goes on.`,
		Example: "  headroom solve cluster.json\n  headroom solve -o json --engine exact - < cluster.json\n" +
			"  headroom solve --stream problems.jsonl -f plans.jsonl",
		Args: cobra.MaximumNArgs(1),
	}
	out.AddFlags(c, "table", "json", "csv")
	flags.Add(c)
	shell.AddStream(c, &lines)
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if err := out.CheckStream(c, lines); err != nil {
			return err
		}
		return flags.Check(c, true)
	}
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		p := question.Planner{Overrides: flags.Overrides(c), Needed: c.Flags().Changed("engine")}
		defer p.Close()
		if lines {
			decode := func(text []byte) (capacity.Problem, error) {
				return capacity.ReadProblem(text, shell.Limits, p.Overrides...)
			}
			return shell.Stream(c, shell.FileArgument(args), out, decode, func(ctx context.Context, problem capacity.Problem) (any, error) {
				return p.Plan(ctx, problem)
			})
		}
		return solveOne(c, shell.FileArgument(args), &p, out)
	})
}

// solveOne answers one document.
func solveOne(c *cobra.Command, name string, p *question.Planner, out shell.Output) error {
	data, label, err := shell.Read(c.Context(), name, c.InOrStdin(), c.ErrOrStderr())
	if err != nil {
		return err
	}
	problem, err := capacity.ReadProblem(data, shell.Limits, p.Overrides...)
	if err != nil {
		return shell.Labelled(label, goal.SuggestPenalties(c.Context(), data, shell.Limits, err))
	}
	answer, err := p.Plan(c.Context(), problem)
	p.Close() // before writing: a closed pipe ends the program where it stands
	if err != nil {
		return shell.Labelled(label, err)
	}
	if err := out.Stream(c, map[string]shell.Form{
		"table": func(w io.Writer) error { return tables.Plan(w, problem, answer) },
		"json":  shell.AsJSON(answer),
		"csv":   func(w io.Writer) error { return tables.ClassesCSV(w, problem, answer) },
	}); err != nil {
		return err
	}
	if answer.Status != capacity.InfeasibleStatus {
		return nil
	}
	if out.Format == "table" && out.File == "" { // the conflicts have been read there
		return shell.Fail(shell.ExitInfeasible, nil)
	}
	conflicts := []error{errors.New(label + ": No plan meets these demands.")}
	for _, f := range answer.Conflicts {
		conflicts = append(conflicts, errors.New(label+": "+tables.Conflict(f)))
	}
	return shell.Fail(shell.ExitInfeasible, errors.Join(conflicts...))
}
