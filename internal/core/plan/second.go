package plan

import (
	"context"
	"errors"
	"math"

	"headroom/internal/core/capacity"
	"headroom/internal/core/lp"
)

// The second engine. CBC solves what the core left open, starting from the core's answer. Its plan
// counts only by what it costs when we add it up, and it proves nothing.

const (
	// secondClasses are left free for CBC even where the core has fixed them, so that it checks
	// the core rather than repeat it; small problems are solved whole.
	secondClasses = 20
	// secondMost bounds the classes that are handed over at all.
	secondMost = 2_000
	// provedShare of the time budget, and provedNodes, are all that a solve is worth once its
	// answer has been proved.
	provedShare = 0.2
	provedNodes = 5_000
	// optionsMost is how many job counts of a class CBC may choose from in the slot-exact program.
	optionsMost = 64
)

// second is what the other engine said.
type second struct {
	engine  string
	agreed  *bool
	jobs    []int64 // its plan, if it is cheaper
	warning *capacity.Warning
}

// program is a front as a mixed-integer program over some free classes, the others fixed.
type program struct {
	lp.Program
	start []float64
	// jobs reads the free classes' jobs from a solution.
	jobs func(x []float64, jobs []int64)
}

// claimed is what a solver takes its plan to cost, beside one that costs so much and that it was started from. A plan that
// costs more misses a row by the solver's tolerance: it is the best plan of another program than ours.
func claimed(p *lp.Program, sol lp.Solution, start []float64, cost float64) float64 {
	for j, c := range p.Cost {
		cost -= c * start[j]
	}
	return cost + sol.Objective
}

// modeller is a front that can be written as a program.
type modeller interface {
	front
	// program leaves the free classes to choose from jobs that cost less than below.
	program(free []int, below float64, jobs []int64) program
	// objective is P2's, with so many VMs.
	objective(jobs []int64, vms int64) float64
	// load is what all jobs take, units what one class's do, perVM what one VM carries.
	load(jobs []int64) int64
	units(class int, jobs int64) int64
	perVM() int64
}

// vms is the whole VMs that carry so many jobs.
func vms(f modeller, jobs []int64) int64 { return ceilDiv(f.load(jobs), f.perVM()) }

// ask lets the solver try to do better than the search.
func (m *model) ask(ctx context.Context, solver lp.Solver, f modeller, s *search, r Result, proved bool) second {
	if solver == nil {
		return second{warning: unavailable(lp.ErrUnavailable)}
	}
	free, below := freeClasses(f, s.gap)
	p := f.program(free, below, r.Jobs)
	o := lp.Options{Gap: max(m.Options.Gap, ProofResolution), AbsGap: ProofResolution * math.Max(1, math.Abs(r.Objective)), Start: p.start}
	if proved {
		o.Seconds, o.Nodes = provedShare*float64(m.Options.MaxSolveMs)/1000, provedNodes
	}
	sol, err := solver.Solve(ctx, &p.Program, o)
	if err != nil {
		return second{warning: unavailable(err)}
	}
	answer := second{engine: sol.Engine}
	if len(sol.X) == 0 {
		if sol.Status == lp.Infeasible || sol.Status == lp.Unbounded { // we hold a plan: it is wrong
			answer.agreed = new(bool)
		}
		return answer
	}
	if lp.CheckAdvice(&p.Program, sol.X, sol.Objective) != nil { // no answer to what was asked
		answer.agreed = new(bool)
		return answer
	}
	jobs := append([]int64(nil), r.Jobs...)
	p.jobs(sol.X, jobs)
	cost := f.objective(jobs, vms(f, jobs))
	within := max(m.Options.Gap, ProofResolution) * math.Max(1, math.Abs(r.Objective))
	switch {
	case cost < r.Objective-within:
		answer.jobs = jobs
		answer.agreed = new(bool)
	case cost < r.Objective && !proved:
		answer.jobs = jobs
	}
	if sol.Status == lp.Optimal && answer.agreed == nil {
		agreed := cost <= r.Objective+within
		if agreed || cost <= claimed(&p.Program, sol, p.start, r.Objective)+within {
			answer.agreed = &agreed
		}
	}
	return answer
}

// askLinear compares the closed form with Clp.
func (m *model) askLinear(ctx context.Context, solver lp.Solver, r *relaxation) second {
	if solver == nil {
		return second{warning: unavailable(lp.ErrUnavailable)}
	}
	p := relaxedProgram(r)
	sol, err := solver.Solve(ctx, &p, lp.Options{})
	if err != nil {
		return second{warning: unavailable(err)}
	}
	answer := second{engine: sol.Engine}
	if sol.Status == lp.Optimal || sol.Status == lp.Infeasible {
		agreed := sol.Status == lp.Optimal && sameOptimum(sol, r.objective)
		answer.agreed = &agreed
	}
	return answer
}

// linearAgreement is Clp's own tolerance for a linear program: relative to the objective, and what one of a column may
// cost too much.
const linearAgreement = 1e-7

// sameOptimum says that Clp's optimum is this one.
func sameOptimum(sol lp.Solution, objective float64) bool {
	size := math.Max(1, math.Abs(objective))
	for _, x := range sol.X {
		size += math.Abs(x)
	}
	return math.Abs(sol.Objective-objective) <= linearAgreement*size
}

// relaxedProgram is P2 as a linear program: tiers first, then classes; row 0 is capacity.
func relaxedProgram(r *relaxation) lp.Program {
	var p lp.Program
	row := p.Row(math.Inf(-1), 0)
	most := 1.0 // VMs that all jobs together could use; a wider column only widens the noise of its price
	for i := range r.classes {
		most += r.classes[i].gamma * r.classes[i].high
	}
	for k, price := range r.supply.price {
		from, to := r.supply.tier(k)
		p.Column(price, 0, min(float64(to-from), most), false, lp.Entry{Row: row, Coefficient: -1})
	}
	for i := range r.classes {
		c := &r.classes[i]
		p.Column(-c.penalty, c.low, c.high, false, lp.Entry{Row: row, Coefficient: c.gamma})
	}
	return p
}

func unavailable(err error) *capacity.Warning {
	detail := "The second engine gave no answer, so that this plan rests on the core method alone"
	for _, known := range []error{lp.ErrBusy, lp.ErrCrashed, lp.ErrUnavailable} {
		if errors.Is(err, known) {
			detail += ": " + known.Error()
		}
	}
	return &capacity.Warning{Code: "solver_unavailable", Detail: detail + "."}
}

// freeClasses is the classes that could still move in a better plan, and the cheapest to move
// besides until there are enough.
func freeClasses(f front, gap float64) (free []int, below float64) {
	below = gap
	leads, _ := f.leads(below, secondMost, nil)
	for tries := 0; len(leads) < secondClasses && tries < 60; tries++ {
		below = max(4*below, 1e-6)
		leads, _ = f.leads(below, secondClasses, leads[:0])
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
func (p *program) addTiers(s supply, need int64, perVM, fixed float64) (row int) {
	row = p.Row(math.Inf(-1), -fixed)
	left := need
	for k, price := range s.price {
		from, to := s.tier(k)
		size := min(to-from, mostVMs)
		p.Column(price, 0, float64(size), true, lp.Entry{Row: row, Coefficient: -perVM})
		used := min(left, size)
		p.start = append(p.start, float64(used))
		left -= used
	}
	return row
}

func (l *linear) program(free []int, _ float64, jobs []int64) program {
	var p program
	fixed := l.load(jobs)
	for _, i := range free {
		fixed -= l.weight[i] * jobs[i]
	}
	need := vms(l, jobs)
	scale := rowScale(l.grid.perVM, need)
	unit := float64(l.grid.perVM) / scale
	row := p.addTiers(l.supply, need, scale, float64(fixed)/unit)
	first := p.Columns()
	for _, i := range free {
		p.Column(-l.Penalty[i], float64(l.Low[i]), float64(l.High[i]), true, lp.Entry{Row: row, Coefficient: float64(l.weight[i]) / unit})
		p.start = append(p.start, float64(jobs[i]))
	}
	p.jobs = func(x []float64, jobs []int64) {
		for k, i := range free {
			jobs[i] = int64(math.Round(x[first+k]))
		}
	}
	return p
}

func (o *options) program(free []int, below float64, jobs []int64) program {
	var p program
	fixed := o.load(jobs)
	for _, i := range free {
		fixed -= o.units(i, jobs[i])
	}
	need := vms(o, jobs)
	scale := float64(o.grid.perVM) // whole numbers where they are small
	if scale > safeStep {
		scale = rowScale(o.grid.perVM, need)
	}
	unit := float64(o.grid.perVM) / scale
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
				lp.Entry{Row: row, Coefficient: float64(o.units(i, h)) / unit}, lp.Entry{Row: one, Coefficient: 1})
			chosen := 0.0
			if h == jobs[i] {
				chosen = 1
			}
			p.start = append(p.start, chosen)
		}
		if o.high[i]-o.low[i] < optionsMost {
			for h := o.low[i]; h <= o.high[i]; h++ {
				add(h)
			}
			continue
		}
		add(o.base[i])
		seen := jobs[i] == o.base[i]
		list := o.choices(i, below, nil)
		for _, c := range list[:min(len(list), optionsMost)] {
			add(c.jobs)
			seen = seen || c.jobs == jobs[i]
		}
		if !seen {
			add(jobs[i])
		}
	}
	p.jobs = func(x []float64, jobs []int64) {
		for k, o := range options {
			if x[first+k] > 0.5 {
				jobs[o.class] = o.jobs
			}
		}
	}
	return p
}
