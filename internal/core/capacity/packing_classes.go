package capacity

import (
	"fmt"
	"time"
)

// ClassBatch asks for a packing of a cluster's own classes, whose times are known from measurements and from
// past executions. As JSON:
//
//	{"machines": {"count": 11, "disks": 2}, "jobs": [{"class": "sort", "count": 3}, {"class": "index"}]}
type ClassBatch struct {
	Machines Machines       `json:"machines"` // a count of 0 is none: the fewest are asked for
	Jobs     []ClassJob     `json:"jobs"`     // nil: every class once
	Options  PackingOptions `json:"options"`
}

// ClassJob is jobs of a class in a batch.
type ClassJob struct {
	Class           string    `json:"class"`
	Count           int64     `json:"count"`
	Fit             FitMethod `json:"fit,omitempty"`
	MinVMs          int64     `json:"min_vms,omitempty"`
	Role            JobRole   `json:"role,omitempty"`
	ReleaseSeconds  float64   `json:"release_s,omitempty"`
	DeadlineSeconds float64   `json:"deadline_s,omitempty"`
}

// PackingSource says what the time of a class's jobs was fitted to.
type PackingSource struct {
	Class        string    `json:"class"`
	Measurements int64     `json:"measurements"` // that are kept of its job
	Executions   int64     `json:"executions"`   // past ones of which the number of VMs is known
	Unsized      int64     `json:"unsized"`      // past ones of which it is not
	VMs          []float64 `json:"vms"`          // on which it was measured
	Usage        bool      `json:"usage"`        // whether it is known what it uses; if not it is neither host nor guest
}

var (
	classBatchShape    = newShape("a batch of classes", []string{"machines"}, "jobs", "options")
	classMachinesShape = newShape("the machines", []string{"disks"}, "count", "hosts_per_extra", "penalty")
	classJobShape      = newShape("a job", []string{"class"}, "count", "fit", "min_vms", "role", "release_s", "deadline_s")
)

// ReadClassBatch reads a batch of classes. What is wrong with its figures is found with the times of its jobs.
func ReadClassBatch(data []byte, limits Limits) (ClassBatch, error) {
	b := ClassBatch{Options: DefaultPackingOptions()}
	if limits.Bytes > 0 && len(data) > limits.Bytes {
		return b, &InputError{[]Finding{{Code: "too_large", Detail: fmt.Sprintf("The document has %d bytes; at most %d are read.", len(data), limits.Bytes)}}}
	}
	r := &reader{data: data, path: make(path, 0, 8)}
	r.start()
	r.object(classBatchShape, func(name string) {
		switch name {
		case "machines":
			b.Machines.Penalty = 1
			r.object(classMachinesShape, r.machine(&b.Machines))
		case "jobs":
			if b.Jobs = list(r, "of jobs", MaxPackedKinds, r.classJob); b.Jobs == nil {
				b.Jobs = []ClassJob{}
			}
		case "options":
			r.packingOptions(&b.Options)
		}
	})
	r.end()
	return b, r.result(func(*checker) {})
}

func (r *reader) classJob(j *ClassJob) {
	j.Count = 1
	r.object(classJobShape, func(name string) {
		switch name {
		case "class":
			j.Class, _ = r.text()
		case "count":
			r.whole(&j.Count)
		case "fit":
			word(r, &j.Fit, fitMethods)
		case "min_vms":
			r.whole(&j.MinVMs)
		case "role":
			word(r, &j.Role, jobRoles)
		case "release_s":
			r.float(&j.ReleaseSeconds)
		case "deadline_s":
			r.float(&j.DeadlineSeconds)
		}
	})
}

// UntilClock is how many seconds after a moment clocks of a zone next show hh:mm.
func UntilClock(from time.Time, hour, minute int, zone *time.Location) float64 {
	year, month, day := from.In(zone).Date()
	for ; ; day++ {
		if at := time.Date(year, month, day, hour, minute, 0, 0, zone); at.After(from) {
			return at.Sub(from).Seconds()
		}
	}
}
