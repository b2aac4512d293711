package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/document"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/report/reporting"
	"example.org/headroom/openapi"
)

var reportSchedules = remote.Resource{
	Word: "report schedule", Words: "report schedules", Verb: "report-schedule", ID: "NAME",
	Short:   "Show and edit the reports of a cluster that are made by themselves",
	As:      reflect.TypeFor[reporting.ReportSchedule](),
	Columns: []string{"name", "every", "hour", "covers", "format", "enabled", "keep", "next_at", "version"},
	Flags: []document.MemberFlag{
		{Name: "name", Pointer: "/name", Usage: "the schedule's `name`"},
		{Name: "every", Pointer: "/every", Usage: "day, week (on Monday) or month (on the 1st), as a `word`"},
		{Name: "hour", Pointer: "/hour", Usage: "the `hour` it is made at, 0 to 23 on the clocks of the cluster's time zone"},
		{Name: "covers", Pointer: "/covers", Usage: "ahead (what is going to be needed) or behind (which plans held), as a `word`"},
		{Name: "format", Pointer: "/format", Usage: "xlsx, csv, focus or json, as a `word`"},
		{Name: "enabled", Pointer: "/enabled", Usage: "whether any are made: `true` or false"},
		{Name: "keep", Pointer: "/keep", Usage: "how many are kept, as a `number`"},
	},
	Example: "  headroom server report-schedule create shop --name month-ahead --every month --hour 6 --covers ahead --format xlsx",
	List:    openapi.ListReportSchedules,
	Create:  openapi.CreateReportSchedule,
	Get:     openapi.GetReportSchedule,
	Replace: openapi.ReplaceReportSchedule,
	Delete:  openapi.DeleteReportSchedule,
}

func reportCommand() *cobra.Command {
	c := remote.Group("report", "Make, list and download reports of a cluster", `

A report is a file about a cluster: what is going to be needed in a day, a week or a month, or which plans
held in one. "headroom server report-schedule" has them made by themselves.`)
	var to remote.Connection
	to.AddFlags(c)
	c.AddCommand(reportListCommand(&to), reportGetCommand(&to), reportMakeCommand(&to), reportDownloadCommand(&to))
	return c
}

var reportType = reflect.TypeFor[reporting.Report]()

func reportListCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var schedule string
	var most int
	c := &cobra.Command{Use: "list CLUSTER", Short: "List the reports, the newest first", Args: cobra.ExactArgs(1)}
	out.AddFlags(c, "table", "json", "csv")
	c.Flags().StringVar(&schedule, "schedule", "", "only those of the schedule of this `name`")
	c.Flags().IntVar(&most, "limit", 20, "how many; 0 is all of them")
	c.PreRunE = func(*cobra.Command, []string) error {
		if most < 0 || out.Format == "csv" && most > remote.LargestPage {
			return fmt.Errorf("--limit is %d; give 1 or more (as CSV %d at most), or 0 for all", most, remote.LargestPage)
		}
		return nil
	}
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		l := remote.List{As: reportType, Columns: []string{"id", "schedule", "every", "covers", "format", "from", "until", "state",
			"file_size"}, Most: most,
			None: fmt.Sprintf("Cluster %s has no such report; \"headroom server report create %s --every month\" makes one.", shell.Shown(args[0]),
				shell.Shown(args[0]))}
		return remote.WriteList(c, s, out, l, openapi.ListReports(args[0], &openapi.ListReportsQuery{Schedule: schedule}))
	})
}

func reportGetCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	c := &cobra.Command{Use: "get CLUSTER REPORT", Short: "Show what a report is, and why it was not made", Args: cobra.ExactArgs(2)}
	out.AddFlags(c, "table", "json", "csv")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		a, err := s.Call(c.Context(), openapi.GetReport(args[0], args[1]))
		if err != nil {
			return err
		}
		return out.Write(c, remote.ItemForms(reportType, a.Body, ""))
	})
}

func reportMakeCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var async bool
	var r reporting.ReportRequest
	c := &cobra.Command{
		Use: "create CLUSTER", Short: "Make a report now",
		Long: `Makes a report of a day, a week or a month from now on (ahead) or until now (behind), or one like those of a
schedule, and waits for it; with --async it only starts the run that makes it.

Exit codes: 0 it was made, 1 it failed or was cancelled, 3 there is no plan that meets the demands.`,
		Example: "  headroom server report create shop --every month --covers ahead --format focus\n" +
			"  headroom server report create shop --schedule month-ahead && headroom server report download shop -f month.xlsx",
		Args: cobra.ExactArgs(1),
	}
	out.AddFlags(c, "table", "json")
	c.Flags().StringVar(&r.Schedule, "schedule", "", "what the schedule of this `name` makes")
	shell.AddChoice(c, &r.Every, "every", "", "how long it covers", reporting.EveryDay, reporting.EveryWeek, reporting.EveryMonth)
	shell.AddChoice(c, &r.Covers, "covers", "", "which time it is about (default ahead)", reporting.CoversAhead, reporting.CoversBehind)
	shell.AddChoice(c, &r.Format, "format", "", "the form of its file (default xlsx)", reporting.ReportXLSX, reporting.ReportCSV,
		reporting.ReportFocus, reporting.ReportJSON)
	c.Flags().BoolVar(&async, "async", false, "do not wait")
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		asked, filled := r, r
		if err := filled.Validate(); err != nil {
			return shell.Fail(shell.ExitUsage, err)
		}
		s, err := to.Open()
		if err != nil {
			return err
		}
		body, err := json.Marshal(asked)
		if err != nil {
			return err
		}
		run, text, err := remote.ReadRun(s.Call(c.Context(), openapi.CreateReport(args[0]), remote.JSONBody(body)))
		if err != nil {
			return err
		}
		if async {
			return remote.WriteRun(c, out, run, text)
		}
		if run, _, err = s.WatchRun(c.Context(), c.ErrOrStderr(), run.ID); err != nil {
			return err
		}
		if err := remote.HowItEnded(run); err != nil {
			return err
		}
		a, err := s.Call(c.Context(), openapi.GetReport(args[0], run.ID))
		if err != nil {
			return err
		}
		return out.Write(c, remote.ItemForms(reportType, a.Body,
			fmt.Sprintf("Made report %s. Download it: headroom server report download %s %s", run.ID, args[0], run.ID)))
	})
}

func reportDownloadCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var schedule string
	c := &cobra.Command{
		Use: "download CLUSTER [REPORT|latest]", Short: "Download a report",
		Long: `Downloads a report, by its id, or the latest one that was made, and checks that it came whole. It is written to
standard output, or with -f to a file.`,
		Example: "  headroom server report download shop -f month.xlsx\n  headroom server report download shop latest --schedule books > books.csv",
		Args:    cobra.RangeArgs(1, 2),
	}
	c.Flags().StringVarP(&out.File, "output-file", "f", "", "write to this `file`, wholly or not at all, instead of standard output")
	c.Flags().StringVar(&schedule, "schedule", "", "the latest one of the schedule of this `name`")
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		id := ""
		if len(args) > 1 && args[1] != "latest" {
			if id = args[1]; schedule != "" {
				return shell.Fail(shell.ExitUsage, errors.New("name a report or a schedule, not both"))
			}
		}
		s, err := to.Open()
		if err != nil {
			return err
		}
		r, err := reportOf(s, c.Context(), args[0], id, schedule)
		if err != nil {
			return err
		}
		out.Format = string(r.Format)
		if err := out.CheckSheet(c); err != nil {
			return shell.Fail(shell.ExitUsage, err)
		}
		return download(s, c, out, args[0], r)
	})
}

// reportOf is one by its id, or the latest that was made.
func reportOf(s *remote.Service, ctx context.Context, cluster, id, schedule string) (r reporting.Report, err error) {
	if id != "" {
		a, err := s.Call(ctx, openapi.GetReport(cluster, id))
		if err == nil {
			err = a.Into(&r)
		}
		return r, err
	}
	items, err := s.Items(ctx, 0, openapi.ListReports(cluster, &openapi.ListReportsQuery{Schedule: schedule}))
	if err != nil {
		return r, err
	}
	for _, item := range items {
		if err := json.Unmarshal(item, &r); err != nil {
			return r, fmt.Errorf("the server's answer cannot be read: %w", err)
		}
		if r.File != nil {
			return r, nil
		}
		r = reporting.Report{}
	}
	return r, fmt.Errorf("cluster %s has no such report; \"headroom server report create\" makes one", shell.Shown(cluster))
}

// download writes a report's file, as it comes, and checks that it is the one that was made.
func download(s *remote.Service, c *cobra.Command, out shell.Output, cluster string, r reporting.Report) error {
	response, err := s.Send(c.Context(), openapi.GetReportFile(cluster, r.ID))
	if err != nil || response.StatusCode != http.StatusOK {
		_, err := s.ReadReply(response, err)
		if err == nil {
			err = fmt.Errorf("%s answers %s", s.URL, response.Status)
		}
		return err
	}
	defer response.Body.Close()
	return out.Deliver(c.OutOrStdout(), func(w io.Writer) error {
		sum := sha256.New()
		n, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(response.Body, reporting.MaxReport+1))
		if err != nil {
			return fmt.Errorf("the report broke off after %d bytes: %w", n, err)
		}
		if r.File != nil && hex.EncodeToString(sum.Sum(nil)) != r.File.SHA256 {
			return fmt.Errorf("what came (%d bytes) is not the report that was made (%d bytes); download it again", n, r.File.Size)
		}
		return nil
	})
}
