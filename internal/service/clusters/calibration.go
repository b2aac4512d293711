package clusters

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/data/history"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
)

// Calibrations stores, per class, how measured execution times compare with predicted bounds.
type Calibrations interface {
	// Measurements returns the latest executions of a job, at most perf.MaxCalibrated.
	Measurements(ctx context.Context, cluster string, of MeasuredFilter) (Measurements, error)
	// Adoption returns the data behind a class's calibration, or nil if there is none or the figures have changed
	// since.
	Adoption(ctx context.Context, cluster, class string) (*Adoption, error)
	// AdoptCalibration changes a class's calibration at a version of the class, and stores the data behind it.
	AdoptCalibration(ctx context.Context, cluster, class string, version int64, a Adoption) (inputs.PlannedClass, error)
	// JudgeDrifts judges again how well later executions fit, for each class whose calibration was made from one of
	// the jobs.
	JudgeDrifts(ctx context.Context, cluster string, jobs []string, judge func(Adoption, capacity.Profile, []perf.Measured) perf.Drift) error
	// ClassDrifts returns those of a cluster's classes, by name; cluster "" is all clusters.
	ClassDrifts(ctx context.Context, cluster string) ([]ClassDrift, error)
}

// MeasuredFilter limits measurements to executions of a job and a form, submitted in [From, Until); zero
// times limit nothing.
type MeasuredFilter struct {
	Job, Form   string
	From, Until time.Time
}

// Measurements holds executions of a job.
type Measurements struct {
	Executions []perf.Measured
	// Unfit counts the executions of the job, within that time or undated, that cannot be used. They ended badly,
	// have no time or date on record, or have another form.
	Unfit int64
}

// Adoption is a calibration in use, with the data behind it.
type Adoption struct {
	perf.Basis
	Job       string            `json:"job"`
	Profile   inputs.ProfileRef `json:"profile"`
	AdoptedAt time.Time         `json:"adopted_at"`
	AdoptedBy string            `json:"adopted_by"` // the key's name
	Drift     perf.Drift        `json:"drift"`
}

// ClassDrift holds the drift of a class from its calibration.
type ClassDrift struct {
	Cluster string
	Class   string
	Drift   perf.Drift
}

// CalibrationChannel notifies, by a cluster's name, that the drift of a class changed.
const CalibrationChannel = "headroom_calibrations"

// CalibrationAsk selects the data to calibrate a class with. Zero values leave the choice to the service.
type CalibrationAsk struct {
	Job      string    `json:"job,omitzero"` // default: the job whose executions made the profile
	From     time.Time `json:"from,omitzero"`
	Until    time.Time `json:"until,omitzero"`
	Coverage float64   `json:"coverage,omitzero"`
	// The figures to adopt. A factor alone goes with the recommended bound, a bound alone with its own factor.
	Bound  capacity.Bound `json:"bound,omitzero"`
	Factor float64        `json:"factor,omitzero"`
}

// ClassCalibration compares a class's bounds with measured times, and holds the calibration in use.
type ClassCalibration struct {
	Class   string            `json:"class"`
	Job     string            `json:"job"`
	Profile inputs.ProfileRef `json:"profile"`
	perf.Calibration
	Unfit    int64                 `json:"unfit"`
	InUse    *capacity.Calibration `json:"in_use"`   // null without one
	Adoption *Adoption             `json:"adoption"` // the data behind it; null if not on record
}

// Calibrate compares a class's bounds with the times of executions.
func (d *Desk) Calibrate(ctx context.Context, cluster, class string, ask CalibrationAsk) (ClassCalibration, error) {
	stored, err := d.inputs.Classes().Get(ctx, cluster, class)
	if err != nil {
		return ClassCalibration{}, err
	}
	report, err := d.calibrate(ctx, cluster, stored, ask)
	if err != nil {
		return report, err
	}
	report.InUse = stored.Calibration
	report.Adoption, err = d.calibrations.Adoption(ctx, cluster, class)
	return report, err
}

// CalibrationQuestion returns the profile and the executions that Calibrate compares.
func (d *Desk) CalibrationQuestion(ctx context.Context, cluster, class string, ask CalibrationAsk) (perf.CalibrationQuestion, error) {
	stored, err := d.inputs.Classes().Get(ctx, cluster, class)
	if err != nil {
		return perf.CalibrationQuestion{}, err
	}
	q, _, err := d.calibrationQuestion(ctx, cluster, stored, ask)
	return q, err
}

func (d *Desk) calibrate(ctx context.Context, cluster string, class inputs.PlannedClass, ask CalibrationAsk) (ClassCalibration, error) {
	q, report, err := d.calibrationQuestion(ctx, cluster, class, ask)
	if err == nil {
		report.Calibration, err = perf.Calibrated(q)
	}
	return report, err
}

// calibrationQuestion finds the executions of a class. The report with them says whose they are.
func (d *Desk) calibrationQuestion(ctx context.Context, cluster string, class inputs.PlannedClass, ask CalibrationAsk) (q perf.CalibrationQuestion, report ClassCalibration, err error) {
	report = ClassCalibration{Class: class.Name, Job: ask.Job}
	if class.Profile == nil {
		return q, report, fmt.Errorf("class %q has no profile, so that there are no bounds that could be calibrated; give it one: %w", class.Name, fault.Conflict)
	}
	report.Profile = *class.Profile
	version, err := d.profiles.Profile(ctx, cluster, class.Profile.Name, class.Profile.Version)
	if err != nil {
		return q, report, err
	}
	if report.Job == "" {
		if report.Job = sourceJob(version.Source); report.Job == "" {
			return q, report, fault.At("/job", "missing", fmt.Sprintf("Say of which job the class's executions are: version %d of the profile %q does not say what job it was made of.", version.Version, version.Name))
		}
	}
	measured, err := d.calibrations.Measurements(ctx, cluster, MeasuredFilter{Job: report.Job, Form: FormOf(version.Profile), From: ask.From, Until: ask.Until})
	report.Unfit = measured.Unfit
	return perf.CalibrationQuestion{Profile: version.Profile, Executions: measured.Executions, Coverage: cmp.Or(ask.Coverage, perf.DefaultCoverage)}, report, err
}

// AdoptCalibration plans a class by the times of its executions, from now on.
func (d *Desk) AdoptCalibration(ctx context.Context, cluster, class string, version int64, ask CalibrationAsk) (inputs.PlannedClass, error) {
	stored, err := d.inputs.Classes().Get(ctx, cluster, class)
	if err != nil {
		return stored, err
	}
	report, err := d.calibrate(ctx, cluster, stored, ask)
	if err != nil {
		return stored, err
	}
	use, err := report.choose(ask)
	if err != nil {
		return stored, err
	}
	stored.Calibration = &use
	if err := d.checkClass(ctx, cluster, &stored); err != nil {
		return stored, inCalibration(err)
	}
	basis, err := report.Basis(use.Bound, use.Factor)
	if err != nil {
		return stored, err
	}
	changed, err := d.calibrations.AdoptCalibration(ctx, cluster, class, version, Adoption{Basis: basis, Job: report.Job, Profile: report.Profile})
	if err != nil {
		return stored, err
	}
	changed.Warnings = stored.Warnings
	d.judgeDrifts(ctx, cluster, []string{report.Job}) // of executions that are later, and were left out
	return changed, nil
}

// choose returns the bound and the factor to plan with.
func (c *ClassCalibration) choose(ask CalibrationAsk) (use capacity.Calibration, err error) {
	if c.Recommends == nil {
		return use, fault.At("/job", "no_executions", fmt.Sprintf("There is no execution of the job %q that the class could be calibrated with in that time; import its history, or name another job.", c.Job))
	}
	use = capacity.Calibration{Bound: c.Recommends.Bound, Factor: c.Recommends.Factor}
	if ask.Bound != "" {
		at := slices.IndexFunc(c.Factors, func(f perf.Factor) bool { return f.Bound == ask.Bound })
		if at < 0 && ask.Factor == 0 {
			return use, fault.At("/bound", "no_factor", fmt.Sprintf("No factor makes the %s bound hold, because it falls below nothing with as many slots as the executions had; take another bound.", ask.Bound))
		}
		if use.Bound = ask.Bound; at >= 0 {
			use.Factor = c.Factors[at].Factor
		}
	}
	if ask.Factor != 0 {
		use.Factor = ask.Factor
	}
	return use, nil
}

// inCalibration moves findings about a class's calibration to the request's members.
func inCalibration(err error) error {
	return fault.Move(err, func(pointer string) string { return strings.TrimPrefix(pointer, "/calibration") })
}

// sourceJob returns the job from which a profile was made, if its source names it.
func sourceJob(source json.RawMessage) string {
	var of struct {
		Job string `json:"job"`
	}
	if json.Unmarshal(source, &of) != nil {
		return ""
	}
	return of.Job
}

// FormOf returns the form of the executions that a profile can be compared with.
func FormOf(p capacity.Profile) string {
	if len(p.Stages) > 0 {
		return history.Stages
	}
	return history.MapReduce
}

// judgeDrifts checks whether classes still fit after executions of their jobs have come. If that fails, the
// executions stay stored.
func (d *Desk) judgeDrifts(ctx context.Context, cluster string, jobs []string) {
	err := d.calibrations.JudgeDrifts(ctx, cluster, jobs, func(of Adoption, p capacity.Profile, executions []perf.Measured) perf.Drift {
		return perf.Drifts(perf.Demands(p), p.OverheadSeconds, executions, of.Basis)
	})
	if t := d.telemetry; err != nil && t != nil {
		t.Log.Warn("drift not judged", "cluster", cluster, "error", err.Error())
	}
}

// fitting lists classes with the drift of their executions.
type fitting struct {
	storage.Checked[inputs.PlannedClass]
	drifts func(ctx context.Context, cluster string) ([]ClassDrift, error)
}

func (f fitting) List(ctx context.Context, cluster string, page storage.Page) (storage.Listed[inputs.PlannedClass], error) {
	list, err := f.Checked.List(ctx, cluster, page)
	if err != nil || !slices.ContainsFunc(list.Items, func(c inputs.PlannedClass) bool { return c.Calibration != nil }) {
		return list, err
	}
	drifts, err := f.drifts(ctx, cluster)
	if err != nil {
		return list, err
	}
	for i, c := range list.Items {
		at, found := slices.BinarySearchFunc(drifts, c.Name, func(d ClassDrift, name string) int { return strings.Compare(d.Class, name) })
		if found {
			list.Items[i].Drift = &drifts[at].Drift
		}
	}
	return list, nil
}
