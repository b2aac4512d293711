package main

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"headroom/internal/data/inputs"
	"headroom/openapi"
)

// forecastCommand returns the commands about forecasts; fromHistory makes the one that counts past executions.
func forecastCommand(fromHistory func(*connection) *cobra.Command) *cobra.Command {
	c := group("forecast", "Show and edit how many jobs of a class are expected at an hour", "")
	var to connection
	to.addFlags(c)
	c.AddCommand(forecastListCommand(&to), forecastPutCommand(&to), forecastImportCommand(&to), forecastWeeklyCommand(&to), forecastPatternCommand(&to), fromHistory(&to), forecastDeleteCommand(&to))
	return c
}

func forecastListCommand(to *connection) *cobra.Command {
	var out output
	var filter forecastFilter
	c := &cobra.Command{Use: "list CLUSTER", Short: "List the rows, all or some", Args: cobra.ExactArgs(1)}
	var wide bool
	out.addFlags(c, "table", "json", "csv")
	filter.addFlags(c)
	c.Flags().BoolVar(&wide, "wide", false, "as CSV: a row an hour and a column a class")
	c.PreRunE = func(*cobra.Command, []string) error {
		if wide && out.format != "csv" {
			return errors.New("--wide is for CSV; add -o csv")
		}
		return filter.check()
	}
	return command(c, func(c *cobra.Command, args []string) error {
		s, err := to.open()
		if err != nil {
			return err
		}
		l := list{as: reflect.TypeFor[inputs.Forecast](), columns: []string{"class", "hour", "jobs"}, none: "There are no rows."}
		query := openapi.ListForecastsQuery{Class: filter.class, From: filter.from, Until: filter.until, Wide: wide}
		return writeList(c, s, out, l, openapi.ListForecasts(args[0], &query))
	})
}

func forecastPutCommand(to *connection) *cobra.Command {
	var out output
	c := &cobra.Command{
		Use: "put CLUSTER FILE|-", Short: "Write rows, in the place of those of the same class and hour",
		Long: `Writes the rows of a file, all or none, in the place of those of the same class and hour. The file is
JSON or YAML (a list of objects with class, hour and jobs) or CSV as "headroom forecast import" reads it,
which also finds hours that are missing.`,
		Example: "  headroom forecast put shop december.csv",
		Args:    cobra.ExactArgs(2),
	}
	out.addFlags(c, "table", "json", "csv")
	return command(c, func(c *cobra.Command, args []string) error {
		s, err := to.open()
		if err != nil {
			return err
		}
		data, label, err := readBy(c.Context(), args[1], c.InOrStdin(), c.ErrOrStderr(), func(in io.Reader) ([]byte, error) {
			return io.ReadAll(io.LimitReader(in, longestDocument+1))
		})
		if err != nil {
			return err
		}
		if looksLikeTable(data) {
			a, err := s.importForecasts(c.Context(), args[0], label, data, openapi.PutForecastsQuery{Holes: string(inputs.HolesKeep)})
			if err != nil {
				return err
			}
			return countForms(c, out, a, "written", "Wrote")
		}
		tree, err := forecastTree(data)
		if err != nil {
			return labelled(label, err)
		}
		body, err := bind(tree, reflect.TypeFor[struct {
			Rows []inputs.Forecast `json:"rows"`
		}]())
		if err != nil {
			return labelled(label, err)
		}
		a, err := s.call(c.Context(), openapi.PutForecasts(args[0], nil), jsonBody(body))
		if err != nil {
			return ofFile(label, located(tree, err))
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
func forecastTree(data []byte) (*node, error) {
	trees, err := readTrees(data)
	if err != nil {
		return nil, err
	}
	tree := trees[0]
	switch {
	case len(trees) > 1:
		return nil, trees[1].refuse("syntax", "A second document starts here; give one only.")
	case tree.kind == listNode:
		return &node{kind: objectNode, place: tree.place, members: []member{{name: "rows", place: tree.place, value: tree}}}, nil
	case tree.member("items") != nil && len(tree.members) == 1: // as lists are answered
		tree.members[0].name = "rows"
	}
	return tree, nil
}

// countForms prints how many rows were written or deleted.
func countForms(c *cobra.Command, out output, a answer, memberName, done string) error {
	var counts map[string]any
	if err := a.into(&counts); err != nil {
		return err
	}
	count := fmt.Sprint(counts[memberName])
	rows := " rows."
	if count == "1" {
		rows = " row."
	}
	return out.write(c, map[string]form{
		"table": func(w io.Writer) error { _, err := fmt.Fprintln(w, done+" "+count+rows); return err },
		"json":  indented(a.body),
		"csv":   func(w io.Writer) error { _, err := fmt.Fprintf(w, "%s\n%s\n", memberName, count); return err },
	})
}

func forecastDeleteCommand(to *connection) *cobra.Command {
	var out output
	var filter forecastFilter
	var yes bool
	c := &cobra.Command{
		Use: "delete CLUSTER", Short: "Delete the rows of a class or a time, after asking", Args: cobra.ExactArgs(1),
		Example: "  headroom forecast delete shop --class nightly-etl --until 2026-01-01 --yes",
	}
	out.addFlags(c, "table", "json", "csv")
	filter.addFlags(c)
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	c.PreRunE = func(*cobra.Command, []string) error {
		if filter == (forecastFilter{}) {
			return errors.New("say which rows: give --class, --from or --until")
		}
		return filter.check()
	}
	return command(c, func(c *cobra.Command, args []string) error {
		s, err := to.open()
		if err != nil {
			return err
		}
		if err := confirm(c, yes, shown(fmt.Sprintf("Delete these rows of cluster %q?", args[0]))); err != nil {
			return err
		}
		query := openapi.DeleteForecastsQuery{Class: filter.class, From: filter.from, Until: filter.until}
		a, err := s.call(c.Context(), openapi.DeleteForecasts(args[0], &query))
		if err != nil {
			return err
		}
		return countForms(c, out, a, "deleted", "Deleted")
	})
}
