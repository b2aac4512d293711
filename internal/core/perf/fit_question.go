package perf

import (
	"cmp"
	"slices"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/strict"
)

// FitQuestion asks what measurements come to. Each job and kind is fitted as a cluster fits what it is sent.
type FitQuestion struct {
	Measurements []MeasurementRequest `json:"measurements"`
	Methods      ChosenMethods        `json:"methods,omitzero"`
	VMs          *float64             `json:"vms,omitempty"`      // predict the times on that many
	Residual     *float64             `json:"residual,omitempty"` // predict the times of tasks with so much of a node
}

// ChosenMethods selects other methods than the usual ones.
type ChosenMethods struct {
	Power    FitChoice `json:"power,omitempty"`
	TaskTime FitChoice `json:"task_time,omitempty"`
}

// FitAnswer holds the fits, by job and kind. They have no versions, because nothing is kept.
type FitAnswer struct {
	Fits []JobFit `json:"fits"`
}

// undated stands for the moment of a measurement that gives none. It is the last one that strict.Checker takes.
var undated = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

// FitAll fits the measurements. What cannot be fitted says so in its place.
func FitAll(q FitQuestion) (FitAnswer, error) {
	all, err := CheckMeasurements(q.Measurements, undated)
	if err != nil {
		return FitAnswer{}, err
	}
	slices.SortStableFunc(all, func(a, b JobMeasurement) int { return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Kind, b.Kind)) })
	a := FitAnswer{Fits: []JobFit{}}
	for len(all) > 0 {
		first := all[0]
		n := slices.IndexFunc(all, func(m JobMeasurement) bool { return m.Job != first.Job || m.Kind != first.Kind })
		if n < 0 {
			n = len(all)
		}
		f := FitJob(first.Job, first.Kind, all[:n], q.Methods.of(first.Kind))
		if f.LastAt != nil && f.LastAt.Equal(undated) {
			f.FirstAt, f.LastAt = nil, nil
		}
		if err := f.predict(q.VMs, q.Residual); err != nil {
			return FitAnswer{}, err
		}
		a.Fits = append(a.Fits, f)
		all = all[n:]
	}
	return a, nil
}

func (m ChosenMethods) of(kind FitKind) FitChoice {
	switch kind {
	case PowerFits:
		return m.Power
	case TaskTimeFits:
		return m.TaskTime
	}
	return ""
}

// predict adds the predictions that a fit of its kind can make.
func (f *JobFit) predict(vms, residual *float64) error {
	if f.Power == nil {
		vms = nil
	}
	if f.TaskTime == nil {
		residual = nil
	}
	return f.Predict(vms, residual)
}

// Predict adds the time of a job on a number of VMs, or that of a task with such a part of a node. The fit must be of
// the kind that says it; nil asks for nothing.
func (f *JobFit) Predict(vms, residual *float64) error {
	if vms != nil {
		p, err := PredictPower(*f.Power, *vms)
		if err != nil {
			return err
		}
		f.Predicted = &p
	}
	if residual != nil {
		p, err := PredictTaskTime(*f.TaskTime, *residual)
		if err != nil {
			return err
		}
		f.PredictedAt = &p
	}
	return nil
}

var (
	fitShape     = strict.NewShape("a question about measurements", []string{"measurements"}, "methods", "vms", "residual")
	methodsShape = strict.NewShape("the methods", nil, "power", "task_time")
	sentShape    = strict.NewShape("a measurement", []string{"job", "kind"}, "at", "vms", "residual", "utilization", "node_type", "seconds",
		"cpu_percent", "io_mb_s")
)

// ReadFit reads a question about measurements, as strictly as ReadProblem reads a problem. Each complete changes it before
// it is checked.
func ReadFit(data []byte, complete ...func(*FitQuestion)) (FitQuestion, error) {
	var q FitQuestion
	r := strict.NewReader(data)
	r.Object(fitShape, func(name string) {
		switch name {
		case "measurements":
			q.Measurements = strict.List(r, "of measurements", MaxSentMeasurements, func(r *strict.Reader, m *MeasurementRequest) {
				r.Fields(sentShape, m)
			})
		case "methods":
			r.Object(methodsShape, func(name string) {
				if name == "power" {
					strict.Word(r, &q.Methods.Power, FitChoices(PowerFits))
				} else {
					strict.Word(r, &q.Methods.TaskTime, FitChoices(TaskTimeFits))
				}
			})
		default:
			r.Field(&q, name)
		}
	})
	r.End()
	for _, change := range complete {
		change(&q)
	}
	if err := r.Result(q.check); err != nil {
		return FitQuestion{}, err
	}
	return q, nil
}

func (q *FitQuestion) check(c *strict.Checker) {
	checkMeasurements(c, q.Measurements, undated)
	c.Enter("methods")
	strict.Optional(c, "power", q.Methods.Power, FitChoices(PowerFits))
	strict.Optional(c, "task_time", q.Methods.TaskTime, FitChoices(TaskTimeFits))
	c.Leave()
	if q.VMs != nil {
		c.Between("vms", "The number of VMs", *q.VMs, 1, capacity.MaxVMs)
	}
	if q.Residual != nil {
		c.Between("residual", "What is left of the node", *q.Residual, 0, 1)
	}
}
