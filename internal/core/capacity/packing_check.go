package capacity

import (
	"fmt"
	"math"
)

// Validate says everything that is wrong with the batch, as an *InputError, or nil. That a job fits no
// machine is among it; what measurements come to is for the fit to say.
func (p PackingProblem) Validate() error { return findingsOf(p.check) }

func (p PackingProblem) check(c *checker) {
	c.enter("machines")
	p.Machines.check(c)
	c.leave()
	c.enter("jobs")
	if len(p.Jobs) == 0 {
		c.refuse("", "missing", "There is no job; give at least one.")
	}
	if len(p.Jobs) > MaxPackedKinds {
		c.refuse("", "too_many", "Here are %d kinds of jobs; at most %d are packed.", len(p.Jobs), MaxPackedKinds)
	}
	named := make(names, len(p.Jobs))
	jobs := int64(0)
	for i := range p.Jobs {
		c.element(i)
		j := &p.Jobs[i]
		c.name(j.Name)
		named.add(c, "job", j.Name, i)
		j.check(c, p.Machines.VMs())
		if j.Count > 0 && j.Count <= MaxPackedJobs {
			jobs += j.Count
		}
		c.leave()
	}
	if jobs > MaxPackedJobs {
		c.refuse("", "too_many", "Here are %d jobs in all; at most %d are packed. Pack a part of the batch, or jobs that are alike and short as one.", jobs, MaxPackedJobs)
	}
	c.leave()
	c.enter("options")
	p.Options.check(c)
	c.leave()
}

func (m Machines) check(c *checker) {
	c.whole("count", "The number of machines", "", m.Count, 1, MaxPackedVMs)
	c.whole("disks", "The number of disks", "", m.Disks, 1, MaxPackedVMs)
	if m.Count >= 1 && m.Disks >= 1 && m.Count <= MaxPackedVMs && m.Disks <= MaxPackedVMs && m.VMs() > MaxPackedVMs {
		c.refuse("count", "range", "%d machines with %d disks carry %d VMs; batches are packed onto %d VMs at most.", m.Count, m.Disks, m.VMs(), MaxPackedVMs)
	}
	switch {
	case m.HostsPerExtra < 0:
		c.refuse("hosts_per_extra", "range", "The hosts per extra VM are %d; give 1 or more, or leave them out where machines carry no extra VMs.", m.HostsPerExtra)
	case m.HostsPerExtra > m.Disks && m.Disks >= 1:
		c.found("hosts_per_extra", "range", fmt.Sprintf("An extra VM needs %d hosts on its machine, but a machine has %d disks, and a host has one of its own.", m.HostsPerExtra, m.Disks),
			c.hint("hosts_per_extra", m.Disks, "The most is %d.", m.Disks))
	}
	if c.finite("penalty", "The penalty", m.Penalty) && !(m.Penalty >= 1 && m.Penalty <= MaxPenalty) {
		c.found("penalty", "range", fmt.Sprintf("The penalty is %s; it must be from 1 to %d, because extra VMs do not make jobs faster.", plain(m.Penalty), MaxPenalty),
			c.hint("penalty", min(max(1, m.Penalty), MaxPenalty), "1 is no penalty at all."))
	}
}

func (j *BatchJob) check(c *checker, vms int64) {
	c.whole("count", "The number of jobs", "", j.Count, 1, MaxPackedJobs)
	switch {
	case j.Model == nil && j.Measurements == nil:
		c.refuse("", "one_of", `The job does not say how long it takes; give "model" or "measurements".`)
	case j.Model != nil && j.Measurements != nil:
		c.refuse("", "one_of", `The job says twice how long it takes; keep "model" or "measurements".`)
	}
	if j.Model != nil {
		c.enter("model")
		j.Model.check(c)
		c.leave()
	}
	if j.Fit != "" {
		oneOf(c, "fit", j.Fit, fitMethods)
	}
	if j.Role != "" {
		oneOf(c, "role", j.Role, jobRoles)
	}
	if j.Usage != nil {
		c.enter("usage")
		j.Usage.check(c)
		c.leave()
	}
	switch {
	case j.MinVMs < 0:
		c.refuse("min_vms", "range", "The fewest VMs are %d; they cannot be negative.", j.MinVMs)
	case j.MinVMs > vms && vms >= 1:
		c.found("min_vms", "job_does_not_fit", fmt.Sprintf("The job needs %d VMs at least, but all machines together carry %d.", j.MinVMs, vms),
			&Hint{Detail: "Give more machines, or leave the job out."})
	}
	c.number("release_s", "The release", "seconds", j.ReleaseSeconds, MaxSeconds)
	if c.number("deadline_s", "The deadline", "seconds", j.DeadlineSeconds, MaxSeconds) && j.DeadlineSeconds > 0 && j.DeadlineSeconds <= j.ReleaseSeconds {
		c.refuse("deadline_s", "order", "The deadline of %s s is not after the release at %s s.", plain(j.DeadlineSeconds), plain(j.ReleaseSeconds))
	}
}

func (m PowerModel) check(c *checker) {
	if c.finite("a", "The model's a", m.A) && !(m.A >= MinPowerA && m.A <= MaxPowerA) {
		c.refuse("a", "range", "The model's a is %s; it is the seconds on one VM, from %s to %s.", plain(m.A), plain(MinPowerA), plain(MaxPowerA))
	}
	if c.finite("b", "The model's b", m.B) && math.Abs(m.B) > MaxPowerB {
		c.refuse("b", "range", "The model's b is %s; it must be from -%d to %d.", plain(m.B), MaxPowerB, MaxPowerB)
	}
}

func (u *Usage) check(c *checker) {
	c.number("cpu_percent", "The CPU usage", "%", u.CPUPercent, 100)
	c.number("io_mb_s", "The I/O", "MB/s", u.IOMBPerS, 1e9)
	if u.ProfiledAtVM != 0 {
		c.whole("vms", "The number of VMs", "", u.ProfiledAtVM, 1, MaxVMs)
	}
}

func (o PackingOptions) check(c *checker) {
	oneOf(c, "algorithm", o.Algorithm, packingAlgorithms)
	c.whole("max_solve_ms", "The time budget", "milliseconds", o.MaxSolveMs, 1, MaxSolveMs)
	c.number("cpu_percent", "The CPU threshold", "%", o.CPUPercent, 100)
	c.number("io_mb_s", "The I/O threshold", "MB/s", o.IOMBPerS, 1e9)
}
