package batch

import (
	"fmt"
	"reflect"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/ask/pack"
	"example.org/headroom/internal/edge/cli/question"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	kinds "example.org/headroom/internal/service/question"
	"example.org/headroom/openapi"
)

func packingCommand() *cobra.Command {
	c := remote.Group("packing", "Show and delete the packings that a cluster keeps", `

"headroom batch pack --cluster" makes them: a batch, and in which phases it runs. A packing never changes.`)
	var to remote.Connection
	to.AddFlags(c)
	c.AddCommand(packingListCommand(&to), packingGetCommand(&to), packingDeleteCommand(&to))
	return c
}

func packingListCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	c := &cobra.Command{Use: "list CLUSTER", Short: "List the packings, the newest first", Args: cobra.ExactArgs(1)}
	out.AddFlags(c, "table", "json", "csv")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		l := remote.List{As: reflect.TypeFor[pack.PackingSummary](), Columns: []string{"id", "created_at", "created_by", "algorithm",
			"status", "machines", "jobs", "busy_s", "end_s", "sequential_s", "missed"},
			None: fmt.Sprintf("Cluster %s keeps no packing; \"headroom batch pack --cluster %s\" makes one.", shell.Shown(args[0]), shell.Shown(args[0]))}
		return remote.WriteList(c, s, out, l, openapi.ListPackings(args[0]))
	})
}

func packingGetCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	c := &cobra.Command{Use: "get CLUSTER PACKING", Short: "Show one packing: its phases, or as JSON with the batch that it answers",
		Args: cobra.ExactArgs(2)}
	out.AddFlags(c, "table", "json", "csv")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		a, err := s.Call(c.Context(), openapi.GetPacking(args[0], args[1], nil))
		if err != nil {
			return err
		}
		var kept pack.KeptPacking
		if err := a.Into(&kept); err != nil {
			return err
		}
		return question.Write(c, out, kinds.KeptPacking, pack.PackingProblem{}, &kept)
	})
}

func packingDeleteCommand(to *remote.Connection) *cobra.Command {
	var yes bool
	c := &cobra.Command{Use: "delete CLUSTER PACKING", Short: "Delete one packing, after asking", Args: cobra.ExactArgs(2)}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		what := fmt.Sprintf("packing %s of cluster %s", shell.Shown(args[1]), shell.Shown(args[0]))
		if err := shell.Confirm(c, yes, "Delete "+what+"?"); err != nil {
			return err
		}
		if _, err := s.Call(c.Context(), openapi.DeletePacking(args[0], args[1])); err != nil {
			return err
		}
		_, err := fmt.Fprintf(c.OutOrStdout(), "Deleted %s.\n", what)
		return err
	})
}
