package batch

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/edge/cli/shell"
)

func generateCommand() *cobra.Command {
	var out shell.Output
	var classes int
	var seed uint64
	var profiled bool
	var families strings.Builder
	for _, name := range study.Names() {
		fmt.Fprintf(&families, "\n  %-15s %s", name, study.About(name))
	}
	c := &cobra.Command{
		Use:   "generate FAMILY",
		Short: "Draw a seeded problem of a known family, to test and measure with",
		Long: `Writes a problem as JSON. The same family, size and seed give the same problem everywhere.

Families:` + families.String(),
		Example:   "  headroom lab generate hard --classes 100 --seed 7 | headroom solve --engine exact",
		Args:      knownFamily,
		ValidArgs: study.Names(),
	}
	out.Format = "json"
	c.Flags().StringVarP(&out.File, "output-file", "f", "", "write to this `file`, wholly or not at all, instead of standard output")
	c.Flags().IntVar(&classes, "classes", 10, "how many classes the problem has")
	c.Flags().Uint64Var(&seed, "seed", 1, "which problem of the family")
	c.Flags().BoolVar(&profiled, "profiled", false, "give profiles and deadlines instead of VMs per job")
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if classes < 1 || classes > study.MostClasses {
			return fmt.Errorf("--classes is %d; it must be from 1 to %d", classes, study.MostClasses)
		}
		return nil
	}
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		instance, err := study.Generate(args[0], classes, seed)
		if err != nil {
			return err
		}
		problem := instance.Problem()
		if profiled {
			if problem, err = instance.Profiled(); err != nil {
				return err
			}
		}
		return out.Write(c, map[string]shell.Form{"json": shell.AsLine(problem)})
	})
}

// knownFamily refuses a family there is none of, and names those there are.
func knownFamily(c *cobra.Command, args []string) error {
	if err := cobra.ExactArgs(1)(c, args); err != nil {
		return err
	}
	names := study.Names()
	if slices.Contains(names, args[0]) {
		return nil
	}
	said := fmt.Sprintf("there is no family %.60q; there are %s", args[0], strings.Join(names, ", "))
	if near := fault.Nearest(args[0], names); near != "" {
		said += fmt.Sprintf("; did you mean %s?", near)
	}
	return errors.New(said)
}
