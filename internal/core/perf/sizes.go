package perf

import (
	"math"
)

// ExecutionSize is what a past execution says of its size.
type ExecutionSize struct {
	Seconds  float64
	MapSlots int64 // the most maps, or tasks of stages, that ran at once; 0 is not on record
	MapTasks int64 // of a chain those of its widest stage
}

// OnVMs makes measurements of past executions: with so many slots on a VM, those that ran at once say on how
// many VMs a job ran. An execution that had a slot for every task might have run on any number from there on, so
// that it says nothing; it is counted as unsized.
func OnVMs(executions []ExecutionSize, slotsPerVM int64) (points []Measurement, unsized int64) {
	for _, e := range executions {
		if e.MapSlots <= 0 || e.MapSlots >= e.MapTasks || slotsPerVM <= 0 || !isTime(e.Seconds) {
			unsized++
			continue
		}
		points = append(points, Measurement{VMs: math.Ceil(float64(e.MapSlots) / float64(slotsPerVM)), Seconds: e.Seconds})
	}
	return points, unsized
}
