package sim

import (
	"cmp"
	"fmt"
	"math"

	"example.org/headroom/internal/slots/dispatch"
)

// maxCompared bounds the policies that can be compared with an input's own.
const maxCompared = 20

// Figures holds the results of a replication after the warm-up, for one class or several.
type Figures struct {
	Ended, Judged, Missed, Rejected int64
	ResponseSeconds                 float64 // sum over all that ended
	TaskSeconds                     float64 // slot seconds in which tasks worked
	LastEndSeconds                  float64 // of all that ended, before the warm-up too
}

// And returns the sum of two figures.
func (f Figures) And(other Figures) Figures {
	f.Ended += other.Ended
	f.Judged += other.Judged
	f.Missed += other.Missed
	f.Rejected += other.Rejected
	f.ResponseSeconds += other.ResponseSeconds
	f.TaskSeconds += other.TaskSeconds
	f.LastEndSeconds = max(f.LastEndSeconds, other.LastEndSeconds)
	return f
}

// Compared holds the results of a policy for a class or for all, and their differences from the first policy's. The
// replications of all policies share the jobs and the random numbers, so the differences are more certain than the
// figures.
type Compared struct {
	Policy   string  `json:"policy"`
	Class    string  `json:"class"`             // empty: all together
	VMType   string  `json:"vm_type,omitempty"` // set for a plan with several types
	Ended    int64   `json:"ended"`
	Judged   int64   `json:"judged"` // by a deadline
	Missed   int64   `json:"missed"`
	Rejected int64   `json:"rejected"`
	Met      Against `json:"met"` // part of the judged ones
	Response Against `json:"response_s"`
	Task     Against `json:"task_s"` // slot seconds in which tasks worked, per replication
	LastEnd  Against `json:"last_end_s"`
}

// Against holds a figure and its difference from the first policy's; null for the first policy. The half width of the
// difference is of that in each replication.
type Against struct {
	Estimate
	Difference *Estimate `json:"difference"`
}

// policyName returns a policy's name for people: its rule and the options that distinguish it.
func policyName(p Policy) string {
	name := string(cmp.Or(p.Kind, dispatch.PolicyFair))
	also := func(format string, values ...any) { name += ", " + fmt.Sprintf(format, values...) }
	if p.Mode != "" {
		also("%s", p.Mode)
	}
	if p.TimeFactor != nil {
		also("times %g", *p.TimeFactor)
	}
	if p.WholeTasks != nil && *p.WholeTasks {
		also("whole tasks")
	}
	if p.IOCap != nil {
		also("cap %g", *p.IOCap)
	}
	if p.Late != "" {
		also("late %s", p.Late)
	}
	if p.AffinityThreshold != nil {
		also("affinity %g", *p.AffinityThreshold)
	}
	if p.MaxSkips != nil {
		also("%d skips", *p.MaxSkips)
	}
	if p.Classifier != "" {
		also("%s", p.Classifier)
	}
	if p.EvaluationDelay != nil {
		also("delay %d", *p.EvaluationDelay)
	}
	if p.Target != nil {
		also("target %g", *p.Target)
	}
	if p.Lending != "" {
		also("lent to %s", p.Lending)
	}
	if p.ReducesAfter != nil {
		also("reduces after %g", *p.ReducesAfter)
	}
	if p.Admission != "" {
		also("admission %s", p.Admission)
	}
	return name
}

// names returns the policies' names and numbers equal ones.
func names(policies []Policy) []string {
	var all []string
	seen := map[string]int{}
	for _, p := range policies {
		name := policyName(p)
		if seen[name]++; seen[name] > 1 {
			name = fmt.Sprintf("%s (%d)", name, seen[name])
		}
		all = append(all, name)
	}
	return all
}

func (o *outcome) figures(m *model, class int) Figures {
	c := &o.classes[class]
	return Figures{Ended: c.response.n, Judged: c.judged + c.unfinishedLate, Missed: c.late + c.unfinishedLate, Rejected: c.rejected,
		ResponseSeconds: c.response.sum, TaskSeconds: c.worked(), LastEndSeconds: c.lastEnd}
}

// FiguresOf returns a policy's results for a class in each of the given replications. Policy 0 is the input's own;
// the compared ones follow.
func (s *Simulation) FiguresOf(policy, class int, replications []int) (all []Figures) {
	of := s
	if policy > 0 {
		of = s.rivals[policy-1]
	}
	for _, i := range replications {
		all = append(all, of.outcomes[i].figures(of.model, class))
	}
	return all
}

// compared returns every policy's row for all classes, and one for each class if there are several.
func (s *Simulation) compared(replications []int) []Compared {
	if len(s.rivals) == 0 {
		return nil
	}
	var rows []Compared
	classes := s.model.classes
	byClass := make([][][]Figures, len(classes))
	for i := range classes {
		byClass[i] = make([][]Figures, len(s.names))
		for p := range s.names {
			byClass[i][p] = s.FiguresOf(p, i, replications)
		}
	}
	rows = append(rows, Compare(s.names, "", Together(byClass))...)
	if len(classes) > 1 {
		for i := range classes {
			rows = append(rows, Compare(s.names, classes[i].Name, byClass[i])...)
		}
	}
	return rows
}

// Together adds up figures by policy and replication.
func Together(all [][][]Figures) [][]Figures {
	var sum [][]Figures
	for i, policies := range all {
		for p, figures := range policies {
			if i == 0 {
				sum = append(sum, append([]Figures{}, figures...))
				continue
			}
			for n := range figures {
				sum[p][n] = sum[p][n].And(figures[n])
			}
		}
	}
	return sum
}

// Compare returns the policies' results beside those of the first policy.
func Compare(names []string, class string, figures [][]Figures) []Compared {
	rows := make([]Compared, len(names))
	for p := range names {
		var all Figures
		for _, f := range figures[p] {
			all = all.And(f)
		}
		c := Compared{Policy: names[p], Class: class, Ended: all.Ended, Judged: all.Judged, Missed: all.Missed, Rejected: all.Rejected}
		base := figures[0]
		if p == 0 {
			base = nil
		}
		met := func(f *Figures) (float64, bool) { return ratio(float64(f.Judged-f.Missed), float64(f.Judged)) }
		c.Met = against(figures[p], base, met)
		c.Met.Estimate = proportion(figures[p], func(f *Figures) (good, all int64) { return f.Judged - f.Missed, f.Judged })
		c.Met.ofAll(c.Met.Mean, &rows[0].Met, c.Judged > 0 && rows[0].Judged > 0)
		if d := c.Met.Difference; d != nil && d.HalfWidth != nil && c.Judged > 0 {
			// If hardly a replication has a job that only one policy misses, the spread of replications says too
			// little. So one more job counts for each policy (Agresti and Min).
			n := float64(c.Judged)
			minWidth := student(len(figures[p])) * math.Sqrt(math.Abs(float64(c.Missed-rows[0].Missed))+1) / (n + 2)
			*d.HalfWidth = min(1, max(*d.HalfWidth, minWidth))
		}
		c.Response = against(figures[p], base, func(f *Figures) (float64, bool) { return ratio(f.ResponseSeconds, float64(f.Ended)) })
		if c.Ended > 0 {
			c.Response.ofAll(all.ResponseSeconds/float64(c.Ended), &rows[0].Response, rows[0].Ended > 0)
		}
		c.Task = against(figures[p], base, func(f *Figures) (float64, bool) { return f.TaskSeconds, true })
		c.LastEnd = against(figures[p], base, func(f *Figures) (float64, bool) { return f.LastEndSeconds, f.LastEndSeconds > 0 })
		rows[p] = c
	}
	return rows
}

// ofAll makes a mean over replications one over all their jobs, as a class's report has it. The difference follows,
// where both policies have jobs.
func (a *Against) ofAll(mean float64, first *Against, both bool) {
	a.Mean = mean
	if a.Difference != nil && both {
		a.Difference.Mean = mean - first.Mean
	}
}

// against returns the means of a figure and of its differences from the base, over the replications.
func against(figures, base []Figures, figure func(*Figures) (float64, bool)) Against {
	a := Against{Estimate: estimate(figures, figure)}
	if base != nil {
		type pair struct{ is, was *Figures }
		var pairs []pair
		for i := range figures {
			pairs = append(pairs, pair{&figures[i], &base[i]})
		}
		d := estimate(pairs, func(p *pair) (float64, bool) {
			is, ok := figure(p.is)
			was, known := figure(p.was)
			return is - was, ok && known
		})
		a.Difference = &d
	}
	return a
}
