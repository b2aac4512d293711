package history

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/strict"
)

// structure identifies executions with the same stages: the stages' names, in their order, and the stages that each
// waits for. Numbers of tasks may differ.
func (c *Chain) structure() string {
	var b strings.Builder
	for _, p := range c.Phases {
		fmt.Fprintf(&b, "%q%v\n", p.Name, p.After)
	}
	return b.String()
}

// mergeChains makes one profile of the chains of one job; a repeated execution counts once. It uses the chains with
// the most frequent structure (of two with equal counts, the first), and refuses each of the others.
//
// Stages are merged like the phases of maps and reduces. Counts of tasks are the median execution's, and means those
// of all tasks together. The longest task and the overhead are quantiles of the executions'.
func mergeChains(chains []Chain) (Merged, error) {
	m := noneMerged()
	var all []*Chain
	seen := map[string]bool{}
	structures := map[string]int{}
	for i := range chains {
		c := &chains[i]
		if c.Name != chains[0].Name {
			return m, Refusal{Where: c.ID, Detail: fmt.Sprintf("It is of the job %q and others are of %q; merge those of one job.", c.Name, chains[0].Name)}
		}
		if c.ID != "" && seen[c.ID] {
			continue
		}
		seen[c.ID] = true
		all = append(all, c)
		structures[c.structure()]++
	}
	if len(all) == 0 {
		return m, Refusal{Where: "the merge", Detail: "There is no execution that can be merged."}
	}
	if all[0].Name == "" && len(all) > 1 {
		return m, Refusal{Where: "the merge", Detail: "The history does not name the jobs, so that nothing says which executions belong together; name the job of those that do."}
	}
	usual := slices.MaxFunc(all, func(a, b *Chain) int { return cmp.Compare(structures[a.structure()], structures[b.structure()]) })
	shape := usual.structure()
	if twice := len(chains) - len(all); twice > 0 {
		m.warn("Samples of executions that are there already: %d; each counts once.", twice)
	}
	all = slices.DeleteFunc(all, func(c *Chain) bool {
		if c.structure() == shape {
			return false
		}
		m.Refused = append(m.Refused, Refusal{Where: c.ID, Detail: fmt.Sprintf("Its %d stages are not those of most executions, which have %d like %s. Perhaps the job has changed; take executions from then on, or until then.", len(c.Phases), len(usual.Phases), usual.ID)})
		return true
	})
	if n := len(m.Refused); n > 0 {
		m.warn("Of %d executions those with other stages than most are left out: %d.", n+len(all), n)
	}
	m.Name, m.Executions = all[0].Name, int64(len(all))
	m.stages(all)
	var overheads []float64
	spread := map[string][]float64{}
	for _, c := range all {
		m.Left.add(c.Left)
		tasks, work := 0.0, 0.0
		for _, p := range c.Phases {
			tasks, work = tasks+float64(p.Tasks), work+float64(p.Tasks)*p.Task.Mean
		}
		spread["tasks"], spread["work_s"] = append(spread["tasks"], tasks), append(spread["work_s"], work)
		if c.Seconds != nil {
			overheads = append(overheads, c.OverheadSeconds)
			spread["overhead_s"], spread["seconds"] = append(spread["overhead_s"], c.OverheadSeconds), append(spread["seconds"], *c.Seconds)
		}
	}
	for name, xs := range spread {
		m.Spread[name] = numbers(xs)
	}
	if n := m.Spread["tasks"]; n.P95 > alike*n.Median || n.Min*alike < n.Median {
		m.warn("Executions have from %g to %g tasks, half of them %g or fewer: their inputs differ. Perhaps they are several classes; the profile is the middle one's.", n.Min, n.Max, n.Median)
	}
	m.Profile.OverheadSeconds = m.overhead(overheads, m.warn)
	if findings := m.Profile.Findings(""); len(findings) > 0 {
		return m, Refusal{Where: "the merge", Detail: "Its figures are no profile: " + findings[0].Detail}
	}
	return m, nil
}

// stages sets the stages of executions with the same structure. It reports only the first few oddities of single
// stages.
func (m *Merged) stages(all []*Chain) {
	const maxWarnings = 5
	warnings := 0
	warn := func(format string, args ...any) {
		if warnings++; warnings <= maxWarnings {
			m.warn(format, args...)
		}
	}
	for k, p := range all[0].Phases {
		tasks := make([]float64, len(all))
		measured := make([]Durations, len(all))
		for i, c := range all {
			tasks[i], measured[i] = float64(c.Phases[k].Tasks), c.Phases[k].Task
		}
		slices.Sort(tasks)
		s := capacity.Stage{Name: shortened(p.Name), Tasks: wholeMedian(perf.Median(tasks))}
		s.AvgSeconds, s.MaxSeconds = pooled(measured, fmt.Sprintf("stage %d", k+1), s.Tasks, warn)
		m.Profile.Stages = append(m.Profile.Stages, s)
	}
	if more := warnings - maxWarnings; more > 0 {
		m.warn("%d more stages are unusual like that.", more)
	}
}

// shortened returns the part of a stage's name that a profile keeps.
func shortened(name string) string {
	letters := []rune(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, name))
	return string(letters[:min(len(letters), strict.MaxNameLength)])
}

// MergeRecords makes one profile of the records of one job, of their most frequent form.
func MergeRecords(records []Record) (Merged, error) {
	var samples []Sample
	var chains []Chain
	for _, r := range records {
		switch {
		case r.Sample != nil:
			samples = append(samples, *r.Sample)
		case r.Chain != nil:
			chains = append(chains, *r.Chain)
		}
	}
	others := []Refusal{}
	refuse := func(id, form, limit string) {
		others = append(others, Refusal{Where: id, Detail: fmt.Sprintf("It is of %s, and most executions of the job are of %s.", form, limit)})
	}
	var m Merged
	var err error
	if len(chains) > len(samples) {
		m, err = mergeChains(chains)
		for _, s := range samples {
			refuse(s.ID, "maps and reduces", "stages")
		}
	} else {
		m, err = Merge(samples)
		for _, c := range chains {
			refuse(c.ID, "stages", "maps and reduces")
		}
	}
	m.Refused = append(m.Refused, others...)
	return m, err
}
