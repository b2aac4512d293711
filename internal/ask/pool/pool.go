// Package pool sizes pools: the numbers and types of instances to rent, and for how long, so that divisible work
// meets its deadlines and data has a place. It follows "Heterogeneity-Aware Resource Allocation and Scheduling in the
// Cloud" and turns its sizing into a whole-number program. It knows no classes, tiers or penalties of capacity plans.
package pool

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"example.org/headroom/internal/core/capacity"
)

// model is a prepared problem. All work is there when the round starts and can be divided. So a type's instances act
// as one machine that works on its jobs in the order of their deadlines. Only its work by each deadline counts, and
// no program needs to know the hour of the work.
type model struct {
	PoolProblem
	rates     [][]float64 // of an instance, by job and type; 0 means not at all
	imputed   [][]bool
	deadlines []float64 // by job
	order     []int     // jobs by deadline
	limits    []int64   // concurrent instances, by type
	startups  []float64 // hours, by type
	needed    float64   // GB
	places    map[string]int
	warnings  []capacity.Warning
}

// ready prepares a problem, or returns an error with all its mistakes.
func ready(p PoolProblem) (*model, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	m := &model{PoolProblem: p, needed: p.Storage.NeededGB(), places: map[string]int{}, warnings: []capacity.Warning{}}
	for i, t := range p.Types {
		m.places[t.Name] = i
		limit := int64(maxPoolInstances)
		if t.Most != nil {
			limit = *t.Most
		}
		m.limits, m.startups = append(m.limits, limit), append(m.startups, p.Startup(t))
	}
	unknown := make([]bool, len(p.Types))
	for n, j := range p.Jobs {
		deadline := j.DeadlineHours
		if deadline == 0 {
			deadline = float64(p.Hours)
		}
		m.deadlines = append(m.deadlines, deadline)
		m.order = append(m.order, n)
		if j.RatesFrom != "" {
			m.warnings = append(m.warnings, capacity.Warning{Pointer: fmt.Sprintf("/jobs/%d/rates", n), Code: "rates_from", Detail: fmt.Sprintf("The rates of %s are from %s.", j.Name, j.RatesFrom)})
		}
		rates, imputed := m.rated(j)
		m.rates, m.imputed = append(m.rates, rates), append(m.imputed, imputed)
		for i, rate := range rates {
			if _, stated := j.Rates[p.Types[i].Name]; rate == 0 && !stated && p.Types[i].ComputeUnits == 0 {
				unknown[i] = true
			}
		}
	}
	for i, t := range p.Types {
		if unknown[i] {
			m.warnings = append(m.warnings, capacity.Warning{Pointer: fmt.Sprintf("/types/%d", i), Code: "unrated", Detail: fmt.Sprintf(
				"Jobs that have no rate on %s are not run there, because its compute units are not given either.", t.Name)})
		}
	}
	slices.SortStableFunc(m.order, func(a, b int) int { return cmp.Compare(m.deadlines[a], m.deadlines[b]) })
	return m, nil
}

// rated returns the speed of an instance of each type on a job, and marks those derived from compute units: in
// proportion to the slowest measured type. A type with too little memory for a task has rate 0.
func (m *model) rated(j PoolJob) (rates []float64, imputed []bool) {
	slowest := -1
	for i, t := range m.Types {
		if r := j.Rates[t.Name]; r > 0 && t.ComputeUnits > 0 && (slowest < 0 || r < j.Rates[m.Types[slowest].Name]) {
			slowest = i
		}
	}
	for _, t := range m.Types {
		rate, measured := j.Rates[t.Name]
		made := false
		switch {
		case measured || t.ComputeUnits == 0:
		case len(j.Rates) == 0:
			rate, made = t.ComputeUnits, true
		case slowest >= 0:
			rate, made = j.Rates[m.Types[slowest].Name]*t.ComputeUnits/m.Types[slowest].ComputeUnits, true
		}
		if !m.fits(j, t) {
			rate, made = 0, false
		}
		rates, imputed = append(rates, rate), append(imputed, made)
	}
	return rates, imputed
}

// fits reports whether a type's slots have the memory of a job's tasks.
func (m *model) fits(j PoolJob, t PoolType) bool {
	return t.MemoryGiB/float64(t.Slots) >= j.MemoryGiBPerTask
}

// lasting returns the last hour in which an instance of a type can help a job that runs there, or 0.
func (m *model) lasting(i int) (hours int) {
	for n := range m.Jobs {
		if m.rates[n][i] > 0 {
			hours = max(hours, int(math.Ceil(m.deadlines[n])))
		}
	}
	return hours
}

// alone returns the number of accelerators of a type, kept for an hour each, that do every job that runs there
// without other help. More are of no use. It is infinite if instances spend time on starting, because one kept longer
// starts only once.
func (m *model) alone(i int) (count float64) {
	if m.startups[i] > 0 {
		return math.Inf(1)
	}
	for n, j := range m.Jobs {
		if rate := m.rates[n][i]; rate > 0 {
			count += math.Ceil(j.Work / (rate * min(1, m.deadlines[n])))
		}
	}
	return count
}
