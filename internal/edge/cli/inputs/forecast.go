package inputs

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/cli/document"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/openapi"
)

// forecastCommand returns the commands about forecasts; fromHistory makes the one that counts past executions.
func forecastCommand(fromHistory func(*remote.Connection) *cobra.Command) *cobra.Command {
	c := remote.Group("forecast", "Show and edit what is expected of a class hour by hour", "")
	var to remote.Connection
	to.AddFlags(c)
	c.AddCommand(forecastListCommand(&to), forecastPutCommand(&to), forecastImportCommand(&to), forecastWeeklyCommand(&to),
		forecastPatternCommand(&to), fromHistory(&to), forecastDeleteCommand(&to))
	return c
}

func forecastListCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var filter remote.ForecastFilter
	c := &cobra.Command{Use: "list CLUSTER", Short: "List the rows, all or some", Args: cobra.ExactArgs(1)}
	var wide bool
	out.AddFlags(c, "table", "json", "csv")
	filter.AddFlags(c)
	c.Flags().BoolVar(&wide, "wide", false, "as CSV: a row an hour and a column a class")
	c.PreRunE = func(*cobra.Command, []string) error {
		if wide && out.Format != "csv" {
			return errors.New("--wide is for CSV; add -o csv")
		}
		return filter.Check()
	}
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		l := remote.List{As: reflect.TypeFor[inputs.Forecast](), Columns: []string{"class", "hour", "jobs", "arrivals"}, None: "There are no rows."}
		query := openapi.ListForecastsQuery{Class: filter.Class, From: filter.From, Until: filter.Until, Wide: wide}
		return remote.WriteList(c, s, out, l, openapi.ListForecasts(args[0], &query))
	})
}

func forecastPutCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	c := &cobra.Command{
		Use: "edit CLUSTER FILE|-", Short: "Write rows, in the place of those of the same class and hour",
		Long: `Writes the rows of a file, all or none, in the place of those of the same class and hour. The file is
JSON or YAML (a list of objects with class, hour, and arrivals or jobs) or CSV as "headroom class forecast import" reads it,
which also finds hours that are missing.`,
		Example: "  headroom class forecast edit shop december.csv",
		Args:    cobra.ExactArgs(2),
	}
	out.AddFlags(c, "table", "json", "csv")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		data, label, err := shell.ReadBy(c.Context(), args[1], c.InOrStdin(), c.ErrOrStderr(), func(in io.Reader) ([]byte, error) {
			return io.ReadAll(io.LimitReader(in, shell.LongestDocument+1))
		})
		if err != nil {
			return err
		}
		if looksLikeTable(data) {
			a, err := importForecasts(s, c.Context(), args[0], label, data, openapi.PutForecastsQuery{Holes: string(inputs.HolesKeep)})
			if err != nil {
				return err
			}
			return countForms(c, out, a, "written", "Wrote")
		}
		tree, err := forecastTree(data)
		if err != nil {
			return shell.Labelled(label, err)
		}
		body, err := document.Bind(tree, reflect.TypeFor[struct {
			Rows []inputs.Forecast `json:"rows"`
		}]())
		if err != nil {
			return shell.Labelled(label, err)
		}
		a, err := s.Call(c.Context(), openapi.PutForecasts(args[0], nil), remote.JSONBody(body))
		if err != nil {
			return document.OfFile(label, remote.Located(tree, err))
		}
		return countForms(c, out, a, "written", "Wrote")
	})
}

// looksLikeTable says whether a file is CSV: its first line has columns and the word hour.
func looksLikeTable(data []byte) bool {
	first, _, _ := strings.Cut(strings.ToLower(string(data[:min(len(data), 4096)])), "\n")
	return strings.ContainsAny(first, ",;\t") && strings.Contains(first, "hour") && !strings.ContainsAny(first, "{[:")
}

// forecastTree reads rows of JSON or YAML in any of their forms as {"rows": […]}.
func forecastTree(data []byte) (*document.Node, error) {
	trees, err := document.ReadTrees(data)
	if err != nil {
		return nil, err
	}
	tree := trees[0]
	switch {
	case len(trees) > 1:
		return nil, trees[1].Refuse("syntax", "A second document starts here; give one only.")
	case tree.Kind == document.ListNode:
		return &document.Node{Kind: document.ObjectNode, Place: tree.Place,
			Members: []document.Member{{Name: "rows", Place: tree.Place, Value: tree}}}, nil
	case tree.Member("items") != nil && len(tree.Members) == 1: // as lists are answered
		tree.Members[0].Name = "rows"
	}
	return tree, nil
}

// countForms prints how many rows were written or deleted.
func countForms(c *cobra.Command, out shell.Output, a remote.Answer, memberName, done string) error {
	var counts map[string]any
	if err := a.Into(&counts); err != nil {
		return err
	}
	count := fmt.Sprint(counts[memberName])
	rows := " rows."
	if count == "1" {
		rows = " row."
	}
	return out.Write(c, map[string]shell.Form{
		"table": func(w io.Writer) error { _, err := fmt.Fprintln(w, done+" "+count+rows); return err },
		"json":  remote.Indented(a.Body),
		"csv":   func(w io.Writer) error { _, err := fmt.Fprintf(w, "%s\n%s\n", memberName, count); return err },
	})
}

func forecastDeleteCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var filter remote.ForecastFilter
	var yes bool
	c := &cobra.Command{
		Use: "delete CLUSTER", Short: "Delete the rows of a class or a time, after asking", Args: cobra.ExactArgs(1),
		Example: "  headroom class forecast delete shop --class nightly-etl --until 2026-01-01 --yes",
	}
	out.AddFlags(c, "table", "json", "csv")
	filter.AddFlags(c)
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	c.PreRunE = func(*cobra.Command, []string) error {
		if filter == (remote.ForecastFilter{}) {
			return errors.New("say which rows: give --class, --from or --until")
		}
		return filter.Check()
	}
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		if err := shell.Confirm(c, yes, shell.Shown(fmt.Sprintf("Delete these rows of cluster %q?", args[0]))); err != nil {
			return err
		}
		query := openapi.DeleteForecastsQuery{Class: filter.Class, From: filter.From, Until: filter.Until}
		a, err := s.Call(c.Context(), openapi.DeleteForecasts(args[0], &query))
		if err != nil {
			return err
		}
		return countForms(c, out, a, "deleted", "Deleted")
	})
}
