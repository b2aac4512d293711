package capacity

import "fmt"

var (
	poolShape            = newShape("a pool problem", []string{"hours", "jobs"}, "currency", "types", "storage", "startup_hours", "mix", "options")
	poolTypeShape        = newShape("an instance type", []string{"name"}, "per_hour", "disk_gb", "memory_gib", "slots", "compute_units", "core", "accelerator", "most", "startup_hours")
	poolJobShape         = newShape("a job", []string{"name", "work"}, "deadline_hours", "memory_gib_per_task", "rates", "rates_from")
	poolStorageShape     = newShape("the storage", []string{"data_gb"}, "replication", "fill")
	poolOptionsShape     = newShape("the options", nil, "max_solve_ms")
	poolMixShape         = newShape("a mix", nil, "core", "accelerators")
	poolCoreShape        = newShape("core instances", []string{"type", "count"}, "cost")
	poolAcceleratorShape = newShape("accelerators", []string{"type", "count"}, "hours", "cost")
	sharePlanShape       = newShape("a share plan's problem", []string{"types", "jobs"}, "options")
	sharedTypeShape      = newShape("a node type", []string{"name", "slots"})
	sharingJobShape      = newShape("a job", []string{"name", "rates"}, "weight")
)

// ReadPool reads and checks a pool problem as strictly as ReadProblem does a problem. fill, where given, adds what a
// cluster knows before it is checked.
func ReadPool(data []byte, limits Limits, fill ...func(*PoolProblem)) (PoolProblem, error) {
	p := DefaultPool()
	r, err := startReading(data, limits)
	if err != nil {
		return PoolProblem{}, err
	}
	r.object(poolShape, func(name string) {
		switch name {
		case "currency":
			p.Currency, _ = r.text()
		case "hours":
			r.whole(&p.Hours)
		case "types":
			p.Types = list(r, "of instance types", MaxPoolTypes, r.poolType)
		case "jobs":
			p.Jobs = list(r, "of jobs", MaxPoolJobs, r.poolJob)
		case "storage":
			r.poolStorage(&p.Storage)
		case "startup_hours":
			r.float(&p.StartupHours)
		case "mix":
			p.Mix = new(PoolMix)
			r.poolMix(p.Mix)
		case "options":
			r.poolOptions(&p.Options)
		}
	})
	r.end()
	for _, f := range fill {
		f(&p)
	}
	if err := r.result(p.check); err != nil {
		return PoolProblem{}, err
	}
	return p, nil
}

// startReading is a reader at the start of a document that is not too large.
func startReading(data []byte, limits Limits) (*reader, error) {
	if limits.Bytes > 0 && len(data) > limits.Bytes {
		return nil, &InputError{[]Finding{{Code: "too_large",
			Detail: fmt.Sprintf("The document has %d bytes; at most %d are read.", len(data), limits.Bytes)}}}
	}
	r := &reader{data: data, path: make(path, 0, 8)}
	r.start()
	return r, nil
}

func (r *reader) poolType(t *PoolType) {
	t.Slots, t.Core, t.Accelerator = 1, true, true
	r.object(poolTypeShape, func(name string) {
		switch name {
		case "name":
			t.Name, _ = r.text()
		case "per_hour":
			t.PerHour = new(Money)
			r.money(t.PerHour)
		case "disk_gb":
			r.float(&t.DiskGB)
		case "memory_gib":
			r.float(&t.MemoryGiB)
		case "slots":
			r.whole(&t.Slots)
		case "compute_units":
			r.float(&t.ComputeUnits)
		case "core":
			r.flag(&t.Core)
		case "accelerator":
			r.flag(&t.Accelerator)
		case "most":
			t.Most = new(int64)
			r.whole(t.Most)
		case "startup_hours":
			t.StartupHours = new(float64)
			r.float(t.StartupHours)
		}
	})
}

func (r *reader) poolJob(j *PoolJob) {
	r.object(poolJobShape, func(name string) { r.poolJobMember(name, j) })
}

func (r *reader) poolJobMember(name string, j *PoolJob) {
	switch name {
	case "name":
		j.Name, _ = r.text()
	case "work":
		r.float(&j.Work)
	case "deadline_hours":
		r.float(&j.DeadlineHours)
	case "memory_gib_per_task":
		r.float(&j.MemoryGiBPerTask)
	case "rates":
		if rates := named(r, "of rates by instance type", "instance type", MaxPoolTypes, r.float); len(rates) > 0 {
			j.Rates = rates
		}
	case "rates_from":
		j.RatesFrom, _ = r.text()
		r.checkText([]byte(j.RatesFrom))
	}
}

func (r *reader) poolStorage(s *PoolStorage) {
	r.object(poolStorageShape, func(name string) {
		switch name {
		case "data_gb":
			r.float(&s.DataGB)
		case "replication":
			r.float(&s.Replication)
		case "fill":
			r.float(&s.Fill)
		}
	})
}

func (r *reader) poolOptions(o *PoolOptions) {
	r.object(poolOptionsShape, func(string) { r.whole(&o.MaxSolveMs) })
}

// poolMix reads a mix; what it cost before is read and not used, so that the mix of a plan can be given as it is.
func (r *reader) poolMix(m *PoolMix) {
	m.Core, m.Accelerators = []PoolCore{}, []PoolAccelerator{}
	r.object(poolMixShape, func(name string) {
		switch name {
		case "core":
			m.Core = append(m.Core, list(r, "of core instances", MaxPoolTypes, func(x *PoolCore) {
				r.object(poolCoreShape, func(name string) {
					switch name {
					case "type":
						x.Type, _ = r.text()
					case "count":
						r.whole(&x.Count)
					case "cost":
						r.money(&x.Cost)
					}
				})
			})...)
		case "accelerators":
			m.Accelerators = append(m.Accelerators, list(r, "of accelerators", MaxPoolMix, func(x *PoolAccelerator) {
				r.object(poolAcceleratorShape, func(name string) {
					switch name {
					case "type":
						x.Type, _ = r.text()
					case "count":
						r.whole(&x.Count)
					case "hours":
						r.whole(&x.Hours)
					case "cost":
						r.money(&x.Cost)
					}
				})
			})...)
		}
	})
}

// ReadSharePlan reads and checks a share plan's problem.
func ReadSharePlan(data []byte, limits Limits) (SharePlanProblem, error) {
	p := SharePlanProblem{Options: DefaultPool().Options}
	r, err := startReading(data, limits)
	if err != nil {
		return SharePlanProblem{}, err
	}
	r.object(sharePlanShape, func(name string) {
		switch name {
		case "types":
			p.Types = list(r, "of node types", MaxPoolTypes, func(t *SharedType) {
				r.object(sharedTypeShape, func(name string) {
					if name == "name" {
						t.Name, _ = r.text()
					} else {
						r.whole(&t.Slots)
					}
				})
			})
		case "jobs":
			p.Jobs = list(r, "of jobs", MaxPoolJobs, func(j *SharingJob) {
				j.Weight = 1
				r.object(sharingJobShape, func(name string) {
					switch name {
					case "name":
						j.Name, _ = r.text()
					case "weight":
						r.float(&j.Weight)
					case "rates":
						j.Rates = named(r, "of rates by node type", "node type", MaxPoolTypes, r.float)
					}
				})
			})
		case "options":
			r.poolOptions(&p.Options)
		}
	})
	r.end()
	if err := r.result(p.check); err != nil {
		return SharePlanProblem{}, err
	}
	return p, nil
}
