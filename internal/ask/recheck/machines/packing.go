// Package machines checks packings, pools of different machines and shares of them again, by code of its own.
package machines

import (
	"errors"
	"fmt"
	"math"

	"example.org/headroom/internal/ask/pack"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/proof"
)

// packingTolerance is the share by which two computations of a time may differ.
const packingTolerance = 1e-9

// Packing checks a packing against its batch, computing every figure from the batch. Every job must run once, on
// existing VMs, by the rules for VMs that share a machine, and take the time of its model; the sums must be right. It
// does not say whether a shorter packing exists, but checks that the lower bound is not above this one. An empty
// result means that the packing is right.
func Packing(p pack.PackingProblem, a pack.Packing) []fault.Finding {
	c := &packingCheck{problem: p, packing: a, kinds: map[string]int{}, seen: map[string]map[int64]bool{}}
	c.jobs()
	if len(c.findings) > 0 {
		return c.findings // the rest would mean nothing
	}
	for i := range a.Phases {
		c.phase(i)
	}
	for i, j := range p.Jobs {
		if ran := int64(len(c.seen[j.Name])); ran != j.Count {
			c.wrong(fmt.Sprintf("/jobs/%d", i), "%d jobs %q run, but there are %d", ran, j.Name, j.Count)
		}
	}
	c.sums()
	return c.findings
}

// PackingFault returns the findings of Packing as one error, which is no fault of the caller, or nil.
func PackingFault(p pack.PackingProblem, a pack.Packing) error {
	wrong := Packing(p, a)
	if len(wrong) == 0 {
		return nil
	}
	errs := []error{errors.New("the packing that was found is wrong, which is a fault of this program")}
	for _, f := range wrong {
		errs = append(errs, fmt.Errorf("%s: %s", f.Pointer, f.Detail))
	}
	return errors.Join(errs...)
}

type packingCheck struct {
	problem  pack.PackingProblem
	packing  pack.Packing
	kinds    map[string]int
	seen     map[string]map[int64]bool
	end      float64 // of the phase before
	busy     float64
	met      int64
	missed   int64
	findings []fault.Finding
}

func (c *packingCheck) wrong(pointer, sentence string, values ...any) {
	if len(c.findings) < fault.MaxFindings {
		c.findings = append(c.findings, fault.Finding{Pointer: pointer, Code: "packing", Detail: fmt.Sprintf(sentence, values...) + "."})
	}
}

func (c *packingCheck) equal(pointer, what string, got, want float64) {
	if !proof.Alike(got, want) {
		c.wrong(pointer, "%s is said to be %.12g, but it is %.12g", what, got, want)
	}
}

// jobs checks the jobs and models of the packing.
func (c *packingCheck) jobs() {
	if len(c.packing.Jobs) != len(c.problem.Jobs) {
		c.wrong("/jobs", "there are %d kinds of jobs, but the batch has %d", len(c.packing.Jobs), len(c.problem.Jobs))
		return
	}
	for i, want := range c.problem.Jobs {
		got, at := c.packing.Jobs[i], fmt.Sprintf("/jobs/%d", i)
		c.kinds[want.Name] = i
		c.seen[want.Name] = map[int64]bool{}
		if got.Name != want.Name || got.Count != want.Count {
			c.wrong(at, "here are %d jobs %q, but the batch has %d of %q", got.Count, got.Name, want.Count, want.Name)
		}
		if got.ReleaseSeconds != want.ReleaseSeconds || got.DeadlineSeconds != want.DeadlineSeconds {
			c.wrong(at, "the job comes at %g s and is due at %g s, not at %g s and %g s", want.ReleaseSeconds, want.DeadlineSeconds, got.ReleaseSeconds, got.DeadlineSeconds)
		}
		if got.MinVMs < max(1, want.MinVMs) {
			c.wrong(at+"/min_vms", "the job needs %d VMs, not %d", max(1, want.MinVMs), got.MinVMs)
		}
		if want.Role != "" && got.Role != want.Role {
			c.wrong(at+"/role", "the job may be %s, not %s", want.Role, got.Role)
		}
		if u := want.Usage; want.Role == "" && u != nil {
			if cpu, io := u.CPUPercent > c.problem.Options.CPUPercent, u.IOMBPerS > c.problem.Options.IOMBPerS; (got.Role == perf.HostRole) != (io && !cpu) || (got.Role == perf.GuestRole) != (cpu && !io) {
				c.wrong(at+"/role", "the job's usage does not make it %s", got.Role)
			}
		}
		switch m := got.Model; {
		case !(m.A > 0 && m.B <= 0 && !math.IsInf(m.A, 0) && !math.IsInf(m.B, 0)):
			c.wrong(at+"/model", "%g · n^%g is no time that falls with the VMs", m.A, m.B)
		case want.Model != nil:
			c.equal(at+"/model/a", "a", m.A, want.Model.A)
			c.equal(at+"/model/b", "b", m.B, min(0, want.Model.B))
		case got.Fit == nil:
			c.wrong(at+"/fit", "the fit of the measurements is missing")
		default:
			c.fitted(at, want, got)
		}
	}
}

// fitted checks that a fit is at a minimum: no small change of a or b improves it.
func (c *packingCheck) fitted(at string, want pack.BatchJob, got pack.PackedJob) {
	m := got.Fit.PowerModel
	squares := func(a, b float64) (s float64) {
		for _, p := range want.Measurements {
			t := a * math.Pow(p.VMs, b)
			e := math.Log(p.Seconds / t)
			if want.Fit == perf.FitNLS {
				e = p.Seconds - t
			}
			s += e * e
		}
		return s
	}
	const step = 1e-4
	here, scale := squares(m.A, m.B), 0.0
	for _, p := range want.Measurements {
		scale += p.Seconds * p.Seconds
	}
	if want.Fit != perf.FitNLS {
		scale = float64(len(want.Measurements))
	}
	for _, da := range []float64{-step, 0, step} {
		for _, db := range []float64{-step, 0, step} {
			if squares(m.A*(1+da), m.B+db) < here-1e-12*scale {
				c.wrong(at+"/fit", "%g · n^%g is not the best fit: %g · n^%g is better", m.A, m.B, m.A*(1+da), m.B+db)
				return
			}
		}
	}
	c.equal(at+"/model/a", "a", got.Model.A, m.A)
	c.equal(at+"/model/b", "b", got.Model.B, min(0, m.B))
}

// phase checks one phase: its jobs, its times, its machines.
func (c *packingCheck) phase(i int) {
	p, at := c.packing.Phases[i], fmt.Sprintf("/phases/%d", i)
	longest := 0.0
	for n, j := range p.Jobs {
		on := fmt.Sprintf("%s/jobs/%d", at, n)
		kind, known := c.kinds[j.Job]
		if !known {
			c.wrong(on+"/job", "there is no job %q", j.Job)
			continue
		}
		needed, model := c.problem.Jobs[kind], c.packing.Jobs[kind]
		if j.Number < 1 || j.Number > needed.Count || c.seen[j.Job][j.Number] {
			c.wrong(on+"/number", "job %d of %q is none of %d, or runs twice", j.Number, j.Job, needed.Count)
		}
		c.seen[j.Job][j.Number] = true
		if j.Role != perf.PlainRole && j.Role != model.Role {
			c.wrong(on+"/role", "the job cannot be a %s", j.Role)
		}
		if j.VMs < model.MinVMs {
			c.wrong(on+"/vms", "the job has %d VMs and needs %d", j.VMs, model.MinVMs)
		}
		t := model.Model.A * math.Pow(float64(j.VMs), model.Model.B)
		if j.Role != perf.PlainRole {
			t *= c.problem.Machines.Penalty
		}
		c.equal(on+"/seconds", "the job's time", j.Seconds, t)
		c.equal(on+"/end_s", "the job's end", j.EndSeconds, p.StartSeconds+t)
		longest = max(longest, t)
		if p.StartSeconds < needed.ReleaseSeconds*(1-packingTolerance) {
			c.wrong(on, "the job starts at %g s, before its release at %g s", p.StartSeconds, needed.ReleaseSeconds)
		}
		if d := needed.DeadlineSeconds; d > 0 {
			late := p.StartSeconds+t > d
			if late != j.Late && !proof.Alike(p.StartSeconds+t, d) {
				c.wrong(on+"/late", "the job ends at %g s and its deadline is %g s", p.StartSeconds+t, d)
			}
			if j.Late {
				c.missed++
			} else {
				c.met++
			}
		} else if j.Late {
			c.wrong(on+"/late", "the job has no deadline")
		}
	}
	if len(p.Jobs) == 0 {
		c.wrong(at+"/jobs", "the phase has no job")
	}
	c.equal(at+"/seconds", "the phase's time", p.Seconds, longest)
	c.equal(at+"/end_s", "the phase's end", p.EndSeconds, p.StartSeconds+longest)
	if p.StartSeconds < c.end-packingTolerance*c.end {
		c.wrong(at+"/start_s", "the phase starts at %g s, before the one before ends at %g s", p.StartSeconds, c.end)
	}
	c.end, c.busy = p.StartSeconds+longest, c.busy+longest
	if c.problem.Options.Placement {
		c.machines(at, p)
	}
}

// machines checks that VMs may share their machines, and that all machines exist.
func (c *packingCheck) machines(at string, p pack.PackedPhase) {
	m := c.problem.Machines
	if int64(len(p.Placement)) != m.Count {
		c.wrong(at+"/placement", "%d machines are placed, but there are %d", len(p.Placement), m.Count)
		return
	}
	placed := make([]int64, len(p.Jobs))
	take := func(on string, job int, extra bool) (role perf.JobRole) {
		if job < 0 || job >= len(p.Jobs) {
			c.wrong(on, "there is no job %d in the phase", job)
			return ""
		}
		role = p.Jobs[job].Role
		if (role == perf.GuestRole) != extra {
			c.wrong(on, "a %s's VM stands where it may not", role)
		}
		placed[job]++
		return role
	}
	for i, machine := range p.Placement {
		on := fmt.Sprintf("%s/placement/%d", at, i)
		if int64(len(machine.Disks)) != m.Disks {
			c.wrong(on+"/disks", "the machine has %d disks, not %d", m.Disks, len(machine.Disks))
		}
		hosts := int64(0)
		for d, job := range machine.Disks {
			if job == -1 {
				continue
			}
			switch role := take(fmt.Sprintf("%s/disks/%d", on, d), job, false); {
			case role == perf.HostRole:
				hosts++
			case len(machine.Extras) > 0:
				c.wrong(fmt.Sprintf("%s/disks/%d", on, d), "a machine with extra VMs runs a job that is no host")
			}
		}
		for d, job := range machine.Extras {
			take(fmt.Sprintf("%s/extras/%d", on, d), job, true)
		}
		if extras := int64(len(machine.Extras)); extras > 0 && (m.HostsPerExtra == 0 || extras*m.HostsPerExtra > hosts) {
			c.wrong(on+"/extras", "%d extra VMs stand beside %d hosts, but each needs %d", extras, hosts, m.HostsPerExtra)
		}
	}
	for n, j := range p.Jobs {
		if placed[n] != j.VMs {
			c.wrong(fmt.Sprintf("%s/jobs/%d/vms", at, n), "the job has %d VMs, but %d are placed", j.VMs, placed[n])
		}
	}
}

// sums checks the packing's own sums.
func (c *packingCheck) sums() {
	a := c.packing
	sequential := 0.0
	for i, j := range c.problem.Jobs {
		m := a.Jobs[i].Model
		sequential += float64(j.Count) * m.A * math.Pow(float64(c.problem.Machines.VMs()), m.B)
	}
	c.equal("/sequential_s", "the time one after the other", a.SequentialSeconds, sequential)
	c.equal("/busy_s", "the phases' time", a.BusySeconds, c.busy)
	c.equal("/end_s", "the end", a.EndSeconds, c.end)
	c.equal("/saving", "what is saved, and 1,", 1+a.Saving, 1+(1-c.busy/sequential))
	if a.LowerBoundSeconds > c.busy*(1+packingTolerance) || a.LowerBoundSeconds < 0 {
		c.wrong("/lower_bound_s", "nothing takes less than %g s, it says, but this takes %g s", a.LowerBoundSeconds, c.busy)
	}
	if gap := (c.busy - a.LowerBoundSeconds) / c.busy; math.Abs(gap-a.Gap) > 2*packingTolerance {
		c.wrong("/gap", "the gap is said to be %g, but it is %g", a.Gap, gap)
	}
	if (a.Status == pack.PackingOptimal) != (a.Gap == 0) {
		c.wrong("/status", "the packing is called %s with a gap of %g", a.Status, a.Gap)
	}
	switch d := a.Deadlines; {
	case d == nil && c.met+c.missed > 0:
		c.wrong("/deadlines", "the count of deadlines is missing")
	case d != nil && (d.Met != c.met || d.Missed != c.missed):
		c.wrong("/deadlines", "%d deadlines are met and %d missed, not %d and %d", c.met, c.missed, d.Met, d.Missed)
	}
}
