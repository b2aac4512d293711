package pack

import (
	"fmt"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/strict"
)

// Validate checks the batch and reports all faults, as an *InputError. A job that fits no machine is a fault; the fit
// judges the measurements.
func (p PackingProblem) Validate() error { return strict.Check(p.check) }

func (p PackingProblem) check(c *strict.Checker) {
	c.Enter("machines")
	p.Machines.check(c)
	c.Leave()
	c.Enter("jobs")
	if len(p.Jobs) == 0 {
		c.Refuse("", "missing", "There is no job; give at least one.")
	}
	if len(p.Jobs) > MaxPackedKinds {
		c.Refuse("", "too_many", "Here are %d kinds of jobs; at most %d are packed.", len(p.Jobs), MaxPackedKinds)
	}
	named := make(strict.Names, len(p.Jobs))
	jobs := int64(0)
	for i := range p.Jobs {
		c.Element(i)
		j := &p.Jobs[i]
		c.Name(j.Name)
		named.Add(c, "job", j.Name, i)
		j.check(c, p.Machines.VMs())
		if j.Count > 0 && j.Count <= maxPackedJobs {
			jobs += j.Count
		}
		c.Leave()
	}
	if jobs > maxPackedJobs {
		c.Refuse("", "too_many", "Here are %d jobs in all; at most %d are packed. Pack a part of the batch, or jobs that are alike and short as one.", jobs, maxPackedJobs)
	}
	c.Leave()
	c.Enter("options")
	p.Options.check(c)
	c.Leave()
}

func (m Machines) check(c *strict.Checker) {
	c.Whole("count", "The number of machines", "", m.Count, 1, MaxPackedVMs)
	c.Whole("disks", "The number of disks", "", m.Disks, 1, MaxPackedVMs)
	if m.Count >= 1 && m.Disks >= 1 && m.Count <= MaxPackedVMs && m.Disks <= MaxPackedVMs && m.VMs() > MaxPackedVMs {
		c.Refuse("count", "range", "%d machines with %d disks carry %d VMs; batches are packed onto %d VMs at most.", m.Count, m.Disks, m.VMs(), MaxPackedVMs)
	}
	switch {
	case m.HostsPerExtra < 0:
		c.Refuse("hosts_per_extra", "range", "The hosts per extra VM are %d; give 1 or more, or leave them out where machines carry no extra VMs.", m.HostsPerExtra)
	case m.HostsPerExtra > m.Disks && m.Disks >= 1:
		c.Found("hosts_per_extra", "range", fmt.Sprintf("An extra VM needs %d hosts on its machine, but a machine has %d disks, and a host has one of its own.", m.HostsPerExtra, m.Disks),
			c.Hint("hosts_per_extra", m.Disks, "The most is %d.", m.Disks))
	}
	if c.Finite("penalty", "The penalty", m.Penalty) && !(m.Penalty >= 1 && m.Penalty <= maxPenalty) {
		c.Found("penalty", "range", fmt.Sprintf("The penalty is %s; it must be from 1 to %d, because extra VMs do not make jobs faster.", fault.Plain(m.Penalty), maxPenalty),
			c.Hint("penalty", min(max(1, m.Penalty), maxPenalty), "1 is no penalty at all."))
	}
}

func (j *BatchJob) check(c *strict.Checker, vms int64) {
	c.Whole("count", "The number of jobs", "", j.Count, 1, maxPackedJobs)
	switch {
	case j.Model == nil && j.Measurements == nil:
		c.Refuse("", "one_of", `The job does not say how long it takes; give "model" or "measurements".`)
	case j.Model != nil && j.Measurements != nil:
		c.Refuse("", "one_of", `The job says twice how long it takes; keep "model" or "measurements".`)
	}
	if j.Model != nil {
		c.Enter("model")
		j.Model.Check(c)
		c.Leave()
	}
	if j.Fit != "" {
		strict.OneOf(c, "fit", j.Fit, perf.FitMethods)
	}
	if j.Role != "" {
		strict.OneOf(c, "role", j.Role, perf.JobRoles)
	}
	if j.Usage != nil {
		c.Enter("usage")
		j.Usage.Check(c)
		c.Leave()
	}
	switch {
	case j.MinVMs < 0:
		c.Refuse("min_vms", "range", "The fewest VMs are %d; they cannot be negative.", j.MinVMs)
	case j.MinVMs > vms && vms >= 1:
		c.Found("min_vms", "job_does_not_fit", fmt.Sprintf("The job needs %d VMs at least, but all machines together carry %d.", j.MinVMs, vms),
			&fault.Hint{Detail: "Give more machines, or leave the job out."})
	}
	c.Number("release_s", "The release", "seconds", j.ReleaseSeconds, capacity.MaxSeconds)
	if c.Number("deadline_s", "The deadline", "seconds", j.DeadlineSeconds, capacity.MaxSeconds) && j.DeadlineSeconds > 0 && j.DeadlineSeconds <= j.ReleaseSeconds {
		c.Refuse("deadline_s", "order", "The deadline of %s s is not after the release at %s s.", fault.Plain(j.DeadlineSeconds), fault.Plain(j.ReleaseSeconds))
	}
}

func (o PackingOptions) check(c *strict.Checker) {
	strict.OneOf(c, "algorithm", o.Algorithm, packingAlgorithms)
	c.Whole("max_solve_ms", "The time budget", "milliseconds", o.MaxSolveMs, 1, capacity.MaxSolveMs)
	c.Number("cpu_percent", "The CPU threshold", "%", o.CPUPercent, 100)
	c.Number("io_mb_s", "The I/O threshold", "MB/s", o.IOMBPerS, 1e9)
}
