package clusters

import (
	"context"
	"fmt"
	"slices"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/data/storage"
)

// Fits stores measurements of jobs, and the fits to them.
type Fits interface {
	// AddMeasurements stores valid measurements in the caller's name, deletes the oldest surplus ones, and fits their
	// series again. A different fit becomes a new version.
	AddMeasurements(ctx context.Context, cluster string, all []perf.JobMeasurement, fit Fitter) ([]perf.JobFit, error)
	// JobMeasurements lists the newest first.
	JobMeasurements(ctx context.Context, cluster string, of MeasurementFilter, page storage.Page) (storage.Listed[perf.JobMeasurement], error)
	// DeleteMeasurements deletes the measurements that match a filter, returns their number, and fits the rest again.
	DeleteMeasurements(ctx context.Context, cluster string, of MeasurementFilter, fit Fitter) (int64, error)
	// JobFits lists the latest versions, by job and kind. If nothing could be fitted yet they have the version 0 and
	// the reason.
	JobFits(ctx context.Context, cluster string, of MeasurementFilter, page storage.Page) (storage.Listed[perf.JobFit], error)
	// JobFit returns one version; 0 is the latest.
	JobFit(ctx context.Context, cluster, job string, kind perf.FitKind, version int64) (perf.JobFit, error)
	// LatestFits returns the latest versions of a kind, for those jobs that have one.
	LatestFits(ctx context.Context, cluster string, kind perf.FitKind, jobs []string) (map[string]perf.JobFit, error)
	// JobFitVersions lists the newest first.
	JobFitVersions(ctx context.Context, cluster, job string, kind perf.FitKind, page storage.Page) (storage.Listed[perf.JobFit], error)
	// ExecutionSizes returns the latest successful executions of a job, up to a limit.
	ExecutionSizes(ctx context.Context, cluster, job string, most int) ([]perf.ExecutionSize, error)
}

// Fitter fits the measurements of a job and kind.
type Fitter func(job string, kind perf.FitKind, all []perf.JobMeasurement) perf.JobFit

// MeasurementFilter limits measurements to those of moments in [From, Until); zero values are no limits.
type MeasurementFilter struct {
	Job         string
	Kind        perf.FitKind
	From, Until time.Time
}

// usually fits by the default method.
func usually(job string, kind perf.FitKind, all []perf.JobMeasurement) perf.JobFit {
	return perf.FitJob(job, kind, all, "")
}

// MeasurementsTaken is the result of sending measurements.
type MeasurementsTaken struct {
	Measurements int64         `json:"measurements"`
	Fits         []perf.JobFit `json:"fits"` // that they concern, by job and kind
}

// Measure stores measurements of jobs, and fits them.
func (d *Desk) Measure(ctx context.Context, cluster string, sent []perf.MeasurementRequest) (MeasurementsTaken, error) {
	all, err := perf.CheckMeasurements(sent, d.now())
	if err != nil {
		return MeasurementsTaken{}, err
	}
	fits, err := d.fits.AddMeasurements(ctx, cluster, all, usually)
	return MeasurementsTaken{Measurements: int64(len(all)), Fits: fits}, err
}

// ForgetMeasurements deletes the measurements that match a filter.
func (d *Desk) ForgetMeasurements(ctx context.Context, cluster string, of MeasurementFilter) (int64, error) {
	return d.fits.DeleteMeasurements(ctx, cluster, of, usually)
}

// FitAsk selects a fit and its predictions.
type FitAsk struct {
	Version  int64          // 0 is the latest
	Method   perf.FitChoice // "" is the stored fit; any other is made from the present measurements, and not stored
	VMs      *float64       // the time on that many
	Residual *float64       // the time with so much of a node
}

// FitOf returns a fit with its predictions. Faults of the question are an *InputError whose pointers are the names of
// its parts.
func (d *Desk) FitOf(ctx context.Context, cluster, job string, kind perf.FitKind, ask FitAsk) (f perf.JobFit, err error) {
	wrong := func(part, code, format string, args ...any) (perf.JobFit, error) {
		return f, fault.At("/"+part, code, fmt.Sprintf(format, args...))
	}
	choices := perf.FitChoices(kind)
	switch {
	case ask.Method != "" && !slices.Contains(choices, ask.Method):
		if len(choices) == 0 {
			return wrong("method", "choice", "Fits of the kind %q are made in one way; leave the method out.", kind)
		}
		return wrong("method", "choice", "Fits of the kind %q are made by the methods %q and %q.", kind, choices[0], choices[1])
	case ask.Method != "" && ask.Version != 0:
		return wrong("method", "conflict", "A version is a fit that is kept; ask for it, or for a fit by another method of the measurements of today.")
	case ask.VMs != nil && kind != perf.PowerFits:
		return wrong("vms", "unexpected", "A fit of the kind %q says nothing of a number of VMs; that of the kind %q does.", kind, perf.PowerFits)
	case ask.Residual != nil && kind != perf.TaskTimeFits:
		return wrong("residual", "unexpected", "A fit of the kind %q says nothing of what is left of a node; that of the kind %q does.", kind, perf.TaskTimeFits)
	}
	if f, err = d.fits.JobFit(ctx, cluster, job, kind, ask.Version); err != nil {
		return f, err
	}
	if ask.Method != "" {
		all, err := d.MeasurementsOf(ctx, cluster, job, kind)
		if err != nil {
			return f, err
		}
		f = perf.FitJob(job, kind, all, ask.Method)
	}
	if f.Power == nil && f.TaskTime == nil && f.Rate == nil && f.Usage == nil {
		return f, fmt.Errorf("nothing can be fitted to what was measured of %q of the kind %s: %s: %w", job, kind, f.Refused, fault.NotFound)
	}
	return f, f.Predict(ask.VMs, ask.Residual)
}

// MeasurementsOf returns all stored measurements of a job and kind.
func (d *Desk) MeasurementsOf(ctx context.Context, cluster, job string, kind perf.FitKind) (all []perf.JobMeasurement, err error) {
	list, err := d.fits.JobMeasurements(ctx, cluster, MeasurementFilter{Job: job, Kind: kind}, storage.Page{Limit: perf.MaxKeptMeasurements})
	return list.Items, err
}
