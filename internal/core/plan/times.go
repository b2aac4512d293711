package plan

import (
	"math"

	"headroom/internal/core/capacity"
	"headroom/internal/core/perf"
)

// timetable is the predicted execution times of all classes.
type timetable struct {
	times   []capacity.Times
	seconds []float64
}

func newTimetable(classes int) timetable {
	return timetable{make([]capacity.Times, 0, classes), make([]float64, 0, 3*classes)}
}

// of returns the time of an execution on the class's slots. It is null if a bound that the plan was not made with needs
// slots of a phase that got none.
func (k *timetable) of(c *class, jobs float64, slots *capacity.Slots) *capacity.Times {
	if slots == nil || jobs == 0 {
		return nil
	}
	at := func(d capacity.Demand) *float64 {
		if t := perf.Time(d, jobs, slots.Map, slots.Reduce); !math.IsInf(t, 1) {
			return keep(&k.seconds, t)
		}
		return nil
	}
	if c.demands == nil {
		return keep(&k.times, capacity.Times{Average: at(*c.Demand)})
	}
	t := capacity.Times{Lower: at(c.demands.Lower), Average: at(c.demands.Average), Upper: at(c.demands.Upper)}
	if c.Calibration != nil {
		t.Calibrated = at(c.demands.Calibrated(*c.Calibration))
	}
	return keep(&k.times, t)
}
