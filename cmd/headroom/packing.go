package main

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/spf13/cobra"

	"headroom/internal/ask/pack"
	"headroom/openapi"
)

func packingCommand() *cobra.Command {
	c := group("packing", "Show and delete the packings that a cluster keeps", `

"headroom pack --cluster" makes them: a batch, and in which phases it runs. A packing never changes.`)
	var to connection
	to.addFlags(c)
	c.AddCommand(packingListCommand(&to), packingGetCommand(&to), packingDeleteCommand(&to))
	return c
}

func packingListCommand(to *connection) *cobra.Command {
	var out output
	c := &cobra.Command{Use: "list CLUSTER", Short: "List the packings, the newest first", Args: cobra.ExactArgs(1)}
	out.addFlags(c, "table", "json", "csv")
	return command(c, func(c *cobra.Command, args []string) error {
		s, err := to.open()
		if err != nil {
			return err
		}
		l := list{as: reflect.TypeFor[pack.PackingSummary](), columns: []string{"id", "created_at", "created_by", "algorithm", "status", "machines", "jobs", "busy_s", "end_s", "sequential_s", "missed"},
			none: fmt.Sprintf("Cluster %s keeps no packing; \"headroom pack --cluster %s\" makes one.", shown(args[0]), shown(args[0]))}
		return writeList(c, s, out, l, openapi.ListPackings(args[0]))
	})
}

func packingGetCommand(to *connection) *cobra.Command {
	var out output
	c := &cobra.Command{Use: "get CLUSTER PACKING", Short: "Show one packing: its phases, or as JSON with the batch that it answers", Args: cobra.ExactArgs(2)}
	out.addFlags(c, "table", "json", "csv")
	return command(c, func(c *cobra.Command, args []string) error {
		s, err := to.open()
		if err != nil {
			return err
		}
		a, err := s.call(c.Context(), openapi.GetPacking(args[0], args[1], nil))
		if err != nil {
			return err
		}
		var kept pack.KeptPacking
		if err := a.into(&kept); err != nil {
			return err
		}
		forms, err := keptForms(kept)
		if err != nil {
			return err
		}
		return out.write(c, forms)
	})
}

// keptForms is a kept packing in every form.
func keptForms(kept pack.KeptPacking) (map[string]form, error) {
	var packing pack.Packing
	if err := json.Unmarshal(kept.Packing, &packing); err != nil {
		return nil, fmt.Errorf("read packing %s: %w", kept.ID, err)
	}
	forms := packingForms(pack.PackingAnswer{Packing: &packing})
	forms["json"] = asJSON(kept)
	return forms, nil
}

func packingDeleteCommand(to *connection) *cobra.Command {
	var yes bool
	c := &cobra.Command{Use: "delete CLUSTER PACKING", Short: "Delete one packing, after asking", Args: cobra.ExactArgs(2)}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return command(c, func(c *cobra.Command, args []string) error {
		s, err := to.open()
		if err != nil {
			return err
		}
		what := fmt.Sprintf("packing %s of cluster %s", shown(args[1]), shown(args[0]))
		if err := confirm(c, yes, "Delete "+what+"?"); err != nil {
			return err
		}
		if _, err := s.call(c.Context(), openapi.DeletePacking(args[0], args[1])); err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "Deleted %s.\n", what)
		return err
	})
}
