package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/clusters"
	tables "example.org/headroom/internal/service/report"
	"example.org/headroom/openapi"
)

func calibrationCommand() *cobra.Command {
	c := remote.Group("calibration", "Compare a class's bounds with what its executions took, and plan with that", `

"get" says how well the bounds of the class's profile fit past executions, and with which factor each of them
holds; "adopt" makes that the class's calibration, which counts where the cluster's option "bound" is
"calibrated". From then on each import of executions is held against it: "headroom class list" shows drift.`)
	var to remote.Connection
	to.AddFlags(c)
	c.AddCommand(calibrationShowCommand(&to), calibrationAdoptCommand(&to))
	return c
}

// calibrating is the flags that say which executions count.
type calibrating struct {
	job, from, until string
	coverage         float64
}

func (f *calibrating) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&f.job, "job", "", "the `job` whose executions are the class's (default: the one the profile was made of)")
	c.Flags().StringVar(&f.from, "from", "", "only executions submitted at this `time` or later, such as 2026-01-31 or 2026-01-31T06:00:00Z")
	c.Flags().StringVar(&f.until, "until", "", "only executions submitted before this `time`")
	c.Flags().Float64Var(&f.coverage, "coverage", perf.DefaultCoverage,
		"the `part` of executions that a calibrated time is to hold for, from 0.5 to 0.999")
}

func (f *calibrating) check() error {
	times := remote.ForecastFilter{From: f.from, Until: f.until}
	err := times.Check()
	f.from, f.until = times.From, times.Until
	return err
}

// query is the flags as parameters.
func (f *calibrating) query() openapi.GetClassCalibrationQuery {
	return openapi.GetClassCalibrationQuery{Job: f.job, From: f.from, Until: f.until, Coverage: strconv.FormatFloat(f.coverage, 'g', -1, 64)}
}

func calibrationShowCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var of calibrating
	var question bool
	c := &cobra.Command{
		Use: "get CLUSTER CLASS", Short: "Show how well the bounds fit what executions took",
		Long: `Shows how many executions lay between the bounds of the class's profile on the slots that each had, and with
which factor each bound holds for the part asked for (--coverage). As CSV it is a row for each execution.
"headroom verify" checks the report in JSON against its question, which --question writes.`,
		Example: "  headroom history calibration get shop nightly-etl\n  headroom history calibration get shop nightly-etl --from 2026-01-01 -o csv\n" +
			"  headroom history calibration get shop nightly-etl --question -f question.json",
		Args: cobra.ExactArgs(2),
	}
	out.AddFlags(c, "table", "json", "csv")
	of.addFlags(c)
	c.Flags().BoolVar(&question, "question", false, "write the profile and the executions as JSON, which \"headroom history fit calibration\" and \"headroom verify\" take")
	c.PreRunE = func(*cobra.Command, []string) error {
		if question && out.Format == "csv" {
			return errors.New("--question is written as json; leave -o csv out")
		}
		return of.check()
	}
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		query := of.query()
		if question {
			a, err := s.Call(c.Context(), openapi.GetClassCalibrationQuestion(args[0], args[1], &openapi.GetClassCalibrationQuestionQuery{Job: query.Job, From: query.From,
				Until: query.Until, Coverage: query.Coverage}))
			if err != nil {
				return err
			}
			return out.Write(c, map[string]shell.Form{"table": remote.Indented(a.Body), "json": remote.Indented(a.Body)})
		}
		if out.Format == "csv" {
			query.Format = "csv"
		}
		a, err := s.Call(c.Context(), openapi.GetClassCalibration(args[0], args[1], &query))
		if err != nil {
			return err
		}
		if out.Format == "csv" {
			return out.Write(c, map[string]shell.Form{"csv": func(w io.Writer) error { _, err := w.Write(a.Body); return err }})
		}
		var report clusters.ClassCalibration
		if err := a.Into(&report); err != nil {
			return err
		}
		return out.Write(c, map[string]shell.Form{"table": func(w io.Writer) error { return writeCalibration(w, report) },
			"json": remote.Indented(a.Body)})
	})
}

func calibrationAdoptCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var of calibrating
	var bound string
	var factor float64
	var version int64
	c := &cobra.Command{
		Use: "adopt CLUSTER CLASS", Short: "Plan a class with what its executions took",
		Long: `Makes the recommended bound and factor, or those given, the class's calibration, and remembers the executions
that they were made of. If somebody else changes the class at the same moment nothing is changed.`,
		Example: "  headroom history calibration adopt shop nightly-etl\n  headroom history calibration adopt shop nightly-etl --bound upper --factor 1.1",
		Args:    cobra.ExactArgs(2),
	}
	out.AddFlags(c, "table", "json")
	of.addFlags(c)
	c.Flags().StringVar(&bound, "bound", "", "lower, average or upper, as a `word` (default: the recommended one)")
	c.Flags().Float64Var(&factor, "factor", 0, "a `number` (default: the bound's own)")
	c.Flags().Int64Var(&version, "if-match", 0, "change this `version` of the class only (default: the one there is)")
	c.PreRunE = func(c *cobra.Command, _ []string) error {
		if c.Flags().Changed("factor") && !(factor > 0) {
			return fmt.Errorf("--factor is %g; give a number above 0", factor)
		}
		if c.Flags().Changed("if-match") && version < 1 {
			return errors.New("--if-match takes the number of a version")
		}
		return of.check()
	}
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		etag := fmt.Sprint(version)
		if version == 0 {
			now, err := s.Call(c.Context(), openapi.GetClass(args[0], args[1]))
			if err != nil {
				return err
			}
			etag = now.Etag
		}
		body := map[string]any{"coverage": of.coverage}
		for name, value := range map[string]string{"job": of.job, "from": of.from, "until": of.until, "bound": bound} {
			if value != "" {
				body[name] = value
			}
		}
		if factor > 0 {
			body["factor"] = factor
		}
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		a, err := s.Call(c.Context(), openapi.AdoptClassCalibration(args[0], args[1]), remote.JSONBody(text), remote.IfMatch(etag))
		if err != nil {
			return err
		}
		var class inputs.PlannedClass
		if err := a.Into(&class); err != nil {
			return err
		}
		for _, w := range class.Warnings {
			fmt.Fprintln(c.ErrOrStderr(), "headroom: "+shell.Shown("Warning: "+shell.Sentence(w.Detail)))
		}
		if err := noteBound(c, s, args[0]); err != nil {
			return err
		}
		return out.Write(c, map[string]shell.Form{
			"table": func(w io.Writer) error {
				_, err := fmt.Fprintln(w, shell.Shown(fmt.Sprintf("Class %q of cluster %q is calibrated: %s × %g (version %d).", class.Name, args[0],
					class.Calibration.Bound, class.Calibration.Factor, class.Version)))
				return err
			},
			"json": remote.Indented(a.Body),
		})
	})
}

// noteBound says where a calibration does not count.
func noteBound(c *cobra.Command, s *remote.Service, cluster string) error {
	a, err := s.Call(c.Context(), openapi.GetCluster(cluster))
	if err != nil {
		return err
	}
	var of inputs.Cluster
	if err := a.Into(&of); err != nil {
		return err
	}
	if of.Options.Bound != capacity.CalibratedBound {
		fmt.Fprintln(c.ErrOrStderr(), shell.Shown(fmt.Sprintf("headroom: cluster %q is planned with the %s bound; calibrations count once its "+
			"option \"bound\" is \"calibrated\".", cluster, of.Options.Bound)))
	}
	return nil
}

// writeCalibration writes a report for people.
func writeCalibration(w io.Writer, c clusters.ClassCalibration) error {
	if err := tables.CalibrationText(w, c.Calibration); err != nil {
		return err
	}
	for _, line := range classWords(c) {
		if _, err := fmt.Fprintln(w, shell.Shown(line)); err != nil {
			return err
		}
	}
	return nil
}

// classWords says what a class is calibrated with.
func classWords(c clusters.ClassCalibration) (lines []string) {
	if c.Unfit > 0 {
		lines = append(lines, fmt.Sprintf("Executions of the job that are not in it: %d. They ended badly, are not dated or without a time, or are "+
			"of another form.", c.Unfit))
	}
	switch {
	case c.InUse == nil:
		lines = append(lines, "The class has no calibration.")
	case c.Adoption == nil:
		lines = append(lines, fmt.Sprintf("In use is %s × %g, of which is not on record what it was made of.", c.InUse.Bound, c.InUse.Factor))
	default:
		lines = append(lines, fmt.Sprintf("In use is %s × %g, made of %s until %s. %s", c.InUse.Bound, c.InUse.Factor,
			shell.Counted(c.Adoption.Executions, "execution"), c.Adoption.Until.UTC().Format("2006-01-02T15:04Z"), c.Adoption.Drift.Detail))
	}
	return lines
}
