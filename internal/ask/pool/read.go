package pool

import (
	"fmt"

	"headroom/internal/core/capacity"
	"headroom/internal/core/fault"
	"headroom/internal/core/money"
	"headroom/internal/core/strict"
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
	sharingJobShape      = strict.NewShape("a job", []string{"name", "rates"}, "weight")
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
		case "currency":
			p.Currency, _ = r.Text()
		case "hours":
			r.Whole(&p.Hours)
		case "types":
			p.Types = strict.List(r, "of instance types", MaxPoolTypes, readPoolType)
		case "jobs":
			p.Jobs = strict.List(r, "of jobs", MaxPoolJobs, readPoolJob)
		case "storage":
			readPoolStorage(r, &p.Storage)
		case "startup_hours":
			r.Float(&p.StartupHours)
		case "mix":
			p.Mix = new(PoolMix)
			readPoolMix(r, p.Mix)
		case "options":
			readPoolOptions(r, &p.Options)
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
	r.Object(poolTypeShape, func(name string) {
		switch name {
		case "name":
			t.Name, _ = r.Text()
		case "per_hour":
			t.PerHour = new(money.Amount)
			money.Read(r, t.PerHour)
		case "disk_gb":
			r.Float(&t.DiskGB)
		case "memory_gib":
			r.Float(&t.MemoryGiB)
		case "slots":
			r.Whole(&t.Slots)
		case "compute_units":
			r.Float(&t.ComputeUnits)
		case "core":
			r.Flag(&t.Core)
		case "accelerator":
			r.Flag(&t.Accelerator)
		case "most":
			t.Most = new(int64)
			r.Whole(t.Most)
		case "startup_hours":
			t.StartupHours = new(float64)
			r.Float(t.StartupHours)
		}
	})
}

func readPoolJob(r *strict.Reader, j *PoolJob) {
	r.Object(poolJobShape, func(name string) { readPoolJobMember(r, name, j) })
}

func readPoolJobMember(r *strict.Reader, name string, j *PoolJob) {
	switch name {
	case "name":
		j.Name, _ = r.Text()
	case "work":
		r.Float(&j.Work)
	case "deadline_hours":
		r.Float(&j.DeadlineHours)
	case "memory_gib_per_task":
		r.Float(&j.MemoryGiBPerTask)
	case "rates":
		if rates := strict.Named(r, "of rates by instance type", "instance type", MaxPoolTypes, (*strict.Reader).Float); len(rates) > 0 {
			j.Rates = rates
		}
	case "rates_from":
		j.RatesFrom, _ = r.Text()
		r.CheckText([]byte(j.RatesFrom))
	}
}

func readPoolStorage(r *strict.Reader, s *PoolStorage) {
	r.Object(poolStorageShape, func(name string) {
		switch name {
		case "data_gb":
			r.Float(&s.DataGB)
		case "replication":
			r.Float(&s.Replication)
		case "fill":
			r.Float(&s.Fill)
		}
	})
}

func readPoolOptions(r *strict.Reader, o *PoolOptions) {
	r.Object(poolOptionsShape, func(string) { r.Whole(&o.MaxSolveMs) })
}

// readPoolMix reads a mix. It reads and ignores the former cost, so that the mix of a plan can be sent unchanged.
func readPoolMix(r *strict.Reader, m *PoolMix) {
	m.Core, m.Accelerators = []PoolCore{}, []PoolAccelerator{}
	r.Object(poolMixShape, func(name string) {
		switch name {
		case "core":
			m.Core = append(m.Core, strict.List(r, "of core instances", MaxPoolTypes, func(r *strict.Reader, x *PoolCore) {
				r.Object(poolCoreShape, func(name string) {
					switch name {
					case "type":
						x.Type, _ = r.Text()
					case "count":
						r.Whole(&x.Count)
					case "cost":
						money.Read(r, &x.Cost)
					}
				})
			})...)
		case "accelerators":
			m.Accelerators = append(m.Accelerators, strict.List(r, "of accelerators", MaxPoolMix, func(r *strict.Reader, x *PoolAccelerator) {
				r.Object(poolAcceleratorShape, func(name string) {
					switch name {
					case "type":
						x.Type, _ = r.Text()
					case "count":
						r.Whole(&x.Count)
					case "hours":
						r.Whole(&x.Hours)
					case "cost":
						money.Read(r, &x.Cost)
					}
				})
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
			p.Types = strict.List(r, "of node types", MaxPoolTypes, func(r *strict.Reader, t *SharedType) {
				r.Object(sharedTypeShape, func(name string) {
					if name == "name" {
						t.Name, _ = r.Text()
					} else {
						r.Whole(&t.Slots)
					}
				})
			})
		case "jobs":
			p.Jobs = strict.List(r, "of jobs", MaxPoolJobs, func(r *strict.Reader, j *SharingJob) {
				j.Weight = 1
				r.Object(sharingJobShape, func(name string) {
					switch name {
					case "name":
						j.Name, _ = r.Text()
					case "weight":
						r.Float(&j.Weight)
					case "rates":
						j.Rates = strict.Named(r, "of rates by node type", "node type", MaxPoolTypes, (*strict.Reader).Float)
					}
				})
			})
		case "options":
			readPoolOptions(r, &p.Options)
		}
	})
	r.End()
	if err := r.Result(p.check); err != nil {
		return SharePlanProblem{}, err
	}
	return p, nil
}
