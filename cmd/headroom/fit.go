package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"headroom/internal/core/perf"
	tables "headroom/internal/service/report"
	"headroom/openapi"
)

func fitCommand() *cobra.Command {
	c := group("fit", "Show what the measurements of jobs come to, and ask it", `

Whenever measurements come ("headroom measurement"), what they concern is fitted anew; a fit that says something
else is a new version.`)
	var to connection
	to.addFlags(c)
	c.AddCommand(fitListCommand(&to), fitGetCommand(&to), fitVersionsCommand(&to))
	return c
}

// writeFits prints a list of fits.
func writeFits(c *cobra.Command, s *service, out output, none string, request openapi.List) error {
	if out.format == "csv" {
		return writeList(c, s, out, list{}, request)
	}
	texts, err := s.items(c.Context(), 0, request)
	if err != nil {
		return err
	}
	fits := make([]perf.JobFit, len(texts))
	for i, text := range texts {
		if err := json.Unmarshal(text, &fits[i]); err != nil {
			return fmt.Errorf("the server's answer cannot be read (%w); is it of another version?", err)
		}
	}
	return out.write(c, map[string]form{
		"table": func(w io.Writer) error {
			if len(fits) == 0 {
				_, err := fmt.Fprintln(w, none)
				return err
			}
			return tables.FitsText(w, fits)
		},
		"json": asJSON(map[string]any{"items": texts}),
	})
}

func fitListCommand(to *connection) *cobra.Command {
	var out output
	var of measurementFlags
	c := &cobra.Command{Use: "list CLUSTER", Short: "List the latest fits", Args: cobra.ExactArgs(1)}
	out.addFlags(c, "table", "json", "csv")
	c.Flags().StringVar(&of.job, "job", "", "only of this `job`")
	addChoice(c, &of.kind, "kind", "", "only of this kind", "power", "rate", "task_time", "usage")
	return command(c, func(c *cobra.Command, args []string) error {
		s, err := to.open()
		if err != nil {
			return err
		}
		request := openapi.ListFits(args[0], &openapi.ListFitsQuery{Job: of.job, Kind: of.kind})
		return writeFits(c, s, out, "Nothing was measured; \"headroom measurement add\" adds what was.", request)
	})
}

func fitVersionsCommand(to *connection) *cobra.Command {
	var out output
	c := &cobra.Command{Use: "versions CLUSTER JOB KIND", Short: "List the versions of a fit, the newest first", Args: cobra.ExactArgs(3)}
	out.addFlags(c, "table", "json", "csv")
	return command(c, func(c *cobra.Command, args []string) error {
		s, err := to.open()
		if err != nil {
			return err
		}
		return writeFits(c, s, out, "Nothing has been fitted yet.", openapi.ListFitVersions(args[0], args[1], args[2]))
	})
}

func fitGetCommand(to *connection) *cobra.Command {
	var out output
	var version int64
	var method string
	var vms, residual float64
	c := &cobra.Command{
		Use: "get CLUSTER JOB KIND", Short: "Show a fit, and what it predicts",
		Long: `Shows the latest version of a fit, another one, or one by another method of the measurements of today. --vms
asks a fit of power how long the job takes on so many, --residual one of task_time how long a task takes with
such a part of a node.`,
		Example: "  headroom fit get shop sort power --vms 12\n  headroom fit get shop sort power --method nls\n  headroom fit get shop sort task_time --residual 0.6",
		Args:    cobra.ExactArgs(3),
	}
	out.addFlags(c, "table", "json")
	c.Flags().Int64Var(&version, "version", 0, "the `number` of a version (default: the latest)")
	addChoice(c, &method, "method", "", "another way of fitting: of power log or nls, of task_time constrained or unconstrained", "log", "nls", "constrained", "unconstrained")
	c.Flags().Float64Var(&vms, "vms", 0, "predict the time on so many VMs")
	c.Flags().Float64Var(&residual, "residual", 0, "predict the time with such a `part` of a node")
	return command(c, func(c *cobra.Command, args []string) error {
		s, err := to.open()
		if err != nil {
			return err
		}
		query := openapi.GetFitQuery{Method: method}
		if c.Flags().Changed("version") {
			query.Version = strconv.FormatInt(version, 10)
		}
		if c.Flags().Changed("vms") {
			query.VMs = strconv.FormatFloat(vms, 'g', -1, 64)
		}
		if c.Flags().Changed("residual") {
			query.Residual = strconv.FormatFloat(residual, 'g', -1, 64)
		}
		a, err := s.call(c.Context(), openapi.GetFit(args[0], args[1], args[2], &query))
		if err != nil {
			return err
		}
		var f perf.JobFit
		if err := a.into(&f); err != nil {
			return err
		}
		return out.write(c, map[string]form{"table": func(w io.Writer) error { return tables.FitText(w, f) }, "json": indented(a.body)})
	})
}
