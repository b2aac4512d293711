package perf

import (
	"math"

	"headroom/internal/core/capacity"
)

// Features rates a job's use of each resource by its tasks, from 1 (hardly any) to 10 (everything); 0 means unknown.
type Features struct {
	CPU    int `json:"cpu"`
	Memory int `json:"memory"`
	Disk   int `json:"disk"`
	Net    int `json:"net"`
}

// JobFeatures holds the features of a job's maps and reduces.
type JobFeatures struct {
	Map    Features `json:"map"`
	Reduce Features `json:"reduce"`
}

// Evidence holds the measurements of a job that has run before; zero means unknown.
//
// Past executions record times alone. They show only one resource: reduces that spend their time in the shuffle use
// the network. Measurements of usage show how busy processors and disks were. Task times show how much tasks suffer
// on nodes with less left for them. Nothing shows the use of memory.
type Evidence struct {
	Profile  *capacity.Profile // of past executions
	TaskTime *TaskTimeFit
	Usage    *Usage
	// IOMBPerS is the threshold above which a job is I/O-bound, for the VMs that the usage was measured on.
	IOMBPerS float64
}

// FeaturesOf estimates a job's features from its past.
func FeaturesOf(e Evidence) (f JobFeatures) {
	if p := e.Profile; p != nil && p.ReduceTasks > 0 {
		shuffle := p.ShuffleAvgSeconds
		if shuffle == 0 {
			shuffle = p.FirstShuffleAvgSeconds
		}
		if whole := shuffle + p.ReduceAvgSeconds; whole > 0 && shuffle > 0 {
			f.Reduce.Net = tenths(shuffle / whole)
		}
	}
	cpu, disk := 0, 0
	if t := e.TaskTime; t != nil && t.MinResidual < halfLeft && t.Residuals > 1 {
		// A task that only computes takes 1/r times as long with r of a node as with all of it. One that never
		// computes takes equally long.
		r := max(t.MinResidual, halfLeft)
		highest := max(r, t.MaxResidual)
		if slower := t.Seconds(r)/t.Seconds(highest) - 1; highest > r {
			cpu = tenths(slower / (highest/r - 1))
		}
	}
	if u := e.Usage; u != nil {
		cpu = tenths(u.CPUPercent / 100)
		if e.IOMBPerS > 0 {
			disk = tenths(u.IOMBPerS / (2 * e.IOMBPerS)) // I/O-bound is the upper half
		}
	}
	f.Map.CPU, f.Reduce.CPU = cpu, cpu
	f.Map.Disk, f.Reduce.Disk = disk, disk
	return f
}

// halfLeft is the part of a node at which the slowing of tasks is judged.
const halfLeft = 0.5

// tenths turns a part into a feature.
func tenths(part float64) int {
	return int(math.Ceil(10*min(max(part, 0.01), 1) - 1e-9))
}
