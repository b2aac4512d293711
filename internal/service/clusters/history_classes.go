package clusters

import (
	"context"
	"fmt"
	"math"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/history"
	"example.org/headroom/internal/data/inputs"
)

const (
	// maxClassesMade is the maximum number of classes that are made of past runs at once.
	maxClassesMade = 100
	// Ahead is how far forecasts of past runs reach, unless somebody says until when.
	Ahead = 92 * 24 * time.Hour
	// keptShare is the share of a job's runs that a proposed deadline covers.
	keptShare = 0.95
	// fewReasons is the number of jobs without a usable run of which one run's reason is told.
	fewReasons = 20
	listPage   = 1000
)

// ClassesFromHistory selects the recorded jobs of which classes are made, and what is known of them besides.
type ClassesFromHistory struct {
	Jobs   []JobToPlan `json:"jobs,omitempty"`  // none: all that have runs to plan by,
	After  string      `json:"after,omitempty"` // and in the order of names come after this one
	Slots  int64       `json:"slots,omitempty"` // tasks at once on one VM; 0: one for each of its processors
	Until  *time.Time  `json:"until,omitempty"` // of the forecasts; null: Ahead from this hour on
	DryRun bool        `json:"dry_run,omitempty"`
}

// JobToPlan is a recorded job, with what a person says of its class.
type JobToPlan struct {
	Job             string  `json:"job"`
	Name            string  `json:"name,omitempty"`       // of the class and its profile; "": one made of the job's
	DeadlineSeconds float64 `json:"deadline_s,omitempty"` // 0: one that 95 % of the runs met, all of fewer than 20
}

// ClassesMade tells the classes that were made, or would be.
type ClassesMade struct {
	DryRun   bool         `json:"dry_run"`
	Until    time.Time    `json:"until"` // of the forecasts
	Classes  []ClassMade  `json:"classes"`
	MoreJobs int64        `json:"more_jobs"` // that wait for a further request
	Next     string       `json:"next"`      // After of that request; "" where no job waits
	LeftOut  Refusals     `json:"left_out"`  // runs and jobs
	Assumed  []Assumption `json:"assumed"`   // of all classes
}

// ClassMade is a class of past runs.
type ClassMade struct {
	Job           string              `json:"job"`
	Class         inputs.PlannedClass `json:"class"`
	Runs          int64               `json:"runs"`
	MedianSeconds *float64            `json:"median_seconds"` // null if unknown
	Arrivals      string              `json:"arrivals"`       // in words
	Assumed       []Assumption        `json:"assumed"`
}

// Assumption ends a sentence that begins with "It takes for granted that".
type Assumption struct {
	About  string `json:"about"` // one of the constants below
	Detail string `json:"detail"`
}

// What assumptions are about.
const (
	AboutDeadline    = "deadline"
	AboutCalibration = "calibration"
	AboutSlots       = "slots"
	AboutRuns        = "runs"
	AboutMachines    = "machines"
	AboutJobs        = "jobs"
	AboutForecast    = "forecast"
)

// Arriving returns the hour from which on jobs with a deadline arrive that may still run in another hour.
func Arriving(hour time.Time, deadline float64) time.Time {
	return hour.Add(-time.Duration(math.Ceil(deadline/3600)) * time.Hour)
}

// Promised is the range of a class of whose jobs none may be refused, with so many at once. Nobody has said yet what a
// refused one would be worth.
func Promised(atOnce int64) capacity.JobRange {
	return capacity.JobRange{All: true}.Of(float64(atOnce))
}

// PromisedJobs says what Promised takes for granted.
const PromisedJobs = "all jobs that arrive are promised, so that none is refused; give a penalty to a class whose jobs may be"

// madeClass is a class that can be stored.
type madeClass struct {
	profile  inputs.ProfileVersion
	isNew    bool // the version
	class    inputs.PlannedClass
	adoption *Adoption // of the calibration; nil without one
	forecast *inputs.Series
	seldom   bool // it ran too seldom to be expected again
}

// ClassesFromHistory makes classes of recorded jobs, each with its profile, deadline, calibration and forecast: all of them
// or none. Without a choice of jobs it leaves out those of which no class can be made, and says why.
func (d *Desk) ClassesFromHistory(ctx context.Context, cluster string, q ClassesFromHistory) (ClassesMade, error) {
	s, err := d.inputs.Snapshot(ctx, cluster, d.now())
	if err != nil {
		return ClassesMade{}, err
	}
	m, err := d.classMaker(s, q)
	if err != nil {
		return ClassesMade{}, err
	}
	jobs, err := m.choose(ctx, q)
	if err != nil || len(jobs) == 0 {
		return m.made, err
	}
	if err := lacksSupply(s, d.now()); err != nil {
		return ClassesMade{}, err
	}
	if err := m.settleSlots(q.Slots); err != nil {
		return ClassesMade{}, err
	}
	for i, job := range jobs {
		err := m.add(ctx, job)
		switch findings := fault.Findings(err); {
		case len(findings) > 0 && len(q.Jobs) == 0:
			m.made.LeftOut.add(history.Refusal{Where: job.Job, Detail: findings[0].Detail})
		case err != nil:
			return ClassesMade{}, fault.Move(err, fault.Under(fmt.Sprintf("/jobs/%d", i)))
		}
	}
	m.assume()
	if q.DryRun || len(m.all) == 0 {
		return m.made, nil
	}
	if err := d.storeClasses(ctx, cluster, m); err != nil {
		return ClassesMade{}, err
	}
	return m.made, nil
}

// storeClasses stores what was made, in one transaction.
func (d *Desk) storeClasses(ctx context.Context, cluster string, m *classMaker) error {
	defer d.plans.Changing(ctx, cluster)()
	err := d.inputs.Together(ctx, cluster, func(ctx context.Context) error {
		series := make([]inputs.Series, 0, len(m.all))
		for i := range m.all {
			if err := d.storeClass(ctx, cluster, &m.all[i]); err != nil {
				return err
			}
			m.made.Classes[i].Class = m.all[i].class
			if s := m.all[i].forecast; s != nil {
				series = append(series, *s)
			}
		}
		_, err := d.forecasts.PutForecasts(ctx, cluster, series, false)
		return err
	})
	if err != nil {
		return err
	}
	var jobs []string
	for i := range m.all {
		if a := m.all[i].adoption; a != nil {
			jobs = append(jobs, a.Job)
		}
	}
	d.judgeDrifts(ctx, cluster, jobs) // of executions that are later, and were left out
	return nil
}

func (d *Desk) storeClass(ctx context.Context, cluster string, c *madeClass) error {
	if c.isNew {
		profile, err := d.storeProfile(ctx, cluster, c.profile)
		if err != nil {
			return err
		}
		c.class.Profile.Version = profile.Version
	}
	warnings := c.class.Warnings
	stored, err := d.inputs.Classes().Create(ctx, cluster, c.class)
	if err == nil && c.adoption != nil {
		c.adoption.Profile = *c.class.Profile
		stored, err = d.calibrations.AdoptCalibration(ctx, cluster, stored.Name, stored.Version, *c.adoption)
	}
	c.class = stored
	c.class.Warnings = warnings
	return err
}
