// Package pack runs a batch of jobs on existing machines. It chooses the jobs that run at once, their numbers of VMs,
// and the places of the VMs. It follows "Packing the Most Onto Your Cloud", but is exact where the paper searches by
// a particle swarm. It rents nothing and simulates nothing, and its VMs are whole.
package pack

import (
	"errors"
	"fmt"
	"math"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
)

// batch is a prepared problem.
type batch struct {
	machines, disks int
	hostsPerExtra   int
	perMachine      int // extra VMs of a machine full of hosts: G
	penalty         float64
	vms, extras     int // with a disk; without one, if every machine is full of hosts

	kinds    []kind
	jobs     []PackedJob
	warnings []capacity.Warning
}

// kind is a kind of job. times[n] is the duration on n VMs: +Inf below the fewest, and never longer on more. times[0]
// is never used, because a job runs.
type kind struct {
	name              string
	count             int
	minVMs            int
	role              perf.JobRole
	io                bool
	times             []float64
	release, deadline float64
}

// ready prepares a problem, or returns an error with all its mistakes.
func ready(p PackingProblem) (*batch, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	m := p.Machines
	b := &batch{
		machines: int(m.Count), disks: int(m.Disks), hostsPerExtra: int(m.HostsPerExtra), perMachine: int(m.extrasPerMachine()),
		penalty: m.Penalty, vms: int(m.VMs()), warnings: []capacity.Warning{},
	}
	b.extras = b.machines * b.perMachine
	var findings []fault.Finding
	for i, j := range p.Jobs {
		packed, warnings, err := model(j, p.Options)
		at := fmt.Sprintf("/jobs/%d", i)
		var wrong *fault.InputError
		switch {
		case errors.As(err, &wrong):
			findings = append(findings, below(at+"/measurements", wrong)...)
			continue
		case err != nil:
			return nil, err
		case packed.MinVMs > m.VMs():
			findings = append(findings, fault.Finding{Pointer: at, Code: "job_does_not_fit",
				Detail: fmt.Sprintf("The job %q was measured on %d VMs at least, but all machines together carry %d.", j.Name, packed.MinVMs, m.VMs()),
				Hint:   &fault.Hint{Detail: fmt.Sprintf("Where it runs on fewer, say so: \"min_vms\": %d.", m.VMs()), Pointer: at + "/min_vms", Value: m.VMs()}})
			continue
		}
		for _, w := range warnings {
			w.Pointer, w.Detail = at+w.Pointer, fmt.Sprintf("%s: %s", j.Name, w.Detail)
			b.warnings = append(b.warnings, w)
		}
		b.jobs = append(b.jobs, packed)
		b.kinds = append(b.kinds, b.kind(j, packed, p.Options))
	}
	if len(findings) > 0 {
		return nil, fault.Refusal(findings, 0)
	}
	return b, nil
}

// model returns the model that a job is planned with.
func model(j BatchJob, o PackingOptions) (packed PackedJob, warnings []capacity.Warning, err error) {
	packed = PackedJob{Name: j.Name, Count: j.Count, MinVMs: max(1, j.MinVMs), Role: j.Role, ReleaseSeconds: j.ReleaseSeconds, DeadlineSeconds: j.DeadlineSeconds}
	if j.Model != nil {
		packed.Model = *j.Model
		if packed.Model.B > 0 {
			warnings = append(warnings, capacity.Warning{Pointer: "/model/b", Code: "increasing", Detail: fmt.Sprintf(
				"by its model it takes longer on more VMs (b is %.3g). It is planned as if more VMs changed nothing.", packed.Model.B)})
		}
	} else {
		fit, err := perf.FitPower(j.Measurements, j.Fit)
		if err != nil {
			return packed, nil, err
		}
		packed.Model, packed.Fit = fit.PowerModel, &fit
		for _, w := range fit.Warnings {
			w.Pointer = "/measurements"
			warnings = append(warnings, w)
		}
		if j.MinVMs == 0 {
			packed.MinVMs = int64(math.Ceil(fit.MinVMs))
		}
	}
	packed.Model.B = min(0, packed.Model.B)
	if j.Usage != nil {
		class := perf.Classify(*j.Usage, o.CPUPercent, o.IOMBPerS)
		if packed.Role == "" {
			packed.Role = class.Role
		}
		for _, w := range class.Warnings {
			w.Pointer = "/usage"
			warnings = append(warnings, w)
		}
	}
	if packed.Role == "" {
		packed.Role = perf.PlainRole
	}
	return packed, warnings, nil
}

func (b *batch) kind(j BatchJob, packed PackedJob, o PackingOptions) kind {
	k := kind{
		name: j.Name, count: int(j.Count), minVMs: int(packed.MinVMs), role: packed.Role,
		io:      packed.Role == perf.HostRole || j.Usage != nil && perf.Classify(*j.Usage, o.CPUPercent, o.IOMBPerS).IO,
		times:   make([]float64, b.vms+1),
		release: j.ReleaseSeconds, deadline: j.DeadlineSeconds,
	}
	if b.extras == 0 {
		k.role = perf.PlainRole // no host or guest is possible
	}
	for n := range k.times {
		k.times[n] = math.Inf(1)
		if n >= k.minVMs {
			k.times[n] = min(k.times[n-1], perf.Power(packed.Model, float64(n)))
		}
	}
	return k
}

// alone returns the duration of a job on all VMs.
func (k *kind) alone() float64 { return k.times[len(k.times)-1] }

// size returns the number of jobs.
func (b *batch) size() (n int) {
	for i := range b.kinds {
		n += b.kinds[i].count
	}
	return n
}

// sequential returns the duration of all jobs one after the other.
func (b *batch) sequential() (s float64) {
	for i := range b.kinds {
		s += float64(b.kinds[i].count) * b.kinds[i].alone()
	}
	return s
}

// some is a number of jobs of a kind.
type some struct{ kind, count int }

// contents holds the jobs of a phase, in the order of their kinds.
type contents []some

// everything returns all jobs.
func (b *batch) everything() contents {
	c := make(contents, len(b.kinds))
	for i := range b.kinds {
		c[i] = some{i, b.kinds[i].count}
	}
	return c
}

// below returns findings about a part of the input, with pointers from its root.
func below(at string, wrong *fault.InputError) (findings []fault.Finding) {
	for _, f := range wrong.Findings {
		findings = append(findings, f.Move(fault.Under(at)))
	}
	return findings
}
