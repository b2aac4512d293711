package perf

import (
	"math"
)

// ExecutionSize holds the size of a past execution.
type ExecutionSize struct {
	Seconds  float64
	MapSlots int64 // largest number of concurrent maps, or tasks of stages; 0 means unknown
	MapTasks int64 // of a chain those of its widest stage
}

// OnVMs turns past executions into measurements by VMs: the concurrent tasks, divided by the slots of a VM, give the
// VMs of a job. An execution with a slot for every task might have run on any larger number, so it is counted as
// unsized.
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
