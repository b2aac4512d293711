package app

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"headroom/internal/ask/horizon"
	"headroom/internal/core/fault"
	"headroom/internal/data/storage"
	"headroom/internal/service/auth"
	"headroom/internal/service/plans"
	"headroom/internal/service/question"
	"headroom/internal/service/report"
	"headroom/internal/service/reporting"
	"headroom/internal/service/runs"
)

// ReportRun is the kind of run that makes a report.
const ReportRun = "report"

// ReportPartSize is the size of all parts of a report's file but the last.
const ReportPartSize = 512 << 10

// Reports stores reports.
type Reports interface {
	ReportSchedules() storage.Collection[reporting.ReportSchedule] // by name; no plan depends on them
	// StartDueReports starts the due reports, once each. decide returns the report to make for a schedule in a time
	// zone (nil is none) and the moment of the next one.
	StartDueReports(ctx context.Context, now time.Time, decide func(s reporting.ReportSchedule, zone string) (*reporting.ReportInput, time.Time)) (started int, err error)
	// Reports lists the newest first: finished reports, and those that wait, are being made or failed.
	Reports(ctx context.Context, cluster string, of ReportFilter, page storage.Page) (storage.Listed[reporting.Report], error)
	Report(ctx context.Context, cluster, id string) (reporting.Report, error)
	ReportPart(ctx context.Context, id string, part int64) ([]byte, error) // NotFound once it is deleted
	// SaveReport stores a file in parts of ReportPartSize, with its description.
	SaveReport(ctx context.Context, cluster string, r reporting.Report, parts [][]byte, sum [32]byte) (reporting.Report, error)
	SweepReports(ctx context.Context) (deleted int64, err error) // those that there are too many of
	// PlansOf returns the plans that were current in some time and the observations then, each in its order.
	PlansOf(ctx context.Context, cluster string, from, until time.Time) ([]plans.PlanStint, []plans.SeenVMs, error)
}

// ReportFilter limits reports; zero values limit nothing.
type ReportFilter struct {
	Schedule string
}

// reporter is the principal that starts the reports of schedules.
var reporter = auth.Principal{ID: "reporter", Name: "schedule", Role: auth.Operator}

// ReportSchedules returns the schedules of the cluster's reports.
func (a *App) ReportSchedules() storage.Collection[reporting.ReportSchedule] {
	return fewSchedules{storage.Checked[reporting.ReportSchedule]{Collection: a.Stores.Reports.ReportSchedules(), Check: a.checkSchedule}}
}

// fewSchedules limits the schedules of a cluster, so that its reports do not take up all servers.
type fewSchedules struct {
	storage.Checked[reporting.ReportSchedule]
}

func (f fewSchedules) Create(ctx context.Context, cluster string, s reporting.ReportSchedule) (reporting.ReportSchedule, error) {
	there, err := f.List(ctx, cluster, storage.Page{Limit: reporting.MaxReportSchedules})
	if err == nil && len(there.Items) == reporting.MaxReportSchedules {
		err = fmt.Errorf("the cluster has %d report schedules already, as many as it may; delete one first: %w", len(there.Items), fault.Conflict)
	}
	if err != nil {
		return s, err
	}
	return f.Checked.Create(ctx, cluster, s)
}

func (a *App) checkSchedule(ctx context.Context, cluster string, s *reporting.ReportSchedule) error {
	if err := s.Validate(); err != nil {
		return err
	}
	c, err := a.Stores.Inputs.Cluster(ctx, cluster)
	if err != nil {
		return err
	}
	s.NextAt = nil
	if !s.Enabled {
		return nil
	}
	zone, err := zoneOf(c)
	if err != nil {
		return err
	}
	s.NextAt = new(s.Next(a.Now(), zone))
	return nil
}

// StartDueReports starts the due reports. Of moments that passed while no server worked the last one counts.
func (a *App) StartDueReports(ctx context.Context) (started int, err error) {
	now := a.Now()
	return a.Stores.Reports.StartDueReports(auth.With(ctx, reporter), now, func(s reporting.ReportSchedule, name string) (*reporting.ReportInput, time.Time) {
		zone, err := time.LoadLocation(name)
		if err != nil {
			zone = time.UTC // a newer server knew the zone
		}
		return new(s.Input(s.Last(now, zone), zone)), s.Next(now, zone)
	})
}

// StartReport starts the requested report, about the time around now.
func (a *App) StartReport(ctx context.Context, cluster string, r reporting.ReportRequest) (runs.Run, error) {
	if err := r.Validate(); err != nil {
		return runs.Run{}, err
	}
	c, err := a.Stores.Inputs.Cluster(ctx, cluster)
	if err != nil {
		return runs.Run{}, err
	}
	zone, err := zoneOf(c)
	if err != nil {
		return runs.Run{}, err
	}
	in := reporting.ReportInput{Every: r.Every, Covers: r.Covers, Format: r.Format, At: a.Now().Truncate(time.Second)}
	if r.Schedule != "" {
		s, err := a.Stores.Reports.ReportSchedules().Get(ctx, cluster, r.Schedule)
		if errors.Is(err, fault.NotFound) {
			return runs.Run{}, &fault.InputError{Findings: []fault.Finding{{Pointer: "/schedule", Code: "unknown_name",
				Detail: fmt.Sprintf("The cluster %q has no report schedule %.60q; create it first, or say \"every\", \"covers\" and \"format\".", cluster, r.Schedule)}}}
		}
		if err != nil {
			return runs.Run{}, err
		}
		in.Schedule, in.Every, in.Covers, in.Format = &s.Name, s.Every, s.Covers, s.Format
	}
	in.From, in.Until = reporting.Around(in.Every, in.Covers, in.At, zone)
	return a.Stores.Runs.StartRun(ctx, runs.NewRun{Kind: ReportRun, Cluster: cluster, Role: auth.Operator, Input: in})
}

// ReportFile returns a report whose file can be read.
func (a *App) ReportFile(ctx context.Context, cluster, id string) (reporting.Report, error) {
	r, err := a.Stores.Reports.Report(ctx, cluster, id)
	if err == nil && r.File == nil {
		what := map[runs.RunState]string{runs.RunFailed: "has failed; \"error\" says why", runs.RunCancelled: "was cancelled"}[r.State]
		if what == "" {
			what = fmt.Sprintf("is %s; its file is there when it has succeeded", r.State)
		}
		return r, fmt.Errorf("the report %s: %w", what, fault.Conflict)
	}
	return r, err
}

// ReportForRun makes the report of a run. save stores it.
func (a *App) ReportForRun(ctx context.Context, claim runs.Claim, progress func(runs.Progress)) (save func(context.Context) (runs.Result, error), err error) {
	var in reporting.ReportInput
	if err := json.Unmarshal(claim.Input, &in); err != nil {
		return nil, fmt.Errorf("read the input of run %s: %w", claim.ID, err)
	}
	file := &parts{sum: sha256.New()}
	if in.Covers == reporting.CoversBehind {
		err = a.reportBehind(ctx, claim.Cluster, in, file, progress)
	} else {
		err = a.reportAhead(ctx, claim.Cluster, in, file, progress)
	}
	if err != nil {
		return nil, err
	}
	r := in.Report()
	r.ID = claim.ID
	r.File = &reporting.ReportFile{Name: r.FileName(claim.Cluster), Size: file.size}
	return func(ctx context.Context) (runs.Result, error) {
		r, err := a.Stores.Reports.SaveReport(ctx, claim.Cluster, r, file.all, [32]byte(file.sum.Sum(nil)))
		if err != nil {
			return runs.Result{}, err
		}
		r.State = runs.RunSucceeded
		text, err := json.Marshal(r)
		return runs.Result{Type: "application/json", Body: text}, err
	}, nil
}

// reportBehind writes which plans held.
func (a *App) reportBehind(ctx context.Context, cluster string, in reporting.ReportInput, to io.Writer, progress func(runs.Progress)) error {
	progress(runs.Progress{Total: 1, Unit: "report"})
	stints, seen, err := a.Stores.Reports.PlansOf(ctx, cluster, in.From, in.Until)
	if err != nil {
		return err
	}
	past := plans.NewPast(in.From, in.Until, stints, seen)
	switch in.Format {
	case reporting.ReportXLSX:
		err = report.PastWorkbook(to, cluster, past)
	case reporting.ReportCSV:
		err = report.Past(past).CSV(to)
	default:
		err = json.NewEncoder(to).Encode(past)
	}
	progress(runs.Progress{Done: 1, Total: 1, Unit: "report"})
	return err
}

// reportAhead writes the future need.
func (a *App) reportAhead(ctx context.Context, cluster string, in reporting.ReportInput, to io.Writer, progress func(runs.Progress)) error {
	asked, err := a.Questions.ClusterMonths(ctx, cluster, horizon.ClusterHorizonQuestion{Span: horizon.Span{From: in.From, Until: in.Until}, Detail: horizon.DetailClasses})
	if err != nil {
		return err
	}
	months := question.Months
	answer, err := months.Work(ctx, a.Questions.InTurns("", months.Unit, progress), asked)
	if err != nil {
		return err
	}
	if write := months.Forms(asked, *answer, question.View{Per: report.PerPeriod, Cluster: cluster})[string(in.Format)]; write != nil {
		return write(to)
	}
	return json.NewEncoder(to).Encode(months.Document(&asked, answer))
}
