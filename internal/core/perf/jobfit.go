package perf

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/words"
)

// JobFit is the fit of a kind to the measurements of a job. Exactly one of the four fits is set, or none if Refused
// gives a reason.
type JobFit struct {
	Job          string              `json:"job"`
	Kind         FitKind             `json:"kind"`
	Version      int64               `json:"version"` // 0 means none: nothing has been fitted yet, or not with this method
	MadeAt       *time.Time          `json:"made_at"` // null without a fit
	Measurements int64               `json:"measurements"`
	FirstAt      *time.Time          `json:"first_at"` // measured
	LastAt       *time.Time          `json:"last_at"`
	Refused      string              `json:"refused"` // reason why today's measurements cannot be fitted; the fit is of earlier ones
	Power        *PowerFit           `json:"power,omitempty"`
	TaskTime     *TaskTimeFit        `json:"task_time,omitempty"`
	Rate         *RateFit            `json:"rate,omitempty"`
	Usage        *UsageFit           `json:"usage,omitempty"`
	Predicted    *PowerPrediction    `json:"predicted,omitempty"`      // the requested prediction
	PredictedAt  *TaskTimePrediction `json:"predicted_task,omitempty"` // likewise
}

// FitChoice selects the method of a fit that has several.
type FitChoice string

const (
	LogChoice           FitChoice = "log"
	NLSChoice           FitChoice = "nls"
	ConstrainedChoice   FitChoice = "constrained"
	UnconstrainedChoice FitChoice = "unconstrained"
)

// FitChoices returns the methods of a kind; the first is the default.
func FitChoices(kind FitKind) []FitChoice {
	switch kind {
	case PowerFits:
		return []FitChoice{LogChoice, NLSChoice}
	case TaskTimeFits:
		return []FitChoice{ConstrainedChoice, UnconstrainedChoice}
	}
	return nil
}

// FitJob fits measurements of one job and kind, in any order; "" means the default method. If they cannot be fitted,
// the fit gives the reason.
func FitJob(job string, kind FitKind, all []JobMeasurement, choice FitChoice) JobFit {
	f := JobFit{Job: job, Kind: kind, Measurements: int64(len(all))}
	// Sums depend on the order, but fits must not.
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b JobMeasurement) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	if len(all) > 0 {
		f.FirstAt, f.LastAt = &all[0].At, &all[len(all)-1].At
	}
	value := func(x *float64) float64 {
		if x == nil {
			return math.NaN()
		}
		return *x
	}
	var err error
	switch kind {
	case PowerFits:
		points := make([]Measurement, len(all))
		for i, m := range all {
			points[i] = Measurement{VMs: value(m.VMs), Seconds: value(m.Seconds)}
		}
		var fit PowerFit
		if fit, err = FitPower(points, FitMethod(choice)); err == nil {
			f.Power = &fit
		}
	case TaskTimeFits:
		samples := make([]TaskSample, len(all))
		for i, m := range all {
			samples[i] = TaskSample{Residual: value(m.Residual), Seconds: value(m.Seconds)}
		}
		var fit TaskTimeFit
		if fit, err = FitTaskTime(samples, choice == UnconstrainedChoice); err == nil {
			f.TaskTime = &fit
		}
	case RateFits:
		var fit RateFit
		if fit, err = FitRates(all); err == nil {
			f.Rate = &fit
		}
	case UsageFits:
		var fit UsageFit
		if fit, err = FitUsage(all); err == nil {
			f.Usage = &fit
		}
	}
	if err != nil {
		f.Refused = sentence(err)
	}
	return f
}

// sentence returns the text of an error without its pointer.
func sentence(err error) string {
	if input, is := err.(*fault.InputError); is && len(input.Findings) > 0 {
		return input.Findings[0].Detail
	}
	return strings.TrimSpace(err.Error())
}

// RateFit holds the speeds of types of nodes for a job's tasks: the slowest has the rate 1.
type RateFit struct {
	Types    []MeasuredType     `json:"types"` // by name
	Warnings []capacity.Warning `json:"warnings"`
}

// MeasuredType holds the task times on a type of nodes.
type MeasuredType struct {
	Type             string   `json:"type"`
	Tasks            int64    `json:"tasks"`
	MeanSeconds      float64  `json:"mean_s"`
	DeviationSeconds *float64 `json:"deviation_s"` // null for one task
	Rate             float64  `json:"rate"`
}

// fewTasks is the number of tasks of a type up to which its mean is uncertain.
const fewTasks = 3

// FitRates returns the rates fitted to measurements of tasks on types of nodes.
func FitRates(all []JobMeasurement) (f RateFit, err error) {
	if len(all) == 0 {
		return f, &fault.InputError{Findings: []fault.Finding{{Code: "too_few", Detail: "There is no measurement; give the time of at least one task and the type of its node."}}}
	}
	var rates Rates
	squares := map[string]float64{}
	for _, m := range all {
		if m.NodeType == nil || m.Seconds == nil {
			continue
		}
		from := *m.Seconds - rates.Types[*m.NodeType].Seconds
		if rates.Add(*m.NodeType, *m.Seconds) {
			squares[*m.NodeType] += from * (*m.Seconds - rates.Types[*m.NodeType].Seconds)
		}
	}
	f.Warnings = []capacity.Warning{}
	var few []string
	for kind, mean := range rates.Types {
		t := MeasuredType{Type: kind, Tasks: mean.Count, MeanSeconds: mean.Seconds}
		t.Rate, _ = rates.Rate(kind)
		if mean.Count > 1 {
			t.DeviationSeconds = new(math.Sqrt(squares[kind] / float64(mean.Count-1)))
		}
		f.Types = append(f.Types, t)
	}
	slices.SortFunc(f.Types, func(a, b MeasuredType) int { return cmp.Compare(a.Type, b.Type) })
	for _, t := range f.Types {
		if t.Tasks < fewTasks {
			few = append(few, t.Type)
		}
	}
	if len(f.Types) == 1 {
		f.Warnings = append(f.Warnings, capacity.Warning{Code: words.OneTypeWarning, Detail: words.OneType(f.Types[0].Type)})
	}
	if len(few) > 0 {
		f.Warnings = append(f.Warnings, capacity.Warning{Code: words.FewTasksWarning, Detail: words.FewTasks(fewTasks, few)})
	}
	return f, nil
}

// Rates returns the fit in the form that policies read.
func (f *RateFit) Rates() *Rates {
	r := &Rates{Types: map[string]Mean{}}
	for _, t := range f.Types {
		r.Types[t.Type] = Mean{Count: t.Tasks, Seconds: t.MeanSeconds}
	}
	return r
}

// OfInstances returns the fitted speeds of instances of the measured types, counting concurrent tasks together. The
// slowest of them that has compute units gets these as its rate. So the work of jobs is in the same hours as without
// measurements. If none has, the slowest gets the rate 1.
func (f *RateFit) OfInstances(types []NodeType) map[string]float64 {
	speeds, rates := map[string]float64{}, map[string]float64{}
	for _, t := range f.Types {
		speeds[t.Type] = 1 / t.MeanSeconds
	}
	slowest, unit := math.Inf(1), 1.0
	rated := false // unit is compute units
	for _, t := range types {
		speed := speeds[t.Name] * float64(t.Slots)
		if speed == 0 {
			continue
		}
		rates[t.Name] = speed
		if has := t.ComputeUnits > 0; has == rated && speed < slowest || has && !rated {
			slowest, rated, unit = speed, has, 1
			if has {
				unit = t.ComputeUnits
			}
		}
	}
	for name := range rates {
		rates[name] *= unit / slowest
	}
	return rates
}

// UsageFit holds a job's use of resources, judged by the thresholds of packing.
type UsageFit struct {
	Usage
	Points int `json:"points"` // measurements on this number of VMs; others do not count
	JobClass
}

// OfTask returns the usage on the scale of live jobs, from 1 to 10. Processors get a tenth of their busy percentage.
// The capacity of disks is never measured, so the two thresholds are aligned: the MB/s that make a job disk-bound get
// the figure of the percentage that makes it processor-bound. Memory and network are not measured.
func (f *UsageFit) OfTask() TaskUsage {
	within := func(x float64) float64 { return min(max(x, 1), 10) }
	perVM := DefaultIOMBPerS / ReferenceVMs
	return TaskUsage{CPU: within(f.CPUPercent / 10), Disk: within(f.IOMBPerS / float64(f.ProfiledAtVM) / perVM * DefaultCPUPercent / 10)}
}

// FitUsage returns the mean of the measurements on the number of VMs nearest to that of the thresholds; of two
// equally near, the smaller one.
func FitUsage(all []JobMeasurement) (f UsageFit, err error) {
	nearest := int64(0)
	off := func(vms int64) int64 { return max(vms-ReferenceVMs, ReferenceVMs-vms) }
	for _, m := range all {
		if m.VMs == nil || m.CPUPercent == nil || m.IOMBPerS == nil {
			continue
		}
		if vms := int64(*m.VMs); nearest == 0 || off(vms) < off(nearest) || off(vms) == off(nearest) && vms < nearest {
			nearest = vms
		}
	}
	if nearest == 0 {
		return f, &fault.InputError{Findings: []fault.Finding{{Code: "too_few", Detail: fmt.Sprintf(
			"There is no measurement; give the load of the processors and the MB/s of an execution, on %d VMs at best.", ReferenceVMs)}}}
	}
	var cpu, io money.Sum
	for _, m := range all {
		if m.VMs != nil && int64(*m.VMs) == nearest && m.CPUPercent != nil && m.IOMBPerS != nil {
			cpu.Add(*m.CPUPercent)
			io.Add(*m.IOMBPerS)
			f.Points++
		}
	}
	n := float64(f.Points)
	f.Usage = Usage{CPUPercent: cpu.Value() / n, IOMBPerS: io.Value() / n, ProfiledAtVM: nearest}
	f.JobClass = Classify(f.Usage, DefaultCPUPercent, DefaultIOMBPerS)
	return f, nil
}
