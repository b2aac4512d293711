package perf

import (
	"cmp"
	"fmt"
	"math"

	"headroom/internal/core/capacity"
	"headroom/internal/core/fault"
)

// TaskTime is how long a task takes by what its node has left for it, r: a·e^(b·r) + c·e^(d·r) seconds
// (MIMP paper, eq. 1). r is 1 on a dedicated node; on one whose other work keeps the part u of its
// processors busy it is 1 − u.
type TaskTime struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
	C float64 `json:"c"`
	D float64 `json:"d"`
	// Measured is from which r to which: outside, a time is that of the nearest r measured, because what noise
	// does to a slope grows with the distance. Two times at 0.5 and 0.52 would say anything of 1.
	LeastResidual float64 `json:"least_residual"`
	MostResidual  float64 `json:"most_residual,omitzero"` // 0 is 1
}

// Seconds is a task's time at r.
func (t *TaskTime) Seconds(r float64) float64 {
	return t.at(min(max(r, t.LeastResidual), cmp.Or(t.MostResidual, 1)))
}

func (t *TaskTime) at(r float64) float64 { return t.A*math.Exp(t.B*r) + t.C*math.Exp(t.D*r) }

// Normed is a task's time at r as a multiple of that on a dedicated node.
func (t *TaskTime) Normed(r float64) float64 { return t.Seconds(r) / t.Seconds(1) }

// ReadMBPerSecond is what a task at r takes from each data node, where one on a dedicated node takes so
// much at its busiest (eq. 5): who runs slower reads slower.
func (t *TaskTime) ReadMBPerSecond(dedicated, r float64) float64 { return dedicated / t.Normed(r) }

// ByUtilisation is the same times by what other work keeps busy, u = 1 − r: a, b, c and d of the paper's
// figures, where times grow to the right.
func (t *TaskTime) ByUtilisation() (a, b, c, d float64) {
	return t.A * math.Exp(t.B), -t.B, t.C * math.Exp(t.D), -t.D
}

// Residual is what is left on a node with so many cores of which others keep busyPercent busy: 100 is one
// core.
func Residual(cores, busyPercent float64) float64 {
	return min(max(1-busyPercent/(100*cores), 0), 1)
}

// TaskSample is how long a task took at r.
type TaskSample struct {
	Residual float64 `json:"residual"`
	Seconds  float64 `json:"seconds"`
}

// TaskTimeForm is how much the measurements allow to be said.
type TaskTimeForm string

const (
	TwoExponentials TaskTimeForm = "exp2"
	OneExponential  TaskTimeForm = "exp1"
	ConstantTime    TaskTimeForm = "constant"
)

// TaskTimeFit is task times fitted to measurements, and how well they fit.
type TaskTimeFit struct {
	TaskTime
	Form TaskTimeForm `json:"form"`
	// Constrained fits are positive and never longer with more of a node, by their signs.
	Constrained bool    `json:"constrained"`
	Points      int64   `json:"points"`
	Residuals   int     `json:"residuals"` // that are told apart
	RMSESeconds float64 `json:"rmse_s"`
	// NRMSE is that as a part of the distance from the shortest to the longest time; null where that is 0.
	NRMSE    *float64           `json:"nrmse"`
	Warnings []capacity.Warning `json:"warnings"`
}

// TaskTimePrediction is how long the next task takes at r.
type TaskTimePrediction struct {
	Residual float64            `json:"residual"`
	Seconds  float64            `json:"seconds"`
	Normed   float64            `json:"normed"` // as a multiple of that on a dedicated node
	Warnings []capacity.Warning `json:"warnings"`
}

// PredictTaskTime says how long the next task takes.
func PredictTaskTime(f TaskTimeFit, r float64) (TaskTimePrediction, error) {
	if !(r >= 0 && r <= 1) {
		return TaskTimePrediction{}, &fault.InputError{Findings: []fault.Finding{{Pointer: "/residual", Code: rangeOf(r), Detail: residualDetail(r)}}}
	}
	p := TaskTimePrediction{Residual: r, Seconds: f.Seconds(r), Normed: f.Normed(r), Warnings: []capacity.Warning{}}
	switch {
	case r < f.LeastResidual-sameResidual:
		p.Warnings = append(p.Warnings, capacity.Warning{Code: "extrapolated", Detail: fmt.Sprintf(
			"No task was measured with less than %.3g of a node; the time is that of %.3g, and it may be longer.", f.LeastResidual, f.LeastResidual)})
	case r > cmp.Or(f.MostResidual, 1)+sameResidual:
		p.Warnings = append(p.Warnings, capacity.Warning{Code: "extrapolated", Detail: fmt.Sprintf(
			"No task was measured with more than %.3g of a node; the time is that of %.3g, and it may be shorter.", f.MostResidual, f.MostResidual)})
	}
	return p, nil
}

func residualDetail(r float64) string {
	return fmt.Sprintf("What is left of the node is given as %g; it must be from 0 to 1 (1 is a dedicated node).", r)
}

// unfitTasks is what is wrong with samples.
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

// isTime says whether a measured time is one. Below a nanosecond nothing is measured.
func isTime(seconds float64) bool {
	return seconds >= LeastSeconds && seconds <= capacity.MaxSeconds
}

func secondsDetail(what string, seconds float64) string {
	return fmt.Sprintf("The %s is said to have taken %g seconds; it must be more than 0 and at most %g.", what, seconds, float64(capacity.MaxSeconds))
}
