package perf

import (
	"math"

	"headroom/internal/core/capacity"
)

// Features is how much a job's tasks use of each resource, from 1 (hardly any) to 10 (as much as there is);
// 0 is not known.
type Features struct {
	CPU    int `json:"cpu"`
	Memory int `json:"memory"`
	Disk   int `json:"disk"`
	Net    int `json:"net"`
}

// JobFeatures is those of a job's maps and reduces.
type JobFeatures struct {
	Map    Features `json:"map"`
	Reduce Features `json:"reduce"`
}

// Evidence is what is known of a job that has run before; what is zero is not known.
//
// Past executions record times alone. Only one resource shows in them: reduces that spend their time in the
// shuffle use the network. How busy processors and disks were is in measurements of usage, and how much tasks
// suffer where a node has less left for them is in their task times. Of memory nothing tells.
type Evidence struct {
	Profile  *capacity.Profile // of past executions
	TaskTime *TaskTimeFit
	Usage    *Usage
	// IOMBPerS is from where a job is I/O-bound, of as many VMs as the usage was measured on.
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
	if t := e.TaskTime; t != nil && t.LeastResidual < halfLeft && t.Residuals > 1 {
		// A task that only computes takes 1/r as long with r of a node as with all of it; one that never does, as long.
		r := max(t.LeastResidual, halfLeft)
		most := max(r, t.MostResidual)
		if slower := t.Seconds(r)/t.Seconds(most) - 1; most > r {
			cpu = tenths(slower / (most/r - 1))
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

// halfLeft is the part of a node at which it is judged how much tasks suffer from having no more.
const halfLeft = 0.5

// tenths is a part of what there is as a feature.
func tenths(part float64) int {
	return int(math.Ceil(10*min(max(part, 0.01), 1) - 1e-9))
}
