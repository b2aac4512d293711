package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"headroom/internal/capacity"
	"headroom/internal/proof"
	tables "headroom/internal/report"
)

func verifyCommand() *cobra.Command {
	var out output
	c := &cobra.Command{
		Use:   "verify PROBLEM [PLAN|-]",
		Short: "Check a plan against its problem, exactly and independently",
		Long: `Checks a plan (from a file or standard input) against the problem it answers with code that shares
nothing with the code that made it. A plan that is wrong ends with exit code 1.`,
		Example: "  headroom solve -o json cluster.json | headroom verify cluster.json",
		Args:    cobra.RangeArgs(1, 2),
	}
	out.addFlags(c, "table", "json", "csv")
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if args[0] == "-" && fileArgument(args[1:]) == "-" {
			return errors.New("the problem and the plan cannot both come from standard input; name a file for one")
		}
		return nil
	}
	return command(c, func(c *cobra.Command, args []string) error {
		data, label, err := read(c.Context(), args[0], c.InOrStdin(), c.ErrOrStderr())
		if err != nil {
			return err
		}
		problem, err := capacity.ReadProblem(data, limits)
		if err != nil {
			return labelled(label, err)
		}
		data, label, err = read(c.Context(), fileArgument(args[1:]), c.InOrStdin(), c.ErrOrStderr())
		if err != nil {
			return err
		}
		pl, err := capacity.ReadPlan(data)
		if err != nil {
			return labelled(label, err)
		}
		r := proof.Verify(problem, pl, proof.Options{})
		if err := out.write(c, map[string]form{
			"table": func(w io.Writer) error { return tables.Verdict(w, r) },
			"json":  asJSON(r),
			"csv":   tables.Checks(r).CSV,
		}); err != nil {
			return err
		}
		if !r.Accepted() {
			return fmt.Errorf("%s: The plan does not answer the problem rightly", label)
		}
		return nil
	})
}
