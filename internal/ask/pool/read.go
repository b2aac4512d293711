package pool

import (
	"fmt"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
)

var (
	poolShape            = strict.NewShape("a pool problem", []string{"hours", "jobs"}, "currency", "types", "storage", "startup_hours", "mix", "options")
	poolTypeShape        = strict.NewShape("an instance type", []string{"name"}, "per_hour", "disk_gb", "memory_gib", "slots", "compute_units", "core", "accelerator", "most", "startup_hours")
	poolJobShape         = strict.NewShape("a job", []string{"name", "work"}, "deadline_hours", "memory_gib_per_task", "rates", "rates_from")
	poolStorageShape     = strict.NewShape("the storage", []string{"data_gb"}, "replication", "fill")
	poolOptionsShape     = strict.NewShape("the options", nil, "max_solve_ms")
	poolMixShape         = strict.NewShape("a mix", nil, "core", "accelerators")
	poolCoreShape        = strict.NewShape("core instances", []string{"type", "count"}, "cost")
	poolAcceleratorShape = strict.NewShape("accelerators", []string{"type", "count"}, "hours", "cost")
	sharePlanShape       = strict.NewShape("a share plan's problem", []string{"types", "jobs"}, "options")
	sharedTypeShape      = strict.NewShape("a node type", []string{"name", "slots"})
	sharingJobShape      = strict.NewShape("a job", []string{"name", "rates"}, "weight", "holds")
)

// ReadPool reads and checks a pool problem, as strictly as ReadProblem. fill, if given, adds a cluster's data before
// the check.
func ReadPool(data []byte, limits capacity.Limits, fill ...func(*PoolProblem)) (PoolProblem, error) {
	p := DefaultPool()
	r, err := startReading(data, limits)
	if err != nil {
		return PoolProblem{}, err
	}
	r.Object(poolShape, func(name string) {
		switch name {
		case "types":
			p.Types = strict.List(r, "of instance types", maxPoolTypes, readPoolType)
		case "jobs":
			p.Jobs = strict.List(r, "of jobs", maxPoolJobs, readPoolJob)
		case "storage":
			r.Fields(poolStorageShape, &p.Storage)
		case "mix":
			p.Mix = new(PoolMix)
			readPoolMix(r, p.Mix)
		case "options":
			r.Fields(poolOptionsShape, &p.Options)
		default:
			r.Field(&p, name)
		}
	})
	r.End()
	for _, f := range fill {
		f(&p)
	}
	if err := r.Result(p.check); err != nil {
		return PoolProblem{}, err
	}
	return p, nil
}

// startReading returns a reader at the start of a document, which must not be too large.
func startReading(data []byte, limits capacity.Limits) (*strict.Reader, error) {
	if limits.Bytes > 0 && len(data) > limits.Bytes {
		return nil, &fault.InputError{Findings: []fault.Finding{{Code: "too_large",
			Detail: fmt.Sprintf("The document has %d bytes; at most %d are read.", len(data), limits.Bytes)}}}
	}
	r := strict.NewReader(data)
	return r, nil
}

func readPoolType(r *strict.Reader, t *PoolType) {
	t.Slots, t.Core, t.Accelerator = 1, true, true
	r.Fields(poolTypeShape, t)
}

func readPoolJob(r *strict.Reader, j *PoolJob) {
	r.Object(poolJobShape, func(name string) { readPoolJobMember(r, name, j) })
}

func readPoolJobMember(r *strict.Reader, name string, j *PoolJob) {
	switch name {
	case "rates":
		if rates := strict.Named(r, "of rates by instance type", "instance type", maxPoolTypes, (*strict.Reader).Float); len(rates) > 0 {
			j.Rates = rates
		}
	case "rates_from":
		j.RatesFrom, _ = r.Text()
		r.CheckText([]byte(j.RatesFrom))
	default:
		r.Field(j, name)
	}
}

// readPoolMix reads a mix. It reads and ignores the former cost, so that the mix of a plan can be sent unchanged.
func readPoolMix(r *strict.Reader, m *PoolMix) {
	m.Core, m.Accelerators = []PoolCore{}, []PoolAccelerator{}
	r.Object(poolMixShape, func(name string) {
		switch name {
		case "core":
			m.Core = append(m.Core, strict.List(r, "of core instances", maxPoolTypes, func(r *strict.Reader, x *PoolCore) {
				r.Fields(poolCoreShape, x)
			})...)
		case "accelerators":
			m.Accelerators = append(m.Accelerators, strict.List(r, "of accelerators", maxPoolMix, func(r *strict.Reader, x *PoolAccelerator) {
				r.Fields(poolAcceleratorShape, x)
			})...)
		}
	})
}

// ReadSharePlan reads and checks a share plan's problem.
func ReadSharePlan(data []byte, limits capacity.Limits) (SharePlanProblem, error) {
	p := SharePlanProblem{Options: DefaultPool().Options}
	r, err := startReading(data, limits)
	if err != nil {
		return SharePlanProblem{}, err
	}
	r.Object(sharePlanShape, func(name string) {
		switch name {
		case "types":
			p.Types = strict.List(r, "of node types", maxPoolTypes, func(r *strict.Reader, t *SharedType) {
				r.Fields(sharedTypeShape, t)
			})
		case "jobs":
			p.Jobs = strict.List(r, "of jobs", maxPoolJobs, func(r *strict.Reader, j *SharingJob) {
				j.Weight = 1
				r.Object(sharingJobShape, func(name string) {
					switch name {
					case "rates":
						j.Rates = strict.Named(r, "of rates by node type", "node type", maxPoolTypes, (*strict.Reader).Float)
					case "holds":
						j.Holds = strict.Named(r, "of slots by node type", "node type", maxPoolTypes, (*strict.Reader).Whole)
					default:
						r.Field(j, name)
					}
				})
			})
		case "options":
			r.Fields(poolOptionsShape, &p.Options)
		}
	})
	r.End()
	if err := r.Result(p.check); err != nil {
		return SharePlanProblem{}, err
	}
	return p, nil
}
