package pool

import (
	"math"
	"slices"

	"example.org/headroom/internal/core/perf"
)

// group is a number of instances of a type that start and leave together.
type group struct {
	count float64
	until float64 // hours from the round's start; infinite if they stay
}

// supply holds all instances of a type. They work once their start-up is over.
type supply struct {
	startup float64
	groups  []group
}

// by returns the instance-hours worked until a moment.
func (s supply) by(hours float64) (worked float64) {
	for _, g := range s.groups {
		worked += g.count * max(0, min(hours, g.until)-s.startup)
	}
	return worked
}

// at returns the number of instances that work just after a moment.
func (s supply) at(hours float64) (count float64) {
	for _, g := range s.groups {
		if g.until > hours && hours >= s.startup {
			count += g.count
		}
	}
	return count
}

// ends returns the moments when instances leave.
func (s supply) ends() (ends []float64) {
	for _, g := range s.groups {
		if g.until > s.startup && !math.IsInf(g.until, 1) && g.count > 0 {
			ends = append(ends, g.until)
		}
	}
	return ends
}

// workRounding is the share by which a type's work may exceed its capacity: the rounding error of sums.
const workRounding = 1e-9

// when returns the first moment by which these instance-hours are worked, or infinity.
func (s supply) when(worked float64) float64 {
	if worked <= 0 {
		return 0
	}
	ends := s.ends()
	slices.Sort(ends)
	from, done := s.startup, 0.0
	for _, end := range ends {
		if next := s.by(end); next >= worked*(1-workRounding) {
			if count := s.at(from); count > 0 {
				return min(end, from+(worked-done)/count)
			}
			return end
		} else {
			from, done = end, next
		}
	}
	if count := s.at(from); count > 0 {
		return from + (worked-done)/count
	}
	return math.Inf(1)
}

// division holds the instance-hours of each job on each type.
type division [][]float64

func (m *model) nothing() division {
	d := make(division, len(m.Jobs))
	for j := range d {
		d[j] = make([]float64, len(m.Types))
	}
	return d
}

// inOrder lets every instance work on the first unfinished job that it can run, by deadline.
func (m *model) inOrder(supplies []supply) division {
	d := m.nothing()
	left := make([]float64, len(m.Jobs))
	for j := range left {
		left[j] = m.Jobs[j].Work
	}
	var events []float64
	for _, s := range supplies {
		events = append(append(events, s.startup), s.ends()...)
	}
	slices.Sort(events)
	next := make([]int, len(m.Types)) // place in the order of the job that a type works on
	speed := make([]float64, len(m.Jobs))
	now := 0.0
	for {
		for len(events) > 0 && events[0] <= now {
			events = events[1:]
		}
		clear(speed)
		busy := false
		for i := range m.Types {
			for next[i] < len(m.order) && (left[m.order[next[i]]] == 0 || m.rates[m.order[next[i]]][i] == 0) {
				next[i]++
			}
			if count := supplies[i].at(now); count > 0 && next[i] < len(m.order) {
				j := m.order[next[i]]
				speed[j] += count * m.rates[j][i]
				busy = true
			}
		}
		if !busy && len(events) == 0 {
			return d
		}
		step := math.Inf(1)
		if len(events) > 0 {
			step = events[0] - now
		}
		first := -1
		for j, v := range speed {
			if v > 0 && left[j]/v <= step {
				step, first = left[j]/v, j
			}
		}
		for i := range m.Types {
			if count := supplies[i].at(now); count > 0 && next[i] < len(m.order) {
				d[m.order[next[i]]][i] += count * step
			}
		}
		for j, v := range speed {
			left[j] = max(0, left[j]-v*step)
		}
		if first >= 0 {
			left[first] = 0
			now += step
		} else {
			now = events[0]
		}
	}
}

// finishes returns the ends of jobs, infinite for those never done, and the end of each type's work.
func (m *model) finishes(supplies []supply, d division) (jobs, types []float64) {
	jobs, types = make([]float64, len(m.Jobs)), make([]float64, len(m.Types))
	done := make([]float64, len(m.Jobs))
	for i, s := range supplies {
		worked := 0.0
		for _, j := range m.order {
			if d[j][i] > 0 {
				worked += d[j][i]
				types[i] = s.when(worked)
				jobs[j] = max(jobs[j], types[i])
				done[j] += d[j][i] * m.rates[j][i]
			}
		}
	}
	for j := range done {
		if done[j] < m.Jobs[j].Work*(1-workRounding) {
			jobs[j] = math.Inf(1)
		}
	}
	return jobs, types
}

// NodeTypes returns what measured rates need to know of instance types.
func NodeTypes(types []PoolType) []perf.NodeType {
	nodes := make([]perf.NodeType, len(types))
	for i, t := range types {
		nodes[i] = perf.NodeType{Name: t.Name, ComputeUnits: t.ComputeUnits, Slots: t.Slots}
	}
	return nodes
}
