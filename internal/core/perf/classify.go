package perf

import (
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/words"
)

// JobClass holds a job's main resources, and the role of its VMs in packing.
type JobClass struct {
	CPU      bool               `json:"cpu"`
	IO       bool               `json:"io"`
	Role     JobRole            `json:"role"`
	Warnings []capacity.Warning `json:"warnings"`
}

// Classify classifies a job as CPU-bound or I/O-bound: above the thresholds, in percent of a VM and in MB/s of all
// its VMs together, measured on ReferenceVMs. A job that is both has no CPU to spare for extra VMs, and an extra VM
// has no disk of its own. So it is neither host nor guest.
func Classify(u Usage, cpuPercent, ioMBPerS float64) JobClass {
	c := JobClass{CPU: u.CPUPercent > cpuPercent, IO: u.IOMBPerS > ioMBPerS, Role: PlainRole, Warnings: []capacity.Warning{}}
	switch {
	case c.IO && !c.CPU:
		c.Role = HostRole
	case c.CPU && !c.IO:
		c.Role = GuestRole
	}
	if u.ProfiledAtVM != 0 && u.ProfiledAtVM != ReferenceVMs {
		c.Warnings = append(c.Warnings, capacity.Warning{Code: words.OffReferenceWarning, Detail: words.OffReference(u.ProfiledAtVM, ReferenceVMs)})
	}
	return c
}
