package pack

import (
	"fmt"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/strict"
)

// ClassBatch asks for a packing of a cluster's own classes, whose times are known from measurements and from past
// executions. As JSON:
//
//	{"machines": {"count": 11, "disks": 2}, "jobs": [{"class": "sort", "count": 3}, {"class": "index"}]}
type ClassBatch struct {
	Machines Machines       `json:"machines"` // a count of 0 asks for the fewest machines
	Jobs     []ClassJob     `json:"jobs"`     // nil: every class once
	Options  PackingOptions `json:"options"`
}

// ClassJob names a class and the number of its jobs in a batch.
type ClassJob struct {
	Class           string         `json:"class"`
	Count           int64          `json:"count"`
	Fit             perf.FitMethod `json:"fit,omitempty"`
	MinVMs          int64          `json:"min_vms,omitempty"`
	Role            perf.JobRole   `json:"role,omitempty"`
	ReleaseSeconds  float64        `json:"release_s,omitempty"`
	DeadlineSeconds float64        `json:"deadline_s,omitempty"`
}

// PackingSource describes the data to which the time of a class's jobs was fitted.
type PackingSource struct {
	Class        string    `json:"class"`
	Measurements int64     `json:"measurements"` // stored ones of its job
	Executions   int64     `json:"executions"`   // past ones with a known number of VMs
	Unsized      int64     `json:"unsized"`      // past ones without
	VMs          []float64 `json:"vms"`          // measured numbers of VMs
	Usage        bool      `json:"usage"`        // whether its usage is known; otherwise it is neither host nor guest
}

var (
	classBatchShape    = strict.NewShape("a batch of classes", []string{"machines"}, "jobs", "options")
	classMachinesShape = strict.NewShape("the machines", []string{"disks"}, "count", "hosts_per_extra", "penalty")
	classJobShape      = strict.NewShape("a job", []string{"class"}, "count", "fit", "min_vms", "role", "release_s", "deadline_s")
)

// ReadClassBatch reads a batch of classes. Its figures are checked together with the times of its jobs.
func ReadClassBatch(data []byte, limits capacity.Limits) (ClassBatch, error) {
	b := ClassBatch{Options: DefaultPackingOptions()}
	if limits.Bytes > 0 && len(data) > limits.Bytes {
		return b, &fault.InputError{Findings: []fault.Finding{{Code: "too_large", Detail: fmt.Sprintf("The document has %d bytes; at most %d are read.", len(data), limits.Bytes)}}}
	}
	r := strict.NewReader(data)
	r.Object(classBatchShape, func(name string) {
		switch name {
		case "machines":
			readMachines(r, classMachinesShape, &b.Machines)
		case "jobs":
			if b.Jobs = strict.List(r, "of jobs", MaxPackedKinds, readClassJob); b.Jobs == nil {
				b.Jobs = []ClassJob{}
			}
		case "options":
			readPackingOptions(r, &b.Options)
		}
	})
	r.End()
	return b, r.Result(func(*strict.Checker) {})
}

func readClassJob(r *strict.Reader, j *ClassJob) {
	j.Count = 1
	r.Fields(classJobShape, j)
}

// UntilClock returns the seconds from a moment until clocks of a zone next show hh:mm.
func UntilClock(from time.Time, hour, minute int, zone *time.Location) float64 {
	year, month, day := from.In(zone).Date()
	for ; ; day++ {
		if at := time.Date(year, month, day, hour, minute, 0, 0, zone); at.After(from) {
			return at.Sub(from).Seconds()
		}
	}
}
