package history

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/edge/cli/question"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	kinds "example.org/headroom/internal/service/question"
	tables "example.org/headroom/internal/service/report"
	"example.org/headroom/openapi"
)

func fitCommand() *cobra.Command {
	c := remote.Group("fit", "Show what the measurements of jobs come to, and ask it", `

Whenever measurements come ("headroom history measurement"), what they concern is fitted anew; a fit that says something
else is a new version.`)
	var to remote.Connection
	to.AddFlags(c)
	c.AddCommand(fitListCommand(&to), fitGetCommand(&to), fitVersionsCommand(&to), fitMeasurementsCommand(), fitCalibrationCommand())
	return c
}

// writeFits prints a list of fits.
func writeFits(c *cobra.Command, s *remote.Service, out shell.Output, none string, request openapi.List) error {
	if out.Format == "csv" {
		return remote.WriteList(c, s, out, remote.List{}, request)
	}
	texts, err := s.Items(c.Context(), 0, request)
	if err != nil {
		return err
	}
	fits := make([]perf.JobFit, len(texts))
	for i, text := range texts {
		if err := json.Unmarshal(text, &fits[i]); err != nil {
			return fmt.Errorf("the server's answer cannot be read (%w); is it of another version?", err)
		}
	}
	return out.Write(c, map[string]shell.Form{
		"table": func(w io.Writer) error {
			if len(fits) == 0 {
				_, err := fmt.Fprintln(w, none)
				return err
			}
			return tables.FitsText(w, fits)
		},
		"json": shell.AsJSON(map[string]any{"items": texts}),
	})
}

func fitListCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var of measurementFlags
	c := &cobra.Command{Use: "list CLUSTER", Short: "List the latest fits", Args: cobra.ExactArgs(1)}
	out.AddFlags(c, "table", "json", "csv")
	c.Flags().StringVar(&of.job, "job", "", "only of this `job`")
	shell.AddChoice(c, &of.kind, "kind", "", "only of this kind", "power", "rate", "task_time", "usage")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		request := openapi.ListFits(args[0], &openapi.ListFitsQuery{Job: of.job, Kind: of.kind})
		return writeFits(c, s, out, "Nothing was measured; \"headroom history measurement create\" adds what was.", request)
	})
}

func fitVersionsCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	c := &cobra.Command{Use: "versions CLUSTER JOB KIND", Short: "List the versions of a fit, the newest first", Args: cobra.ExactArgs(3)}
	out.AddFlags(c, "table", "json", "csv")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		return writeFits(c, s, out, "Nothing has been fitted yet.", openapi.ListFitVersions(args[0], args[1], args[2]))
	})
}

func fitGetCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var version int64
	var method string
	var vms, residual float64
	c := &cobra.Command{
		Use: "get CLUSTER JOB KIND", Short: "Show a fit, and what it predicts",
		Long: `Shows the latest version of a fit, another one, or one by another method of the measurements of today. --vms
asks a fit of power how long the job takes on so many, --residual one of task_time how long a task takes with
such a part of a node.`,
		Example: "  headroom history fit get shop sort power --vms 12\n  headroom history fit get shop sort power --method nls\n" +
			"  headroom history fit get shop sort task_time --residual 0.6",
		Args: cobra.ExactArgs(3),
	}
	out.AddFlags(c, "table", "json")
	c.Flags().Int64Var(&version, "version", 0, "the `number` of a version (default: the latest)")
	shell.AddChoice(c, &method, "method", "", "another way of fitting: of power log or nls, of task_time constrained or unconstrained",
		"log", "nls", "constrained", "unconstrained")
	c.Flags().Float64Var(&vms, "vms", 0, "predict the time on so many VMs")
	c.Flags().Float64Var(&residual, "residual", 0, "predict the time with such a `part` of a node")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
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
		a, err := s.Call(c.Context(), openapi.GetFit(args[0], args[1], args[2], &query))
		if err != nil {
			return err
		}
		var f perf.JobFit
		if err := a.Into(&f); err != nil {
			return err
		}
		return out.Write(c, map[string]shell.Form{"table": func(w io.Writer) error { return tables.FitText(w, f) },
			"json": remote.Indented(a.Body)})
	})
}

func fitMeasurementsCommand() *cobra.Command {
	var vms, residual float64
	var methods perf.ChosenMethods
	c := &cobra.Command{
		Use: "measurements [FILE|-]", Short: "Fit measurements in a file here, without a server",
		Long: `Reads measurements as JSON, as "headroom history measurement create" sends them, and answers the fit of each job and kind: of
power the time on a number of VMs, of task_time the time of a task by what is left of its node, of rate the speeds
of types of nodes, of usage how busy a job is. Nothing is stored.

  {"measurements": [{"job": "sort", "kind": "power", "vms": 2, "seconds": 900},
                    {"job": "sort", "kind": "power", "vms": 8, "seconds": 260}]}`,
		Example: "  headroom history fit measurements measured.json --vms 12\n  headroom history fit measurements measured.json --power nls -o json",
	}
	c.Flags().Float64Var(&vms, "vms", 0, "predict the times of jobs on so many VMs")
	c.Flags().Float64Var(&residual, "residual", 0, "predict the times of tasks with such a `part` of a node")
	shell.AddChoice(c, &methods.Power, "power", "", "how times on VMs are fitted", perf.LogChoice, perf.NLSChoice)
	shell.AddChoice(c, &methods.TaskTime, "task-time", "", "how times of tasks are fitted", perf.ConstrainedChoice, perf.UnconstrainedChoice)
	return question.FileCommand(c, kinds.Fitting, func(data []byte) (perf.FitQuestion, error) {
		return perf.ReadFit(data, func(q *perf.FitQuestion) {
			if c.Flags().Changed("vms") {
				q.VMs = &vms
			}
			if c.Flags().Changed("residual") {
				q.Residual = &residual
			}
			q.Methods.Power, q.Methods.TaskTime = cmp.Or(methods.Power, q.Methods.Power), cmp.Or(methods.TaskTime, q.Methods.TaskTime)
		})
	})
}

func fitCalibrationCommand() *cobra.Command {
	var coverage float64
	c := &cobra.Command{
		Use: "calibration [FILE|-]", Short: "Compare the bounds of a profile with executions in a file here, without a server",
		Long: `Reads a profile and executions as JSON and answers as "headroom history calibration get" does: how many executions lay
between the bounds on the slots that each had, and with which factor each bound holds. As CSV it is a row for each
execution. "headroom history calibration get --question" writes such a file about a class. Nothing is stored.

  {"profile": {"map_tasks": 100, "reduce_tasks": 0, "map_avg_s": 10, "map_max_s": 20},
   "executions": [{"id": "monday", "submitted_at": "2026-03-02T22:00:00Z", "seconds": 118, "map_slots": 10, "idle_s": 4}]}`,
		Example: "  headroom history fit calibration executions.json\n  headroom history fit calibration executions.json --coverage 0.9 -o json",
	}
	c.Flags().Float64Var(&coverage, "coverage", perf.DefaultCoverage, "the `part` of executions that a calibrated time is to hold for, from 0.5 to 0.999")
	return question.FileCommand(c, kinds.Calibrating, func(data []byte) (perf.CalibrationQuestion, error) {
		return perf.ReadCalibration(data, func(q *perf.CalibrationQuestion) {
			if c.Flags().Changed("coverage") {
				q.Coverage = coverage
			}
		})
	})
}
