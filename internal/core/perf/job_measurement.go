package perf

import (
	"slices"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
)

// FitKind names a kind of measurements of a job, and the fit to them.
type FitKind string

const (
	PowerFits    FitKind = "power"     // times on numbers of VMs
	TaskTimeFits FitKind = "task_time" // times of tasks by the residual of their node
	RateFits     FitKind = "rate"      // times of tasks by type of node
	UsageFits    FitKind = "usage"     // how busy it keeps processors and disks
)

// FitKinds lists all kinds.
var FitKinds = []FitKind{PowerFits, RateFits, TaskTimeFits, UsageFits}

// Limits of stored measurements.
const (
	// MaxKeptMeasurements is the number of latest measurements stored for a job and kind.
	MaxKeptMeasurements = 2_000
	MaxMeasuredJobs     = 2_000 // kinds counted apart, of a cluster
	MaxSentMeasurements = 2_000 // at once
	MaxSentSeries       = 100   // jobs, kinds counted apart, at once
	MaxKeptFits         = 200   // versions of a job and kind
	maxIOMBPerS         = 1e9
)

// MeasurementsKind names deleted measurements in the audit log.
const MeasurementsKind = "measurements"

// MeasurementRequest holds a measurement as sent. Its members depend on the kind.
type MeasurementRequest struct {
	Job  string     `json:"job"`
	Kind FitKind    `json:"kind"`
	At   *time.Time `json:"at,omitempty"` // nil is now

	VMs         *float64 `json:"vms,omitempty"`         // power, usage
	Residual    *float64 `json:"residual,omitempty"`    // task_time: the part of the node left for the task; or
	Utilization *float64 `json:"utilization,omitempty"` // the part that other work kept busy
	NodeType    string   `json:"node_type,omitempty"`   // rate
	Seconds     *float64 `json:"seconds,omitempty"`     // all but usage
	CPUPercent  *float64 `json:"cpu_percent,omitempty"` // usage: mean of a VM
	IOMBPerS    *float64 `json:"io_mb_s,omitempty"`     // usage: of all VMs together
}

// JobMeasurement is a stored measurement. It never changes.
type JobMeasurement struct {
	ID         string    `json:"id"` // UUID version 7
	Job        string    `json:"job"`
	Kind       FitKind   `json:"kind"`
	At         time.Time `json:"at"`
	MeasuredBy string    `json:"measured_by"` // the key's name
	VMs        *float64  `json:"vms" db:"vms"`
	Residual   *float64  `json:"residual"`
	NodeType   *string   `json:"node_type"`
	Seconds    *float64  `json:"seconds"`
	CPUPercent *float64  `json:"cpu_percent"`
	IOMBPerS   *float64  `json:"io_mb_s" db:"io_mb_s"`
}

// CheckMeasurements reads the measurements sent at a moment, below the member "measurements".
func CheckMeasurements(sent []MeasurementRequest, now time.Time) (all []JobMeasurement, err error) {
	err = strict.Check(func(k *strict.Checker) { all = checkMeasurements(k, sent, now) })
	return all, err
}

func checkMeasurements(k *strict.Checker, sent []MeasurementRequest, now time.Time) []JobMeasurement {
	all := make([]JobMeasurement, 0, len(sent))
	type series struct {
		job  string
		kind FitKind
	}
	several := map[series]bool{}
	k.Enter("measurements")
	for i, m := range sent {
		k.Element(i)
		all = append(all, checkJobMeasurement(k, m, now))
		k.Leave()
		several[series{m.Job, m.Kind}] = true
	}
	k.Leave()
	switch {
	case len(sent) == 0:
		k.Refuse("measurements", "too_few", "There is no measurement; give at least one.")
	case len(sent) > MaxSentMeasurements:
		k.Refuse("measurements", "too_many", "There are %d measurements; at most %d are taken at once.", len(sent), MaxSentMeasurements)
	case len(several) > MaxSentSeries:
		k.Refuse("measurements", "too_many", "The measurements are of %d jobs, kinds counted apart; at most %d are taken at once.", len(several), MaxSentSeries)
	}
	return all
}

func checkJobMeasurement(c *strict.Checker, m MeasurementRequest, now time.Time) JobMeasurement {
	kept := JobMeasurement{Job: m.Job, Kind: m.Kind, At: now, Seconds: m.Seconds, VMs: m.VMs, Residual: m.Residual, CPUPercent: m.CPUPercent, IOMBPerS: m.IOMBPerS}
	if m.At != nil {
		kept.At = *m.At
		if c.Moment("at", *m.At) && m.At.After(now.Add(strict.MaxAhead)) {
			c.Refuse("at", "range", "It was measured at %s, which is later than now.", m.At.UTC().Format(time.RFC3339))
		}
	}
	kept.At = kept.At.UTC().Truncate(time.Microsecond)
	c.NameAt("job", m.Job)
	has := map[string]bool{"vms": m.VMs != nil, "residual": m.Residual != nil, "utilization": m.Utilization != nil, "node_type": m.NodeType != "",
		"seconds": m.Seconds != nil, "cpu_percent": m.CPUPercent != nil, "io_mb_s": m.IOMBPerS != nil}
	var wants []string
	switch m.Kind {
	case PowerFits:
		wants = []string{"vms", "seconds"}
	case TaskTimeFits:
		wants = []string{"residual", "seconds"}
		if has["utilization"] && !has["residual"] { // the papers' figures have it so
			wants[0] = "utilization"
			if c.Between("utilization", "What other work keeps busy of the node", *m.Utilization, 0, 1) {
				kept.Residual = new(1 - *m.Utilization)
			}
		}
	case RateFits:
		wants = []string{"node_type", "seconds"}
	case UsageFits:
		wants = []string{"vms", "cpu_percent", "io_mb_s"}
	default:
		strict.OneOf(c, "kind", m.Kind, FitKinds)
		return kept
	}
	for _, member := range []string{"vms", "residual", "utilization", "node_type", "seconds", "cpu_percent", "io_mb_s"} {
		wanted := slices.Contains(wants, member)
		switch {
		case wanted && !has[member]:
			c.Refuse(member, "missing", "A measurement of the kind %q needs %q.", m.Kind, member)
		case !wanted && has[member]:
			c.Refuse(member, "unexpected", "A measurement of the kind %q has no %q; leave it out.", m.Kind, member)
		}
	}
	if m.VMs != nil && c.Between("vms", "The number of VMs", *m.VMs, 1, capacity.MaxVMs) && m.Kind == UsageFits && *m.VMs != float64(int64(*m.VMs)) {
		c.Refuse("vms", "range", "The number of VMs is %s; give a whole one.", fault.Plain(*m.VMs))
	}
	if m.Residual != nil {
		c.Between("residual", "What is left of the node", *m.Residual, 0, 1)
	}
	if m.Seconds != nil && c.Number("seconds", "The time", "seconds", *m.Seconds, capacity.MaxSeconds) && *m.Seconds < MinMeasuredSeconds {
		c.Refuse("seconds", "range", "The time is %s seconds; it must be more than 0.", fault.Plain(*m.Seconds))
	}
	if m.CPUPercent != nil {
		c.Between("cpu_percent", "The processors' mean load", *m.CPUPercent, 0, 100)
	}
	if m.IOMBPerS != nil {
		c.Number("io_mb_s", "What is read and written", "MB/s", *m.IOMBPerS, maxIOMBPerS)
	}
	if m.NodeType != "" {
		c.NameAt("node_type", m.NodeType)
		kept.NodeType = &m.NodeType
	}
	return kept
}

// MinMeasuredSeconds is the shortest time that counts as measured.
const MinMeasuredSeconds = 1e-9
