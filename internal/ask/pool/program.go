package pool

import (
	"iter"
	"math"

	"example.org/headroom/internal/core/lp"
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
	for i := range m.Types {
		r := m.rowsOf(p, i)
		p.core[i] = m.coreColumn(p, r, storage)
		p.hours[i] = m.hourColumns(p, r)
		m.partColumns(p, r, work)
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

// typeRows holds the rows of one type, for its columns.
type typeRows struct {
	index    int
	limit    float64
	due      []float64 // deadlines
	work     []int     // the row of the work due by each deadline
	lasting  int       // the hours for which accelerators may be rented
	hours    int       // the first row that keeps the accelerators of an hour at most as many as in the hour before
	together int       // the row of core instances and accelerators together; -1 without one
}

// rowsOf adds the rows of a type.
func (m *model) rowsOf(p *program, i int) *typeRows {
	t := &m.Types[i]
	r := &typeRows{index: i, limit: float64(m.limits[i]), due: m.due(i), together: -1}
	r.work = make([]int, len(r.due))
	for k := range r.due {
		r.work[k] = p.Row(math.Inf(-1), 0)
	}
	if t.Accelerator {
		if r.lasting = m.lasting(i); m.alone(i) <= r.limit {
			r.lasting = min(r.lasting, 1)
		}
		r.hours = len(p.RowLower)
		for range r.lasting - 1 {
			p.Row(math.Inf(-1), 0) // hour h+1 - hour h
		}
	}
	if t.Core && r.lasting > 0 {
		r.together = p.Row(math.Inf(-1), r.limit)
	}
	return r
}

// coreColumn adds the core instances of a type; it returns -1 if they are of no use. storage is the row of the data,
// or -1 without data.
func (m *model) coreColumn(p *program, r *typeRows, storage int) int {
	t := &m.Types[r.index]
	if !t.Core {
		return -1
	}
	var entries []lp.Entry
	if storage >= 0 && t.DiskGB > 0 { // one that holds all the data is as good as any larger one, which no solver could scale
		entries = append(entries, lp.Entry{Row: storage, Coefficient: min(1, t.DiskGB/m.needed)})
	}
	for k, end := range r.due {
		if hours := end - m.startups[r.index]; hours > 0 {
			entries = append(entries, lp.Entry{Row: r.work[k], Coefficient: -hours})
		}
	}
	if r.together >= 0 {
		entries = append(entries, lp.Entry{Row: r.together, Coefficient: 1})
	}
	if len(entries) == 0 {
		return -1
	}
	return p.Column(t.PerHour.Float()*float64(m.Hours), 0, r.limit, true, entries...)
}

// hourColumns adds the accelerators of a type in each hour.
func (m *model) hourColumns(p *program, r *typeRows) (columns []int) {
	price := m.Types[r.index].PerHour.Float()
	for h := range r.lasting {
		var entries []lp.Entry
		for k, end := range r.due {
			from := max(float64(h), m.startups[r.index])
			if hours := min(end, float64(h+1)) - from; hours > 0 {
				entries = append(entries, lp.Entry{Row: r.work[k], Coefficient: -hours})
			}
		}
		if h > 0 {
			entries = append(entries, lp.Entry{Row: r.hours + h - 1, Coefficient: 1})
		}
		if h+1 < r.lasting {
			entries = append(entries, lp.Entry{Row: r.hours + h, Coefficient: -1})
		}
		if h == 0 && r.together >= 0 {
			entries = append(entries, lp.Entry{Row: r.together, Coefficient: 1})
		}
		columns = append(columns, p.Column(price, 0, r.limit, true, entries...))
	}
	return columns
}

// partColumns adds the shares of the jobs' work on a type. work holds the row of each job's whole work.
func (m *model) partColumns(p *program, r *typeRows, work []int) {
	i := r.index
	for j, job := range m.Jobs {
		p.parts[j][i] = -1
		if m.rates[j][i] == 0 || p.core[i] < 0 && r.lasting == 0 {
			continue
		}
		entries := []lp.Entry{{Row: work[j], Coefficient: 1}}
		for k, end := range r.due {
			if end >= m.deadlines[j] {
				entries = append(entries, lp.Entry{Row: r.work[k], Coefficient: job.Work / m.rates[j][i]})
			}
		}
		p.parts[j][i] = p.Column(0, 0, 1, false, entries...)
	}
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

// singles yields a mix of a single instance for each type and use. Accelerators stay for an hour, or as long as they may.
func (p *program) singles() iter.Seq[mix] {
	return func(yield func(mix) bool) {
		x := make([]float64, p.Columns())
		for i, core := range p.core {
			if core >= 0 {
				x[core] = 1
				if !yield(p.mix(x, up)) {
					return
				}
				x[core] = 0
			}
			for h, column := range p.hours[i] {
				x[column] = 1
				if (h == 0 || h == len(p.hours[i])-1) && !yield(p.mix(x, up)) {
					return
				}
			}
			for _, column := range p.hours[i] {
				x[column] = 0
			}
		}
	}
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
