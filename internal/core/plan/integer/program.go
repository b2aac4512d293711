package integer

import (
	"math"

	"example.org/headroom/internal/core/lp"
)

const (
	// MinFree classes are left free for CBC even where the search has fixed them, so that it checks
	// the search rather than repeat it; small problems are solved whole.
	MinFree = 20
	// secondMost bounds the classes that are handed over at all.
	secondMost = 2_000
	// MaxOptions bounds the job counts of a class that CBC may choose from in the slot-exact program.
	MaxOptions = 64
)

// Program holds a front as a mixed-integer program over some free classes, the others fixed.
type Program struct {
	lp.Program
	Start []float64
	// Jobs reads the free classes' jobs from a solution.
	Jobs func(x []float64, jobs []int64)
}

// ProgramOf writes what a search has left open as a program for another solver, which starts from some jobs.
func ProgramOf(f Modeller, s *Search, jobs []int64) Program {
	free, below := freeClasses(f, s.gap)
	return f.program(free, below, jobs)
}

// Modeller can be written as a program, and adds its plans up.
type Modeller interface {
	front
	// program leaves the free classes to choose from jobs that cost less than below.
	program(free []int, below float64, jobs []int64) Program
	// Objective returns P2's objective with so many VMs.
	Objective(jobs []int64, vms int64) float64
	// Load returns what all jobs take, Units what those of one class take, PerVM what one VM carries.
	Load(jobs []int64) int64
	Units(class int, jobs int64) int64
	PerVM() int64
}

// VMsFor returns the whole VMs that carry so many jobs.
func VMsFor(f Modeller, jobs []int64) int64 { return CeilDiv(f.Load(jobs), f.PerVM()) }

// freeClasses is the classes that could still move in a better plan, and the cheapest to move
// besides until there are enough.
func freeClasses(f front, gap float64) (free []int, below float64) {
	below = gap
	leads, _ := f.leads(below, secondMost, nil)
	for tries := 0; len(leads) < MinFree && tries < 60; tries++ {
		below = max(4*below, 1e-6)
		leads, _ = f.leads(below, MinFree, leads[:0])
	}
	for _, l := range leads {
		free = append(free, l.class)
	}
	return free, below
}

// CBC takes a row for kept that is missed by 1e-7, and loses its way among coefficients beyond 1e9. Rows are counted
// such that the tolerance is less than a step of the grid, where that leaves sums within what floats hold.
const (
	safeStep   = 1e5 // grid steps in a VM that need no larger numbers
	rowSumMost = 1e6 // largest sum of a row
)

// rowScale is the units in which rows count a VM, where so many are needed: a power of ten.
func rowScale(perVM, need int64) float64 {
	scale := 1.0
	for scale*safeStep < float64(perVM) && scale*10*float64(max(1, need)) <= rowSumMost {
		scale *= 10
	}
	return scale
}

// addTiers adds a column per tier and the capacity row: demand - VMs <= -fixed, in units of which
// one VM has so many.
func (p *Program) addTiers(s Supply, need int64, perVM, fixed float64) (row int) {
	row = p.Row(math.Inf(-1), -fixed)
	left := need
	for k, price := range s.Price {
		from, to := s.Tier(k)
		size := min(to-from, MostVMs)
		p.Column(price, 0, float64(size), true, lp.Entry{Row: row, Coefficient: -perVM})
		used := min(left, size)
		p.Start = append(p.Start, float64(used))
		left -= used
	}
	return row
}

func (l *Linear) program(free []int, _ float64, jobs []int64) Program {
	var p Program
	fixed := l.Load(jobs)
	for _, i := range free {
		fixed -= l.weight[i] * jobs[i]
	}
	need := VMsFor(l, jobs)
	scale := rowScale(l.grid.PerVM, need)
	unit := float64(l.grid.PerVM) / scale
	row := p.addTiers(l.supply, need, scale, float64(fixed)/unit)
	first := p.Columns()
	for _, i := range free {
		p.Column(-l.Penalty[i], float64(l.Low[i]), float64(l.High[i]), true, lp.Entry{Row: row, Coefficient: float64(l.weight[i]) / unit})
		p.Start = append(p.Start, float64(jobs[i]))
	}
	p.Jobs = func(x []float64, jobs []int64) {
		for k, i := range free {
			jobs[i] = int64(math.Round(x[first+k]))
		}
	}
	return p
}

func (o *Options) program(free []int, below float64, jobs []int64) Program {
	var p Program
	fixed := o.Load(jobs)
	for _, i := range free {
		fixed -= o.Units(i, jobs[i])
	}
	need := VMsFor(o, jobs)
	scale := float64(o.Grid.PerVM) // whole numbers where they are small
	if scale > safeStep {
		scale = rowScale(o.Grid.PerVM, need)
	}
	unit := float64(o.Grid.PerVM) / scale
	row := p.addTiers(o.supply, need, scale, float64(fixed)/unit)
	type option struct {
		class int
		jobs  int64
	}
	first := p.Columns()
	var options []option
	for _, i := range free {
		one := p.Row(1, 1)
		add := func(h int64) {
			options = append(options, option{i, h})
			p.Column(-o.penalty[i]*float64(h), 0, 1, true,
				lp.Entry{Row: row, Coefficient: float64(o.Units(i, h)) / unit}, lp.Entry{Row: one, Coefficient: 1})
			chosen := 0.0
			if h == jobs[i] {
				chosen = 1
			}
			p.Start = append(p.Start, chosen)
		}
		if o.high[i]-o.low[i] < MaxOptions {
			for h := o.low[i]; h <= o.high[i]; h++ {
				add(h)
			}
			continue
		}
		add(o.base[i])
		seen := jobs[i] == o.base[i]
		list := o.choices(i, below, nil)
		for _, c := range list[:min(len(list), MaxOptions)] {
			add(c.jobs)
			seen = seen || c.jobs == jobs[i]
		}
		if !seen {
			add(jobs[i])
		}
	}
	p.Jobs = func(x []float64, jobs []int64) {
		for k, o := range options {
			if x[first+k] > 0.5 {
				jobs[o.class] = o.jobs
			}
		}
	}
	return p
}
