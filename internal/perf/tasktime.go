package perf

import "math"

// TaskTime is how long a task takes by what its node has left for it, r: a·e^(b·r) + c·e^(d·r) seconds.
// r is 1 on a dedicated node; on one whose other work keeps u of its processors busy it is 1 − u.
type TaskTime struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
	C float64 `json:"c"`
	D float64 `json:"d"`
	// LeastResidual is the smallest r that was measured: below it the fit says what it says there.
	LeastResidual float64 `json:"least_residual"`
}

// Seconds is a task's time at r. Outside of what was measured it is that of the nearest r measured.
func (t *TaskTime) Seconds(r float64) float64 {
	r = min(max(r, t.LeastResidual), 1)
	return t.A*math.Exp(t.B*r) + t.C*math.Exp(t.D*r)
}

// Normed is a task's time at r as a multiple of that on a dedicated node.
func (t *TaskTime) Normed(r float64) float64 { return t.Seconds(r) / t.Seconds(1) }
