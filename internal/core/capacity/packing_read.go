package capacity

import "fmt"

// The largest batches that are packed.
const (
	MaxPackedKinds  = 500
	MaxPackedJobs   = 1_000
	MaxPackedVMs    = 10_000 // that have a disk
	MaxMeasurements = 10_000
	MaxPenalty      = 1_000
	MinPowerA       = 1e-6
	MaxPowerA       = 1e9
	MaxPowerB       = 5
)

var (
	packingShape        = newShape("a batch", []string{"machines", "jobs"}, "options")
	machinesShape       = newShape("the machines", []string{"count", "disks"}, "hosts_per_extra", "penalty")
	batchJobShape       = newShape("a job", []string{"name"}, "count", "model", "measurements", "fit", "min_vms", "role", "usage", "release_s", "deadline_s")
	powerModelShape     = newShape("a model", []string{"a", "b"})
	measurementShape    = newShape("a measurement", []string{"vms", "seconds"})
	usageShape          = newShape("a job's usage", []string{"cpu_percent", "io_mb_s"}, "vms")
	packingOptionsShape = newShape("the options", nil, "algorithm", "max_solve_ms", "seed", "placement", "cpu_percent", "io_mb_s")

	fitMethods        = []FitMethod{FitLog, FitNLS}
	jobRoles          = []JobRole{PlainRole, HostRole, GuestRole}
	packingAlgorithms = []PackingAlgorithm{PackSequential, PackPair, PackMulti, PackSwarm}
)

// ReadPacking reads and checks a batch as strictly as ReadProblem does a problem. The overrides change the
// options before they are checked.
func ReadPacking(data []byte, limits Limits, overrides ...func(*PackingOptions)) (PackingProblem, error) {
	p := PackingProblem{Options: DefaultPackingOptions()}
	if limits.Bytes > 0 && len(data) > limits.Bytes {
		return PackingProblem{}, &InputError{[]Finding{{Code: "too_large",
			Detail: fmt.Sprintf("The document has %d bytes; at most %d are read.", len(data), limits.Bytes)}}}
	}
	r := &reader{data: data, path: make(path, 0, 8)}
	r.start()
	r.object(packingShape, func(name string) {
		switch name {
		case "machines":
			r.machines(&p.Machines)
		case "jobs":
			p.Jobs = list(r, "of jobs", MaxPackedKinds, r.batchJob)
		case "options":
			r.packingOptions(&p.Options)
		}
	})
	r.end()
	for _, override := range overrides {
		override(&p.Options)
	}
	if err := r.result(p.check); err != nil {
		return PackingProblem{}, err
	}
	return p, nil
}

func (r *reader) machines(m *Machines) {
	m.Penalty = 1
	r.object(machinesShape, r.machine(m))
}

// machine reads a member of machines.
func (r *reader) machine(m *Machines) func(name string) {
	return func(name string) {
		switch name {
		case "count":
			r.whole(&m.Count)
		case "disks":
			r.whole(&m.Disks)
		case "hosts_per_extra":
			r.whole(&m.HostsPerExtra)
		case "penalty":
			r.float(&m.Penalty)
		}
	}
}

func (r *reader) batchJob(j *BatchJob) {
	j.Count = 1
	r.object(batchJobShape, func(name string) {
		switch name {
		case "name":
			j.Name, _ = r.text()
		case "count":
			r.whole(&j.Count)
		case "model":
			j.Model = new(PowerModel)
			r.object(powerModelShape, func(name string) {
				if name == "a" {
					r.float(&j.Model.A)
				} else {
					r.float(&j.Model.B)
				}
			})
		case "measurements":
			j.Measurements = list(r, "of measurements", MaxMeasurements, r.measurement)
			if j.Measurements == nil {
				j.Measurements = []Measurement{} // given, and too few
			}
		case "fit":
			word(r, &j.Fit, fitMethods)
		case "min_vms":
			r.whole(&j.MinVMs)
		case "role":
			word(r, &j.Role, jobRoles)
		case "usage":
			j.Usage = new(Usage)
			r.usage(j.Usage)
		case "release_s":
			r.float(&j.ReleaseSeconds)
		case "deadline_s":
			r.float(&j.DeadlineSeconds)
		}
	})
}

func (r *reader) measurement(m *Measurement) {
	r.object(measurementShape, func(name string) {
		if name == "vms" {
			r.float(&m.VMs)
		} else {
			r.float(&m.Seconds)
		}
	})
}

func (r *reader) usage(u *Usage) {
	r.object(usageShape, func(name string) {
		switch name {
		case "cpu_percent":
			r.float(&u.CPUPercent)
		case "io_mb_s":
			r.float(&u.IOMBPerS)
		case "vms":
			r.whole(&u.ProfiledAtVM)
		}
	})
}

func (r *reader) packingOptions(o *PackingOptions) {
	r.object(packingOptionsShape, func(name string) {
		switch name {
		case "algorithm":
			word(r, &o.Algorithm, packingAlgorithms)
		case "max_solve_ms":
			r.whole(&o.MaxSolveMs)
		case "seed":
			seed := int64(o.Seed)
			r.whole(&seed)
			if seed < 0 && seed != unread {
				r.found("range", "The seed is negative; give a whole number from 0 on.", nil)
			}
			o.Seed = uint64(max(0, seed))
		case "placement":
			r.flag(&o.Placement)
		case "cpu_percent":
			r.float(&o.CPUPercent)
		case "io_mb_s":
			r.float(&o.IOMBPerS)
		}
	})
}
