package pool

import (
	"context"
	"fmt"
	"math"
	"sort"
	"strconv"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/lp"
)

// impossible explains why no mix is possible, if that shows without a program: the first of three groups of reasons
// with any. Cures with a value are sufficient.
func (m *model) impossible() []fault.Finding {
	for _, group := range []func() []fault.Finding{m.nowhere, m.tooSoon, m.tooSmall} {
		if conflicts := group(); len(conflicts) > 0 {
			return conflicts[:min(len(conflicts), fault.MaxFindings)]
		}
	}
	return nil
}

// nowhere lists jobs that run on no type.
func (m *model) nowhere() (conflicts []fault.Finding) {
	for j, job := range m.Jobs {
		runs, memory, roomy := false, 0.0, ""
		for i, t := range m.Types {
			runs = runs || m.rates[j][i] > 0 && m.limits[i] > 0
			if a := t.MemoryGiB / float64(t.Slots); a > memory && m.limits[i] > 0 && (len(job.Rates) == 0 && t.ComputeUnits > 0 || job.Rates[t.Name] > 0) {
				memory, roomy = a, t.Name
			}
		}
		if runs {
			continue
		}
		at := fmt.Sprintf("/jobs/%d", j)
		f := fault.Finding{Pointer: at, Code: "no_eligible_type"}
		switch {
		case job.MemoryGiBPerTask > memory && memory > 0:
			f.Detail = fmt.Sprintf("No instance type runs the job %q: its tasks need %s GiB of memory, and the most that a slot offers is %s GiB, on %s.", job.Name, number(job.MemoryGiBPerTask), number(memory), roomy)
			f.Hint = &fault.Hint{Detail: fmt.Sprintf("Add a type with more memory a slot, or give %s fewer slots; tasks of %s GiB would run.", roomy, number(memory)), Pointer: at + "/memory_gib_per_task", Value: memory}
		case job.MemoryGiBPerTask > 0 && memory == 0:
			f.Detail = fmt.Sprintf("No instance type runs the job %q: its tasks need %s GiB of memory, and no type with a rate for it says how much it has.", job.Name, number(job.MemoryGiBPerTask))
			f.Hint = &fault.Hint{Detail: "Give the types that could run it their \"memory_gib\"."}
		default:
			f.Detail = fmt.Sprintf("No instance type runs the job %q: it has no rate above 0 on any that may be rented.", job.Name)
			f.Hint = &fault.Hint{Detail: "Give it a rate on a type, or leave its rates out and give types their compute units.", Pointer: at + "/rates"}
		}
		conflicts = append(conflicts, f)
	}
	return conflicts
}

// tooSoon lists jobs whose deadline comes before any instance works.
func (m *model) tooSoon() (conflicts []fault.Finding) {
	for j, job := range m.Jobs {
		first := math.Inf(1)
		for i := range m.Types {
			if m.rates[j][i] > 0 && m.limits[i] > 0 {
				first = min(first, m.startups[i])
			}
		}
		if m.deadlines[j] <= first {
			conflicts = append(conflicts, fault.Finding{Pointer: fmt.Sprintf("/jobs/%d/deadline_hours", j), Code: "deadline",
				Detail: fmt.Sprintf("The job %q is due after %s, but an instance that is started works only from %s on.", job.Name, inHours(m.deadlines[j]), inHours(first)),
				Hint:   &fault.Hint{Detail: "Give it a deadline after the start-up."}})
		}
	}
	return conflicts
}

// tooSmall reports data that all disks together cannot hold.
func (m *model) tooSmall() []fault.Finding {
	highest, roomy := 0.0, -1
	for i, t := range m.Types {
		if t.Core {
			highest += float64(m.limits[i]) * t.DiskGB
			if roomy < 0 || t.DiskGB > m.Types[roomy].DiskGB {
				roomy = i
			}
		}
	}
	if highest >= m.needed {
		return nil
	}
	f := fault.Finding{Pointer: "/storage/data_gb", Code: "storage"}
	if roomy < 0 || m.Types[roomy].DiskGB == 0 {
		f.Detail = fmt.Sprintf("The data needs %s GB, but no type that may be a core instance has a disk.", number(m.needed))
		f.Hint = &fault.Hint{Detail: "Give a core type its \"disk_gb\"; accelerators hold no data."}
		return []fault.Finding{f}
	}
	f.Detail = fmt.Sprintf("The data needs %s GB with its copies, but all core instances that may be rented hold %s GB.", number(m.needed), number(highest))
	more := m.limits[roomy] + int64(math.Ceil((m.needed-highest)/m.Types[roomy].DiskGB))
	f.Hint = &fault.Hint{Detail: "Keep fewer copies, or add a type with larger disks."}
	if more <= maxPoolInstances {
		f.Hint = &fault.Hint{Detail: fmt.Sprintf("With %d instances of %s it has a place.", more, m.Types[roomy].Name), Pointer: fmt.Sprintf("/types/%d/most", roomy), Value: more}
	}
	return []fault.Finding{f}
}

// everything returns all instances that there may be, for the whole round.
func (m *model) everything() []supply {
	all := make([]supply, len(m.Types))
	for i := range all {
		all[i] = supply{m.startups[i], []group{{float64(m.limits[i]), math.Inf(1)}}}
	}
	return all
}

// tooFew reports deadlines that all instances together cannot meet, with proof: the earliest one, with the jobs due
// by then. Only limits of types can cause that.
func (m *model) tooFew(ctx context.Context, solver lp.Solver) ([]fault.Finding, error) {
	all := m.everything()
	if m.inTime(all, m.inOrder(all)) {
		return nil, nil
	}
	_, _, lowest, err := m.spread(ctx, solver, all)
	if err != nil || !(lowest > 1+poolLateTolerance) {
		return nil, err
	}
	// The first deadline by which too much is due: from there on the work due by then stays too much.
	due := 0
	lowest = 0
	if due = sort.Search(len(m.order), func(n int) bool {
		if err != nil {
			return true
		}
		part, failed := m.first(n + 1)
		if failed == nil {
			_, _, share, wrong := part.spread(ctx, solver, part.everything())
			if err = wrong; share > 1+poolLateTolerance {
				lowest = share
				return true
			}
		}
		return false
	}); err != nil || due == len(m.order) {
		return nil, err
	}
	j := m.order[due]
	f := fault.Finding{Pointer: fmt.Sprintf("/jobs/%d/deadline_hours", j), Code: "deadline",
		Detail: fmt.Sprintf("The job %q cannot be done within %s, with what is due before it, by all instances that may be rented: it takes %s times as many.", m.Jobs[j].Name, inHours(m.deadlines[j]), number(lowest)),
		Hint:   &fault.Hint{Detail: fmt.Sprintf("Let %s times as many instances of every type be rented (\"most\"), or give it a later deadline.", number(math.Ceil(100*lowest)/100))}}
	if later, ok := m.later(ctx, solver, j); ok {
		f.Hint = &fault.Hint{Detail: fmt.Sprintf("With a deadline of %s it is done; or let %s times as many instances of every type be rented (\"most\").", inHours(later), number(math.Ceil(100*lowest)/100)),
			Pointer: f.Pointer, Value: later}
	}
	return []fault.Finding{f}, nil
}

// first returns the problem of the n jobs that are due first.
func (m *model) first(n int) (*model, error) {
	p := m.PoolProblem
	p.Jobs = nil
	for _, j := range m.order[:n] {
		p.Jobs = append(p.Jobs, m.Jobs[j])
	}
	return ready(p)
}

// later returns a deadline for a job, in tenths of an hour, with which the largest possible pool meets all deadlines:
// the first such one.
func (m *model) later(ctx context.Context, solver lp.Solver, j int) (hours float64, ok bool) {
	low, high := int64(math.Floor(10*m.deadlines[j]))+1, 10*m.Hours
	if low > high {
		return 0, false
	}
	try := func(tenths int) bool {
		p := m.PoolProblem
		p.Jobs = append([]PoolJob(nil), p.Jobs...)
		p.Jobs[j].DeadlineHours = float64(low+int64(tenths)) / 10
		other, err := ready(p)
		if err != nil {
			return false
		}
		_, met, _, err := other.divide(ctx, solver, other.everything())
		return err == nil && met
	}
	n := sort.Search(int(high-low)+1, try)
	return float64(low+int64(n)) / 10, n <= int(high-low)
}

// number writes a figure for people, with at most three decimals.
func number(x float64) string {
	if x != 0 && (math.Abs(x) >= 1e15 || math.Abs(x) < 1e-3) {
		return strconv.FormatFloat(x, 'g', 4, 64)
	}
	return strconv.FormatFloat(math.Round(x*1000)/1000, 'f', -1, 64)
}

// inHours writes a time.
func inHours(h float64) string {
	if h == 1 {
		return "1 hour"
	}
	return number(h) + " hours"
}
