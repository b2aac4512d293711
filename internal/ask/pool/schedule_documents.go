package pool

import (
	"crypto/sha256"
	"encoding/json"
	"time"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// PoolFacts holds the stored data from which a cluster's pool is planned.
type PoolFacts struct {
	Settings PoolSettings
	Outlook  horizon.Outlook // over the rounds
	Machines PoolMachines
	Samples  []StorageSample // that count as measured, by time
	Recorded RecordedHours
	Current  *PoolSchedule // valid now; nil without one
	Number   int64         // its number, and the version of the settings it was made by
	Version  int64
}

// RecordedHours counts the submissions of jobs in the hours that count as measured.
type RecordedHours struct {
	From, Until time.Time // whole hours; equal if no execution of the cluster is dated
	Jobs        map[string]map[int32]int64
}

// PoolBasis holds the problem that a pool's plan answers, and the sources of its figures.
type PoolBasis struct {
	At       time.Time         `json:"at"`
	From     time.Time         `json:"from"` // of the round that is under way, or the first one
	Problem  PoolCourseProblem `json:"problem"`
	Machines []PoolMachine     `json:"machines"` // that run
	Sources  PoolSources       `json:"sources"`
	Version  int64             `json:"settings_version"`
}

// Sum returns the same hash for bases with the same problem: their sources may differ.
func (b PoolBasis) Sum() ([]byte, error) {
	b.At, b.Sources = time.Time{}, PoolSources{}
	text, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	return sum[:], nil
}

// PoolSources lists the sources of a plan's figures.
type PoolSources struct {
	Jobs     []JobSource        `json:"jobs"`
	Data     DataSource         `json:"data"`
	Warnings []capacity.Warning `json:"warnings"` // missing or old data
}

// The sources of a figure.
const (
	FromSettings   = "settings"
	FromForecast   = "forecast"
	FromExecutions = "executions"
	FromSamples    = "storage_samples"
	FromJobs       = "jobs"
	FromNowhere    = "missing"
)

// JobSource lists the sources of a job's submissions.
type JobSource struct {
	Job   string       `json:"job"`
	Hours []HourSource `json:"hours"` // all hours of the rounds, by their source
}

// HourSource covers hours whose figures share one source.
type HourSource struct {
	From          string     `json:"from"`
	Hours         int64      `json:"hours"`
	Submissions   float64    `json:"submissions"` // in them all
	Class         string     `json:"class,omitempty"`
	RecordedAs    string     `json:"recorded_as,omitempty"`
	Executions    int64      `json:"executions,omitempty"` // that were counted,
	MeasuredFrom  *time.Time `json:"measured_from,omitempty"`
	MeasuredUntil *time.Time `json:"measured_until,omitempty"`
	Pattern       string     `json:"pattern,omitempty"` // hour_of_week, or mean
	Detail        string     `json:"detail"`
}

// How executions of hours past become submissions of hours to come.
const (
	PatternWeek = "hour_of_week" // the mean of the same hour of the weeks measured, by the cluster's clocks
	PatternMean = "mean"         // of all hours, if they are less than a week
)

// DataSource gives the source of the amount of data and of its growth.
type DataSource struct {
	From          string     `json:"from"`
	GB            float64    `json:"data_gb"`
	At            *time.Time `json:"at,omitempty"` // when there was as much
	GrowthFrom    string     `json:"growth_from"`
	GBPerHour     float64    `json:"gb_per_hour"` // of samples
	Samples       int64      `json:"samples"`
	MeasuredFrom  *time.Time `json:"measured_from,omitempty"`
	MeasuredUntil *time.Time `json:"measured_until,omitempty"`
	Detail        string     `json:"detail"`
}

// PoolSchedule is a pool over time: the machines that should run, and the steps to rent and return them.
type PoolSchedule struct {
	Status   PoolStatus         `json:"status"` // the worst of its rounds'
	Cost     money.Amount       `json:"cost"`   // of the rounds that it planned itself and that have a pool
	Currency string             `json:"currency"`
	From     time.Time          `json:"from"`
	Until    time.Time          `json:"until"`
	Rounds   []ScheduledRound   `json:"rounds"`
	Targets  []PoolTarget       `json:"targets"` // by time; one holds until the next of its type and use
	Steps    []PoolStep         `json:"steps"`   // by time
	Sources  PoolSources        `json:"sources"`
	Warnings []capacity.Warning `json:"warnings"`
}

// ScheduledRound is a round of a schedule.
type ScheduledRound struct {
	From      time.Time `json:"from"`
	Until     time.Time `json:"until"`
	DecidedBy int64     `json:"decided_by"` // the plan that decided it before it was under way, and that still applies; 0 is this one
	DataGB    float64   `json:"data_gb"`
	Plan      PoolPlan  `json:"plan"`
}

// PoolTarget is the number of machines that should run from a moment on.
type PoolTarget struct {
	At    time.Time `json:"at"`
	Type  string    `json:"type"`
	As    string    `json:"as"`
	Count int64     `json:"count"`
}

// PoolStep counts machines to rent or to return.
type PoolStep struct {
	At    time.Time `json:"at"`
	Type  string    `json:"type"`
	As    string    `json:"as"`
	Count int64     `json:"count"` // above 0 they are rented, below 0 given back
	Why   string    `json:"why"`
}

// PoolPlanSummary sums up a plan of a pool in one row.
type PoolPlanSummary struct {
	ID              string       `json:"id"`
	Number          int64        `json:"number"`
	Cluster         string       `json:"cluster"`
	At              time.Time    `json:"at"` // the moment it was made for
	CreatedAt       time.Time    `json:"created_at"`
	CreatedBy       string       `json:"created_by"`
	SettingsVersion int64        `json:"settings_version"`
	Reason          string       `json:"reason"` // the trigger
	Status          PoolStatus   `json:"status"`
	Cost            money.Amount `json:"cost"`
	Currency        string       `json:"currency"`
	Starts          time.Time    `json:"from" db:"starts"`
	Ends            time.Time    `json:"until" db:"ends"`
	Rounds          int64        `json:"rounds"`
	Steps           int64        `json:"steps"`
}

// PoolPlanRecord is a stored plan with its basis.
type PoolPlanRecord struct {
	PoolPlanSummary
	Basis json.RawMessage `json:"basis"` // a PoolBasis
	Plan  json.RawMessage `json:"plan"`  // a PoolSchedule

	Sum []byte `json:"-" db:"-"` // of the basis
}

// SummarizePool sums up a schedule.
func SummarizePool(s PoolSchedule) PoolPlanSummary {
	return PoolPlanSummary{Status: s.Status, Cost: s.Cost, Currency: s.Currency, Starts: s.From, Ends: s.Until, Rounds: int64(len(s.Rounds)), Steps: int64(len(s.Steps))}
}
