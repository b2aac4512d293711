package pool

import (
	"math"

	"headroom/internal/core/lp"
)

// program is the sizing of a pool as a program. It has core instances x of each type and accelerators n of each type
// and hour, never more than in the hour before. It also has the share of each job's work on each type. For each type
// and deadline the work due by then must not exceed the instance-hours.
type program struct {
	lp.Program
	core  []int   // columns by type; -1 without one
	hours [][]int // columns by type and hour
	parts [][]int // columns by job and type; -1 if the job does not run there
}

// program builds the program. lack, if above 0, is the cost of data without a place or of undone work. Then there is
// always a solution, and its cost bounds the cost of plans.
func (m *model) program(lack float64) *program {
	p := &program{core: make([]int, len(m.Types)), hours: make([][]int, len(m.Types)), parts: make([][]int, len(m.Jobs))}
	storage := -1
	if m.needed > 0 {
		storage = p.Row(1, math.Inf(1))
	}
	work := make([]int, len(m.Jobs))
	for j := range m.Jobs {
		work[j] = p.Row(1, math.Inf(1))
		p.parts[j] = make([]int, len(m.Types))
	}
	for i, t := range m.Types {
		due := m.due(i)
		rows := make([]int, len(due))
		for k := range due {
			rows[k] = p.Row(math.Inf(-1), 0)
		}
		price, limit, alone := t.PerHour.Float(), float64(m.limits[i]), m.alone(i)
		together := -1
		var before int
		p.core[i] = -1
		lasting := 0
		if t.Accelerator {
			if lasting = m.lasting(i); alone <= limit {
				lasting = min(lasting, 1)
			}
			before = len(p.RowLower)
			for range lasting - 1 {
				p.Row(math.Inf(-1), 0) // hour h+1 - hour h
			}
		}
		if t.Core && lasting > 0 {
			together = p.Row(math.Inf(-1), limit)
		}
		if t.Core {
			var entries []lp.Entry
			if storage >= 0 && t.DiskGB > 0 {
				entries = append(entries, lp.Entry{Row: storage, Coefficient: t.DiskGB / m.needed})
			}
			for k, end := range due {
				if hours := end - m.startups[i]; hours > 0 {
					entries = append(entries, lp.Entry{Row: rows[k], Coefficient: -hours})
				}
			}
			if together >= 0 {
				entries = append(entries, lp.Entry{Row: together, Coefficient: 1})
			}
			if len(entries) > 0 {
				p.core[i] = p.Column(price*float64(m.Hours), 0, limit, true, entries...)
			}
		}
		for h := range lasting {
			var entries []lp.Entry
			for k, end := range due {
				from := max(float64(h), m.startups[i])
				if hours := min(end, float64(h+1)) - from; hours > 0 {
					entries = append(entries, lp.Entry{Row: rows[k], Coefficient: -hours})
				}
			}
			if h > 0 {
				entries = append(entries, lp.Entry{Row: before + h - 1, Coefficient: 1})
			}
			if h+1 < lasting {
				entries = append(entries, lp.Entry{Row: before + h, Coefficient: -1})
			}
			if h == 0 && together >= 0 {
				entries = append(entries, lp.Entry{Row: together, Coefficient: 1})
			}
			p.hours[i] = append(p.hours[i], p.Column(price, 0, limit, true, entries...))
		}
		for j, job := range m.Jobs {
			p.parts[j][i] = -1
			if m.rates[j][i] == 0 || p.core[i] < 0 && lasting == 0 {
				continue
			}
			entries := []lp.Entry{{Row: work[j], Coefficient: 1}}
			for k, end := range due {
				if end >= m.deadlines[j] {
					entries = append(entries, lp.Entry{Row: rows[k], Coefficient: job.Work / m.rates[j][i]})
				}
			}
			p.parts[j][i] = p.Column(0, 0, 1, false, entries...)
		}
	}
	if lack > 0 {
		if storage >= 0 {
			p.Column(lack, 0, 1, false, lp.Entry{Row: storage, Coefficient: 1})
		}
		for j := range m.Jobs {
			p.Column(lack, 0, 1, false, lp.Entry{Row: work[j], Coefficient: 1})
		}
	}
	return p
}

// due returns the deadlines of the jobs that run on a type, each once, the earliest first.
func (m *model) due(i int) (due []float64) {
	for _, j := range m.order {
		if m.rates[j][i] > 0 && (len(due) == 0 || due[len(due)-1] < m.deadlines[j]) {
			due = append(due, m.deadlines[j])
		}
	}
	return due
}

// mix holds whole instances: core of each type, and accelerators of each type and hour.
type mix struct {
	core  []int64
	hours [][]int64
}

// mix reads a solution. Counts are rounded by round, to the nearest or up.
func (p *program) mix(x []float64, round func(float64) float64) mix {
	a := mix{core: make([]int64, len(p.core)), hours: make([][]int64, len(p.core))}
	count := func(column int) int64 {
		if n := round(x[column]); n > 0 { // written this way so that NaN counts as none
			return int64(min(n, p.Upper[column]))
		}
		return 0
	}
	for i, column := range p.core {
		if column >= 0 {
			a.core[i] = count(column)
		}
		for h, column := range p.hours[i] {
			n := count(column)
			if h > 0 {
				n = min(n, a.hours[i][h-1])
			}
			a.hours[i] = append(a.hours[i], n)
		}
	}
	return a
}

// up rounds up, forgiving a solver's tolerance for whole numbers.
func up(x float64) float64 { return math.Ceil(x - lp.AdviceTolerance) }

// start returns a mix as a solution to begin from, with the shares of work that x has.
func (p *program) start(x []float64, a mix) []float64 {
	s := append([]float64(nil), x...)
	for i, column := range p.core {
		if column >= 0 {
			s[column] = float64(a.core[i])
		}
		for h, column := range p.hours[i] {
			s[column] = float64(a.hours[i][h])
		}
	}
	return s
}

// within reports whether a mix keeps the limits.
func (m *model) within(a mix) bool {
	for i, n := range a.core {
		for _, more := range a.hours[i][:min(1, len(a.hours[i]))] {
			n += more
		}
		if n > m.limits[i] {
			return false
		}
	}
	return true
}

// supplies returns a mix as working instances.
func (m *model) supplies(a mix) []supply {
	all := make([]supply, len(m.Types))
	for i := range all {
		all[i] = supply{startup: m.startups[i], groups: []group{{float64(a.core[i]), math.Inf(1)}}}
		for h, n := range a.hours[i] {
			if h+1 < len(a.hours[i]) {
				n -= a.hours[i][h+1]
			}
			if n > 0 {
				all[i].groups = append(all[i].groups, group{float64(n), float64(h + 1)})
			}
		}
	}
	return all
}
