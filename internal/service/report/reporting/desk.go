package reporting

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/runs"
)

// RunKind is the kind of run that makes a report.
const RunKind = "report"

// PartSize is the size of all parts of a report's file but the last.
const PartSize = 512 << 10

// Store stores reports.
type Store interface {
	ReportSchedules() storage.Collection[ReportSchedule] // by name; no plan depends on them
	// StartDueReports starts the due reports, once each. decide returns the report to make for a schedule in a time
	// zone (nil is none) and the moment of the next one.
	StartDueReports(ctx context.Context, now time.Time, decide func(s ReportSchedule, zone string) (*ReportInput, time.Time)) (started int, err error)
	// Reports lists the newest first: finished reports, and those that wait, are being made or failed.
	Reports(ctx context.Context, cluster string, of Filter, page storage.Page) (storage.Listed[Report], error)
	Report(ctx context.Context, cluster, id string) (Report, error)
	ReportPart(ctx context.Context, id string, part int64) ([]byte, error) // NotFound once it is deleted
	// SaveReport stores a file in parts of PartSize, with its description.
	SaveReport(ctx context.Context, cluster string, r Report, parts [][]byte, sum [32]byte) (Report, error)
	SweepReports(ctx context.Context) (deleted int64, err error) // those that there are too many of
}

// Filter limits reports; zero values limit nothing.
type Filter struct {
	Schedule string
}

// Desk starts reports, on request and by schedules, and makes them in the background.
type Desk struct {
	store         Store
	clusters      clusters
	runs          runStarter
	now           func() time.Time
	ahead, behind Writer
}

// Config configures a Desk.
type Config struct {
	Store    Store
	Clusters clusters
	Runs     runStarter
	Now      func() time.Time
	Ahead    Writer // of reports about the time to come
	Behind   Writer // of reports about the past
}

// Writer writes the file of a report.
type Writer func(ctx context.Context, cluster string, in ReportInput, to io.Writer, progress func(runs.Progress)) error

type clusters interface {
	Cluster(ctx context.Context, name string) (inputs.Cluster, error)
}

// runStarter starts runs in the background.
type runStarter interface {
	StartRun(ctx context.Context, n runs.NewRun) (runs.Run, error)
}

func New(c Config) *Desk {
	return &Desk{store: c.Store, clusters: c.Clusters, runs: c.Runs, now: c.Now, ahead: c.Ahead, behind: c.Behind}
}

// reporter is the principal that starts the reports of schedules.
var reporter = auth.Principal{ID: "reporter", Name: "schedule", Role: auth.Operator}

// Schedules returns the schedules of the cluster's reports.
func (d *Desk) Schedules() storage.Collection[ReportSchedule] {
	return fewSchedules{storage.Checked[ReportSchedule]{Collection: d.store.ReportSchedules(), Check: d.checkSchedule}}
}

// fewSchedules limits the schedules of a cluster, so that its reports do not take up all servers.
type fewSchedules struct {
	storage.Checked[ReportSchedule]
}

func (f fewSchedules) Create(ctx context.Context, cluster string, s ReportSchedule) (ReportSchedule, error) {
	there, err := f.List(ctx, cluster, storage.Page{Limit: MaxReportSchedules})
	if err == nil && len(there.Items) == MaxReportSchedules {
		err = fmt.Errorf("the cluster has %d report schedules already, as many as it may; delete one first: %w", len(there.Items), fault.Conflict)
	}
	if err != nil {
		return s, err
	}
	return f.Checked.Create(ctx, cluster, s)
}

func (d *Desk) checkSchedule(ctx context.Context, cluster string, s *ReportSchedule) error {
	if err := s.Validate(); err != nil {
		return err
	}
	c, err := d.clusters.Cluster(ctx, cluster)
	if err != nil {
		return err
	}
	s.NextAt = nil
	if !s.Enabled {
		return nil
	}
	zone, err := c.Zone()
	if err != nil {
		return err
	}
	s.NextAt = new(s.Next(d.now(), zone))
	return nil
}

// StartDue starts the due reports. Of moments that passed while no server worked the last one counts.
func (d *Desk) StartDue(ctx context.Context) (started int, err error) {
	now := d.now()
	return d.store.StartDueReports(auth.With(ctx, reporter), now, func(s ReportSchedule, name string) (*ReportInput, time.Time) {
		zone, err := time.LoadLocation(name)
		if err != nil {
			zone = time.UTC // a newer server knew the zone
		}
		return new(s.Input(s.Last(now, zone), zone)), s.Next(now, zone)
	})
}

// Start starts the requested report, about the time around now.
func (d *Desk) Start(ctx context.Context, cluster string, r ReportRequest) (runs.Run, error) {
	if err := r.Validate(); err != nil {
		return runs.Run{}, err
	}
	c, err := d.clusters.Cluster(ctx, cluster)
	if err != nil {
		return runs.Run{}, err
	}
	zone, err := c.Zone()
	if err != nil {
		return runs.Run{}, err
	}
	in := ReportInput{Every: r.Every, Covers: r.Covers, Format: r.Format, At: d.now().Truncate(time.Second)}
	if r.Schedule != "" {
		s, err := d.store.ReportSchedules().Get(ctx, cluster, r.Schedule)
		if errors.Is(err, fault.NotFound) {
			return runs.Run{}, &fault.InputError{Findings: []fault.Finding{{Pointer: "/schedule", Code: "unknown_name",
				Detail: fmt.Sprintf("The cluster %q has no report schedule %.60q; create it first, or say \"every\", \"covers\" and \"format\".", cluster, r.Schedule)}}}
		}
		if err != nil {
			return runs.Run{}, err
		}
		in.Schedule, in.Every, in.Covers, in.Format = &s.Name, s.Every, s.Covers, s.Format
	}
	in.From, in.Until = around(in.Every, in.Covers, in.At, zone)
	return d.runs.StartRun(ctx, runs.NewRun{Kind: RunKind, Cluster: cluster, Role: auth.Operator, Input: in})
}

// File returns a report whose file can be read.
func (d *Desk) File(ctx context.Context, cluster, id string) (Report, error) {
	r, err := d.store.Report(ctx, cluster, id)
	if err == nil && r.File == nil {
		what := map[runs.RunState]string{runs.RunFailed: "has failed; \"error\" says why", runs.RunCancelled: "was cancelled"}[r.State]
		if what == "" {
			what = fmt.Sprintf("is %s; its file is there when it has succeeded", r.State)
		}
		return r, fmt.Errorf("the report %s: %w", what, fault.Conflict)
	}
	return r, err
}

// MakeForRun makes the report of a run. save stores it.
func (d *Desk) MakeForRun(ctx context.Context, claim runs.Claim, progress func(runs.Progress)) (save func(context.Context) (runs.Result, error), err error) {
	var in ReportInput
	if err := json.Unmarshal(claim.Input, &in); err != nil {
		return nil, fmt.Errorf("read the input of run %s: %w", claim.ID, err)
	}
	file := &parts{sum: sha256.New()}
	write := d.ahead
	if in.Covers == CoversBehind {
		write = d.behind
	}
	if err := write(ctx, claim.Cluster, in, file, progress); err != nil {
		return nil, err
	}
	r := in.Report()
	r.ID = claim.ID
	r.File = &ReportFile{Name: r.fileName(claim.Cluster), Size: file.size}
	return func(ctx context.Context) (runs.Result, error) {
		r, err := d.store.SaveReport(ctx, claim.Cluster, r, file.all, [32]byte(file.sum.Sum(nil)))
		if err != nil {
			return runs.Result{}, err
		}
		r.State = runs.RunSucceeded
		text, err := json.Marshal(r)
		return runs.Result{Type: "application/json", Body: text}, err
	}, nil
}
