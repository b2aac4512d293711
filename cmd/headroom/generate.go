package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"headroom/internal/study"
)

func generateCommand() *cobra.Command {
	var out output
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
		Example:   "  headroom generate hard --classes 100 --seed 7 | headroom solve --engine exact",
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: study.Names(),
	}
	out.format = "json"
	c.Flags().StringVarP(&out.file, "output-file", "f", "", "write to this `file`, wholly or not at all, instead of standard output")
	c.Flags().IntVar(&classes, "classes", 10, "how many classes the problem has")
	c.Flags().Uint64Var(&seed, "seed", 1, "which problem of the family")
	c.Flags().BoolVar(&profiled, "profiled", false, "give profiles and deadlines instead of VMs per job")
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if classes < 1 || classes > study.MostClasses {
			return fmt.Errorf("--classes is %d; it must be from 1 to %d", classes, study.MostClasses)
		}
		return nil
	}
	return command(c, func(c *cobra.Command, args []string) error {
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
		return out.write(c, map[string]form{"json": asLine(problem)})
	})
}
