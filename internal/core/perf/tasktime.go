package perf

import (
	"cmp"
	"fmt"
	"math"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/words"
)

// TaskTime is a task's time by the residual r of its node: a·e^(b·r) + c·e^(d·r) seconds (MIMP paper, eq. 1). r is 1
// on a dedicated node; if other work keeps the part u of its processors busy, r is 1 − u.
type TaskTime struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
	C float64 `json:"c"`
	D float64 `json:"d"`
	// The measured range of r. Outside it the time is that of the nearest measured r, because the effect of noise on
	// a slope grows with the distance. Two times at 0.5 and 0.52 could imply anything for 1.
	MinResidual float64 `json:"least_residual"`
	MaxResidual float64 `json:"most_residual,omitzero"` // 0 means 1
}

// Seconds returns a task's time at r.
func (t *TaskTime) Seconds(r float64) float64 {
	return t.at(min(max(r, t.MinResidual), cmp.Or(t.MaxResidual, 1)))
}

func (t *TaskTime) at(r float64) float64 { return t.A*math.Exp(t.B*r) + t.C*math.Exp(t.D*r) }

// Normed returns a task's time at r as a multiple of that on a dedicated node.
func (t *TaskTime) Normed(r float64) float64 { return t.Seconds(r) / t.Seconds(1) }

// ReadMBPerSecond returns a task's reads from each data node at r, from those on a dedicated node at its busiest (eq.
// 5): slower tasks read more slowly.
func (t *TaskTime) ReadMBPerSecond(dedicated, r float64) float64 { return dedicated / t.Normed(r) }

// ByUtilisation returns the same times by the utilisation of other work, u = 1 − r: a, b, c and d of the paper's
// figures, where times grow to the right.
func (t *TaskTime) ByUtilisation() (a, b, c, d float64) {
	return t.A * math.Exp(t.B), -t.B, t.C * math.Exp(t.D), -t.D
}

// Residual returns the rest of a node with this many cores, of which others keep busyPercent busy: 100 is one core.
func Residual(cores, busyPercent float64) float64 {
	return min(max(1-busyPercent/(100*cores), 0), 1)
}

// TaskSample is a task's time at r.
type TaskSample struct {
	Residual float64 `json:"residual"`
	Seconds  float64 `json:"seconds"`
}

// TaskTimeForm names the detail that the measurements allow.
type TaskTimeForm string

const (
	TwoExponentials TaskTimeForm = "exp2"
	OneExponential  TaskTimeForm = "exp1"
	ConstantTime    TaskTimeForm = "constant"
)

// TaskTimeFit holds task times fitted to measurements, and the quality of the fit.
type TaskTimeFit struct {
	TaskTime
	Form TaskTimeForm `json:"form"`
	// Constrained fits are positive and never grow with r, by their signs.
	Constrained bool    `json:"constrained"`
	Points      int64   `json:"points"`
	Residuals   int     `json:"residuals"` // distinguished ones
	RMSESeconds float64 `json:"rmse_s"`
	// NRMSE is RMSE as a part of the distance from the shortest to the longest time; null if that is 0.
	NRMSE    *float64           `json:"nrmse"`
	Warnings []capacity.Warning `json:"warnings"`
}

// TaskTimePrediction is the predicted time of the next task at r.
type TaskTimePrediction struct {
	Residual float64            `json:"residual"`
	Seconds  float64            `json:"seconds"`
	Normed   float64            `json:"normed"` // as a multiple of that on a dedicated node
	Warnings []capacity.Warning `json:"warnings"`
}

// PredictTaskTime predicts the time of the next task.
func PredictTaskTime(f TaskTimeFit, r float64) (TaskTimePrediction, error) {
	if !(r >= 0 && r <= 1) {
		return TaskTimePrediction{}, &fault.InputError{Findings: []fault.Finding{{Pointer: "/residual", Code: rangeOf(r), Detail: residualDetail(r)}}}
	}
	p := TaskTimePrediction{Residual: r, Seconds: f.Seconds(r), Normed: f.Normed(r), Warnings: []capacity.Warning{}}
	switch {
	case r < f.MinResidual-sameResidual:
		p.Warnings = append(p.Warnings, capacity.Warning{Code: words.ExtrapolatedWarning, Detail: words.LessThanMeasured(f.MinResidual)})
	case r > cmp.Or(f.MaxResidual, 1)+sameResidual:
		p.Warnings = append(p.Warnings, capacity.Warning{Code: words.ExtrapolatedWarning, Detail: words.MoreThanMeasured(f.MaxResidual)})
	}
	return p, nil
}

func residualDetail(r float64) string {
	return fmt.Sprintf("What is left of the node is given as %g; it must be from 0 to 1 (1 is a dedicated node).", r)
}

// unfitTasks lists the faults of samples.
func unfitTasks(samples []TaskSample) (findings []fault.Finding) {
	for i, s := range samples {
		if len(findings) >= fault.MaxFindings {
			break
		}
		if !(s.Residual >= 0 && s.Residual <= 1) {
			findings = append(findings, fault.Finding{Pointer: fmt.Sprintf("/%d/residual", i), Code: rangeOf(s.Residual), Detail: residualDetail(s.Residual)})
		}
		if !isTime(s.Seconds) {
			findings = append(findings, fault.Finding{Pointer: fmt.Sprintf("/%d/seconds", i), Code: rangeOf(s.Seconds), Detail: secondsDetail("task", s.Seconds)})
		}
	}
	return findings
}

// isTime reports whether a measured time is possible. Nothing is measured below a nanosecond.
func isTime(seconds float64) bool {
	return seconds >= MinMeasuredSeconds && seconds <= capacity.MaxSeconds
}

func secondsDetail(what string, seconds float64) string {
	return fmt.Sprintf("The %s is said to have taken %g seconds; it must be more than 0 and at most %g.", what, seconds, float64(capacity.MaxSeconds))
}
