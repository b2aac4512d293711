package pack

import (
	"fmt"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/strict"
)

// The largest batches that are packed.
const (
	MaxPackedKinds  = 500
	maxPackedJobs   = 1_000
	MaxPackedVMs    = 10_000 // that have a disk
	maxMeasurements = 10_000
	maxPenalty      = 1_000
)

var (
	packingShape        = strict.NewShape("a batch", []string{"machines", "jobs"}, "options")
	machinesShape       = strict.NewShape("the machines", []string{"count", "disks"}, "hosts_per_extra", "penalty")
	batchJobShape       = strict.NewShape("a job", []string{"name"}, "count", "model", "measurements", "fit", "min_vms", "role", "usage", "release_s", "deadline_s")
	packingOptionsShape = strict.NewShape("the options", nil, "algorithm", "max_solve_ms", "seed", "placement", "cpu_percent", "io_mb_s")

	packingAlgorithms = []PackingAlgorithm{PackSequential, PackPair, PackMulti, PackSwarm}
)

// ReadPacking reads and checks a batch as strictly as ReadProblem does a problem. The overrides change the
// options before they are checked.
func ReadPacking(data []byte, limits capacity.Limits, overrides ...func(*PackingOptions)) (PackingProblem, error) {
	p := PackingProblem{Options: DefaultPackingOptions()}
	if limits.Bytes > 0 && len(data) > limits.Bytes {
		return PackingProblem{}, &fault.InputError{Findings: []fault.Finding{{Code: "too_large",
			Detail: fmt.Sprintf("The document has %d bytes; at most %d are read.", len(data), limits.Bytes)}}}
	}
	r := strict.NewReader(data)
	r.Object(packingShape, func(name string) {
		switch name {
		case "machines":
			readMachines(r, machinesShape, &p.Machines)
		case "jobs":
			p.Jobs = strict.List(r, "of jobs", MaxPackedKinds, readBatchJob)
		case "options":
			readPackingOptions(r, &p.Options)
		}
	})
	r.End()
	for _, override := range overrides {
		override(&p.Options)
	}
	if err := r.Result(p.check); err != nil {
		return PackingProblem{}, err
	}
	return p, nil
}

func readMachines(r *strict.Reader, shape *strict.Shape, m *Machines) {
	m.Penalty = 1
	r.Fields(shape, m)
}

func readBatchJob(r *strict.Reader, j *BatchJob) {
	j.Count = 1
	r.Object(batchJobShape, func(name string) {
		switch name {
		case "model":
			j.Model = new(perf.PowerModel)
			perf.ReadPowerModel(r, j.Model)
		case "measurements":
			j.Measurements = strict.List(r, "of measurements", maxMeasurements, perf.ReadMeasurement)
			if j.Measurements == nil {
				j.Measurements = []perf.Measurement{} // given, and too few
			}
		case "usage":
			j.Usage = new(perf.Usage)
			perf.ReadUsage(r, j.Usage)
		default:
			r.Field(j, name)
		}
	})
}

func readPackingOptions(r *strict.Reader, o *PackingOptions) {
	r.Object(packingOptionsShape, func(name string) {
		if name != "seed" {
			r.Field(o, name)
			return
		}
		seed := int64(o.Seed)
		r.Whole(&seed)
		if seed < 0 && seed != strict.Unread {
			r.Found("range", "The seed is negative; give a whole number from 0 on.", nil)
		}
		o.Seed = uint64(max(0, seed))
	})
}
