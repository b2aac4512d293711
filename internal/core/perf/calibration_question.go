package perf

import (
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
)

// CalibrationQuestion asks how well the bounds of a profile fit executions, and with which factor they hold.
type CalibrationQuestion struct {
	Profile    capacity.Profile `json:"profile"`
	Executions []Measured       `json:"executions"`
	Coverage   float64          `json:"coverage,omitzero"`
}

// Calibrated answers a question about executions.
func Calibrated(q CalibrationQuestion) (Calibration, error) {
	return Calibrate(Demands(q.Profile), q.Profile.OverheadSeconds, q.Executions, q.Coverage)
}

var (
	calibrationShape = strict.NewShape("a question about executions", []string{"profile", "executions"}, "coverage")
	measuredShape    = strict.NewShape("an execution", []string{"submitted_at", "seconds"}, "id", "map_slots", "reduce_slots", "idle_s")
)

// maxExecutionID is the longest id of an execution, in bytes.
const maxExecutionID = 1000

// ReadCalibration reads a question about executions, as strictly as ReadProblem reads a problem. Each complete changes it
// before it is checked.
func ReadCalibration(data []byte, complete ...func(*CalibrationQuestion)) (CalibrationQuestion, error) {
	q := CalibrationQuestion{Coverage: DefaultCoverage}
	r := strict.NewReader(data)
	r.Object(calibrationShape, func(name string) {
		switch name {
		case "profile":
			capacity.ReadProfile(r, &q.Profile)
		case "executions":
			q.Executions = strict.List(r, "of executions", MaxCalibrated, func(r *strict.Reader, m *Measured) { r.Fields(measuredShape, m) })
		default:
			r.Field(&q, name)
		}
	})
	r.End()
	for _, change := range complete {
		change(&q)
	}
	if err := r.Result(q.check); err != nil {
		return CalibrationQuestion{}, err
	}
	return q, nil
}

func (q *CalibrationQuestion) check(c *strict.Checker) {
	c.Enter("profile")
	q.Profile.Check(c)
	c.Leave()
	c.Between("coverage", "The coverage", q.Coverage, minCoverage, maxCoverage)
	strict.Each(c, "executions", q.Executions, func(m *Measured) {
		if len(m.ID) > maxExecutionID {
			c.Refuse("id", "too_long", "The id has %d bytes; give %d at most.", len(m.ID), maxExecutionID)
		}
		c.Moment("submitted_at", m.At)
		if c.Number("seconds", "The time", "seconds", m.Seconds, capacity.MaxSeconds) && m.Seconds < MinMeasuredSeconds {
			c.Refuse("seconds", "range", "The time is %s seconds; it must be more than 0.", fault.Plain(m.Seconds))
		}
		c.Whole("map_slots", "The largest number of maps at once", "slots", m.MapSlots, 0, maxSlots)
		c.Whole("reduce_slots", "The largest number of reduces at once", "slots", m.ReduceSlots, 0, maxSlots)
		if m.IdleSeconds != nil {
			c.Number("idle_s", "The time in which nothing ran", "seconds", *m.IdleSeconds, capacity.MaxSeconds)
		}
	})
}
